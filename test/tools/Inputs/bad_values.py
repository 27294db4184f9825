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

A way is a function below that makes the arguments of `attnc compile`, or None
for rows that it cannot express. A new one is a new entry of WAYS.

Prints a line for each wrong answer and a count; exits 1 after a wrong one."""

import json
import math
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


ELEMENTS = {"bf16": "bf16", "f16": "f16", "e4m3": "f8E4M3FN", "f32": "f32", "f64": "f64"}
IN_MODULES = {
    "num_qo_heads", "num_kv_heads", "head_dim_qk", "head_dim_vo", "batch", "seqlen_q",
    "seqlen_k", "softmax_scale", "target", "dtype", "dtype_o",
}  # fmt: skip


def in_module(fields):
    """The fields as a module has them, or None where it has no place for one."""
    values = {name: json.loads(text) for name, text in fields.items()}
    for name, value in values.items():
        kind = str if name in ("target", "dtype", "dtype_o") else int
        if name == "softmax_scale":
            kind = (int, float)
        # A type has no negative extents, and a head dim of 0 is no op.
        is_extent = name in ("batch", "seqlen_q", "seqlen_k", "head_dim_qk", "head_dim_vo")
        is_text = name in ("dtype", "dtype_o")
        if (
            not isinstance(value, kind)
            or isinstance(value, bool)
            or (isinstance(value, int) and abs(value) >= 2**63)
            or (isinstance(value, float) and math.isinf(value))
            or (is_extent and value < (name.startswith("head_dim")))
            or (is_text and value not in ELEMENTS)
        ):
            return None
    return values


def by_module(row, folder):
    """The op of the row, with what it does not say in attributes."""
    fields = texts(row)
    del fields["version"]
    given = {**row.get("set", {}), **row.get("raw", {})}
    values = in_module(fields) if set(fields) | set(given) <= IN_MODULES else None
    if values is None or set(given) - set(fields):
        return None
    heads, kv = values["num_qo_heads"], values.get("num_kv_heads")
    group = heads // kv if kv and kv > 0 and heads % kv == 0 else 1
    dtype = values.get("dtype", "bf16")
    element = ELEMENTS[dtype]
    output = ELEMENTS[values.get("dtype_o", "bf16" if dtype == "e4m3" else dtype)]
    softmax = "f64" if dtype == "f64" else "f32"
    extent = {name: values.get(name, "?") for name in ("batch", "seqlen_q", "seqlen_k")}
    qk = values["head_dim_qk"]
    vo = values.get("head_dim_vo", qk)

    def memref(length, columns, type_):
        return f"memref<{extent['batch']}x{extent[length]}x?x{columns}x{type_}>"

    q, k = memref("seqlen_q", qk, element), memref("seqlen_k", qk, element)
    v, o = memref("seqlen_k", vo, element), memref("seqlen_q", vo, output)
    launch = [f"{name} = {values[name]} : i64" for name in ("num_qo_heads", "num_kv_heads") if name in values]
    if "softmax_scale" in values:
        launch.append(f"softmax_scale = {float(values['softmax_scale']):.17e} : f64")
    attributes = f"attn.launch = {{{', '.join(launch)}}}"
    if "target" in values:
        attributes += f", attn.target = {json.dumps(values['target'])}"
    key_head = f"h floordiv {group}" if group > 1 else "h"
    maps = ", ".join(
        f"affine_map<(b, h, m, n, d, e) -> (b, {results})>"
        for results in ("m, h, d", f"n, {key_head}, d", f"n, {key_head}, e", "m, h, e")
    )
    text = f"""func.func @f(%q: {q}, %k: {k}, %v: {v}, %o: {o}, %scale: {softmax})
    attributes {{{attributes}}} {{
  attn.attention query(%q : {q}) key(%k : {k}) value(%v : {v}) scale(%scale)
    outs(%o : {o}) maps [{maps}]
  return
}}
"""
    return [write(folder, "module.mlir", text)]


WAYS = {"spec": by_spec, "flag": by_flag, "module": by_module}


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


def faults(attnc, row, count):
    for way, make in WAYS.items():
        if way in row.get("not", {}):
            continue
        with tempfile.TemporaryDirectory() as folder:
            arguments = make(row, folder)
            if arguments is None:
                continue
            count[way] += 1
            code, messages, left = answer(attnc, arguments, folder)
        if code != row["exit"] or sorted(messages) != sorted(row["says"]):
            yield f"{way}: expected exit {row['exit']} and {row['says']}, but got {code} and {messages}"
        elif left:
            yield f"{way}: expected nothing but messages, but got {left}"


def main():
    attnc, table = sys.argv[1:]
    with open(table, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    wrong = 0
    count = dict.fromkeys(WAYS, 0)
    for number, row in enumerate(rows, 1):
        for fault in faults(attnc, row, count):
            wrong += 1
            print(f"row {number}: {fault}")
    asked = ", ".join(f"{number} by {way}" for way, number in count.items())
    print(f"{len(rows)} rows, {wrong} wrong answers ({asked})")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
