# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom.

usage: layering.py ROOT"""

import re

import tree

# A folder, and the prefixes of what it may include of this project. The tools
# put everything together and tests look inside, so neither has a line here.
MAY_INCLUDE = {
    "dialect": ["dialect/"],
    # What a target can do is one table; choosing a schedule is to read it.
    "passes": ["dialect/", "passes/", "codegen/Target/"],
    "codegen": ["dialect/", "codegen/", "runtime/Abi.h"],
    "runtime": ["runtime/"],
}
PROJECT = ("dialect/", "passes/", "codegen/", "runtime/", "tools/", "test/")
# The runtime is built where there is no compiler.
FOREIGN_TO_RUNTIME = ("mlir/", "mlir-c/", "llvm/", "llvm-c/", "clang/")

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]|\s*include\s+"([^"]+)"')


def check(root):
    for name in tree.files(root, ".h", ".cpp", ".td", ".inc", ".def"):
        folder = name.split("/")[0]
        if folder not in MAY_INCLUDE:
            continue
        allowed = tuple(MAY_INCLUDE[folder])
        for number, line in enumerate(tree.lines(root, name), 1):
            match = INCLUDE.match(line)
            included = match and (match.group(1) or match.group(2))
            if not included:
                continue
            breach = included.startswith(PROJECT) and not included.startswith(allowed)
            if folder == "runtime":
                breach |= included.startswith(FOREIGN_TO_RUNTIME)
            if breach or included.startswith("../"):
                yield f"{name}:{number}: {folder} may not include {included}"


if __name__ == "__main__":
    tree.main(check)
