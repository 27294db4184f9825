#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose GPU, whose memory, whose stream, and what a capture bears.

usage: contexts.py [--only REGEX] [--kernel REGEX] FOLDER ...

FOLDER holds NAME.json beside NAME.cubin or NAME.ptx; the first kernel that fits
this GPU is used. Each check has a process of its own, since what is to be
refused would otherwise end the context of the rest. Ends with `N passed, N
failed, N skipped`."""

import argparse
import ctypes
import gc
import os
import re
import sys
import threading
import time

import torch

import attention
import kernels
from kernels import attn_runtime
from watchdog import Worker, emit

SILENCE = 120  # seconds

# Enough for a module of its own, to unload while another stream captures.
PTX = b""".version 7.0
.target sm_80
.address_size 64
.visible .entry nothing() { ret; }
\0"""


class Fault(Exception):
    pass


class Skip(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Fault(what)


def two_gpus():
    if torch.cuda.device_count() < 2:
        raise Skip("one GPU")


class Problem:
    """Inputs and outputs of one launch, on a device of PyTorch's naming."""

    def __init__(self, config, device="cuda", seed=1):
        self.config = config
        torch.manual_seed(seed)
        b, sq, sk = (
            config.pinned.get(name, size)
            for name, size in (("batch", 2), ("seqlen_q", 200), ("seqlen_k", 264))
        )
        heads = 2 * config.group
        shapes = {
            "q": (b, heads, sq, config.head_dim),
            "k": (b, 2, sk, config.head_dim),
            "v": (b, 2, sk, config.head_dim_vo),
            "o": (b, heads, sq, config.head_dim_vo),
        }
        self.tensors = {
            name: kernels.allocate(config, dims, device)
            for name, dims in shapes.items()
        }
        for name in "qkv":
            self.tensors[name].normal_()
        self.lse = torch.empty((b, heads, sq), dtype=torch.float32, device=device)
        self.poison()

    def poison(self):
        self.tensors["o"].fill_(float("nan"))
        self.lse.fill_(float("nan"))

    def prepare(self, kernel, stream=None):
        t = self.tensors
        tensors = {name: kernels.as_passed(self.config, t[name]) for name in "qkvo"}
        if self.config.lse:
            tensors["lse"] = self.lse
        if stream is None:
            stream = torch.cuda.current_stream(t["q"].device)
        return kernel.prepare(tensors, None, stream.cuda_stream)

    def check(self):
        torch.cuda.synchronize(self.tensors["o"].device)
        t = {name: tensor.cuda(self.lse.device) for name, tensor in self.tensors.items()}
        lse = self.lse if self.config.lse else None
        args = (t["q"], t["k"], t["v"], t["o"], lse, self.config.scale)
        fault = attention.compare(self.config, *args)
        require(not fault, fault)


def expect_refusal(launch, start, end):
    try:
        launch()
    except attn_runtime.Error as error:
        text = str(error)
        require(error.code == 2, f"expected invalid argument, but got: {text}")
        require(start in text and end in text, f"said: {text}")
        return
    raise Fault(f"expected '{start} ...{end}', but the launch was accepted")


# The checks. Each takes the kernel's Config and may return what it measured.


def launch_is_right(config):
    problem = Problem(config)
    problem.prepare(attn_runtime.load(config.path))()
    problem.check()


def auto_is_the_current_gpu(config):
    two_gpus()
    torch.cuda.set_device(1)
    problem = Problem(config, "cuda:1")
    kernel = attn_runtime.load(config.path)
    problem.prepare(kernel)()
    problem.check()
    # A number is still a number, whatever is current.
    first = Problem(config, "cuda:0")
    first.prepare(attn_runtime.load(config.path, "cuda:0"))()
    first.check()
    require(torch.cuda.current_device() == 1, "the current GPU changed")


def tensors_of_another_gpu(config):
    two_gpus()
    problem, other = Problem(config, "cuda:0"), Problem(config, "cuda:1")
    kernel = attn_runtime.load(config.path, "cuda:0")
    for name in "qkvo":
        own = problem.tensors[name]
        problem.tensors[name] = other.tensors[name]
        launch = problem.prepare(kernel, torch.cuda.current_stream("cuda:0"))
        start = f"{name}: expected memory of GPU 0, but got 0x"
        expect_refusal(launch, start, " on GPU 1")
        expect_refusal(launch.plan, start, " on GPU 1")
        problem.tensors[name] = own
    for device, each in (("cuda:0", problem), ("cuda:1", other)):
        each.prepare(attn_runtime.load(config.path, device))()
        each.check()


def streams_of_another_gpu(config):
    two_gpus()
    problem = Problem(config, "cuda:0")
    kernel = attn_runtime.load(config.path, "cuda:0")
    start = "stream: expected a stream of GPU 0, but got one of GPU 1"
    expect_refusal(problem.prepare(kernel, torch.cuda.Stream("cuda:1")), start, "")
    problem.prepare(kernel, torch.cuda.Stream("cuda:0"))()
    problem.check()


def host_memory(config):
    """Pageable memory is refused unless the GPU reads the host's pages."""
    problem = Problem(config)
    kernel = attn_runtime.load(config.path)
    value = ctypes.c_int()
    call = ctypes.CDLL("libcuda.so.1").cuDeviceGetAttribute
    call(ctypes.byref(value), 88, torch.cuda.current_device())
    own = problem.tensors["k"]
    problem.tensors["k"] = own.cpu()
    launch = problem.prepare(kernel)
    if value.value:
        launch()
        problem.check()
        return "the GPU reads pageable memory"
    expect_refusal(launch, "k: expected memory of GPU", "no memory that CUDA knows")
    problem.tensors["k"] = own
    problem.prepare(kernel)()
    problem.check()


def pinned_memory(config):
    problem = Problem(config)
    problem.tensors["k"] = problem.tensors["k"].cpu().pin_memory()
    problem.prepare(attn_runtime.load(config.path))()
    problem.check()


def other_allocators(config):
    """Virtual memory that is mapped, and memory of a pool: this process was
    started with the allocator that its environment names."""
    launch_is_right(config)
    return os.environ.get("PYTORCH_CUDA_ALLOC_CONF")


def in_thread(body):
    faults = []

    def run():
        try:
            body()
        except Exception as error:  # handed on below
            faults.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


def churn(config, holder):
    """What a garbage collector and a program that compiles as it goes do."""
    holder.clear()
    gc.collect()
    kernel = attn_runtime.load(config.path)
    pointer = kernel.device.allocate(1 << 20)
    kernel.device.free(pointer)
    del kernel
    gc.collect()


def capture_bears(config, run):
    """Captures a launch in global mode while `run` runs what a capture would
    otherwise forbid, then launches the graph."""
    problem = Problem(config)
    kernel = attn_runtime.load(config.path)
    holder = [attn_runtime.load(config.path)]
    problem.prepare(kernel)()
    torch.cuda.synchronize()
    problem.poison()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        problem.prepare(kernel)()
        run(lambda: churn(config, holder))
    problem.poison()
    graph.replay()
    problem.check()


def closing_in_another_thread(config):
    capture_bears(config, in_thread)


def closing_in_the_same_thread(config):
    capture_bears(config, lambda body: body())


def captured_kernel_closed(config):
    """The graph outlives the kernel; others are loaded over where it was."""
    problem = Problem(config)
    kernel = attn_runtime.load(config.path)
    problem.prepare(kernel)()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        problem.prepare(kernel)()
    del kernel
    gc.collect()
    others = [attn_runtime.load(config.path) for _ in range(8)]
    problem.poison()
    graph.replay()
    problem.check()
    del others


def unload_without_care(config):
    """The control of the above: the same call in the thread's own mode. Only
    reports, since a driver may come to allow it."""
    del config
    cuda = ctypes.CDLL("libcuda.so.1")
    torch.zeros(1, device="cuda")
    module = ctypes.c_void_p()
    code = cuda.cuModuleLoadData(ctypes.byref(module), PTX)
    require(code == 0, f"cuModuleLoadData: {code}")
    codes = []

    def unload():
        torch.cuda.set_device(0)
        torch.cuda.current_stream()
        context = ctypes.c_void_p()
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        cuda.cuCtxPushCurrent_v2(context)
        codes.append(cuda.cuModuleUnload(module))

    x = torch.zeros(1, device="cuda")
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, capture_error_mode="global"):
            x += 1
            in_thread(unload)
        return f"cuModuleUnload gave {codes}; the capture stayed valid"
    except RuntimeError as error:
        return f"cuModuleUnload gave {codes}; the capture: {str(error)[:80]}"


def launch_overhead(config):
    """Host time of a launch that is prepared, without waiting for the GPU."""
    problem = Problem(config)
    launch = problem.prepare(attn_runtime.load(config.path))
    times = []
    for _ in range(50):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(100):
            launch()
        times.append((time.perf_counter() - begin) / 100)
    torch.cuda.synchronize()
    return f"{sorted(times)[len(times) // 2] * 1e6:.2f} us, best {min(times) * 1e6:.2f}"


CHECKS = [launch_is_right, auto_is_the_current_gpu, tensors_of_another_gpu]
CHECKS += [streams_of_another_gpu, host_memory, pinned_memory, other_allocators]
CHECKS += [closing_in_another_thread, closing_in_the_same_thread]
CHECKS += [captured_kernel_closed, unload_without_care, launch_overhead]
ALLOCATORS = ["expandable_segments:True", "backend:cudaMallocAsync"]


def work(name, path):
    (check,) = [check for check in CHECKS if check.__name__ == name]
    emit(begin=name)
    fault = skipped = note = None
    try:
        note = check(kernels.read(path))
    except Skip as reason:
        skipped = str(reason)
    except Exception as error:  # one line of whatever it was
        fault = f"{type(error).__name__}: {error}"
    emit(done=name, fault=fault, skipped=skipped, note=note)
    # What a fault left of the context may hang at the end.
    sys.stdout.flush()
    os._exit(0)


def run_check(name, config, silence):
    """('PASS' | 'FAIL' | 'SKIP', what there is to say)."""
    script = os.path.abspath(__file__)
    worker = Worker([script, "--worker", name, config.path], silence)
    done = [event for event in worker if "done" in event]
    if not done:
        return "FAIL", worker.fault or "said nothing"
    event = done[0]
    if event["fault"]:
        return "FAIL", event["fault"]
    if event["skipped"]:
        return "SKIP", "skipped: " + event["skipped"]
    return "PASS", event["note"] or ""


def choose(options):
    have = torch.cuda.get_device_capability()
    for config in kernels.find(options.folders, options.kernel):
        if not config.unsupported and tuple(config.capability) == have:
            return config
    sys.exit(f"contexts: expected a kernel for compute capability {have}, but got none")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--only", default="", metavar="REGEX", help="checks")
    parser.add_argument("--kernel", default="", metavar="REGEX")
    parser.add_argument("--silence", type=float, default=SILENCE, metavar="SECONDS")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(*options.worker)
    config = choose(options)
    print(f"kernel {config.name}, {torch.cuda.device_count()} GPUs", flush=True)
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for check in CHECKS:
        if not re.search(options.only, check.__name__):
            continue
        settings = ALLOCATORS if check is other_allocators else [None]
        for setting in settings:
            if setting:
                os.environ["PYTORCH_CUDA_ALLOC_CONF"] = setting
            verdict, text = run_check(check.__name__, config, options.silence)
            os.environ.pop("PYTORCH_CUDA_ALLOC_CONF", None)
            counts[verdict] += 1
            print(f"{verdict} {check.__name__} {text}".rstrip(), flush=True)
    print("{PASS} passed, {FAIL} failed, {SKIP} skipped".format(**counts))
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


if __name__ == "__main__":
    sys.exit(main())
