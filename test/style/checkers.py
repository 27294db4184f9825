# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every lit test runs something, and something judges what it ran.

usage: checkers.py ROOT"""

import re

import tree

RUN = re.compile(r"RUN:(.*)")
# What can fail for a reason other than the program's own exit code.
CHECKER = re.compile(
    r"FileCheck|-verify-diagnostics|\bnot\s|\bdiff\s|\bcmp\s|\bcount\s|%python\s"
)


def check(root):
    for name in tree.files(root, ".mlir", ".test"):
        if not name.startswith("test/") or "/Inputs/" in name:
            continue
        runs = [m.group(1) for m in map(RUN.search, tree.lines(root, name)) if m]
        if not runs:
            yield f"{name}: has no RUN line"
        elif not any(CHECKER.search(run) for run in runs):
            yield f"{name}: nothing checks what it runs"


if __name__ == "__main__":
    tree.main(check)
