# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every lit test runs something, and something judges what it ran.

usage: checkers.py ROOT"""

import re

import tree

COMMAND = re.compile(r"\b(RUN|(?:RE)?DEFINE):\s*(.*)")
# What can fail for a reason other than the program's own exit code.
CHECKER = re.compile(
    r"FileCheck|-verify-diagnostics|\bnot\s|\bdiff\s|\bcmp\s|\bcount\s|%python\s"
)


def runs_of(lines):
    """What the RUN lines run, with all that each name in them ever stood for."""
    commands = []  # kind and text, over several lines where these end with \
    for kind, text in (m.groups() for m in map(COMMAND.search, lines) if m):
        if commands and commands[-1][1].endswith("\\"):
            commands[-1][1] = commands[-1][1][:-1] + text
        else:
            commands.append([kind, text])
    meant = {}
    for kind, text in commands:
        if kind != "RUN":
            name, _, value = text.partition("=")
            meant[name.strip()] = meant.get(name.strip(), "") + " " + value
    for kind, text in commands:
        if kind == "RUN":
            used = [value for name, value in meant.items() if name in text]
            yield " ".join([text, *used])


def check(root):
    for name in tree.files(root, ".mlir", ".test"):
        if not name.startswith("test/") or "/Inputs/" in name:
            continue
        runs = list(runs_of(tree.lines(root, name)))
        if not runs:
            yield f"{name}: has no RUN line"
        elif not any(CHECKER.search(run) for run in runs):
            yield f"{name}: nothing checks what it runs"


if __name__ == "__main__":
    tree.main(check)
