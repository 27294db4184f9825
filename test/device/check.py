#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks compiled kernels on a GPU against float64, over many shapes.

usage: check.py [--big] [--only REGEX] [--kernel REGEX] [--json FILE] FOLDER ...

FOLDER holds NAME.json beside NAME.cubin or NAME.ptx. Each kernel runs in a
process of its own; one that hangs or crashes is killed and the checks go on
after the one it was at. Ends with `N passed, N failed, N skipped`."""

import argparse
import itertools
import json
import os
import re
import sys

import torch

import attention
import kernels
from kernels import attn_runtime
from placement import place
from watchdog import Worker, emit

SILENCE = 90  # seconds
EDGES = [1, 2, 63, 64, 65, 79, 80, 81, 127, 128, 129, 191, 192, 193, 257, 384, 511]


class Fault(Exception):
    pass


def require(fault):
    if fault:
        raise Fault(fault)


class Bench:
    """One kernel, ready to run on tensors placed as a check wants them."""

    def __init__(self, config, device):
        self.config = config
        self.device = device
        self.kernel = kernels.load(config, device)
        self.torch_device = "cuda" if device == "cuda" else "cpu"
        torch.manual_seed(1)

    def dims(self, b, sq, sk, kv_heads=1):
        c = self.config
        b = c.pinned.get("batch", b)
        sq, sk = c.pinned.get("seqlen_q", sq), c.pinned.get("seqlen_k", sk)
        heads = kv_heads * c.group
        return {
            "q": (b, heads, sq, c.head_dim),
            "k": (b, kv_heads, sk, c.head_dim),
            "v": (b, kv_heads, sk, c.head_dim_vo),
            "o": (b, heads, sq, c.head_dim_vo),
        }

    def normal(self, dims, **how):
        how.setdefault("order", self.config.layout)
        out = place(dims, self.config.dtype, device=self.torch_device, **how)
        values = torch.randn(dims, device=self.torch_device, dtype=torch.float32)
        out.view.copy_(values)
        return out.view

    def inputs(self, dims):
        return [self.normal(dims[name]) for name in "qkv"]

    def outputs(self, dims, **how):
        how.setdefault("order", self.config.layout)
        o = place(dims["o"], self.config.dtype, device=self.torch_device, **how)
        lse_dims = (*dims["o"][:3], 1)
        lse = place(lse_dims, torch.float32, "bhsd", device=self.torch_device)
        return o, lse

    def run(self, q, k, v, dims, scale=None, grid_limit=0, **how):
        """(o, lse or None), both checked for writes outside."""
        o, lse = self.outputs(dims, **how)
        launch = kernels.prepare(
            self.config,
            self.kernel,
            q,
            k,
            v,
            o.view,
            lse.view[..., 0],
            scale,
            grid_limit,
        )
        launch()
        if self.torch_device == "cuda":
            torch.cuda.synchronize()
        result = o.view.clone(), lse.view[..., 0].clone() if self.config.lse else None
        if not o.untouched() or not lse.untouched():
            raise Fault("wrote outside its output")
        return result

    def check(self, q, k, v, dims, scale=None, rows=None, **how):
        o, lse = self.run(q, k, v, dims, scale, **how)
        scale = self.config.scale if scale is None else scale
        require(attention.compare(self.config, q, k, v, o, lse, scale, rows))
        return o, lse

    def same_bits(self, first, second):
        for name, a, b in zip(("o", "lse"), first, second):
            if a is None:
                continue
            bits = torch.int16 if a.element_size() == 2 else torch.int32
            if not torch.equal(a.contiguous().view(bits), b.contiguous().view(bits)):
                raise Fault(f"{name}: expected the same bits as before")

    def repeat(self, first, inputs, dims, times):
        for _ in range(times):
            self.same_bits(first, self.run(*inputs, dims))


# The checks. Each takes a Bench and raises Fault.


def tile_edges(bench):
    for sq, sk in itertools.product(EDGES, EDGES):
        dims = bench.dims(1, sq, sk)
        try:
            bench.check(*bench.inputs(dims), dims)
        except Fault as fault:
            raise Fault(f"sq={sq}, sk={sk}: {fault}") from fault


def random_lengths(bench):
    generator = torch.Generator().manual_seed(3)
    for _ in range(40):
        b, sq, sk, heads = (
            int(torch.randint(1, high, (1,), generator=generator))
            for high in (4, 900, 900, 4)
        )
        dims = bench.dims(b, sq, sk, heads)
        try:
            bench.check(*bench.inputs(dims), dims)
        except Fault as fault:
            raise Fault(
                f"b={b}, sq={sq}, sk={sk}, {heads} kv heads: {fault}"
            ) from fault


def zero_lengths(bench):
    for sq, sk in ((0, 50), (50, 0), (300, 0), (0, 0)):
        dims = bench.dims(2, sq, sk, 2)
        bench.check(*bench.inputs(dims), dims)


def strided_views(bench):
    dims = bench.dims(2, 77, 150, 2)
    ways = [
        {"order": "bhsd"},
        {"order": "bshd"},
        {"order": "shbd"},
        {"order": "bhsd", "padding": 8, "gap": 64},
        {"order": "bshd", "padding": 24, "offset": 8},
        {"order": "hbsd", "offset": 136, "gap": 8},
    ]
    plain = None
    torch.manual_seed(5)
    values = [torch.randn(dims[n], device=bench.torch_device) for n in "qkv"]
    for way in ways:
        placed = [
            place(dims[n], bench.config.dtype, device=bench.torch_device, **way)
            for n in "qkv"
        ]
        for tensor, value in zip(placed, values):
            tensor.view.copy_(value)
        views = [tensor.view for tensor in placed]
        result = bench.check(*views, dims, **way)
        if plain is not None:
            bench.same_bits(plain, result)
        plain = plain or result


def broadcast_views(bench):
    dims = bench.dims(3, 70, 130, 3)
    q = bench.normal(dims["q"])
    one = bench.dims(1, 70, 130, 1)
    k, v = (bench.normal(one[n]).expand(dims[n]) for n in "kv")
    bench.check(q, k, v, dims)


def unseen_keys(bench):
    if bench.config.alignment != "top_left":
        return
    dims = bench.dims(2, 90, 300, 2)
    q, k, v = bench.inputs(dims)
    k[:, :, 90:], v[:, :, 90:] = torch.nan, torch.inf
    bench.check(q, k, v, dims)


def empty_rows(bench):
    """A query before the first key sees none: exactly 0 and -inf, where the
    bar would let through what a division by a tiny sum leaves."""
    if bench.config.alignment != "bottom_right":
        return
    dims = bench.dims(1, 2048, 1024)
    o, lse = bench.check(*bench.inputs(dims), dims)
    empty = max(0, dims["q"][2] - dims["k"][2])
    if bool((o[:, :, :empty] != 0).any()):
        raise Fault(f"o: expected rows 0 to {empty - 1} to be zero")
    if lse is not None and bool((lse[:, :, :empty] != -torch.inf).any()):
        raise Fault(f"lse: expected rows 0 to {empty - 1} to be -inf")


def nan_rows(bench):
    dims = bench.dims(2, 150, 150, 2)
    q, k, v = bench.inputs(dims)
    k[:, :, 100:], v[:, :, 100:] = torch.nan, torch.nan
    if bench.config.alignment is None:
        k[0], v[0] = 1, 1
    q[1, 0, 33, 5] = torch.nan
    bench.check(q, k, v, dims)


def restless_maxima(bench):
    """Rows whose maximum moves late, by much, or first and never again."""
    dims = bench.dims(1, 200, 1000, 2)
    j = torch.arange(dims["k"][2], device=bench.torch_device)
    unit = bench.config.head_dim**0.5
    ramps = {
        "ramp": j / 1000 * 60,
        "jump": torch.where(j >= 500, 80.0, 0.0),
        "small jump": torch.where(j >= 500, 12.0, 0.0),
        "spikes": torch.where(j % 301 == 300, 40.0, 0.0),
        "fall": torch.where(j < 10, 80.0, 0.0),
        "huge jump": torch.where(j >= 700, 3000.0 / unit, 0.0),
    }
    for name, ramp in ramps.items():
        q, k, v = bench.inputs(dims)
        q[..., 0] = 1
        k[..., 0] = (ramp * unit).to(k.dtype)
        try:
            bench.check(q, k, v, dims)
        except Fault as fault:
            raise Fault(f"{name}: {fault}") from fault
    q, k, v = bench.inputs(dims)
    bench.check(q * 4, k * 2, v, dims)


def scales(bench):
    dims = bench.dims(1, 100, 200)
    for scale in (1e-4, 0.02, 0.5):
        bench.check(*bench.inputs(dims), dims, scale=scale)


def widths_and_caps(bench):
    """A window may be one key or wider than any length, a cap small or large."""
    config = bench.config
    if not config.scalars:
        return
    kept = config.left, config.right, config.softcap
    values = [
        (0, 0, 1.0),
        (1, 0, 3.0),
        (0, 63, 0.01),
        (64, 64, 1000.0),
        (500, 7, 1e6),
        (2**31 - 1, 2**31 - 1, 5.0),
    ]
    try:
        for config.left, config.right, config.softcap in values:
            for sq, sk in ((1, 300), (200, 200), (150, 700), (700, 150)):
                dims = bench.dims(1, sq, sk, 2)
                try:
                    bench.check(*bench.inputs(dims), dims)
                except Fault as fault:
                    raise Fault(f"{config.rule}, sq={sq}, sk={sk}: {fault}") from fault
    finally:
        config.left, config.right, config.softcap = kept


def large_scores(bench):
    """Products far above what 16 bits hold; the weights follow from their
    differences. Equal keys share, and the largest takes all."""
    dims = bench.dims(1, 40, 70, 2)
    for size in (300.0, 6e4, 1.3e5 if bench.config.dtype == torch.bfloat16 else 6.5e4):
        q, k, v = bench.inputs(dims)
        q.fill_(size)
        k.fill_(size)
        bench.check(q, k, v, dims)
        k[:, :, 1::2] *= 0.5
        bench.check(q, k, v, dims)


def same_bits(bench):
    dims = bench.dims(3, 700, 700, 3)
    inputs = bench.inputs(dims)
    first = bench.check(*inputs, dims)
    bench.repeat(first, inputs, dims, 20)
    for limit in (1, 5, 7, 131):
        bench.same_bits(first, bench.run(*inputs, dims, grid_limit=limit))


def many_heads(bench):
    dims = bench.dims(70000, 2, 3)
    bench.check(*bench.inputs(dims), dims)


def heads_past_grid(bench):
    """65536 heads of one sequence: one more than gridDim.y and z can be. A
    launch that failed unnoticed would leave the poison."""
    dims = bench.dims(1, 10, 10, -(-65536 // bench.config.group))
    bench.check(*bench.inputs(dims), dims)


def heads_times_batches(bench):
    """A batch of images cut into windows: a million tiles, none of them full,
    that from head dim 64 on lie more than 2^31 bytes apart. Compared whole."""
    heads = max(1, 729 // bench.config.group)
    dims = bench.dims(1600, 16, 16, heads)
    bench.check(*bench.inputs(dims), dims)


def many_short_problems(bench):
    """Far more blocks than fit at once, each done after few keys: a block that
    starts before its predecessor let go of a buffer shows as other bits."""
    # With the diagonal in the bottom right corner, more rows would see no key.
    rows = 128 if bench.config.alignment == "bottom_right" else 2048
    dims = bench.dims(300, rows, 128)
    inputs = bench.inputs(dims)
    first = bench.check(*inputs, dims)
    bench.repeat(first, inputs, dims, 50)


def refusals(bench):
    """What TMA cannot take must be refused or right, never wrong."""
    dims = bench.dims(1, 64, 64)
    for way in ({"offset": 1}, {"padding": 1}, {"padding": 4}):
        q, k, v = bench.inputs(dims)
        k = bench.normal(dims["k"], **way)
        try:
            bench.check(q, k, v, dims)
        except attn_runtime.Error as error:
            if error.code not in (2, 3) or "k" not in str(error):
                raise Fault(f"{way}: {error}") from error


def sampled_rows(bench, sq, count=48):
    rows = torch.randint(0, sq, (count,), device=bench.torch_device)
    rows[:3] = torch.tensor([0, sq // 2, sq - 1])
    return rows


def million_keys(bench):
    dims = bench.dims(1, 1_000_000, 1_000_000)
    bench.check(*bench.inputs(dims), dims, rows=sampled_rows(bench, dims["q"][2]))


def long_keys(bench):
    """K and V of more than 2^31 elements: 360000 keys of head dim 128."""
    c = bench.config
    sk = 360_000 * 128 // min(c.head_dim, c.head_dim_vo)
    dims = bench.dims(1, 128, sk, 48)
    bench.check(*bench.inputs(dims), dims, rows=sampled_rows(bench, dims["q"][2], 8))


def long_queries(bench):
    """Q and O of more than 2^31 elements."""
    c = bench.config
    width = 8 * c.group * min(c.head_dim, c.head_dim_vo)
    dims = bench.dims(1, 2**31 // width + 1000, 64, 8)
    bench.check(*bench.inputs(dims), dims, rows=sampled_rows(bench, dims["q"][2]))


def far_batches(bench):
    """Batch entries more than 2^31 elements apart."""
    dims = bench.dims(2, 100, 200)
    gap = 2**31 + 512
    q = bench.normal(dims["q"])
    k, v = (bench.normal(dims[n], gap=gap) for n in "kv")
    bench.check(q, k, v, dims, gap=gap)


SMALL = [tile_edges, random_lengths, zero_lengths, strided_views, broadcast_views]
SMALL += [unseen_keys, empty_rows, nan_rows, restless_maxima, scales, same_bits]
SMALL += [refusals, widths_and_caps, large_scores]
BIG = [many_heads, heads_past_grid, heads_times_batches, many_short_problems]
BIG += [million_keys, long_keys, long_queries, far_batches]


def chosen(options):
    return [
        f
        for f in SMALL + (BIG if options.big else [])
        if re.search(options.only, f.__name__)
    ]


def work(options):
    """The worker: all checks of one kernel from the given one on."""
    bench = Bench(kernels.read(options.worker), options.device)
    for check in chosen(options)[options.start :]:
        emit(begin=check.__name__)
        fault = None
        try:
            check(bench)
        except (Fault, attn_runtime.Error) as error:
            fault = str(error)
        except torch.OutOfMemoryError as error:
            fault = f"out of memory: {str(error)[:120]}"
        if bench.torch_device == "cuda":
            torch.cuda.empty_cache()
        emit(done=check.__name__, fault=fault)


def run_kernel(config, options):
    """[(check, fault or None)] of one kernel, restarted after every hang."""
    names = [check.__name__ for check in chosen(options)]
    results = []
    while len(results) < len(names):
        arguments = [os.path.abspath(__file__), "--worker", config.path]
        arguments += ["--start", str(len(results)), "--only", options.only]
        arguments += ["--device", options.device] + (["--big"] if options.big else [])
        worker = Worker(arguments, options.silence)
        for event in worker:
            if "done" in event:
                results.append((event["done"], event["fault"]))
        if worker.fault is None:
            break
        if len(results) < len(names):
            fault = worker.fault if worker.doing else f"{worker.fault} at the start"
            results.append((names[len(results)], fault))
        if worker.doing is None:
            break  # it cannot even be loaded
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--big", action="store_true", help="also what takes gigabytes")
    parser.add_argument("--only", default="", metavar="REGEX", help="checks")
    parser.add_argument("--kernel", default="", metavar="REGEX")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--silence", type=float, default=SILENCE, metavar="SECONDS")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    rows, skipped = [], 0
    for config in kernels.find(options.folders, options.kernel):
        if config.unsupported:
            print(f"SKIP {config.name}: {config.unsupported}")
            skipped += 1
            continue
        results = run_kernel(config, options)
        bad = [(check, fault) for check, fault in results if fault]
        print(
            f"{'FAIL' if bad else 'PASS'} {config.name}: {len(results) - len(bad)} of {len(results)} checks",
            flush=True,
        )
        for check, fault in bad:
            print(f"    {check}: {fault}", flush=True)
        rows += [{"kernel": config.name, "check": c, "fault": f} for c, f in results]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)
    failed = sum(row["fault"] is not None for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
