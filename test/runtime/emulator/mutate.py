#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes or breaks the synchronisation of a correct kernel, one instruction at a time, and reports what the emulator says.

    mutate.py --launch build/bin/attn-launch --spec SPEC.json --shape b=1,sq=200,sk=300 NAME.json

Works on any PTX file with a manifest; with --attnc it compiles the spec itself. A mutant is "caught" if the emulator reports
a fault, "wrong" if only the numbers are off, "unseen" if all is well as far as it can tell, "idle" if no shape executes the
instruction. Exits with 1 if a mutant is not caught that must be; REDUNDANT says which may go unseen, and why."""
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

# What may go unseen, for the mutant is a correct program too.
REDUNDANT = {
    "wgmma.fence": "some are there for the assembler's sake only: no register was touched since the last one",
    "fence.proxy.async": "fence.mbarrier_init before it makes the barriers visible, and nothing else was written",
    "fence.mbarrier_init": "fence.proxy.async behind it is for barriers too",
    "fence.proxy.async of .global": "as without it",
    "setmaxnreg": "without more registers the assembler spills",
}
# Here the numbers are what is wrong: nothing of the order in which things happen is.
MAY_BE_WRONG = {
    "cp.async",  # which announces no bytes, so that a stage just keeps what it had
    "cp.async, another place",
    "coordinate",
    "descriptor: address",
    "descriptor: stride",
    "descriptor: swizzle",
    "stage",
    "registers",
}

# A statement of the kind and its guard, up to the semicolon.
STATEMENT = r"(?:@!?[%\w$]+\s+)?(?<![\w.]){}[^;]*;"



def with_changed(statement, register, change):
    """The statement in a block that reads a changed copy of a register."""
    kind = "b64" if register.startswith("%rd") else "b32"
    at = statement.rindex(register)
    body = statement[:at] + "attn_copy" + statement[at + len(register):]
    opcode, operand = change
    return f"{{ .reg .{kind} attn_copy; {opcode} attn_copy, {register}, {operand}; {body} }}"


def last_register(statement, pattern=r"%rd?\d+"):
    found = re.findall(pattern, statement)
    return found[-1] if found else None


def change_last(opcode, operand, pattern=r"%rd?\d+"):
    """Changes what the last register of the statement holds."""
    def change(statement):
        register = last_register(statement, pattern)
        return with_changed(statement, register, (opcode, operand)) if register else statement
    return change


def change_descriptor(bit):
    return change_last("xor.b64", str(1 << bit), r"%rd\d+")


def move_address(which, by):
    """Adds to the offset of the first or last address."""
    def change(statement):
        addresses = list(re.finditer(r"\[(%rd?\d+)(?:\+(\d+))?\]", statement))
        match = addresses[which]
        offset = int(match[2] or 0) + by
        return f"{statement[:match.start()]}[{match[1]}+{offset}]{statement[match.end():]}"
    return change


def change_coordinate(statement):
    """The last but one coordinate of a tensor copy: the row."""
    match = re.search(r"\{([^}]*)\}", statement)
    coordinates = [c.strip() for c in match[1].split(",")]
    row = coordinates[-2]
    block = statement[:match.start()] + "{" + ", ".join(coordinates[:-2] + ["attn_copy", coordinates[-1]]) + "}" + \
        statement[match.end():]
    return f"{{ .reg .b32 attn_copy; add.s32 attn_copy, {row}, 1; {block} }}"


def swap_registers(statement):
    """The first two of the vector."""
    return re.sub(r"\{\s*(%\w+),\s*(%\w+)", r"{\2, \1", statement, count=1)


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
    ("all bar.warp.sync", None, r"bar\.warp\.sync"),
]
# The same of what is there, but wrong.
CHANGES = [
    ("another barrier to arrive at", r"mbarrier\.arrive\.", move_address(-1, 8)),
    ("another barrier to wait for", r"mbarrier\.(?:try|test)_wait", move_address(-1, 8)),
    ("another barrier of a copy", r"cp\.async\.bulk\.tensor", move_address(-1, 8)),
    ("another barrier of copies", r"cp\.async\.mbarrier\.arrive", move_address(-1, 8)),
    ("parity", r"mbarrier\.(?:try|test)_wait", change_last("xor.b32", "1", r"%r\d+")),
    ("byte count, more", r"mbarrier\.arrive\.expect_tx", change_last("add.s32", "16", r"%r\d+")),
    ("byte count, fewer", r"mbarrier\.arrive\.expect_tx", change_last("add.s32", "-16", r"%r\d+")),
    ("coordinate", r"cp\.async\.bulk\.tensor", change_coordinate),
    ("descriptor: address", r"wgmma\.mma_async", change_descriptor(3)),
    ("descriptor: stride", r"wgmma\.mma_async", change_descriptor(32)),
    ("descriptor: swizzle", r"wgmma\.mma_async", change_descriptor(62)),
    ("stage", r"cp\.async\.bulk\.tensor", move_address(0, 1024)),
    ("cp.async, another place", r"cp\.async\.c[ag]\.", move_address(0, 16)),
    ("registers", r"(?:wgmma\.mma_async|mma\.sync)", swap_registers),
    ("fence.proxy.async of .global", r"fence\.proxy\.async", lambda s: "fence.proxy.async.global;"),
    ("fence.proxy.async of .global alone", None, "fence"),
    ("arrival count, more", r"mbarrier\.init", change_last("add.s32", "1", r"%r\d+")),
    ("arrival count, fewer", r"mbarrier\.init", change_last("add.s32", "-1", r"%r\d+")),
    ("early release", None, "release"),
]


def early_releases(text):
    """Each arrival by one lane, before what it waits for: a wait of the warp or its synchronisation."""
    for match in re.finditer(STATEMENT.format(r"mbarrier\.arrive\.(?!expect_tx)"), text):
        waits = list(re.finditer(STATEMENT.format(r"(?:wgmma\.wait_group|bar\.warp\.sync)"), text[:match.start()]))
        if not waits:
            continue
        between = text[waits[-1].end():match.start()]
        # Neither past a label or branch, nor past the making of its address.
        register = re.search(r"\[(%\w+)", match[0])[1]
        if re.search(r":\s|\bbra\b", between) or re.search(re.escape(register) + r"\s*,", between):
            continue
        at = waits[-1].start()
        line = text.count("\n", 0, match.start()) + 1
        yield line, text[:at] + match[0] + " " + text[at:match.start()] + text[match.end():]


def whole_mutants(what, how, text):
    """(what, line, mutated text, text with a trap) where not one statement changes in place."""
    if how == "release":
        for line, mutated in early_releases(text):
            yield what, line, mutated, mutated
        return
    if how == "fence":
        mutated = re.sub(STATEMENT.format(r"fence\.mbarrier_init"), "", text)
        mutated = trapped = re.sub(STATEMENT.format(r"fence\.proxy\.async"), "fence.proxy.async.global;", mutated)
    else:
        opcode = STATEMENT.format(how or r"fence\.(?:proxy\.async|mbarrier_init)")
        mutated, trapped = re.sub(opcode, "", text), re.sub(opcode, "trap;", text)
    if mutated != text:
        yield what, 0, mutated, trapped


def mutants(text, limit):
    """(what, line, mutated text, text with a trap in its place) of each; of changes an even choice where there are more than `limit`."""
    for what, opcode, change in MUTATIONS + CHANGES:
        if opcode is None:
            yield from whole_mutants(what, change, text)
            continue
        matches = list(re.finditer(STATEMENT.format(opcode), text))
        if limit and (what, opcode, change) in CHANGES and len(matches) > limit:
            matches = [matches[i * len(matches) // limit] for i in range(limit)]
        for match in matches:
            line = text.count("\n", 0, match.start()) + 1
            replacement = change(match[0]) if change else ""
            if replacement == match[0]:
                continue
            before, after = text[:match.start()], text[match.end():]
            guard = re.match(r"@!?[%\w$]+\s+", match[0])
            yield what, line, before + replacement + after, before + (guard[0] if guard else "") + "trap;" + after


def verdict_of(arguments, manifest, mutant):
    """Like verdict(), and 'idle' if a trap in the same place goes unseen too."""
    what, _, text, trapped = mutant
    kind, said = verdict(arguments, manifest, text, what in MAY_BE_WRONG)
    if kind == "unseen" and trapped != text and verdict(arguments, manifest, trapped)[0] == "unseen":
        return "idle", "no shape comes here"
    return kind, said


def verdict(arguments, manifest, text, may_be_wrong=False):
    """('caught' | 'wrong' | 'unseen', the first line of what was said); wrong numbers are enough where they may be."""
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
            # What the emulator says of a kernel names it; otherwise the text is no PTX any more.
            if fault and not fault[1].startswith("kernel '"):
                raise SystemExit(f"the mutant is none: {fault[1]}")
            if fault:
                return "caught", re.sub(r"^kernel '[^']*': ", "", fault[1])
            if run.returncode:
                worst = ("wrong", (re.search(r"^result: *(.*)$", said, re.M) or [0, said[-200:]])[1])
                if may_be_wrong:
                    return worst
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
    parser.add_argument("--limit", type=int, default=0, help="mutants of a kind of change; removals are all tried")
    parser.add_argument("--redundant", action="append", default=[], metavar="KIND",
                        help="one more kind of which some of this kernel's mutants are correct")
    parser.add_argument("--only", default="", help="kinds that match")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="say what was said of each")
    parser.add_argument("--flag", dest="extra", action="append", default=[], help="one more word for attn-launch")
    arguments = parser.parse_args()
    manifest, text = artifact(arguments)
    kind, said = verdict(arguments, manifest, text)
    if kind != "unseen":
        raise SystemExit(f"the kernel itself is {kind}: {said}")
    found = [m for m in mutants(text, arguments.limit) if re.search(arguments.only, m[0])]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda m: verdict_of(arguments, manifest, m), found))
    table = collections.defaultdict(collections.Counter)
    for (what, line, *_), (kind, said) in zip(found, verdicts):
        table[what][kind] += 1
        if arguments.verbose or kind != "caught":
            print(f"{kind:7} line {line:5} {what}: {said[:200]}")
    kinds = ("caught", "wrong", "unseen", "idle")
    print(f"{'mutant':36}", *(f"{kind:>7}" for kind in kinds))
    for what, counts in [*table.items(), ("all", sum(table.values(), collections.Counter()))]:
        print(f"{what:36}", *(f"{counts[kind]:7}" for kind in kinds))
    for what, why in REDUNDANT.items():
        if table[what]["unseen"]:
            print(f"{what}, unseen: {why}")
    redundant = {*REDUNDANT, *arguments.redundant}
    missed = [what for what, counts in table.items()
              if (counts["wrong"] and what not in MAY_BE_WRONG or counts["unseen"]) and what not in redundant]
    if missed:
        raise SystemExit("not caught: " + ", ".join(missed))


if __name__ == "__main__":
    main()
