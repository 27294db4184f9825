# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""support_agrees.py ATTNC TABLE: compiles some specs and compares the exit code
with the cell of `attnc support --json`."""

import json
import subprocess
import sys

FLAGS = {
    "dtype bf16": [],
    "dtype e4m3": ["--dtype", "e4m3"],
    "dtype f32": ["--dtype", "f32"],
    "backward": ["--direction", "backward"],
    "lse": ["--lse"],
    "head dim 256": ["--head-dim-qk", "256"],
    "head dims 192/128": ["--head-dim-qk", "192", "--head-dim-vo", "128"],
    "window": ["--mask.kind", "window", "--mask.alignment", "top_left"],
}
CODES = {"yes": 0, "no": 3, "invalid": 2}

attnc, table = sys.argv[1:]
with open(table, encoding="utf-8") as text:
    cells = json.load(text)
assert set(cells) >= {"sm_80", "sm_90a", "host"}, cells.keys()
wrong = 0
for target, features in cells.items():
    for feature, flags in FLAGS.items():
        cell = features[feature]
        assert bool(cell["reasons"]) == (cell["answer"] != "yes"), cell
        base = {"--head-dim-qk": "64", "--num-qo-heads": "4", "--target": target}
        base.update(zip(flags[::2], flags[1::2]))
        call = [attnc, "compile", "--emit=tiled"]
        if flags == ["--lse"]:
            call, base = call + flags, {k: v for k, v in base.items() if k != "--lse"}
        for name, value in base.items():
            call += [name, value]
        done = subprocess.run(
            call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        if done.returncode != CODES[cell["answer"]]:
            print(f"{target}, {feature}: the table says {cell['answer']}, "
                  f"but attnc exits with {done.returncode}")
            wrong += 1
sys.exit(wrong != 0)
