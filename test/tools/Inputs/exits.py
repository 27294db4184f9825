# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""exits.py CODE COMMAND...: passes if the command ends with that code.

`not` would take a crash for an error. Both streams go to standard output."""

import subprocess
import sys

wanted = int(sys.argv[1])
done = subprocess.run(
    sys.argv[2:], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False
)
if done.returncode != wanted:
    print(f"exits.py: expected exit {wanted}, but got {done.returncode}")
    sys.exit(1)
