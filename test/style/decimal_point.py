# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers are printed and read alike in every locale: the runtime lives in
other people's processes, whose locale may have a decimal comma. std::to_chars,
std::from_chars and attnc::format take no notice of it; printf and strtod do.

usage: decimal_point.py ROOT"""

import re

import tree

FOLDERS = ("dialect/", "passes/", "codegen/", "runtime/", "tools/")
# A call of the printf family, up to its semicolon.
PRINT = re.compile(r"\b(?:v?s?n?|v?f)printf\s*\(.*?;", re.DOTALL)
REAL = re.compile(r"%[-+ #0]*[\d.*]*l?[aefgAEFG]")
READ = re.compile(r"\b(?:strto(?:d|f|ld)|atof|sto[df]|stold)\s*\(")


def place(text, offset):
    return text.count("\n", 0, offset) + 1


def check(root):
    for name in tree.files(root, ".cpp", ".h"):
        if not name.startswith(FOLDERS):
            continue
        text = "\n".join(tree.lines(root, name))
        for call in PRINT.finditer(text):
            if REAL.search(call.group()):
                line = place(text, call.start())
                yield f"{name}:{line}: prints a number as the locale has it"
        for call in READ.finditer(text):
            line = place(text, call.start())
            yield f"{name}:{line}: reads a number as the locale has it"


if __name__ == "__main__":
    tree.main(check)
