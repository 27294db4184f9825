# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules with a few things wrong, or odd: an error or a right kernel.

usage: fuzz_modules.py ATTNC ATTN_OPT [--seed N] [--cases N] [--seconds N]

Each case takes a module that is right and changes up to three of its types,
attributes, maps and constants. `attnc run` must accept and be within its bar
(0), or refuse (2 or 3); the pipelines of `attn-opt` must refuse (1) or leave
nothing behind that they are there to lower. Whatever ends by a signal, hangs or
exits with anything else is a fault, and so is a session that only ever saw one
of the two answers.

The same seed gives the same cases; with less time there are fewer of them."""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time

SIZES = {"b": "1", "sq": "19", "sk": "37"}
SPACES = ["", ", 0", ", 1", ", 3", ", #gpu.address_space<workgroup>", ', "other"']
LAYOUTS = [
    ", strided<[?, ?, ?, 1], offset: ?>",
    ", strided<[?, ?, ?, 2]>",
    ", strided<[?, ?, ?, ?]>",
    ", strided<[0, ?, ?, 1]>",
    ", strided<[-64, ?, ?, 1]>",
    ", affine_map<(a, b, c, d) -> (d, c, b, a)>",
    ", affine_map<(a, b, c, d) -> (a, b, c floordiv 2, d)>",
]
ELEMENTS = ["bf16", "f16", "f32", "f64", "f8E4M3FN", "f8E5M2", "i16", "index", "complex<f32>"]
HEAD_DIMS = ["0", "1", "4", "8", "16", "60", "64", "72", "128", "264", "512", "576", "?", "4294967296"]
EXTENTS = ["0", "1", "19", "37", "2147483647", "2147483648", "9223372036854775807", "?"]
HEADS = ["0", "1", "2", "3", "6", "?", "2147483648"]
SCALES = ["0.0", "-0.0", "-1.0", "0.125", "1.0e-45", "64.0", "1.0e+38", "0x7F800000", "0x7FC00000",
          "0x00000001"]  # fmt: skip
GROUPS = ["", " floordiv 2", " floordiv 3", " floordiv 0", " floordiv -1", " mod 2",
          " floordiv 9223372036854775807"]  # fmt: skip
TARGETS = ['"sm_80"', '"sm_90a"', '"host"', '"sm_90"', '"sm_100a"', '""', "3", '"sm_90a\\00"']
LAUNCHES = [
    "{}",
    "{num_qo_heads = 2 : i64}",
    "{num_qo_heads = 0 : i64, num_kv_heads = 0 : i64}",
    "{num_qo_heads = -4 : i64}",
    "{num_qo_heads = 6 : i64, num_kv_heads = 4 : i64}",
    "{num_qo_heads = 9223372036854775807 : i64}",
    "{num_qo_heads = 2 : i128, num_kv_heads = 2 : i1}",
    "{softmax_scale = 0x7FF0000000000000 : f64}",
    "{softmax_scale = 2 : i64}",
    "{other = 1 : i64}",
    "3 : i32",
]
MASKS = ["", " mask(#attn.causal<top_left>)", " mask(#attn.causal<bottom_right>)"]
SCHEDULE = (
    " schedule(#attn.schedule<style = {style}, target = {target}, rows = {rows}, keys = {keys},"
    " workers = {workers}, query_stages = 1, stages = {stages}, registers = [{registers}],"
    " overlap = {overlap}, rescale_threshold = {threshold}, persistent = false,"
    " descending = false>)"
)
NUMBERS = ["-1", "0", "1", "2", "3", "16", "32", "48", "64", "128", "65537", "9223372036854775807"]


class Module:
    def __init__(self, rng):
        self.rng = rng
        self.element, self.head_dim = "f16", "16"
        self.tensors = {
            "q": ["b", "m", "h", "d"],
            "k": ["b", "n", "h", "d"],
            "v": ["b", "n", "h", "e"],
            "o": ["b", "m", "h", "e"],
        }
        self.extents = {name: ["?", "?", "?", "16"] for name in self.tensors}
        self.elements = dict.fromkeys(self.tensors, "f16")
        self.layouts = dict.fromkeys(self.tensors, "")
        self.outs, self.kind, self.scale, self.scale_type = "%o", "memref", None, "f32"
        self.group = ""
        self.attributes = {"attn.target": rng.choice(TARGETS[:3])}
        self.mask, self.schedule, self.beside = rng.choice(MASKS), "", ""

    def mutate(self):
        rng = self.rng
        name = rng.choice(list(self.tensors))
        pick = rng.choice(
            ["head_dim", "extent", "extents", "heads", "element", "elements", "layout", "space",
             "scale", "group", "target", "launch", "schedule", "order", "outs", "kind", "beside"]
        )  # fmt: skip
        if pick == "head_dim":
            size = rng.choice(HEAD_DIMS)
            for some in rng.choice([["q", "k"], ["v", "o"], list(self.tensors), [name]]):
                self.extents[some][3] = size
        elif pick == "extent":
            self.extents[name][rng.randrange(2)] = rng.choice(EXTENTS)
        elif pick == "extents":
            at = rng.randrange(2)
            size = rng.choice(EXTENTS)
            for some in self.tensors:
                self.extents[some][at] = size
        elif pick == "heads":
            self.extents[name][2] = rng.choice(HEADS)
        elif pick == "element":
            self.elements[name] = rng.choice(ELEMENTS)
        elif pick == "elements":
            self.elements = dict.fromkeys(self.tensors, rng.choice(ELEMENTS))
            if self.elements["q"] == "f64":
                self.scale_type = "f64"
        elif pick == "layout":
            self.layouts[name] = rng.choice(LAYOUTS)
        elif pick == "space":
            self.layouts[name] += rng.choice(SPACES)
        elif pick == "scale":
            self.scale = rng.choice(SCALES)
        elif pick == "group":
            self.group = rng.choice(GROUPS)
        elif pick == "target":
            self.attributes["attn.target"] = rng.choice(TARGETS)
        elif pick == "launch":
            self.attributes["attn.launch"] = rng.choice(LAUNCHES)
        elif pick == "schedule":
            style, target = rng.choice(
                [("host", '"host"'), ("fa2", '"sm_80"'), ("fa3", '"sm_90a"'), ("fa3", '"sm_80"')]
            )
            self.attributes["attn.target"] = target
            small = NUMBERS[2:9]
            self.schedule = SCHEDULE.format(
                style=style,
                target=target,
                rows=rng.choice(small + NUMBERS),
                keys=rng.choice(small + NUMBERS),
                workers=rng.choice(small[:3] + NUMBERS),
                stages=rng.choice(small[:3] + NUMBERS),
                registers="32, 160" if style == "fa3" else "",
                overlap=rng.choice(["true", "false"]),
                threshold=rng.choice(NUMBERS),
            )
        elif pick == "order":
            order = self.tensors[name]
            i, j = rng.sample(range(4), 2)
            order[i], order[j] = order[j], order[i]
            sizes = self.extents[name]
            sizes[i], sizes[j] = sizes[j], sizes[i]
        elif pick == "outs":
            self.outs = rng.choice(["%q", "%k", "%v"])
        elif pick == "kind":
            self.kind = "tensor"
        else:
            self.beside = rng.choice(
                ["  %c = arith.constant 1.0 : f32\n", "  func.call @f() : () -> ()\n",
                 "  %t = arith.addf %scale, %scale : f32\n"]
            )  # fmt: skip

    def text(self):
        def type_of(name):
            layout = self.layouts[name] if self.kind == "memref" else ""
            return f"{self.kind}<{'x'.join(self.extents[name])}x{self.elements[name]}{layout}>"

        def map_of(name):
            key_head = "h" + (self.group if name in "kv" else "")
            results = ", ".join(key_head if d == "h" else d for d in self.tensors[name])
            return f"affine_map<(b, h, m, n, d, e) -> ({results})>"

        types = {name: type_of(name) for name in self.tensors}
        arguments = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
        constant = f"  %s = arith.constant {self.scale} : {self.scale_type}\n" if self.scale else ""
        attributes = ", ".join(f"{name} = {value}" for name, value in self.attributes.items())
        on_tensors = self.kind == "tensor"
        out = types[self.outs[1:]] if on_tensors else ""
        return (
            f"func.func @f({arguments}, %scale: {self.scale_type}){' -> ' + out if out else ''}\n"
            f"    attributes {{{attributes}}} {{\n{constant}{self.beside}"
            f"  {'%r = ' if out else ''}attn.attention query(%q : {types['q']}) key(%k : {types['k']})\n"
            f"    value(%v : {types['v']}) scale({'%s' if self.scale else '%scale'})\n"
            f"    outs({self.outs} : {types[self.outs[1:]]}){self.mask}{self.schedule}\n"
            f"    maps [{', '.join(map_of(name) for name in self.tensors)}]{' -> ' + out if out else ''}\n"
            f"  return{' %r : ' + out if out else ''}\n}}\n"
        )


def call(*arguments):
    try:
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, "", "no end within 120 s"
    return done.returncode, done.stdout, done.stderr


def pipelines(attn_opt, path, target):
    """What is wrong with the pipelines' answer, or None."""
    host = target == '"host"'
    steps = "host-pipeline" if host else "kernel-pipeline"
    name = target.strip('"') if target in TARGETS[:3] else "sm_90a"
    code, out, err = call(
        attn_opt, path, f"--attn-schedule-pipeline=target={name}", "--attn-tile-pipeline",
        f"--attn-{steps}",
    )  # fmt: skip
    if code not in (0, 1):
        return f"attn-opt: exit {code}\n{err[-2000:]}"
    left = re.search(r"unrealized_conversion_cast|memref\.\w+|attn\.attention", out)
    if code == 0 and host and left:
        return f"attn-opt: exit 0 with {left[0]} left"
    if code == 1 and "error:" not in err:
        return "attn-opt: exit 1 without an error"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("attnc")
    parser.add_argument("attn_opt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    counts, faults, case = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/module.mlir"
        while case < args.cases and time.monotonic() < end:
            module = Module(random.Random(f"{args.seed}-{case}"))
            for _ in range(module.rng.choice([0, 1, 1, 1, 2, 3])):
                module.mutate()
            case += 1
            with open(path, "w", encoding="utf-8") as out:
                out.write(module.text())
            shape = ",".join(f"{name}={size}" for name, size in SIZES.items())
            code, _, err = call(args.attnc, "run", path, "--shape", shape)
            counts[code] = counts.get(code, 0) + 1
            wrong = None
            if code not in (0, 2, 3):
                wrong = f"attnc: exit {code}\n{err[-2000:]}"
            elif code != 0 and "error: " not in err:
                wrong = f"attnc: exit {code} without an error"
            wrong = wrong or pipelines(args.attn_opt, path, module.attributes["attn.target"])
            if wrong:
                faults += 1
                print(f"seed {args.seed}, case {case - 1}: {wrong}\n{module.text()}")
    said = ", ".join(f"{n} with {code}" for code, n in sorted(counts.items(), key=str))
    print(f"{case} modules ({said}), {faults} faults")
    return 1 if faults or not counts.get(0) or not (counts.get(2) or counts.get(3)) else 0


if __name__ == "__main__":
    sys.exit(main())
