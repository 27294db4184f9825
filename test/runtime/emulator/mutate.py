#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes the synchronisation of a correct kernel, one instruction at a time, and reports what the emulator says.

    mutate.py --launch build/bin/attn-launch --spec SPEC.json --shape b=1,sq=200,sk=300 NAME.json

Works on any PTX file with a manifest. A mutant is "caught" if the emulator reports a fault, "wrong" if only the numbers
are off, "unseen" if all is well as far as it can tell. Exits with 1 if more than --allow-unseen mutants go unseen."""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import tempfile

# A statement of the kind and its guard, up to the semicolon.
STATEMENT = r"(?:@!?[%\w$]+\s+)?\b{}[^;]*;"

# (what, opcode, replacement of the match; None removes it)
MUTATIONS = [
    ("wgmma.fence", r"wgmma\.fence", None),
    ("wgmma.commit_group", r"wgmma\.commit_group", None),
    ("wgmma.wait_group", r"wgmma\.wait_group", None),
    ("wgmma.wait_group, one fewer", r"wgmma\.wait_group", lambda s: re.sub(r"(\d+);$", lambda m: f"{int(m[1]) + 1};", s)),
    ("fence.proxy.async", r"fence\.proxy\.async", None),
    ("fence.mbarrier_init", r"fence\.mbarrier_init", None),
    ("all fences after mbarrier.init", None, None),
    ("mbarrier.init", r"mbarrier\.init", None),
    ("mbarrier.arrive", r"mbarrier\.arrive\.(?!expect_tx)", None),
    ("mbarrier.arrive, twice", r"mbarrier\.arrive\.(?!expect_tx)", lambda s: s + " " + s),
    ("mbarrier.arrive.expect_tx", r"mbarrier\.arrive\.expect_tx", None),
    ("expect_tx without its bytes", r"mbarrier\.arrive\.expect_tx",
     lambda s: re.sub(r",[^,;]*;$", ";", s.replace(".expect_tx", ""))),
    ("mbarrier wait", r"mbarrier\.try_wait",
     lambda s: f"setp.eq.u32 {re.search(r'b64 +([%a-zA-Z_$0-9]+)', s)[1]}, 0, 0;"),
    ("cp.async.bulk.tensor", r"cp\.async\.bulk\.tensor", None),
    ("cp.async.bulk.commit_group", r"cp\.async\.bulk\.commit_group", None),
    ("cp.async.bulk.wait_group", r"cp\.async\.bulk\.wait_group", None),
    ("cp.async.commit_group", r"cp\.async\.commit_group", None),
    ("cp.async.wait", r"cp\.async\.wait", None),
    ("barrier", r"(?:bar|barrier)\.(?!warp)", None),
    ("bar.warp.sync", r"bar\.warp\.sync", None),
    ("setmaxnreg", r"setmaxnreg", None),
]


def mutants(text):
    """(what, line, mutated text) of each."""
    for what, opcode, change in MUTATIONS:
        if opcode is None:
            both = re.sub(STATEMENT.format(r"fence\.(?:proxy\.async|mbarrier_init)"), "", text)
            if both != text:
                yield what, 0, both
            continue
        for match in re.finditer(STATEMENT.format(opcode), text):
            line = text.count("\n", 0, match.start()) + 1
            replacement = change(match[0]) if change else ""
            yield what, line, text[:match.start()] + replacement + text[match.end():]


def verdict(arguments, manifest, text):
    """('caught' | 'wrong' | 'unseen', the first line of what was said)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.json"
        path.write_text(json.dumps({**manifest, "files": {"ptx": "kernel.ptx", "cubin": None}}))
        (pathlib.Path(folder) / "kernel.ptx").write_text(text)
        worst = ("unseen", "")
        for seed in range(arguments.seeds):
            command = [arguments.launch, "run", str(path), "--spec", arguments.spec, "--shape", arguments.shape,
                       "--device", "emulator", "--emulator-seed", str(seed), *arguments.extra]
            run = subprocess.run(command, capture_output=True, text=True, timeout=300)
            said = run.stdout + run.stderr
            fault = re.search(r"^error: (.*)$", said, re.M)
            if fault:
                return "caught", re.sub(r"^kernel '[^']*': ", "", fault[1])
            if run.returncode:
                worst = ("wrong", (re.search(r"^result: *(.*)$", said, re.M) or [0, said[-200:]])[1])
        return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest")
    parser.add_argument("--launch", required=True, help="the program attn-launch")
    parser.add_argument("--spec", required=True)
    parser.add_argument("--shape", required=True)
    parser.add_argument("--seeds", type=int, default=2, help="orders of warps to try")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--allow-unseen", type=int, default=10**6)
    parser.add_argument("--verbose", action="store_true", help="say what was said of each")
    parser.add_argument("extra", nargs="*", help="more flags of attn-launch, after --")
    arguments = parser.parse_args()
    path = pathlib.Path(arguments.manifest)
    manifest = json.loads(path.read_text())
    text = (path.parent / manifest["files"]["ptx"]).read_text()
    kind, said = verdict(arguments, manifest, text)
    if kind != "unseen":
        raise SystemExit(f"the kernel itself is {kind}: {said}")
    found = list(mutants(text))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda m: verdict(arguments, manifest, m[2]), found))
    table = collections.defaultdict(collections.Counter)
    for (what, line, _), (kind, said) in zip(found, verdicts):
        table[what][kind] += 1
        if arguments.verbose or kind != "caught":
            print(f"{kind:7} line {line:5} {what}: {said[:200]}")
    print(f"{'removed':32} {'caught':>7} {'wrong':>7} {'unseen':>7}")
    for what, counts in table.items():
        print(f"{what:32} {counts['caught']:7} {counts['wrong']:7} {counts['unseen']:7}")
    total = sum(table.values(), collections.Counter())
    print(f"{'all':32} {total['caught']:7} {total['wrong']:7} {total['unseen']:7}")
    raise SystemExit(1 if total["unseen"] > arguments.allow_unseen else 0)


if __name__ == "__main__":
    main()
