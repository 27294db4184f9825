#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times compiled kernels beside PyTorch's cuDNN and flash (FA2) attention.

usage: compare.py [--json FILE] [--head-dims 64,128] [--lengths 2048,4096]
                  [--masks full,causal] [--kernel REGEX] [--rounds N] FOLDER ...

FOLDER holds NAME.json beside NAME.cubin or NAME.ptx; several kernels for one
cell of the grid are all timed. For each head dim and mask, everything runs in
one process, in turns and in a new order each round, because clocks drift and
depend on who ran before: compare ratios. With several folders, as of two
compilers, names have the folder in front, and each kernel is also compared with
the first. Times are medians with a cold L2;
16384 tokens of hidden size 2048, random normal data; TFLOP/s count 4 B H S^2 D,
half of it for causal. A kernel is compared with float64 first and not timed if
it is wrong."""

import argparse
import json
import os
import random
import statistics
import sys

import torch
import torch.nn.functional as F

import attention
import kernels
from kernels import attn_runtime
from watchdog import Worker, emit

TOKENS, HIDDEN = 16384, 2048
LENGTHS = [512, 1024, 2048, 4096, 8192, 16384]
SILENCE = 60  # seconds
PEERS = ["cudnn", "fa2"]


def by_folder(configs):
    """The same kernels, with the folder in front of the name."""
    for config in configs:
        folder = os.path.basename(os.path.dirname(os.path.abspath(config.path)))
        config.name = f"{folder}/{config.name}"
    return configs


def cold_median(function, milliseconds):
    """The median time in ms; the L2 is overwritten before every call."""
    from triton.testing import do_bench

    return do_bench(function, warmup=10, rep=milliseconds, return_mode="median")


def peer(name, causal, q, k, v):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = {
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "fa2": SDPBackend.FLASH_ATTENTION,
    }[name]

    def run():
        with sdpa_kernel(backend), torch.no_grad():
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return run


def tensors(config, b, h, s, device):
    """(q, k, v, o, lse) in the kernel's layout."""
    made = []
    for width in (config.head_dim, config.head_dim, config.head_dim_vo):
        tensor = kernels.allocate(config, (b, h, s, width), device)
        made.append(tensor.normal_())
    o = kernels.allocate(config, (b, h, s, config.head_dim_vo), device)
    lse = torch.full((b, h, s), torch.nan, device=device)
    return *made, o.fill_(torch.nan), lse


def wrong(config, kernel, device):
    """What float64 says against the kernel, or None."""
    heads = HIDDEN // config.head_dim
    for s in (1024, 777):
        q, k, v, o, lse = tensors(config, 2, heads, s, device)
        kernels.prepare(config, kernel, q, k, v, o, lse)()
        result = lse if config.lse else None
        fault = attention.compare(config, q, k, v, o, result, config.scale)
        if fault:
            return f"S={s}: {fault}"
    return None


class Contest:
    """One head dim and mask: the kernels and their peers."""

    def __init__(self, options, configs):
        self.options = options
        self.device = "cuda" if options.device == "cuda" else "cpu"
        self.configs = {config.name: config for config in configs}
        self.causal = configs[0].alignment is not None
        self.kernels = {}

    def check(self):
        for name, config in self.configs.items():
            emit(begin=name)
            try:
                kernel = kernels.load(config, self.options.device)
                fault = wrong(config, kernel, self.device)
            except attn_runtime.Error as error:
                fault = str(error)
            if fault:
                emit(wrong=name, fault=fault)
            else:
                self.kernels[name] = kernel

    def launches(self, length):
        config = next(iter(self.configs.values()))
        b, h = TOKENS // length, HIDDEN // config.head_dim
        shape = (b, h, length, config.head_dim)
        peers = [
            torch.randn(shape, device=self.device, dtype=config.dtype) for _ in "qkv"
        ]
        out = {name: peer(name, self.causal, *peers) for name in PEERS}
        for name, kernel in self.kernels.items():
            config = self.configs[name]
            arguments = tensors(config, b, h, length, self.device)
            out[name] = kernels.prepare(config, kernel, *arguments)
        return out

    def time(self, length):
        launches = self.launches(length)
        times = {name: [] for name in launches}
        for name, launch in list(launches.items()):
            emit(begin=name)
            try:
                launch()
                torch.cuda.synchronize()
            except RuntimeError as error:
                # A peer may not take this head dim at all.
                if name not in PEERS:
                    raise
                emit(note=f"{name} at S={length}: {str(error).splitlines()[0]}")
                del launches[name]
        # Whoever follows a kernel of less power gets a higher clock, up to 8 %.
        order = random.Random(length)
        for _ in range(self.options.rounds):
            for name in order.sample(list(launches), len(launches)):
                launch = launches[name]
                emit(begin=name)
                times[name].append(cold_median(launch, self.options.milliseconds))
        return {name: values for name, values in times.items() if values}


def work(options):
    configs = [kernels.read(path) for path in options.worker.split(",")]
    if options.by_folder:
        by_folder(configs)
    contest = Contest(options, configs)
    contest.check()
    warm = torch.randn(8192, 8192, device=contest.device, dtype=torch.bfloat16)
    matmul = cold_median(lambda: warm @ warm, 300)
    emit(matmul=2 * 8192**3 / matmul / 1e9)
    for length in options.lengths:
        emit(length=length, times=contest.time(length))
        torch.cuda.empty_cache()


def flops(config, length):
    heads = HIDDEN // config.head_dim
    total = 2 * (TOKENS // length) * heads * length**2
    total *= config.head_dim + config.head_dim_vo
    return total / 2 if config.alignment else total


def summarize(config, length, times):
    """One row a contender."""
    rows = []
    first = next((name for name in times if name not in PEERS), None)
    for name, values in times.items():
        median = statistics.median(values)
        row = {
            "head_dim": config.head_dim,
            "mask": config.mask,
            "length": length,
            "name": name,
            "ms": median,
            "tflops": flops(config, length) / median / 1e9,
        }
        for other in [*PEERS, first]:
            if other in times:
                # Round by round: both ran within a second of each other.
                ratios = [a / b for a, b in zip(times[other], values)]
                key = "first" if other == first else other
                row[f"over_{key}"] = statistics.median(ratios)
        rows.append(row)
    return rows


def run_group(configs, options):
    """All rows of one head dim and mask. A kernel that hangs is left out and
    the rest starts again where it was."""
    rows, remaining, lengths = [], list(configs), list(options.lengths)
    while remaining and lengths:
        paths = ",".join(config.path for config in remaining)
        arguments = [os.path.abspath(__file__), "--worker", paths]
        arguments += ["--lengths", ",".join(map(str, lengths))]
        arguments += ["--rounds", str(options.rounds), "--device", options.device]
        arguments += ["--milliseconds", str(options.milliseconds)]
        arguments += ["--by-folder"] if options.by_folder else []
        worker = Worker(arguments, SILENCE)
        for event in worker:
            if "times" in event:
                rows += summarize(remaining[0], event["length"], event["times"])
                lengths.remove(event["length"])
            elif "wrong" in event:
                print(f"WRONG {event['wrong']}: {event['fault']}", flush=True)
            elif "matmul" in event:
                print(f"plain bf16 8192^3 product: {event['matmul']:.0f} TFLOP/s")
            elif "note" in event:
                print(event["note"])
        if worker.fault is None:
            break
        print(f"FAULT {worker.doing}: {worker.fault}", flush=True)
        left = [config for config in remaining if config.name != worker.doing]
        if len(left) == len(remaining):
            break  # a peer or the set-up, not one of ours
        remaining = left
    return rows


def show(rows, lengths):
    """A line a contender: TFLOP/s (ratio to cuDNN, to FA2, to our first)."""
    cells = {(row["name"], row["length"]): row for row in rows}
    names = list(dict.fromkeys(row["name"] for row in rows))
    print(f"{'':24s}" + "".join(f"{length:>20d}" for length in lengths))
    for name in names:
        line = f"{name[-60:]:24s}" + (f"\n{'':24s}" if len(name) > 23 else "")
        for length in lengths:
            row = cells.get((name, length))
            if row is None:
                line += f"{'-':>20s}"
                continue
            ratios = [f"{row[f'over_{p}']:.2f}" for p in PEERS if f"over_{p}" in row]
            if "/" in name:
                ratios.append(f"{row['over_first']:.3f}")
            text = f"{row['tflops']:.0f}"
            if name not in PEERS:
                text += f" ({' '.join(ratios)})"
            line += f"{text:>20s}"
        print(line, flush=True)


def numbers(text):
    return [int(part) for part in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--head-dims", type=numbers, default=[64, 128, 256])
    parser.add_argument("--lengths", type=numbers, default=LENGTHS)
    parser.add_argument("--masks", default="full,causal")
    parser.add_argument("--kernel", default="", metavar="REGEX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=40, help="for one median")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--by-folder", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def comparable(config):
    """The peers run what the grid says: one head count, both head dims equal."""
    plain = config.group == 1 and config.head_dim == config.head_dim_vo
    plain = plain and not config.scalars and not config.pinned
    return plain and config.unsupported is None


def is_artifact(path, folders):
    """Whether writing there would replace one of the kernels."""
    if not os.path.exists(path):
        return False
    for config in kernels.find(folders):
        stem = os.path.splitext(config.path)[0]
        for part in (stem + ending for ending in (".json", ".ptx", ".cubin")):
            if os.path.exists(part) and os.path.samefile(part, path):
                return True
    return False


def main():
    options = parse_arguments()
    if options.worker:
        return work(options)
    if options.json and is_artifact(options.json, options.folders):
        print(f"error: --json: expected no kernel, but got '{options.json}'")
        return 2
    found = kernels.find(options.folders, options.kernel)
    options.by_folder = len(options.folders) > 1
    if options.by_folder:
        by_folder(found)
    rows = []
    for head_dim in options.head_dims:
        for mask in options.masks.split(","):
            group = [c for c in found if comparable(c)]
            group = [c for c in group if c.head_dim == head_dim and c.mask == mask]
            if not group:
                continue
            print(f"== head dim {head_dim}, {mask}", flush=True)
            mine = run_group(group, options)
            show(mine, options.lengths)
            rows += mine
            if options.json:
                with open(options.json, "w", encoding="utf-8") as out:
                    json.dump(rows, out, indent=1)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
