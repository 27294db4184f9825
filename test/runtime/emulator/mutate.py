#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes the synchronisation of a correct kernel, one instruction at a time, and reports what the emulator says.

    mutate.py --launch build/bin/attn-launch --spec SPEC.json --shape b=1,sq=200,sk=300 NAME.json

Works on any PTX file with a manifest; with --attnc it compiles the spec itself. A mutant is "caught" if the emulator reports
a fault, "wrong" if only the numbers are off, "unseen" if all is well as far as it can tell, "idle" if no shape executes the
instruction. Exits with 1 if a mutant is not caught that must be. A compiler may have its reasons for a fence too many, so fences and setmaxnreg may go unseen."""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import pathlib
import re
import subprocess
import tempfile

MAY_GO_UNSEEN = {"wgmma.fence", "fence.proxy.async", "fence.mbarrier_init", "setmaxnreg"}
# Without a copy by threads, which announces no bytes, a stage just keeps what it had.
MAY_BE_WRONG = {"cp.async"}

# A statement of the kind and its guard, up to the semicolon.
STATEMENT = r"(?:@!?[%\w$]+\s+)?(?<![\w.]){}[^;]*;"

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
    ("mbarrier wait", r"mbarrier\.(?:try|test)_wait",
     lambda s: f"setp.eq.u32 {re.search(r'b64 +([%a-zA-Z_$0-9]+)', s)[1]}, 0, 0;"),
    ("cp.async.bulk.tensor", r"cp\.async\.bulk\.tensor", None),
    ("cp.async.bulk.commit_group", r"cp\.async\.bulk\.commit_group", None),
    ("cp.async.bulk.wait_group", r"cp\.async\.bulk\.wait_group", None),
    ("cp.async.mbarrier.arrive", r"cp\.async\.mbarrier\.arrive", None),
    ("cp.async.mbarrier.arrive, twice", r"cp\.async\.mbarrier\.arrive", lambda s: s + " " + s),
    ("cp.async", r"cp\.async\.c[ag]\.", None),
    ("cp.async.commit_group", r"cp\.async\.commit_group", None),
    ("cp.async.wait", r"cp\.async\.wait", None),
    ("barrier", r"(?:bar|barrier)\.(?!warp)", None),
    ("bar.warp.sync", r"bar\.warp\.sync", None),
    ("setmaxnreg", r"setmaxnreg", None),
]


def mutants(text):
    """(what, line, mutated text, text with a trap in its place) of each."""
    for what, opcode, change in MUTATIONS:
        if opcode is None:
            both = re.sub(STATEMENT.format(r"fence\.(?:proxy\.async|mbarrier_init)"), "", text)
            if both != text:
                yield what, 0, both, both
            continue
        for match in re.finditer(STATEMENT.format(opcode), text):
            line = text.count("\n", 0, match.start()) + 1
            replacement = change(match[0]) if change else ""
            before, after = text[:match.start()], text[match.end():]
            guard = re.match(r"@!?[%\w$]+\s+", match[0])
            yield what, line, before + replacement + after, before + (guard[0] if guard else "") + "trap;" + after


def verdict_of(arguments, manifest, mutant):
    """Like verdict(), and 'idle' if a trap in the same place goes unseen too."""
    _, line, text, trapped = mutant
    kind, said = verdict(arguments, manifest, text)
    if kind == "unseen" and line and verdict(arguments, manifest, trapped)[0] == "unseen":
        return "idle", "no shape comes here"
    return kind, said


def verdict(arguments, manifest, text):
    """('caught' | 'wrong' | 'unseen', the first line of what was said)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.json"
        files = {"ptx": "kernel.ptx", "ptx_sha256": hashlib.sha256(text.encode()).hexdigest()}
        path.write_text(json.dumps({**manifest, "files": files}))
        (pathlib.Path(folder) / "kernel.ptx").write_text(text)
        worst = ("unseen", "")
        for shape, seed in itertools.product(arguments.shape, range(arguments.seeds)):
            command = [arguments.launch, "run", str(path), "--spec", arguments.spec, "--shape", shape,
                       "--device", "emulator", "--emulator-seed", str(seed), *arguments.extra]
            run = subprocess.run(command, capture_output=True, text=True, timeout=300)
            said = run.stdout + run.stderr
            fault = re.search(r"^error: (.*)$", said, re.M)
            if fault:
                return "caught", re.sub(r"^kernel '[^']*': ", "", fault[1])
            if run.returncode:
                worst = ("wrong", (re.search(r"^result: *(.*)$", said, re.M) or [0, said[-200:]])[1])
        return worst


def artifact(arguments):
    """The manifest and the PTX."""
    if arguments.manifest:
        path = pathlib.Path(arguments.manifest)
        manifest = json.loads(path.read_text())
        return manifest, (path.parent / manifest["files"]["ptx"]).read_text()
    if not arguments.attnc:
        raise SystemExit("expected a manifest or --attnc")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.attnc, "compile", arguments.module or arguments.spec, "-o", folder], check=True)
        (path,) = pathlib.Path(folder).glob("*.json")
        manifest = json.loads(path.read_text())
        return manifest, (path.parent / manifest["files"]["ptx"]).read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", nargs="?")
    parser.add_argument("--attnc", help="the program attnc, to compile the spec")
    parser.add_argument("--launch", required=True, help="the program attn-launch")
    parser.add_argument("--spec", required=True)
    parser.add_argument("--module", help="a module with the spec's attention and a schedule, to compile in its place")
    parser.add_argument("--shape", required=True, action="append", help="may be repeated: a mutant needs to fail on one")
    parser.add_argument("--seeds", type=int, default=2, help="orders of warps to try")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="say what was said of each")
    parser.add_argument("--flag", dest="extra", action="append", default=[], help="one more word for attn-launch")
    arguments = parser.parse_args()
    manifest, text = artifact(arguments)
    kind, said = verdict(arguments, manifest, text)
    if kind != "unseen":
        raise SystemExit(f"the kernel itself is {kind}: {said}")
    found = list(mutants(text))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda m: verdict_of(arguments, manifest, m), found))
    table = collections.defaultdict(collections.Counter)
    for (what, line, *_), (kind, said) in zip(found, verdicts):
        table[what][kind] += 1
        if arguments.verbose or kind != "caught":
            print(f"{kind:7} line {line:5} {what}: {said[:200]}")
    kinds = ("caught", "wrong", "unseen", "idle")
    print(f"{'removed':32}", *(f"{kind:>7}" for kind in kinds))
    for what, counts in [*table.items(), ("all", sum(table.values(), collections.Counter()))]:
        print(f"{what:32}", *(f"{counts[kind]:7}" for kind in kinds))
    missed = [what for what, counts in table.items()
              if (counts["wrong"] and what not in MAY_BE_WRONG or counts["unseen"]) and what not in MAY_GO_UNSEEN]
    if missed:
        raise SystemExit("not caught: " + ", ".join(missed))


if __name__ == "__main__":
    main()
