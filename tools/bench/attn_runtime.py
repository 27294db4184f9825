#===- attn_runtime.py - Launch compiled kernels from Python ----------------===#
#
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Launches kernels through the C interface of the runtime (runtime/attn.h).

    import attn_runtime
    kernel = attn_runtime.load("out/attn_fwd_....json")
    kernel.launch({"q": q, "k": k, "v": v, "o": o, "lse": lse},
                  scalars={"softmax_scale": 0.125},
                  stream=torch.cuda.current_stream().cuda_stream)

A kernel may be dropped at any time, also while a stream is captured; a CUDA graph
that has captured it remains valid.

A tensor is anything with data_ptr(), shape and stride() (PyTorch), or a triple
(address, sizes, strides in elements). Standard library only. The shared library
is $ATTN_RUNTIME_LIBRARY, or libattn_runtime.so in build/lib of this checkout.
"""
import ctypes
import json
import os

STATUS_NAMES = {1: "launch failed", 2: "invalid argument", 3: "unsupported"}


class Error(RuntimeError):
    """A call failed; `code` is the attn_status."""

    def __init__(self, code, message):
        super().__init__("%s: %s" % (STATUS_NAMES.get(code, code), message))
        self.code = code


class _Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_uint64),
                ("rank", ctypes.c_int32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class _Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class _Launch(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64),
                ("tensors", ctypes.POINTER(_Tensor)),
                ("num_tensors", ctypes.c_int32),
                ("scalars", ctypes.POINTER(_Scalar)),
                ("num_scalars", ctypes.c_int32),
                ("stream", ctypes.c_void_p),
                ("workspace", ctypes.c_uint64),
                ("workspace_bytes", ctypes.c_uint64),
                ("grid_limit", ctypes.c_uint32)]


class Plan(ctypes.Structure):
    """What a launch would do."""
    _fields_ = [("workspace_bytes", ctypes.c_uint64),
                ("num_blocks", ctypes.c_uint64),
                ("flops", ctypes.c_double), ("hbm_bytes", ctypes.c_double)]


_VOID = ctypes.c_void_p
_SIGNATURES = {
    "attn_api_version": (ctypes.c_int32, []),
    "attn_last_error": (ctypes.c_char_p, []),
    "attn_device_open": (ctypes.c_int, [ctypes.c_char_p,
                                        ctypes.POINTER(_VOID)]),
    "attn_device_close": (None, [_VOID]),
    "attn_device_kind": (ctypes.c_char_p, [_VOID]),
    "attn_device_name": (ctypes.c_char_p, [_VOID]),
    "attn_device_allocate": (ctypes.c_int, [_VOID, ctypes.c_size_t,
                                            ctypes.POINTER(ctypes.c_uint64)]),
    "attn_device_free": (ctypes.c_int, [_VOID, ctypes.c_uint64]),
    "attn_device_copy_in": (ctypes.c_int, [_VOID, ctypes.c_uint64, _VOID,
                                           ctypes.c_size_t]),
    "attn_device_copy_out": (ctypes.c_int, [_VOID, _VOID, ctypes.c_uint64,
                                            ctypes.c_size_t]),
    "attn_device_synchronize": (ctypes.c_int, [_VOID]),
    "attn_kernel_load": (ctypes.c_int, [_VOID, ctypes.c_char_p,
                                        ctypes.POINTER(_VOID)]),
    "attn_kernel_load_memory": (
        ctypes.c_int, [_VOID, ctypes.c_char_p, ctypes.c_size_t,
                       ctypes.c_char_p, ctypes.c_size_t,
                       ctypes.POINTER(_VOID)]),
    "attn_kernel_close": (None, [_VOID]),
    "attn_kernel_manifest": (ctypes.c_char_p, [_VOID]),
    "attn_kernel_name": (ctypes.c_char_p, [_VOID]),
    "attn_kernel_plan": (ctypes.c_int, [_VOID, ctypes.POINTER(_Launch),
                                        ctypes.POINTER(Plan)]),
    "attn_kernel_launch": (ctypes.c_int, [_VOID, ctypes.POINTER(_Launch)]),
}
_library = None


def library():
    """The shared library, loaded on first use."""
    global _library
    if _library is None:
        here = os.path.dirname(os.path.abspath(__file__))
        path = os.environ.get("ATTN_RUNTIME_LIBRARY") or os.path.join(
            here, "..", "..", "build", "lib", "libattn_runtime.so")
        loaded = ctypes.CDLL(path)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        if loaded.attn_api_version() != 1:
            raise Error(3, "expected version 1 of the C interface, but got %d"
                        % loaded.attn_api_version())
        _library = loaded
    return _library


def _check(code):
    if code:
        raise Error(code, library().attn_last_error().decode())


class Device:
    """`name`: auto, cuda (the current context's GPU), cuda:N or emulator."""

    def __init__(self, name="auto"):
        self._handle = _VOID()
        _check(library().attn_device_open(name.encode(),
                                          ctypes.byref(self._handle)))
        self.kind = library().attn_device_kind(self._handle).decode()
        self.name = library().attn_device_name(self._handle).decode()

    def __del__(self):
        if getattr(self, "_handle", None):
            library().attn_device_close(self._handle)

    # For programs without PyTorch.
    def allocate(self, size):
        pointer = ctypes.c_uint64()
        _check(library().attn_device_allocate(self._handle, size,
                                              ctypes.byref(pointer)))
        return pointer.value

    def free(self, pointer):
        _check(library().attn_device_free(self._handle, pointer))

    def copy_in(self, pointer, data):
        data = bytes(data)
        _check(library().attn_device_copy_in(self._handle, pointer, data,
                                             len(data)))

    def copy_out(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        _check(library().attn_device_copy_out(self._handle, data, pointer,
                                              size))
        return data.raw

    def synchronize(self):
        _check(library().attn_device_synchronize(self._handle))


def _describe(tensor):
    """(address, sizes, strides) of a PyTorch tensor or of such a triple."""
    if hasattr(tensor, "data_ptr"):
        return tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride())
    return tensor


class PreparedLaunch:
    """A launch whose arguments are converted once: calling it costs little
    more than the C function. Keeps the tensors alive."""

    def __init__(self, kernel, tensors, scalars, stream, workspace,
                 grid_limit):
        self._kernel, self._keep = kernel, [tensors, workspace]
        self._tensors = (_Tensor * len(tensors))()
        for slot, (name, tensor) in zip(self._tensors, tensors.items()):
            address, sizes, strides = _describe(tensor)
            rank = len(sizes)
            slot.name, slot.data, slot.rank = name.encode(), address, rank
            slot.sizes = (ctypes.c_int64 * rank)(*sizes)
            slot.strides = (ctypes.c_int64 * rank)(*strides)
        scalars = scalars or {}
        self._scalars = (_Scalar * len(scalars))()
        for slot, (name, value) in zip(self._scalars, scalars.items()):
            slot.name, slot.value = name.encode(), value
        self._launch = _Launch(
            ctypes.sizeof(_Launch), self._tensors, len(tensors), self._scalars,
            len(scalars), stream, 0, 0, grid_limit)
        if workspace is not None:
            address, sizes, _ = _describe(workspace)
            size = getattr(workspace, "element_size", lambda: 1)()
            for extent in sizes:
                size *= extent
            self._launch.workspace = address
            self._launch.workspace_bytes = size
        self._call = library().attn_kernel_launch
        self._arguments = (kernel._handle, ctypes.byref(self._launch))

    def plan(self):
        result = Plan()
        _check(library().attn_kernel_plan(*self._arguments,
                                          ctypes.byref(result)))
        return result

    def __call__(self):
        _check(self._call(*self._arguments))


class Kernel:
    """A compiled kernel on a device. `manifest` is its parsed manifest."""

    def __init__(self, manifest_path, device=None):
        self.device = device or Device()
        self._handle = _VOID()
        _check(library().attn_kernel_load(
            self.device._handle, os.fspath(manifest_path).encode(),
            ctypes.byref(self._handle)))
        self.name = library().attn_kernel_name(self._handle).decode()
        self.manifest = json.loads(
            library().attn_kernel_manifest(self._handle))

    def __del__(self):
        if getattr(self, "_handle", None):
            library().attn_kernel_close(self._handle)

    def prepare(self, tensors, scalars=None, stream=None, workspace=None,
                grid_limit=0):
        """A callable that launches with these arguments every time."""
        return PreparedLaunch(self, tensors, scalars, stream, workspace,
                              grid_limit)

    def launch(self, tensors, scalars=None, stream=None, workspace=None,
               grid_limit=0):
        """Checks, launches, and returns without waiting."""
        self.prepare(tensors, scalars, stream, workspace, grid_limit)()


def load(manifest_path, device=None):
    """The kernel of a manifest; `device` is a Device, a name, or None for the
    GPU that is current (torch.cuda.set_device), else the first, else the
    emulator. Tensors and streams of another GPU are refused at the launch."""
    if isinstance(device, str):
        device = Device(device)
    return Kernel(manifest_path, device)
