# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same bad value gets the same answer, whichever way it comes.

usage: bad_values.py ATTNC TABLE.jsonl

A row of the table is one JSON object:

  set     field to value, laid over BASE; null removes a field
  raw     the same with the value as text, for what Python would not write
  exit    the exit code
  says    all error messages, in any order: flags have one of their own
  not     way to reason: ways that cannot express the row

A way is a function below that makes the arguments of `attnc compile`. A new one
is a new entry of WAYS; rows that it cannot express say so.

Prints a line for each wrong answer and a count; exits 1 after a wrong one."""

import json
import os
import subprocess
import sys
import tempfile

BASE = {"version": 1, "num_qo_heads": 4, "head_dim_qk": 64}


def texts(row):
    """Field to value, written as in JSON."""
    fields = {**BASE, **row.get("set", {})}
    written = {k: json.dumps(v) for k, v in fields.items() if v is not None}
    return {**written, **row.get("raw", {})}


def nested(fields):
    """A dotted name is one level of nesting."""
    groups = {}
    for name, text in fields.items():
        *outer, key = name.split(".")
        groups.setdefault(outer[0] if outer else "", []).append(
            f"{json.dumps(key)}: {text}"
        )
    members = groups.pop("", [])
    members += [f'"{name}": {{{", ".join(inner)}}}' for name, inner in groups.items()]
    return "{" + ", ".join(members) + "}"


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def by_spec(row, folder):
    return [write(folder, "spec.json", nested(texts(row)))]


def by_flag(row, folder):
    """The row by flags, over a file of the rest. Strings need no quotes there."""
    fields = texts(row)
    given = {**row.get("set", {}), **row.get("raw", {})}
    rest = {name: text for name, text in fields.items() if name not in given}
    flags = []
    for name in given:
        if name in fields:
            text = fields[name]
            text = json.loads(text) if text.startswith('"') else text
            flags.append(f"--{name.replace('_', '-')}={text}")
    return [write(folder, "rest.json", nested(rest)), *flags]


WAYS = {"spec": by_spec, "flag": by_flag}


def answer(attnc, arguments, folder):
    """(exit code, messages, what else there is to see)."""
    out = os.path.join(folder, "out")
    done = subprocess.run(
        [attnc, "compile", *arguments, "-o", out],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    messages = []
    for line in done.stderr.splitlines():
        message = line.removeprefix("error: ")
        # Of a file a message may also say which.
        messages.append(message.removeprefix(f"{arguments[0]}: "))
    left = done.stdout or (os.path.exists(out) and "files")
    return done.returncode, messages, left


def faults(attnc, row):
    for way, make in WAYS.items():
        if way in row.get("not", {}):
            continue
        with tempfile.TemporaryDirectory() as folder:
            code, messages, left = answer(attnc, make(row, folder), folder)
        if code != row["exit"] or sorted(messages) != sorted(row["says"]):
            yield f"{way}: expected exit {row['exit']} and {row['says']}, but got {code} and {messages}"
        elif left:
            yield f"{way}: expected nothing but messages, but got {left}"


def main():
    attnc, table = sys.argv[1:]
    with open(table, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    wrong = 0
    for number, row in enumerate(rows, 1):
        for fault in faults(attnc, row):
            wrong += 1
            print(f"row {number}: {fault}")
    print(f"{len(rows)} rows, {wrong} wrong answers")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
