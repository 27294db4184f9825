# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work that may hang runs in a process of its own: only that process is killed.

A worker prints one JSON object a line. {"begin": NAME} says what it does next,
so that a hang or a crash can be laid at the right door."""

import json
import queue
import subprocess
import sys
import threading


def emit(**event):
    print(json.dumps(event), flush=True)


class Worker:
    """One process; iterate over its events. Afterwards `fault` says how it
    ended if not well, and `doing` what it was at."""

    def __init__(self, arguments, silence):
        self.arguments = arguments
        self.silence = silence  # the longest time between two lines, in seconds
        self.doing = None
        self.fault = None

    def __iter__(self):
        process = subprocess.Popen(
            [sys.executable, *self.arguments], stdout=subprocess.PIPE, text=True
        )
        lines = queue.Queue()
        reader = threading.Thread(target=self._read, args=(process, lines), daemon=True)
        reader.start()
        try:
            while True:
                line = lines.get(timeout=self.silence)
                if line is None:
                    break
                if line.startswith("{"):
                    event = json.loads(line)
                    self.doing = event.get("begin", self.doing)
                    yield event
            code = process.wait(timeout=self.silence)
            if code != 0:
                self.fault = f"ended with status {code}"
        except (queue.Empty, subprocess.TimeoutExpired):
            self.fault = f"said nothing for {self.silence:g} s"
        finally:
            if process.poll() is None:
                process.kill()

    @staticmethod
    def _read(process, lines):
        for line in process.stdout:
            lines.put(line)
        lines.put(None)
