#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs case files against attnc; README.md says what a case is.

usage: run.py [options] FILE.jsonl ...

One line a failure, the ten slowest, a warning for each case near its limit, then
`N passed, N failed, N skipped`. Needs numpy."""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time

# One thread a case: the cases themselves run side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import case as cases
import checks
import reference
import timing
from attnc import Attnc, Trouble
from case import CaseError
from formula import FormulaError
from tensors import make_inputs

# Beyond so many elements files are no way to pass tensors: attnc makes its own
# inputs and samples its own reference, and its verdict is the result.
HUGE = 300_000_000


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def require(fault):
    if fault is not None:
        raise Failure(fault)


def with_flags(case):
    """The case as its command line makes it: a flag overrides the file."""
    flags = case.inputs.get("flags", [])
    spec = dict(case.spec)
    for flag, value in zip(flags, flags[1:]):
        name = flag.removeprefix("--")
        if flag.startswith("--") and name in cases.SPEC_KEYS:
            spec[name] = _parsed(value)
    return dataclasses.replace(case, spec=spec)


def _parsed(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Judge:
    """Decides one case; raises Failure or Skip."""

    def __init__(self, attnc, max_runs):
        self.attnc = attnc
        self.max_runs = max_runs

    def judge(self, case):
        missing = case.unsupported()
        if missing:
            raise Skip(f"{missing} is not supported by this runner")
        # What is compiled for the host leaves no artifact behind.
        on_host = self.attnc.target == "host" and "target" not in case.spec
        if on_host and case.expect.get("exit") == 0:
            raise Skip("is about an artifact")
        if "exit" in case.expect:
            self._exit_code(case)
        else:
            self._result(case)
        if "same_artifact_as" in case.expect and not on_host:
            self._same_artifact(case)

    def _exit_code(self, case):
        wanted = case.expect["exit"]
        wanted = wanted if isinstance(wanted, list) else [wanted]
        verb = case.inputs.get("verb", "run" if case.shape else "compile")
        artifact = None
        if verb == "run":
            outcome = self.attnc.run(case, None)
        else:
            outcome, artifact = self.attnc.compile(case)
        if outcome.code not in wanted:
            raise Failure(
                f"expected exit {wanted}, but got {outcome.code}: {outcome.summary()}"
            )
        if outcome.code != 0:
            require(checks.message(case.expect, outcome.text))
        if "grid_max" in case.expect:
            require(checks.grid(case, artifact.manifest))

    def _result(self, case):
        model = with_flags(case)
        if model.elements() > HUGE:
            outcome = self.attnc.run(case, None, case.expect.get("within_s"))
            self._accepted(case, outcome)
            return
        other = self._second(case)
        tensors = make_inputs(other[0] if other and other[1] else model)
        if other and other[1]:  # this run has the other's last query rows
            tensors["q"] = tensors["q"][:, :, -model.shape["sq"] :]
        outcome = self._checked(case, model, tensors)
        if outcome is None:
            return
        self._repeats(case, tensors, outcome)
        if other:
            self._same_as(case, other, tensors, outcome)
        if "and_reference_for" in case.expect:
            changed = case.changed(case.expect["and_reference_for"])
            self._checked_plainly(changed, tensors)
        for shape in case.expect.get("one_artifact_for", []):
            changed = dataclasses.replace(case, shape=shape)
            self._checked_plainly(changed, make_inputs(changed))

    def _accepted(self, case, outcome):
        """Whether it ran; False for a refusal that the case accepts as well."""
        if outcome.code == 0:
            return True
        allowed = case.expect.get("or_exit", [])
        allowed = allowed if isinstance(allowed, list) else [allowed]
        if outcome.code in allowed:
            require(
                checks.message(
                    {"mentions": case.expect.get("mentions", [])}, outcome.text
                )
            )
            return False
        raise Failure(f"exit {outcome.code}: {outcome.summary()}")

    def _checked(self, case, model, tensors):
        """The first run, held to everything that the case says of one run."""
        outcome = self.attnc.run(case, tensors, case.expect.get("within_s"))
        ran = None
        if outcome.code == 1 and outcome.o is not None:
            # attnc itself finds the numbers wrong; say where, if we agree.
            ran = Failure(f"exit 1: {outcome.summary()}")
        elif not self._accepted(case, outcome):
            return None
        ref = reference.compute(model, **tensors)
        require(checks.against_reference(outcome, ref))
        require(checks.exact_rows(model, outcome))
        require(checks.closed_forms(model, outcome, ref))
        if ran is not None:
            raise ran
        return outcome

    def _checked_plainly(self, case, tensors):
        outcome = self.attnc.run(case, tensors)
        if outcome.code != 0:
            raise Failure(f"exit {outcome.code}: {outcome.summary()}")
        ref = reference.compute(with_flags(case), **tensors)
        require(checks.against_reference(outcome, ref))

    def _repeats(self, case, tensors, first):
        """Further runs, which must give the same bits: under other schedules
        where the device can change them, and with blocks that take several
        tiles."""
        emulator = self.attnc.device == "emulator"
        runs = case.expect.get("runs", 1)
        if emulator:
            runs = min(runs, self.max_runs)
        variants = []
        for number in range(1, runs):
            seed = ["--emulator-seed", str(number)] if emulator else []
            variants.append(seed)
        limits = case.inputs.get("grid_limit", [])
        for limit in limits if self.attnc.target != "host" else []:
            variants.append(["--grid-limit", str(limit)])
        for extra in variants:
            again = self.attnc.run(case, tensors, extra=extra)
            if again.code != 0:
                raise Failure(
                    f"{' '.join(extra)}: exit {again.code}: {again.summary()}"
                )
            fault = checks.bitwise(first, again)
            require(fault and f"{' '.join(extra) or 'rerun'}: {fault}")

    def _second(self, case):
        """(the second case, whether it shares keys and last rows), or None."""
        change = case.expect.get("same_as")
        if change is None:
            return None
        return case.changed(change), str(change.get("rows", "")).startswith("last")

    def _same_as(self, case, other, tensors, outcome):
        second, last_rows = other
        inputs = make_inputs(second) if last_rows else tensors
        again = self.attnc.run(second, inputs)
        if again.code != 0:
            raise Failure(f"second run: exit {again.code}: {again.summary()}")
        rows = case.shape["sq"] if last_rows else again.o.shape[2]
        again.o = again.o[:, :, again.o.shape[2] - rows :]
        if again.lse is not None:
            again.lse = again.lse[:, :, again.lse.shape[2] - rows :]
        if case.expect.get("same") == "bitwise":
            require(checks.bitwise(outcome, again))
            return
        ref = reference.compute(with_flags(case), **tensors)
        require(
            checks.same_numbers("o (second run)", again.o, outcome.o, 2 * ref.o_bar)
        )

    def _same_artifact(self, case):
        pair = []
        for each in (case, case.changed(case.expect["same_artifact_as"])):
            outcome, artifact = self.attnc.compile(each)
            if artifact is None:
                raise Failure(f"exit {outcome.code}: {outcome.summary()}")
            pair.append(artifact)
        first, second = pair
        if first.name != second.name:
            raise Failure(
                f"expected one artifact, but got {first.name} and {second.name}"
            )
        if first.ptx != second.ptx:
            raise Failure(f"{first.name}: the same name stands for two kernels")
        if first.manifest.get("spec_hash") != second.manifest.get("spec_hash"):
            raise Failure(f"{first.name}: the same name stands for two spec hashes")


def has_gpu():
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return False
    done = subprocess.run([smi, "-L"], capture_output=True, timeout=30)
    return done.returncode == 0 and b"GPU" in done.stdout


def parse_arguments():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.jsonl")
    parser.add_argument("--attnc", default=os.path.join(root, "build", "bin", "attnc"))
    parser.add_argument(
        "--device", choices=["auto", "cuda", "emulator"], default="auto"
    )
    parser.add_argument("--target", help="for the cases that name none")
    parser.add_argument(
        "--dtype", choices=["f16", "bf16", "f32", "f64"], help="instead of a case's own"
    )
    parser.add_argument(
        "--tile",
        metavar="ROWSxKEYS",
        type=lambda text: tuple(map(int, text.split("x"))),
        help="of the schedule, with --target host",
    )
    parser.add_argument("--stage", type=int, default=1, help="the highest stage to run")
    parser.add_argument(
        "--size",
        choices=["emulator", "gpu", "all"],
        help="default: what suits the device",
    )
    parser.add_argument("--id", default="", metavar="REGEX")
    parser.add_argument("--kind", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--timeout",
        type=float,
        default=300,
        metavar="SECONDS",
        help="for one run of attnc",
    )
    parser.add_argument(
        "--max-runs",
        type=int,
        default=3,
        help="on the emulator, for cases that repeat a run",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line for every case"
    )
    return parser.parse_args()


def select(options, device):
    size = options.size or ("all" if device == "cuda" else "emulator")
    chosen = []
    for path in options.files:
        for case in cases.load(path):
            if (
                case.stage <= options.stage
                and re.search(options.id, case.id)
                and re.search(options.kind, case.kind)
            ):
                if options.dtype:
                    case = case.with_dtype(options.dtype)
                chosen.append((case, size in ("all", case.size)))
    return chosen


def run_one(judge, case, suits):
    """(verdict, text, times)."""
    start = time.monotonic()
    times = judge.attnc.start_case()
    try:
        if not suits:
            raise Skip(f"is of size {case.size}")
        judge.judge(case)
        verdict, text = "PASS", ""
    except Skip as skip:
        verdict, text = "SKIP", str(skip)
    except (Failure, Trouble) as failure:
        verdict, text = "FAIL", str(failure)
    except (FormulaError, KeyError, TypeError, ValueError) as error:
        verdict, text = "FAIL", f"the case or the runner is at fault: {error!r}"
    times.case, times.seconds = case.id, time.monotonic() - start
    return verdict, text, times


def main():
    options = parse_arguments()
    if not os.access(options.attnc, os.X_OK):
        print(f"error: expected a program, but got '{options.attnc}'", file=sys.stderr)
        return 2
    device = options.device
    if options.target == "host":
        device = "auto"  # the only one that it has
    elif device == "auto":
        device = "cuda" if has_gpu() else "emulator"
    try:
        chosen = select(options, device)
    except (OSError, CaseError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    judge = Judge(
        Attnc(options.attnc, device, options.target, options.timeout, options.tile),
        options.max_runs,
    )
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda pair: run_one(judge, *pair), chosen)
        ran = []
        for (case, _), (verdict, text, times) in zip(chosen, verdicts):
            counts[verdict] += 1
            if verdict != "SKIP":
                ran.append(times)
            if verdict == "FAIL" or options.verbose:
                print(
                    f"{verdict} {case.id} [{times.seconds:.1f} s]{': ' if text else ''}{text}",
                    flush=True,
                )
    for line in timing.report(ran):
        print(line)
    print("{PASS} passed, {FAIL} failed, {SKIP} skipped".format(**counts))
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


if __name__ == "__main__":
    sys.exit(main())
