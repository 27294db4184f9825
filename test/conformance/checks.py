# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what attnc gave with what a case expects. Every function returns
the first difference as text, or None."""

import numpy as np

import reference
from formula import evaluate
from tensors import coordinates


def same_numbers(name, got, want, bar):
    """Element by element; NaN equals only NaN, an infinity only itself."""
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(got - want) <= bar)
    wrong &= ~(got == want)
    wrong &= ~(np.isnan(got) & np.isnan(want))
    if not wrong.any():
        return None
    with np.errstate(invalid="ignore"):
        error = np.nan_to_num(np.abs(got - want), nan=np.inf, posinf=np.inf)
    error = np.where(wrong, error, -1.0)
    at = np.unravel_index(np.argmax(error), error.shape)
    bar = np.broadcast_to(bar, got.shape)
    place = ", ".join(str(int(index)) for index in at)
    return (
        f"{name}[{place}]: expected {want[at]:.7g}, but got {got[at]:.7g} "
        f"(off by {error[at]:.2g}, bar {bar[at]:.2g}; {int(wrong.sum())} of {wrong.size} elements are off)"
    )


def against_reference(outcome, ref):
    fault = same_numbers("o", outcome.o, ref.o, ref.o_bar)
    if fault is None and outcome.lse is not None:
        fault = same_numbers("lse", outcome.lse, ref.lse, ref.lse_bar)
    return fault


def rows(ranges, shape):
    """A bool (b, h, row) of [[start, stop, batch?, head?], ...]."""
    chosen = np.zeros(shape, dtype=bool)
    for start, stop, *place in ranges:
        where = [slice(None) if p == "*" else slice(p, p + 1) for p in place]
        where += [slice(None)] * (2 - len(where))
        chosen[where[0], where[1], start:stop] = True
    return chosen


def exact_rows(case, outcome):
    """The rows that must be exactly zero, -inf or NaN, and no others."""
    o, lse, expect = outcome.o, outcome.lse, case.expect
    shape = o.shape[:3]
    if "o_zero_rows" in expect:
        zero = rows(expect["o_zero_rows"], shape)
        if not (o[zero] == 0).all():
            return "o_zero_rows: expected 0 in every listed row"
    if "lse_neg_inf_rows" in expect and lse is not None:
        listed = rows(expect["lse_neg_inf_rows"], shape)
        if not np.array_equal(lse == -np.inf, listed):
            return "lse_neg_inf_rows: expected -inf in the listed rows and no other"
    if "nan_rows" in expect:
        listed = rows(expect["nan_rows"], shape)
        if not np.array_equal(np.isnan(o).all(axis=3), listed):
            return "nan_rows: expected NaN in the listed rows and no other"
        if np.isnan(o).any(axis=3)[~listed].any():
            return "nan_rows: NaN in a row that is not listed"
    if "nan_where" in expect:
        where = evaluate(expect["nan_where"], _variables(case, o.shape))
        if not np.array_equal(np.isnan(o), np.broadcast_to(where, o.shape)):
            return "nan_where: expected NaN there and nowhere else"
    return None


def _variables(case, dims):
    return {**coordinates(dims), "sq": case.shape["sq"], "sk": case.shape["sk"]}


def closed_forms(case, outcome, ref):
    """The second oracle; it too is held to the bar of the reference."""
    dims = outcome.o.shape
    if "o_equals" in case.expect:
        value = evaluate(case.expect["o_equals"], _variables(case, dims))
        want = np.array(np.broadcast_to(np.asarray(value, float), dims))
        fault = same_numbers("o (closed form)", outcome.o, want, ref.o_bar)
        if fault:
            return fault
    if "lse_equals" in case.expect and outcome.lse is not None:
        variables = _variables(case, dims)
        variables = {
            key: value[..., 0] if isinstance(value, np.ndarray) else value
            for key, value in variables.items()
        }
        value = evaluate(case.expect["lse_equals"], variables)
        want = np.array(np.broadcast_to(np.asarray(value, float), dims[:3]))
        bar = reference.lse_bar(case, want, ref.lse_error)
        return same_numbers("lse (closed form)", outcome.lse, want, bar)
    return None


def bitwise(first, second):
    for name in ("o", "lse"):
        a, b = getattr(first, name), getattr(second, name)
        if a is None or b is None:
            continue
        differ = (a != b) & ~(np.isnan(a) & np.isnan(b))
        if differ.any():
            at = ", ".join(str(int(x)) for x in np.argwhere(differ)[0])
            return f"{name}[{at}] differs from the first run in {differ.sum()} elements"
    return None


def message(expect, text):
    """The words that an error must hold."""
    wanted = [expect[key] for key in ("names", "value", "suggests") if key in expect]
    for key in ("expected", "mentions"):
        value = expect.get(key, [])
        wanted += value if isinstance(value, list) else [value]
    for word in wanted:
        if str(word).lower() not in text.lower():
            return f"expected the message to mention {word!r}, but got: {text.strip()[:300]}"
    return None


def grid(case, manifest, multiprocessors=132):
    """The manifest's grid at the case's shape, against its limits."""
    variables = {
        "batch": case.shape["b"],
        "seqlen_q": case.shape["sq"],
        "seqlen_k": case.shape["sk"],
        "num_qo_heads": case.setting("num_qo_heads"),
        "num_kv_heads": case.setting("num_kv_heads"),
        "multiprocessors": multiprocessors,
    }
    for kernel in manifest["kernels"]:
        extents = [int(evaluate(text, variables, True)) for text in kernel["grid"]]
        limits = case.expect["grid_max"]
        if any(extent > limit for extent, limit in zip(extents, limits)):
            return (
                f"{kernel['entry']}: expected a grid within {limits}, but got {extents}"
            )
    return None
