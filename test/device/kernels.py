# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder of compiled kernels, and tensors for them."""

import dataclasses
import glob
import json
import os
import re
import sys

import torch

import attention

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "bench"))

import attn_runtime  # noqa: E402  (from tools/bench)

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
KNOWN_TENSORS = {"q", "k", "v", "o", "lse"}


@dataclasses.dataclass
class Config:
    """What a manifest says that a test must know."""

    path: str
    name: str
    dtype: torch.dtype
    head_dim: int
    head_dim_vo: int
    layout: str
    alignment: str | None  # None: not causal
    diagonal: str | None  # the corner of a window
    group: int
    lse: bool
    pinned: dict  # batch, seqlen_q, seqlen_k
    capability: tuple
    scalars: list  # window_left, window_right, softcap, as the kernel takes them
    unsupported: str | None = None
    left: int = 100
    right: int = 30
    softcap: float = 20.0

    @property
    def rule(self):
        """What the scalars in use mean."""
        if self.alignment is not None:
            rule = attention.Rule(self.alignment, None, 0)
        else:
            rule = attention.Rule(self.diagonal)
        for name in self.scalars:
            setattr(rule, name.removeprefix("window_"), self.value(name))
        return rule

    def value(self, scalar):
        return getattr(self, scalar.removeprefix("window_"))

    @property
    def scale(self):
        return self.head_dim**-0.5

    @property
    def mask(self):
        if self.scalars:
            return "other"
        return "full" if self.alignment is None else "causal"


def read(path):
    with open(path, encoding="utf-8") as text:
        manifest = json.load(text)
    spec = manifest["spec"]
    constraints = " ; ".join(manifest.get("constraints", []))
    ratio = re.search(r"num_qo_heads == (?:(\d+) \* )?num_kv_heads", constraints)
    pins = re.findall(r"(batch|seqlen_q|seqlen_k) == (\d+)", constraints)
    mask = spec.get("mask", {})
    causal = mask.get("kind", "none") == "causal"
    unknown = set(manifest["tensors"]) - KNOWN_TENSORS
    if mask.get("kind", "none") not in ("none", "causal", "window"):
        unknown.add(f"mask {mask['kind']}")
    scalars = sorted(set(manifest["scalars"]) - {"softmax_scale"})
    unknown |= set(scalars) - {"softcap", "window_left", "window_right"}
    if spec.get("dtype", "bf16") not in DTYPES:
        unknown.add(spec["dtype"])
    return Config(
        path=path,
        name=manifest["name"],
        dtype=DTYPES.get(spec.get("dtype", "bf16")),
        head_dim=spec["head_dim_qk"],
        head_dim_vo=spec.get("head_dim_vo", spec["head_dim_qk"]),
        layout=spec.get("layout", "bshd"),
        alignment=mask.get("alignment", "bottom_right") if causal else None,
        diagonal=mask.get("alignment", "bottom_right"),
        group=int(ratio.group(1) or 1) if ratio else 1,
        lse="lse" in manifest["tensors"],
        pinned={key: int(value) for key, value in pins},
        capability=tuple(manifest["compute_capability"]),
        scalars=scalars,
        unsupported=", ".join(sorted(unknown)) or None,
    )


def find(folders, pattern=""):
    """The kernels below the folders whose names match, in a fixed order."""
    configs = []
    for folder in folders:
        paths = glob.glob(os.path.join(folder, "**", "*.json"), recursive=True)
        for path in sorted(paths):
            with open(path, encoding="utf-8") as text:
                if '"manifest_version"' not in text.read():
                    continue
            config = read(path)
            if re.search(pattern, config.name):
                configs.append(config)
    return configs


def load(config, device="cuda"):
    return attn_runtime.load(config.path, attn_runtime.Device(device))


def as_passed(config, tensor):
    """From (batch, head, row, column) to the dims that the manifest names."""
    return tensor.transpose(1, 2) if config.layout == "bshd" else tensor


def allocate(config, dims, device="cuda"):
    """An empty tensor, contiguous in the kernel's layout, seen as
    (batch, head, row, column)."""
    b, h, s, d = dims
    if config.layout == "bshd":
        shape = (b, s, h, d)
        return torch.empty(shape, dtype=config.dtype, device=device).transpose(1, 2)
    return torch.empty(dims, dtype=config.dtype, device=device)


def prepare(config, kernel, q, k, v, o, lse, scale=None, grid_limit=0):
    """A callable that launches on PyTorch's current stream."""
    tensors = {
        name: as_passed(config, tensor)
        for name, tensor in (("q", q), ("k", k), ("v", v), ("o", o))
    }
    if config.lse:
        tensors["lse"] = lse
    scalars = {name: config.value(name) for name in config.scalars}
    if scale is not None:
        scalars["softmax_scale"] = scale
    stream = None
    if q.is_cuda:
        stream = torch.cuda.current_stream().cuda_stream
    return kernel.prepare(tensors, scalars, stream, None, grid_limit)
