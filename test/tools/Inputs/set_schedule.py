# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""set_schedule.py ATTNC MODULE [KEY=VALUE]: writes MODULE to standard output
with SCHEDULE replaced by what `explain` chooses for it, KEY changed."""

import json
import re
import subprocess
import sys

attnc, path, *changes = sys.argv[1:]
with open(path, encoding="utf-8") as module:
    text = module.read()
with open(path + ".plain.mlir", "w", encoding="utf-8") as plain:
    plain.write(text.replace("schedule(SCHEDULE)", ""))
explained = subprocess.run(
    [attnc, "explain", "--json", path + ".plain.mlir"], stdout=subprocess.PIPE, check=True
)
schedule = json.loads(explained.stdout)["schedule"].removeprefix("#attn.schedule")
for change in changes:
    key, value = change.split("=")
    schedule, count = re.subn(rf"\b{key} = [^,>]*", f"{key} = {value}", schedule)
    assert count == 1, schedule
print(text.replace("SCHEDULE", schedule), end="")
