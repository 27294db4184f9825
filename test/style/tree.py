# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files that a style check looks at: those that git tracks below a root,
or, where there is no git (a source archive), all of them."""

import os
import subprocess
import sys

# Trees that break the rules on purpose, and build trees inside an archive.
SKIPPED = ("test/style/Inputs/", ".git/", "build/", "build-fuzz/")


def files(root, *endings):
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True
    )
    if listing.returncode == 0:
        names = listing.stdout.split("\0")
    else:
        names = [
            os.path.relpath(os.path.join(folder, name), root)
            for folder, _, inner in os.walk(root)
            for name in inner
        ]
    for name in sorted(filter(None, names)):
        wanted = not endings or name.endswith(endings)
        if wanted and not name.startswith(SKIPPED):
            if os.path.isfile(os.path.join(root, name)):
                yield name


def lines(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as text:
        return text.read().splitlines()


def report(faults):
    """Prints the faults; the exit code of the check."""
    faults = list(faults)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def main(check):
    """check(root) yields one line a fault."""
    sys.exit(report(check(sys.argv[1])))
