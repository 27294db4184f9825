# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Case files: one JSON object a line, see README.md for the fields."""

import copy
import dataclasses
import json

# What the runner understands; a case that needs more is skipped by name.
SPEC_KEYS = set(
    """version direction target dtype dtype_o num_qo_heads num_kv_heads head_dim_qk
    head_dim_vo layout batch seqlen_q seqlen_k softmax_scale mask.kind
    mask.alignment mask.window_left mask.window_right softcap lse deterministic
    num_splits bias sinks kv.kind kv.seqused""".split()
)
PLAIN_VALUES = {
    "direction": ["forward"],
    "dtype": ["f16", "bf16", "f32", "f64"],
    "dtype_o": ["f16", "bf16", "f32", "f64"],
    "layout": ["bshd", "bhsd"],
    "mask.kind": ["none", "causal", "window"],
    "bias": ["none"],
    "sinks": [False],
    "kv.kind": ["contiguous"],
    "kv.seqused": [False],
    "num_splits": [1],
}
INPUT_KEYS = set(
    """q k v scale_inputs set strides sparse guard note adapted check verb flags
    spec_text perturb grid_limit""".split()
)
EXPECT_KEYS = set(
    """result exit or_exit names value expected suggests mentions o_zero_rows
    lse_neg_inf_rows nan_rows nan_where o_equals lse_equals runs within_s then
    same_as same same_artifact_as and_reference_for one_artifact_for
    grid_max""".split()
)


class CaseError(ValueError):
    pass


@dataclasses.dataclass
class Case:
    id: str
    kind: str
    spec: dict  # flat: {"mask.kind": "causal"}
    expect: dict
    shape: dict | None = None
    inputs: dict = dataclasses.field(default_factory=dict)
    size: str = "emulator"
    stage: int = 1

    def setting(self, key):
        """A spec value with the defaults that the reference depends on."""
        spec = self.spec
        defaults = {
            "dtype": "bf16",
            "dtype_o": spec.get("dtype", "bf16"),
            "num_kv_heads": spec.get("num_qo_heads"),
            "head_dim_vo": spec.get("head_dim_qk"),
            "layout": "bshd",
            "mask.kind": "none",
            "mask.alignment": "top_left",
            "lse": False,
        }
        return spec.get(key, defaults.get(key))

    @property
    def scale(self):
        return self.spec.get("softmax_scale", self.spec["head_dim_qk"] ** -0.5)

    def dims(self, tensor):
        """The extents of q, k, v or o as (batch, head, row, column)."""
        qo, kv = self.setting("num_qo_heads"), self.setting("num_kv_heads")
        qk, vo = self.setting("head_dim_qk"), self.setting("head_dim_vo")
        b, sq, sk = (self.shape[key] for key in ("b", "sq", "sk"))
        return {
            "q": (b, qo, sq, qk),
            "k": (b, kv, sk, qk),
            "v": (b, kv, sk, vo),
            "o": (b, qo, sq, vo),
        }[tensor]

    def elements(self):
        total = 0
        for tensor in "qkvo":
            b, h, s, d = self.dims(tensor)
            total += b * h * s * d
        return total

    def with_dtype(self, dtype):
        """This case in another type; one that is about types stays as it is."""
        if "exit" in self.expect or {"dtype_o", "target"} & set(self.spec):
            return self
        return dataclasses.replace(self, spec={**self.spec, "dtype": dtype})

    def changed(self, changes):
        """This case with `changes` laid over it; None removes a key."""
        fields = {"spec": self.spec, "shape": self.shape, "inputs": self.inputs}
        fields = copy.deepcopy(fields)
        for name, change in changes.items():
            if name not in fields:
                continue
            for key, value in _flat(change).items():
                if value is None:
                    fields[name].pop(key, None)
                else:
                    fields[name][key] = value
        return dataclasses.replace(self, **fields)

    def unsupported(self):
        """The first thing in the case that the runner does not know, or None."""
        if isinstance(self.expect.get("exit"), int) and self.expect["exit"] != 0:
            return None  # nothing is computed, only refused
        for key, value in self.spec.items():
            if key not in SPEC_KEYS:
                return f"spec key {key}"
            if key in PLAIN_VALUES and value not in PLAIN_VALUES[key]:
                return f"{key} {value}"
        for known, have in ((INPUT_KEYS, self.inputs), (EXPECT_KEYS, self.expect)):
            for key in have:
                if key not in known:
                    return f"key {key}"
        if self.shape is not None and set(self.shape) != {"b", "sq", "sk"}:
            return "a ragged shape"
        return None


def _flat(value):
    """{"mask": {"kind": ..}} as {"mask.kind": ..}; other objects stay whole."""
    out = {}
    for key, inner in value.items():
        if key in ("mask", "kv") and isinstance(inner, dict):
            out.update((f"{key}.{name}", item) for name, item in inner.items())
        else:
            out[key] = inner
    return out


def nested(spec):
    """The form of a spec file: a dotted name is one level of nesting."""
    out = {}
    for key, value in spec.items():
        *outer, name = key.split(".")
        target = out
        for part in outer:
            target = target.setdefault(part, {})
        target[name] = value
    return out


def load(path):
    cases = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                raw = json.loads(line)
                cases.append(
                    Case(
                        id=raw["id"],
                        kind=raw["kind"],
                        spec=_flat(raw["spec"]),
                        expect=raw["expect"],
                        shape=raw.get("shape"),
                        inputs=raw.get("inputs", {}),
                        size=raw["size"],
                        stage=raw["feature_stage"],
                    )
                )
            except (KeyError, ValueError) as error:
                raise CaseError(f"{path}:{number}: {error!r}") from error
    return cases
