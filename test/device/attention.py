# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in float64 with PyTorch, and how far a kernel may be from it. All
tensors are (batch, head, row, column)."""

import dataclasses

import torch

# Scores of so many elements are in memory at once.
BLOCK = 1 << 27
ROUNDING = {torch.bfloat16: 2.0**-9, torch.float16: 2.0**-11}


@dataclasses.dataclass
class Rule:
    """What happens to a score: a window around the diagonal, and a cap."""

    alignment: str | None = None
    left: int | None = None  # None: unbounded
    right: int | None = None
    softcap: float | None = None


def visible(sq, sk, rule, rows, device):
    """bool (len(rows), sk); None where every key is visible."""
    if rule.left is None and rule.right is None:
        return None
    offset = sk - sq if rule.alignment == "bottom_right" else 0
    away = torch.arange(sk, device=device)[None, :] - (rows[:, None] + offset)
    mask = torch.ones_like(away, dtype=torch.bool)
    if rule.left is not None:
        mask &= away >= -rule.left
    if rule.right is not None:
        mask &= away <= rule.right
    return mask


def capped(scores, rule):
    if rule.softcap is None:
        return scores
    return rule.softcap * torch.tanh(scores / rule.softcap)


def softmax(scores):
    """(p, lse); a row that sees nothing has p = 0 and lse = -inf."""
    if scores.shape[-1] == 0:
        return scores, scores.new_full(scores.shape[:-1], -torch.inf)
    top = scores.amax(-1, keepdim=True)
    empty = top == -torch.inf
    weights = torch.exp(scores - top.masked_fill(empty, 0))
    total = weights.sum(-1, keepdim=True).masked_fill(empty, 1)
    lse = (top + total.log()).masked_fill(empty, -torch.inf)
    return weights / total, lse[..., 0]


def weighted_sum(p, v, mask):
    """p @ v where a key that a row may not see takes no part: 0 * NaN is NaN."""
    finite = torch.isfinite(v)
    out = p @ v.masked_fill(~finite, 0)
    bad = ~finite.all(-1)
    for key in bad.flatten(0, -2).any(0).nonzero().flatten().tolist():
        extra = v[..., key : key + 1, :].masked_fill(finite[..., key : key + 1, :], 0)
        term = p[..., key : key + 1] * extra
        if mask is not None:
            term = term.masked_fill(~mask[:, key : key + 1], 0)
        out = out + torch.where(extra != 0, term, 0)
    return out


def exact(q, k, v, rule, scale, rows, sq):
    """(o, lse) of the queries q, which are the given rows out of sq."""
    mask = visible(sq, k.shape[-2], rule, rows, q.device)
    scores = capped(scale * (q.double() @ k.double().transpose(-1, -2)), rule)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    p, lse = softmax(scores)
    return weighted_sum(p, v.double(), mask), lse


def plain(q, k, v, rule, scale, rows, sq):
    """The same by matrix product, softmax, matrix product in the input dtype."""
    mask = visible(sq, k.shape[-2], rule, rows, q.device)
    scores = capped((q @ k.transpose(-1, -2)) * scale, rule)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    p = softmax(scores.float())[0].to(q.dtype)
    return p @ v.masked_fill(~torch.isfinite(v), 0)


def blocks(q, k):
    """(batch range, head range) whose scores and keys fit in memory."""
    b, heads, sq, width = q.shape
    step = max(1, BLOCK // max(1, max(sq, width) * k.shape[2]))
    batches = max(1, step // max(1, heads))
    for n in range(0, b, batches):
        for h in range(0, heads, step):
            yield slice(n, min(n + batches, b)), slice(h, min(h + step, heads))


def compare(config, q, k, v, o, lse, scale, rows=None):
    """The first thing wrong with o and lse as text, or None. With rows, q, o
    and lse still hold every query, but only these are compared."""
    sq = q.shape[2]
    if rows is None:
        rows = torch.arange(sq, device=q.device)
    group = q.shape[1] // k.shape[1]
    for batch, heads in blocks(q[:, :, rows], k):
        kv = torch.arange(heads.start, heads.stop, device=q.device) // group
        part = q[batch, heads][:, :, rows]
        keys, values = k[batch][:, kv], v[batch][:, kv]
        arguments = (part, keys, values, config.rule, scale, rows, sq)
        want, want_lse = exact(*arguments)
        error = (plain(*arguments).double() - want).abs()
        error = error[torch.isfinite(error)]
        worst = error.max().item() if error.numel() else 0
        largest = values.masked_fill(~torch.isfinite(values), 0).abs()
        noise = 2.0**-20 * (largest.max().item() if largest.numel() else 0)
        bar = 2 * worst + ROUNDING[o.dtype] * want.abs() + noise
        where = f"batch {batch.start}+, head {heads.start}+"
        fault = differ("o", o[batch, heads][:, :, rows].double(), want, bar, where)
        if fault is None and lse is not None:
            got = lse[batch, heads][:, :, rows].double()
            fault = differ("lse", got, want_lse, lse_bar(want_lse), where)
            if fault:
                bar = lse_bar(want_lse, lse_error(want_lse, *arguments))
                fault = differ("lse", got, want_lse, bar, where)
        if fault:
            return fault
    return None


def lse_error(want, q, k, v, rule, scale, rows, sq):
    """The largest error, relative above 1, of the same LSE computed plainly in
    f32."""
    del v
    mask = visible(sq, k.shape[-2], rule, rows, q.device)
    scores = capped(scale * (q.float() @ k.float().transpose(-1, -2)), rule)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    error = (softmax(scores)[1].double() - want).abs() / want.abs().clamp(min=1)
    error = error[torch.isfinite(error)]
    return error.max().item() if error.numel() else 0


def lse_bar(lse, plain_error=0):
    """1e-5, relative above 1, or twice the error of the plain computation: where
    large scores cancel, f32 has less than 1e-5."""
    # Beside an infinity every number would be within an infinite bar.
    return max(1e-5, 2 * plain_error) * lse.abs().clamp(min=1).nan_to_num(posinf=0)


def differ(name, got, want, bar, where):
    """Element by element; NaN equals only NaN, an infinity only itself."""
    same = (got - want).abs() <= bar
    same |= (got == want) | (got.isnan() & want.isnan())
    if bool(same.all()):
        return None
    at = tuple((~same).nonzero()[0].tolist())
    limit = torch.broadcast_to(torch.as_tensor(bar), got.shape)[at]
    return (
        f"{name}{list(at)} of {where}: expected {want[at].item():.6g}, but got "
        f"{got[at].item():.6g} (bar {limit.item():.2g}; "
        f"{int((~same).sum())} of {same.numel()} elements are off)"
    )
