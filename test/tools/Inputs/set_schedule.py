# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""set_schedule.py ATTNC MODULE [--FLAG=VALUE] [KEY=VALUE]: writes MODULE to
standard output with SCHEDULE replaced by what `explain` chooses for it with
FLAG, KEY changed."""

import json
import re
import subprocess
import sys

attnc, path, *changes = sys.argv[1:]
flags = [change for change in changes if change.startswith("--")]
changes = [change for change in changes if change not in flags]
with open(path, encoding="utf-8") as module:
    text = module.read()
with open(path + ".plain.mlir", "w", encoding="utf-8") as plain:
    plain.write(text.replace("schedule(SCHEDULE)", ""))
explained = subprocess.run(
    [attnc, "explain", "--json", path + ".plain.mlir", *flags],
    stdout=subprocess.PIPE,
    check=True,
)
schedule = json.loads(explained.stdout)["schedule"].removeprefix("#attn.schedule")
for change in changes:
    key, value = change.split("=")
    schedule, count = re.subn(rf"\b{key} = [^,>]*", f"{key} = {value}", schedule)
    if count == 0:  # a field that had its default
        schedule = schedule.removesuffix(">") + f", {key} = {value}>"
print(text.replace("SCHEDULE", schedule), end="")
