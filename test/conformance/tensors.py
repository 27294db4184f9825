# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inputs of a case, as float64 arrays (batch, head, row, column) whose
values are exact in the spec's dtype."""

import zlib

import numpy as np

from formula import evaluate

MEMORY_ORDER = {"bshd": (0, 2, 1, 3), "bhsd": (0, 1, 2, 3)}


def round_to(dtype, array):
    """Rounds to nearest even, to the values of the type; NaN stays NaN."""
    if dtype == "f64":
        return array
    array = np.asarray(array, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == "f32":
            return array.astype(np.float32).astype(np.float64)
        if dtype == "f16":
            return array.astype(np.float16).astype(np.float64)
        # bf16 is the upper half of f32. Rounding through f32 could round twice;
        # forcing its last bit to "sticky" where it was inexact prevents that.
        single = array.astype(np.float32)
        bits = single.view(np.uint32)
        inexact = single.astype(np.float64) != array
        towards_zero = np.abs(single.astype(np.float64)) > np.abs(array)
        bits = np.where(inexact & towards_zero, bits - 1, bits)
        bits = np.where(inexact, bits | 1, bits).astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
        out = rounded.astype(np.uint32).view(np.float32).astype(np.float64)
        out = np.where(np.isfinite(array), out, array)
    return out


def unit_roundoff(dtype):
    return {"f16": 2.0**-11, "bf16": 2.0**-9, "f32": 2.0**-24, "f64": 2.0**-53}[dtype]


def coordinates(dims):
    """The variables of a formula over one tensor; `i` and `j` both name its
    row, the one a query, the other a key."""
    b, h, s, d = np.ogrid[tuple(slice(extent) for extent in dims)]
    return {"b": b, "h": h, "i": s, "j": s, "c": d}


def make_inputs(case, seed=0):
    """{"q": array, "k": array, "v": array}."""
    out = {}
    for name in ("q", "k", "v"):
        dims = case.dims(name)
        array = _generate(case, name, dims, seed)
        array = array * case.inputs.get("scale_inputs", {}).get(name, 1)
        for change in case.inputs.get("set", []):
            if change["tensor"] == name:
                variables = _variables(case, dims)
                where = evaluate(change["where"], variables)
                value = evaluate(change["value"], variables)
                array = np.where(where, value, array)
        array = round_to(case.setting("dtype"), array)
        out[name] = _as_stored(case, name, array)
    return out


def _variables(case, dims):
    sizes = {"sq": case.shape["sq"], "sk": case.shape["sk"]}
    return {**coordinates(dims), **sizes}


def _generate(case, name, dims, seed):
    how = case.inputs.get(name, "normal")
    rng = np.random.default_rng([zlib.crc32(f"{case.id}/{name}".encode()), seed])
    if how == "normal":
        return rng.standard_normal(dims)
    if how == "uniform01":
        return rng.random(dims)
    if how in ("zeros", "ones"):
        return np.full(dims, 1.0 if how == "ones" else 0.0)
    value = evaluate(how["value"], _variables(case, dims))
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), dims))


def strides_of(case, name):
    """(strides as (b, s, h, d), offset) in elements, or None for both where
    the case says nothing; a dimension it leaves out is contiguous."""
    given = case.inputs.get("strides", {}).get(name)
    if given is None:
        return None, None
    b, h, s, d = case.dims(name)
    if case.setting("layout") == "bshd":
        default = {"b": s * h * d, "s": h * d, "h": d, "d": 1}
    else:
        default = {"b": h * s * d, "s": d, "h": s * d, "d": 1}
    sizes = {
        "sq": case.shape["sq"],
        "sk": case.shape["sk"],
        "hq": case.setting("num_qo_heads"),
        "hk": case.setting("num_kv_heads"),
        "d": case.setting("head_dim_qk"),
        "dv": case.setting("head_dim_vo"),
    }
    value = {k: int(evaluate(x, sizes)) for k, x in {**default, **given}.items()}
    offset = value.get("offset", 0)
    strides = [value[key] for key in "bshd"]
    return (strides if set(given) - {"offset"} else None), offset


def _as_stored(case, name, array):
    """Where strides make two elements share an address, the last one written
    is what both read."""
    strides, _ = strides_of(case, name)
    if strides is None or array.size == 0:
        return array
    stride_b, stride_s, stride_h, stride_d = strides
    b, h, s, d = np.ogrid[tuple(slice(extent) for extent in array.shape)]
    address = (b * stride_b + h * stride_h + s * stride_s + d * stride_d).ravel()
    unique, first, inverse = np.unique(
        address[::-1], return_index=True, return_inverse=True
    )
    if unique.size == array.size:
        return array
    return array.ravel()[::-1][first][inverse][::-1].reshape(array.shape)


def to_file(case, array):
    """The array in the spec's layout, as attnc reads it."""
    order = MEMORY_ORDER[case.setting("layout")]
    kind = np.float64 if case.setting("dtype") == "f64" else np.float32
    return np.ascontiguousarray(array.transpose(order), dtype=kind)


def from_file(case, array):
    order = MEMORY_ORDER[case.setting("layout")]
    return array.astype(np.float64).transpose(np.argsort(order))
