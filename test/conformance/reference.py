# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in float64 (for f64 in long double), and how far a kernel may be
from it.

This shares no code with attnc: it is the second opinion."""

import dataclasses

import numpy as np

from tensors import round_to, unit_roundoff

# Scores of so many elements are in memory at once.
BLOCK = 4_000_000
# The largest error in f64, relative above 1.
F64_BAR = 1e-14


@dataclasses.dataclass
class Reference:
    o: np.ndarray  # (b, h, row, column)
    lse: np.ndarray  # (b, h, row)
    lse_error: float  # the largest of LSE computed plainly, relative above 1
    lse_bar: np.ndarray
    o_bar: np.ndarray  # the largest error allowed, element by element
    o_scale: np.ndarray  # |P| |V|: the scale of the errors of summation


def visible_keys(case, sq, sk):
    """bool (sq, sk)."""
    i, j = np.ogrid[0:sq, 0:sk]
    kind = case.setting("mask.kind")
    bottom_right = case.setting("mask.alignment") == "bottom_right"
    diagonal = i + (sk - sq if bottom_right else 0)
    if kind == "causal":
        return j <= diagonal
    visible = np.broadcast_to(True, (sq, sk))
    if kind == "window":
        # In Python's integers: a width may be the largest that 32 bits hold.
        left = case.setting("mask.window_left")
        right = case.setting("mask.window_right")
        if left is not None and left >= 0:
            visible = visible & (j >= diagonal - left)
        if right is not None and right >= 0:
            visible = visible & (j <= diagonal + right)
    return visible


def cap(softcap, scores):
    return scores if softcap is None else softcap * np.tanh(scores / softcap)


def compute(case, q, k, v):
    b, heads, sq, _ = q.shape
    sk = k.shape[2]
    group = heads // k.shape[1]
    mask = visible_keys(case, sq, sk)
    o = np.empty((b, heads, sq, v.shape[3]))
    plain = np.empty_like(o)
    o_scale = np.empty_like(o)
    lse = np.empty((b, heads, sq))
    plain_lse = np.empty_like(lse)
    step = max(1, BLOCK // max(1, sk * heads))
    for n in range(b):
        keys = np.repeat(k[n], group, axis=0)
        values = np.repeat(v[n], group, axis=0)
        for start in range(0, sq, step):
            rows = np.s_[n, :, start : start + step]
            part = _block(
                case, q[rows], keys, values, mask[start : start + step]
            )
            o[rows], lse[rows], plain[rows], plain_lse[rows], o_scale[rows] = part
    bar = _bar(case, o, plain, o_scale)
    error = _lse_error(plain_lse, lse)
    return Reference(o, lse, error, lse_bar(case, lse, error), bar, o_scale)


def _block(case, q, k, v, mask):
    scale, dtype, softcap = case.scale, case.setting("dtype"), case.setting("softcap")
    with np.errstate(all="ignore"):
        # Plainly: in f32, for f64 in f64.
        plain_type = np.float64 if dtype == "f64" else np.float32
        products = q.astype(plain_type) @ k.astype(plain_type).transpose(0, 2, 1)
        plain_scores = cap(softcap, scale * products)
        plain_lse = _softmax(np.where(mask, plain_scores, -np.inf))[1]
        if dtype == "f64":
            q, k, v = (array.astype(np.longdouble) for array in (q, k, v))
        scores = cap(softcap, scale * (q @ k.transpose(0, 2, 1)))
        scores = np.where(mask, scores, -np.inf)
        p, lse = _softmax(scores)
        low_scores = round_to(dtype, products.astype(np.float64))
        low_scores = round_to(dtype, scale * low_scores)
        if softcap is not None:
            low_scores = round_to(dtype, cap(softcap, low_scores))
        low_scores = np.where(mask, low_scores, -np.inf)
        low_p = round_to(dtype, _softmax(low_scores)[0])
        o = _weighted_sum(p, v, mask)
        clean = np.where(np.isfinite(v), v, 0).astype(plain_type)
        plain = (low_p.astype(plain_type) @ clean).astype(np.float64)
        plain = round_to(dtype, plain)
        o_scale = p @ np.abs(np.where(np.isfinite(v), v, 0))
    return o, lse, plain, plain_lse, o_scale


def _softmax(scores):
    """(p, lse); a row without a finite score has p = 0 and lse = -inf, and NaN
    and +inf come out as NaN."""
    if scores.shape[-1] == 0:
        return scores, np.full(scores.shape[:-1], -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    empty = top == -np.inf
    weights = np.exp(scores - np.where(empty, 0, top))
    total = weights.sum(axis=-1, keepdims=True)
    p = np.where(empty, 0, weights / np.where(empty, 1, total))
    lse = np.where(empty, -np.inf, top + np.log(np.where(empty, 1, total)))
    return p, lse[..., 0]


def _weighted_sum(p, v, mask):
    """p @ v where a key that a row may not see takes no part in it: 0 * NaN
    would be NaN."""
    bad = ~np.isfinite(v).all(axis=(0, 2))
    clean = np.where(np.isfinite(v), v, 0)
    o = p @ clean
    for key in np.flatnonzero(bad):
        seen = mask[:, key][None, :, None]
        extra = np.where(np.isfinite(v[:, None, key]), 0, v[:, None, key])
        o = o + np.where(seen & (extra != 0), p[:, :, key, None] * extra, 0)
    return o


def _bar(case, o, plain, o_scale):
    """Twice the largest error of the plain computation in the input dtype, one
    rounding of the output, and the noise of summing in f32. In f64 at least a
    constant: the plain computation of few keys may be exact."""
    error = np.abs(plain - o)
    worst = error[np.isfinite(error)].max(initial=0)
    if case.setting("dtype") == "f64":
        return np.maximum(2 * worst, F64_BAR * np.maximum(1, np.abs(o)))
    rounding = unit_roundoff(case.setting("dtype_o")) * np.abs(o)
    # Half the spacing of f16's smallest numbers; bf16 has f32's range.
    floor = 2.0**-25 if case.setting("dtype_o") == "f16" else 2.0**-134
    return 2 * worst + np.maximum(rounding, floor) + 2.0**-20 * o_scale


def _lse_error(plain, lse):
    """The largest error of the plain computation, relative above 1."""
    with np.errstate(invalid="ignore"):
        error = np.abs(plain - lse) / np.maximum(1, np.abs(lse))
    return error[np.isfinite(error)].max(initial=0)


def lse_bar(case, lse, plain_error):
    """1e-5, relative above 1, or twice the error of the same LSE computed plainly:
    where large scores cancel, f32 has less than 1e-5."""
    bar = F64_BAR if case.setting("dtype") == "f64" else 1e-5
    bar = max(bar, 2 * plain_error)
    # Beside an infinity every number would be within an infinite bar.
    return bar * np.where(np.isinf(lse), 0, np.maximum(1, np.abs(lse)))
