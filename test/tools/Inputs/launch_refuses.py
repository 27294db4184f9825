# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""launch_refuses.py MANIFEST SPEC: attn-launch takes the spec, and none that
differs from it in anything the kernel was compiled for; nor a manifest in which
one thing was changed. Prints the first line of what it says of each."""

import copy
import json
import os
import subprocess
import sys
import tempfile

# Dotted names of the spec, new values (None: without the key).
SPECS = [
    {},
    {"softmax_scale": 0.5},
    {"num_qo_heads": 32, "num_kv_heads": 8},
    {"head_dim_qk": 64},
    {"head_dim_vo": 64},
    {"dtype": "bf16"},
    {"dtype_o": "bf16"},
    {"layout": "bhsd"},
    {"lse": False},
    {"lse": None},
    {"target": "sm_80"},
    {"target": "sm_90"},
    {"num_kv_heads": 8},
    {"mask": {"kind": "none"}},
    {"mask": {"kind": "causal", "alignment": "top_left"}},
    {"mask.kind": "window", "mask.window_left": 3},
    {"softcap": 30.0},
    {"seqlen_q": 64},
    {"sinks": True},
    {"kv": {"kind": "paged", "page_size": 4, "seqused": True}},
    {"num_splits": "auto"},
    {"deterministic": False},
    {"head_dim": 128},
    {"mask.knd": "causal"},
    {"softmax_scale": 0},
    {"version": None},
]

# Where in the manifest, and what is put there; "DELETE" takes it away.
MANIFESTS = [
    (["tensors", "q", "shape", 1], 7),
    (["tensors", "q", "shape", 3], "64"),
    (["tensors", "k", "dims", 0], "s"),
    (["tensors", "v", "dtype"], "bf16"),
    (["tensors", "o", "role"], "input"),
    (["tensors", "lse"], "DELETE"),
    (["tensors", "q", "alignment"], 3),
    (["compute_capability"], [99, 0]),
    (["compute_capability"], [9]),
    (["target"], "sm_80"),
    (["spec", "head_dim_qk"], 64),
    (["spec", "target"], "sm_80"),
    (["spec", "extra"], 1),
    (["schedule", "rows"], 64),
    (["compiler", "version"], "0.0.0"),
    (["spec_hash"], "0" * 16),
    (["build_hash"], "DELETE"),
    (["extra"], 1),
    (["files", "extra"], 1),
    (["files", "ptx_sha256"], "0" * 64),
    (["files", "ptx_sha256"], "DELETE"),
    (["files", "ptx"], "no-such.ptx"),
    (["files", "ptx"], "/dev/zero"),
    (["files", "ptx"], None),
    (["constraints"], []),
    (["scalars", "softmax_scale", "default"], "1"),
    (["kernels", 0, "arguments", 0, "tensor"], "x"),
    (["kernels", 0, "block"], [0, 1, 1]),
    (["kernels"], []),
]


def change(spec, changes):
    for name, value in changes.items():
        *groups, key = name.split(".")
        place = spec
        for group in groups:
            place = place.setdefault(group, {})
        place.pop(key, None)
        if value is not None:
            place[key] = value


def replace(manifest, path, value):
    *outer, last = path
    for key in outer:
        manifest = manifest[key]
    if value == "DELETE":
        del manifest[last]
    else:
        manifest[last] = value


def launch(manifest, spec):
    done = subprocess.run(
        ["attn-launch", "run", manifest, "--spec", spec, "--device", "emulator"]
        + ["--shape", "b=1,sq=20,sk=33"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines() or ["nothing"]
    return done.returncode, lines[-1] if done.returncode == 0 else lines[0]


def main(manifest_path, spec_path):
    folder = os.path.dirname(manifest_path)
    with open(manifest_path, encoding="utf-8") as text:
        manifest = json.load(text)
    with open(spec_path, encoding="utf-8") as text:
        spec = json.load(text)
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=folder) as file:

        def write(value):
            file.seek(0)
            file.truncate()
            json.dump(value, file)
            file.flush()
            return file.name

        for changes in SPECS:
            changed = copy.deepcopy(spec)
            change(changed, changes)
            report(changes, launch(manifest_path, write(changed)), file.name)
        for path, value in MANIFESTS:
            changed = copy.deepcopy(manifest)
            replace(changed, path, value)
            where = ".".join(map(str, path))
            report({where: value}, launch(write(changed), spec_path), file.name)


def report(changes, outcome, name):
    code, line = outcome
    print(f"{json.dumps(changes)} -> {code} {line.replace(name, 'FILE')}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
