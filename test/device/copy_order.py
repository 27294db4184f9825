#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether what cp.async writes is there when another thread reads it, on a GPU.

    python3 test/device/copy_order.py                # the numbers
    python3 test/device/copy_order.py --racecheck    # and what compute-sanitizer says

Runs the kernels of test/runtime/emulator/Inputs/copy-order.ptx through libcuda
alone: `mbarrier` orders copies and reads as our kernels for sm_80 do, `barrier`
by the textbook, `racy` not at all. The first two must give the right sums. With
--racecheck the tool must find the hazards of `racy` and none in `barrier`; if it
finds some in `mbarrier`, it does not see that order.
"""

import argparse
import array
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys

import watchdog

PTX = pathlib.Path(__file__).parents[1] / "runtime/emulator/Inputs/copy-order.ptx"
ENTRIES = ("mbarrier", "barrier", "racy")
THREADS, BYTES = 128, 2048
SILENCE = 60.0  # seconds; racecheck is slow


def inputs(tiles):
    return array.array("I", ((i * 2654435761 + 12345) & 0xFFFFFFFF for i in range(tiles * BYTES // 4)))


def expected(words, tiles):
    sums = []
    for thread in range(THREADS):
        piece = 4 * ((thread + 33) % THREADS)
        total = sum(sum(words[t * BYTES // 4 + piece : t * BYTES // 4 + piece + 4]) for t in range(tiles))
        sums.append(total & 0xFFFFFFFF)
    return sums


class Driver:
    """The few calls of libcuda that it takes."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            raise SystemExit(f"{name}: {status} {(text.value or b'').decode()}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def run(self, entry, words, tiles):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), PTX.read_bytes() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        data, result = self.allocate(4 * len(words)), self.allocate(4 * THREADS)
        source = (ctypes.c_uint32 * len(words)).from_buffer(words)
        self.call("cuMemcpyHtoD_v2", data, source, ctypes.c_size_t(4 * len(words)))
        count = ctypes.c_uint32(tiles)
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(a) for a in (data, result, count)))
        self.call("cuLaunchKernel", function, 1, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
        self.call("cuCtxSynchronize")
        sums = (ctypes.c_uint32 * THREADS)()
        self.call("cuMemcpyDtoH_v2", sums, result, ctypes.c_size_t(4 * THREADS))
        return list(sums)


def work(entry, tiles):
    watchdog.emit(begin=entry)
    words = inputs(tiles)
    sums, right = Driver().run(entry, words, tiles), expected(words, tiles)
    watchdog.emit(wrong=sum(a != b for a, b in zip(sums, right)))


def numbers(entry, tiles):
    """(threads with a wrong sum or None, what went wrong)."""
    worker = watchdog.Worker([__file__, "--worker", entry, "--tiles", str(tiles)], SILENCE)
    wrong = None
    for event in worker:
        wrong = event.get("wrong", wrong)
    return wrong, worker.fault


def hazards(entry, tiles):
    """How many racecheck reports; None if it does not say."""
    command = ["compute-sanitizer", "--tool", "racecheck", sys.executable, __file__, "--worker", entry, "--tiles", str(tiles)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=SILENCE).stdout
    except subprocess.TimeoutExpired:
        return None
    match = re.search(r"RACECHECK SUMMARY: (\d+) hazard", said)
    return int(match[1]) if match else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--racecheck", action="store_true")
    parser.add_argument("--tiles", type=int, default=200)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker, arguments.tiles)
    if arguments.racecheck and not shutil.which("compute-sanitizer"):
        raise SystemExit("expected compute-sanitizer on the PATH")
    good = True
    for entry in ENTRIES:
        wrong, fault = numbers(entry, arguments.tiles)
        line = f"{entry:9} {fault or f'{wrong} of {THREADS} sums wrong'}"
        good &= wrong is not None and fault is None and (entry == "racy" or wrong == 0)
        if arguments.racecheck:
            found = hazards(entry, arguments.tiles)
            line += f", racecheck: {'no answer' if found is None else f'{found} hazards'}"
            # What it says of `mbarrier` is what we want to know, and no failure.
            good &= found is not None and (entry == "mbarrier" or (found > 0) == (entry == "racy"))
        print(line)
    print("pass" if good else "fail")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
