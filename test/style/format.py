# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clang-format would change nothing.

usage: format.py ROOT [--fix]"""

import os
import re
import shutil
import subprocess
import sys

import tree


def formatter():
    for name in ("clang-format-22", "clang-format"):
        found = shutil.which(name)
        if found:
            return found
    sys.exit("expected clang-format on PATH, but got none")


def check(root, *options):
    names = list(tree.files(root, ".h", ".cpp"))
    if not names:
        return
    mode = ["-i"] if "--fix" in options else ["--dry-run", "-Werror"]
    done = subprocess.run(
        [formatter(), "--style=file", *mode, *names],
        cwd=os.path.abspath(root),
        stderr=subprocess.PIPE,
        text=True,
    )
    places = {}  # the first one in each file
    for name, line in re.findall(r"^(.+?):(\d+):\d+: error:", done.stderr, re.M):
        places.setdefault(name, line)
    for name, line in places.items():
        yield f"{name}:{line}: clang-format would change this file"
    if done.returncode and not places:
        yield done.stderr


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
