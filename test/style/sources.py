# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for every source file: it names the licence, a reader finds their
way through its length, and it names no path of one person's machine.

usage: sources.py ROOT"""

import re

import tree

LINES = 1000
LICENSED = (".cpp", ".h", ".td", ".py")
SOURCES = LICENSED + (".mlir", ".test", ".txt", ".cmake", ".md", ".in")
IDENTIFIER = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
# In pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.])/(wor" r"k|home/\w+|root)/|\.\./share" r"d")


def check(root):
    for name in tree.files(root):
        if name.endswith((".npy", ".bin", ".png")):
            continue
        lines = tree.lines(root, name)
        if name.endswith(SOURCES) and len(lines) > LINES:
            yield f"{name}: expected at most {LINES} lines, but got {len(lines)}"
        if name.endswith(LICENSED) and not any(IDENTIFIER in l for l in lines[:12]):
            yield f"{name}: expected the licence identifier near the top"
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: names a path of one machine"


if __name__ == "__main__":
    tree.main(check)
