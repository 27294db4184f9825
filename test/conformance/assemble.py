#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and assembles every shipped configuration, without a GPU.

usage: assemble.py [--attnc FILE] [--ptxas FILE] [--target T ...] [--brief] [--jobs N]

A kernel whose asynchronous products ptxas had to serialise (its notes C75xx) or
whose registers it spilled is slow without saying so, and so is one about which
attnc remarks that an optimisation was not done; here it fails. --brief asks
for bf16 at every head dim and for f16 at a few: in style fa2 their code differs
in the names of types alone. Ends with `N passed, N failed, N skipped`. Standard
library only."""

import argparse
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD_DIMS = range(8, 257, 8)
BRIEF_HEAD_DIMS = (64, 96, 128, 256)
TIMEOUT = 300  # seconds

SPILL = re.compile(r"[1-9]\d* bytes spill")
REMARK = re.compile(r"^remark: ", re.MULTILINE)
SERIALISED = re.compile(r"\(C75\d\d\)|\bC75\d\d\b")


def specs(targets, brief):
    """Every head dim, dtype and mask; what else changes code, at a few."""
    for target, dtype in itertools.product(targets, ("bf16", "f16")):
        base = {"version": 1, "target": target, "dtype": dtype, "num_qo_heads": 8}
        masks = [None] + [
            {"kind": "causal", "alignment": side}
            for side in ("top_left", "bottom_right")
        ]
        head_dims = BRIEF_HEAD_DIMS if brief and dtype == "f16" else HEAD_DIMS
        for head_dim, mask in itertools.product(head_dims, masks):
            spec = {**base, "head_dim_qk": head_dim, "lse": True}
            yield {**spec, "mask": mask} if mask else spec
        if brief and dtype == "f16":
            continue
        for head_dim in (64, 128, 256):
            yield {**base, "head_dim_qk": head_dim}
            yield {**base, "head_dim_qk": head_dim, "layout": "bhsd"}
            yield {**base, "head_dim_qk": head_dim, "seqlen_q": 512, "seqlen_k": 512}
            yield {**base, "head_dim_qk": head_dim, "num_kv_heads": 2, "mask": masks[2]}
        for qk, vo in ((192, 128), (64, 128), (40, 256)):
            yield {**base, "head_dim_qk": qk, "head_dim_vo": vo}


def call(command):
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()


def fault(options, spec):
    """What is wrong with the kernel of this spec, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spec.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(spec, out)
        kernels = os.path.join(folder, "out")
        os.mkdir(kernels)
        code, text = call([options.attnc, "compile", path, "-o", kernels])
        if code != 0:
            return f"attnc ended with status {code}: {text[:300]}"
        if REMARK.search(text):
            return f"attnc: {text[:300]}"
        names = [name for name in os.listdir(kernels) if name.endswith(".ptx")]
        if len(names) != 1:
            return f"expected one PTX file, but got {names}"
        ptx, cubin = os.path.join(kernels, names[0]), os.path.join(folder, "cubin")
        arch = f"-arch={spec['target']}"
        code, text = call([options.ptxas, "-v", arch, ptx, "-o", cubin])
        if code != 0:
            return f"ptxas ended with status {code}: {text[:300]}"
        for pattern in (SPILL, SERIALISED):
            for line in text.splitlines():
                if pattern.search(line):
                    return f"ptxas: {line.strip()[:300]}"
    return None


def find_ptxas():
    home = os.environ.get("CUDA_HOME")
    places = [os.environ.get("PTXAS"), "ptxas", home and f"{home}/bin/ptxas"]
    return next(filter(None, (shutil.which(place) for place in places if place)), None)


def guarded(options, spec):
    try:
        return fault(options, spec)
    except subprocess.TimeoutExpired as late:
        return f"still running after {TIMEOUT} s: {late.cmd[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attnc", default=os.path.join(ROOT, "build", "bin", "attnc"))
    parser.add_argument("--ptxas", default=find_ptxas())
    parser.add_argument("--target", nargs="+", default=["sm_90a"])
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    wanted = list(specs(options.target, options.brief))
    if options.ptxas is None:
        print("found no ptxas in $PTXAS, PATH or $CUDA_HOME")
        print(f"0 passed, 0 failed, {len(wanted)} skipped")
        return 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for spec, why in zip(wanted, pool.map(lambda s: guarded(options, s), wanted)):
            if why:
                failed += 1
                print(f"FAIL {json.dumps(spec)}: {why}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
