# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives attnc as a user does: files and flags in, files and messages out."""

import dataclasses
import json
import os
import subprocess
import tempfile
import threading

import numpy as np

from case import nested
from tensors import from_file, strides_of, to_file
from timing import Stopwatch, Times


HOST_SCHEDULE = (
    '#attn.schedule<style = host, target = "host", rows = {rows}, keys = {keys}, '
    "workers = 1, query_stages = 1, stages = 1, registers = [], overlap = false, "
    "rescale_threshold = 0, persistent = false, descending = false>"
)


class Trouble(Exception):
    """attnc did something that no case can expect; the text says what."""


@dataclasses.dataclass
class Outcome:
    code: int
    text: str  # what it printed
    o: np.ndarray | None = None
    lse: np.ndarray | None = None

    def summary(self):
        lines = self.text.strip().splitlines()
        wrong = [line for line in lines if "error" in line.lower()]
        return (wrong or lines[-1:] or ["no message"])[0][:300]


@dataclasses.dataclass
class Artifact:
    name: str
    ptx: str
    manifest: dict


class Attnc:
    def __init__(self, program, device, target, timeout, tile=None):
        self.program = program
        self.device = device
        self.target = target
        self.timeout = timeout
        self.tile = tile  # (rows, keys) of a schedule of style host, or None
        self._of_thread = threading.local()

    def start_case(self):
        """What follows in this thread is another case; returns its times."""
        self._of_thread.times = Times()
        return self._of_thread.times

    def _spec_file(self, case, folder):
        path = os.path.join(folder, "spec.json")
        text = case.inputs.get("spec_text")
        if text is None:
            spec = dict(case.spec)
            if self.target:
                spec.setdefault("target", self.target)
            text = json.dumps(nested(spec))
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def _module_file(self, case, folder):
        """The case as a module whose op has the tile for its schedule."""
        path = os.path.join(folder, "module.mlir")
        flags = case.inputs.get("flags", [])
        spec = self._spec_file(case, folder)
        arguments = ["compile", spec, *flags, "--emit=attn", "-o", path]
        outcome = self._call(arguments, self.timeout)
        if outcome.code != 0:
            raise Trouble(f"--emit=attn: exit {outcome.code}: {outcome.summary()}")
        with open(path, encoding="utf-8") as text:
            before, maps, after = text.read().partition(" maps [")
        schedule = HOST_SCHEDULE.format(rows=self.tile[0], keys=self.tile[1])
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"{before} schedule({schedule}){maps}{after}")
        return path

    def _call(self, arguments, timeout):
        command = [self.program, *arguments]
        try:
            with Stopwatch(self._of_thread.times, timeout):
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=timeout,
                )
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"still running after {timeout:g} s") from late
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode not in (0, 1, 2, 3):
            last = text.strip().splitlines()[-1:] or [""]
            raise Trouble(f"ended with status {done.returncode}: {last[0][:200]}")
        return Outcome(done.returncode, text)

    def compile(self, case):
        """(outcome, artifact or None)."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            os.mkdir(out)
            spec = self._spec_file(case, folder)
            arguments = ["compile", spec, "-o", out, *case.inputs.get("flags", [])]
            outcome = self._call(arguments, self.timeout)
            files = sorted(os.listdir(out))
            if outcome.code != 0:
                if files:
                    raise Trouble(f"left {files} behind after exit {outcome.code}")
                return outcome, None
            return outcome, _read_artifact(out, files)

    def run(self, case, tensors, timeout=None, extra=()):
        """Runs the case on `tensors`; None lets attnc make its own inputs, and
        its own verdict is then all there is."""
        with tempfile.TemporaryDirectory() as folder:
            shape = "b={b},sq={sq},sk={sk}".format(**case.shape)
            if self.tile:
                arguments = ["run", self._module_file(case, folder)]
            else:
                arguments = ["run", self._spec_file(case, folder)]
                arguments += case.inputs.get("flags", [])
            arguments += ["--shape", shape, "--device", self.device, *extra]
            arguments += _placement(case)
            outputs = []
            if tensors is not None:
                for name, array in tensors.items():
                    path = os.path.join(folder, f"{name}.npy")
                    np.save(path, to_file(case, array))
                    arguments += ["--in", f"{name}={path}"]
                outputs = ["o", "lse"] if case.setting("lse") else ["o"]
                for name in outputs:
                    path = os.path.join(folder, f"{name}.out.npy")
                    arguments += ["--out", f"{name}={path}"]
            outcome = self._call(arguments, timeout or self.timeout)
            if outcome.code in (0, 1):
                for name in outputs:
                    path = os.path.join(folder, f"{name}.out.npy")
                    self._read_output(case, outcome, name, path)
            return outcome

    @staticmethod
    def _read_output(case, outcome, name, path):
        if not os.path.exists(path):
            if outcome.code == 0:
                raise Trouble(f"wrote no {name}")
            return
        array = np.load(path)
        if name == "o":
            array = from_file(case, array) if array.ndim == 4 else array
            wanted = case.dims("o")
        else:
            array = array.astype(np.float64)
            wanted = case.dims("o")[:3]
        if array.shape != wanted:
            raise Trouble(f"expected {name} of shape {wanted}, but got {array.shape}")
        setattr(outcome, name, array)


def _placement(case):
    flags = []
    for name in ("q", "k", "v", "o"):
        strides, offset = strides_of(case, name)
        if strides is not None:
            flags += ["--strides", f"{name}=" + ",".join(map(str, strides))]
        if offset:
            flags += ["--offset", f"{name}={offset}"]
    return flags


def _read_artifact(folder, files):
    stems = {os.path.splitext(name)[0] for name in files}
    if len(stems) != 1 or not {f"{s}.json" for s in stems} <= set(files):
        raise Trouble(f"expected NAME.ptx and NAME.json, but got {files}")
    name = stems.pop()
    with open(os.path.join(folder, f"{name}.ptx"), encoding="utf-8") as ptx:
        text = ptx.read()
    with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as manifest:
        return Artifact(name, text, json.load(manifest))
