# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which cases take long, and which come near the limit of one run of attnc. A
machine half as fast, or twice as busy, must not turn one of them red."""

import dataclasses
import time

SHOWN = 10
NEAR = 0.5  # of the limit


@dataclasses.dataclass
class Times:
    """Of one case. The longest run is the one that took most of its limit."""

    case: str = ""
    seconds: float = 0
    longest: float = 0
    limit: float = float("inf")

    def add(self, seconds, limit):
        if seconds / limit >= self.longest / self.limit:
            self.longest, self.limit = seconds, limit

    def is_near(self):
        return self.longest > NEAR * self.limit


class Stopwatch:
    """with Stopwatch(times, limit): one run of attnc"""

    def __init__(self, times, limit):
        self.times, self.limit = times, limit

    def __enter__(self):
        self.start = time.monotonic()

    def __exit__(self, *_):
        self.times.add(time.monotonic() - self.start, self.limit)


def report(all_times):
    """The lines to print after so many cases."""
    slowest = sorted(all_times, key=lambda times: -times.seconds)[:SHOWN]
    lines = []
    if len(all_times) > SHOWN:
        lines.append(f"slowest {SHOWN} of {len(all_times)}, and each one's longest run:")
        for times in slowest:
            lines.append(
                f"{times.seconds:8.1f} s  {times.case} ({times.longest:.1f} s of {times.limit:g} s)"
            )
    for times in filter(Times.is_near, all_times):
        lines.append(
            f"WARNING: {times.case} is near its limit: expected at most {NEAR * times.limit:g} s, "
            f"half of it, but a run took {times.longest:.1f} s"
        )
    return lines
