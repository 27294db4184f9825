# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every Python and shell script parses: some run only on machines with a GPU.

usage: scripts.py ROOT"""

import os
import subprocess

import tree


def check(root):
    for name in tree.files(root):
        path = os.path.join(root, name)
        first = (tree.lines(root, name) or [""])[0]
        if name.endswith(".py"):
            try:
                compile("\n".join(tree.lines(root, name)), name, "exec")
            except SyntaxError as error:
                yield f"{name}:{error.lineno}: {error.msg}"
        elif first.startswith("#!") and "bash" in first:
            done = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
            if done.returncode:
                yield done.stderr.strip()


if __name__ == "__main__":
    tree.main(check)
