# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints `passed failed skipped` of one JUnit file, as ctest and lit write it, and
the slowest tests to standard error.

usage: junit_counts.py FILE.xml      exit 1 where it is missing or holds no test
"""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    # ctest also says in an attribute that a test did not run.
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def print_slowest(cases, shown=10):
    slowest = sorted(cases, key=lambda case: -float(case.get("time", 0)))[:shown]
    print(f"slowest {len(slowest)} of {len(cases)}:", file=sys.stderr)
    for case in slowest:
        print(f"{float(case.get('time', 0)):8.1f} s  {case.get('name')}", file=sys.stderr)


def main(path):
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"expected a JUnit report, but got {error}", file=sys.stderr)
        return 1
    print_slowest(cases)
    outcomes = [outcome(case) for case in cases]
    print(*(outcomes.count(kind) for kind in ("passed", "failed", "skipped")))
    return 0 if outcomes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
