#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random cases, one JSON object a line, the same ones for the same seed.

usage: generate.py [--seed N] [--count N] [--work N] [--kind KIND]

Each kind of fault has one function that makes a case of it; the kinds take
turns. Standard library only."""

import argparse
import json
import random

# Lengths at which kernels go wrong: nothing, one, and either side of a tile.
EDGES = [1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 79, 80, 81, 95, 96, 97, 111]
EDGES += [112, 113, 127, 128, 129, 143, 144, 159, 160, 161, 175, 176, 177, 191]
EDGES += [192, 193, 208, 223, 240, 255, 256, 257, 320, 351, 352, 384, 385, 511]

RATIOS = [1, 1, 1, 2, 3, 4, 5, 6, 7, 8]


class Generator:
    def __init__(self, seed, work):
        self.random = random.Random(seed)
        self.work = work

    # What a spec and a shape are made of.

    def head_dim(self):
        common = [64, 128, 256, 96, 80, 192]
        return self.random.choice(common + [8 * self.random.randint(1, 32)])

    def length(self):
        r = self.random
        draw = r.random()
        if draw < 0.6:
            return r.choice(EDGES)
        return r.randint(1, 400 if draw < 0.9 else 3000)

    def spec(self, **fixed):
        r = self.random
        kv = fixed.pop("num_kv_heads", r.choice([1, 1, 2, 3]))
        spec = {
            "version": 1,
            "dtype": r.choice(["f16", "bf16"]),
            "num_qo_heads": kv * fixed.pop("ratio", r.choice(RATIOS)),
            "num_kv_heads": kv,
            "head_dim_qk": self.head_dim(),
            "layout": r.choice(["bshd", "bshd", "bhsd"]),
            "lse": r.random() < 0.7,
        }
        mask = r.choice([None, None, "top_left", "bottom_right", "bottom_right"])
        if mask:
            spec["mask"] = {"kind": "causal", "alignment": mask}
        if r.random() < 0.15:
            spec["head_dim_vo"] = self.head_dim()
        if r.random() < 0.15:
            spec["softmax_scale"] = round(r.uniform(0.01, 0.5), 3)
        spec.update(fixed)
        return {key: value for key, value in spec.items() if value is not None}

    def shape(self, spec, sq=None, sk=None):
        """Random lengths, halved until the work fits; given ones are kept."""
        r = self.random
        b = r.choice([1, 1, 2, 3])
        q = self.length() if sq is None else sq
        k = self.length() if sk is None else sk
        while b * q * k * spec["num_qo_heads"] * spec["head_dim_qk"] > self.work:
            if b > 1:
                b = 1
            elif sq is None and (q >= k or sk is not None):
                q = max(1, q // 2)
            elif sk is None:
                k = max(1, k // 2)
            elif spec["num_qo_heads"] > 1:
                spec["num_qo_heads"] = spec["num_kv_heads"] = 1
            else:
                break
        return {"b": b, "sq": q, "sk": k}

    # One function a kind of fault.

    def tails(self):
        spec = self.spec()
        return {"spec": spec, "shape": self.shape(spec)}

    def head_dims(self):
        spec = self.spec(head_dim_qk=8 * self.random.randint(1, 32))
        return {"spec": spec, "shape": self.shape(spec)}

    def gqa(self):
        ratio = self.random.choice(RATIOS[3:] + [12, 16])
        spec = self.spec(ratio=ratio)
        shape = self.shape(spec)
        if _has_empty_rows(spec, shape):
            return {"spec": spec, "shape": shape}
        inputs = {"v": {"value": "3 * h - 4"}}
        expect = {"result": "reference", "o_equals": f"3 * (h // {ratio}) - 4"}
        return {"spec": spec, "shape": shape, "inputs": inputs, "expect": expect}

    def empty_rows(self):
        spec = self.spec(mask=_causal("bottom_right"), lse=True)
        sk = self.random.randint(1, 120)
        shape = self.shape(spec, sq=sk + self.random.randint(1, 150), sk=sk)
        return {"spec": spec, "shape": shape}

    def alignment(self):
        side = self.random.choice(["top_left", "bottom_right"])
        spec = self.spec(mask=_causal(side), lse=True)
        shape = self.shape(spec, sk=self.random.randint(2, 200))
        shape["sq"] = min(shape["sq"], shape["sk"])
        # With uniform weights, O is the mean of V over the visible keys.
        first = "1" if side == "top_left" else "sk - sq + 1"
        inputs = {"q": "zeros", "v": {"value": "2 if j == 0 else 0"}}
        expect = {
            "result": "reference",
            "o_equals": f"2 / (i + {first})",
            "lse_equals": f"log(i + {first})",
        }
        return {"spec": spec, "shape": shape, "inputs": inputs, "expect": expect}

    def zero_length(self):
        spec = self.spec(lse=True)
        side = self.random.choice(["sq", "sk"])
        return {"spec": spec, "shape": {**self.shape(spec), side: 0}}

    def strides(self):
        spec = self.spec()
        shape = self.shape(spec)
        placed = {}
        for tensor in self.random.sample("qkvo", self.random.randint(1, 4)):
            placed[tensor] = self._placement(spec, tensor)
        return {"spec": spec, "shape": shape, "inputs": {"strides": placed}}

    def _placement(self, spec, tensor):
        """A view of a larger tensor: padded rows, either order of heads and
        rows, a gap between batch entries, an aligned start."""
        r = self.random
        s = "sk" if tensor in "kv" else "sq"
        h = "hk" if tensor in "kv" else "hq"
        d = ("d" if tensor in "qk" else "dv") + f" + {8 * r.randint(0, 4)}"
        gap = 8 * r.randint(0, 9)
        if r.random() < 0.5:
            place = {"s": f"{h} * ({d})", "h": d}
        else:
            place = {"s": d, "h": f"{s} * ({d})"}
        place["b"] = f"{s} * {h} * ({d}) + {gap}"
        if r.random() < 0.5:
            place["offset"] = 8 * r.randint(1, 40)
        return place

    def layouts(self):
        spec = self.spec(layout="bshd")
        view = {"b": "sq * hq * d", "s": "d", "h": "sq * d"}
        expect = {
            "result": "reference",
            "same_as": {"inputs": {"strides": None}},
            "same": "bitwise",
        }
        inputs = {"strides": {"q": view}}
        return {
            "spec": spec,
            "shape": self.shape(spec),
            "inputs": inputs,
            "expect": expect,
        }

    def nan_inf(self):
        spec = self.spec(mask=_causal("bottom_right"), lse=True)
        shape = self.shape(spec, sk=self.random.randint(2, 200))
        shape["sq"] = min(shape["sq"], shape["sk"])
        # Row 0 sees the keys up to the offset, so `row` is the first to see NaN.
        row = self.random.randint(1, shape["sq"])
        tensors = self.random.choice(["k", "v", "kv"])
        inputs = {"set": _set(tensors, f"j >= {row} + sk - sq", "nan")}
        expect = {"result": "reference", "nan_where": f"i >= {row}"}
        return {"spec": spec, "shape": shape, "inputs": inputs, "expect": expect}

    def unseen_keys(self):
        spec = self.spec(mask=_causal("top_left"), lse=True)
        shape = self.shape(spec, sk=self.random.randint(2, 300))
        shape["sq"] = min(shape["sq"], shape["sk"] - 1)
        value = self.random.choice(["nan", "inf", "neg_inf"])
        inputs = {"set": _set("kv", "j >= sq", value)}
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def lse(self):
        spec = self.spec(lse=True, mask=None)
        shape = self.shape(spec)
        a, b = self.random.randint(-6, 6), self.random.randint(1, 4)
        scale = spec.get("softmax_scale", f"(1 / sqrt({spec['head_dim_qk']}))")
        inputs = {"q": {"value": str(a)}, "k": {"value": str(b)}}
        score = f"{a} * {b} * {spec['head_dim_qk']} * {scale}"
        expect = {"result": "reference", "lse_equals": f"{score} + log(sk)"}
        return {"spec": spec, "shape": shape, "inputs": inputs, "expect": expect}

    def large_scores(self):
        """From the range of models to where only ties share a row."""
        r = self.random
        spec = self.spec(lse=True)
        if r.random() < 0.5:
            # What rounding the scores themselves does to an LSE is multiplied.
            spec["lse"] = False
            spec["softmax_scale"] = 10.0 ** r.choice([2, 3, 4, 6, 9, 20, 30])
        shape = self.shape(spec)
        inputs = {"scale_inputs": {"q": r.choice([2, 4, 8])}}
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def ties(self):
        """Equal scores, however large, share a row."""
        r = self.random
        spec = self.spec(lse=True)
        shape = self.shape(spec)
        largest = 60000 if spec["dtype"] == "f16" else 1e16
        q, k = (r.choice([1, 300, largest]) * r.choice([1, -1]) for _ in "qk")
        inputs = {"q": {"value": str(q)}, "k": {"value": str(k)}}
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def rising_scores(self):
        """The maximum moves in late tiles, by little or by very much."""
        spec = self.spec(lse=True)
        shape = self.shape(spec)
        step = self.random.choice([0.5, 4, 16, 400])
        wave = self.random.randint(1, 9)
        inputs = {
            "q": {"value": f"4 if c == 0 else sin(i * 3 + c * {wave})"},
            "k": {"value": f"(j // 48) * {step} if c == 0 else cos(j + c * 5)"},
        }
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def window(self):
        """Any ends, often near a tile's edge, and NaN where no row looks."""
        r = self.random
        widths = [-1, 0, 1, 15, 16, 31, 63, 64, 79, 80, 127, 128, 2**31 - 1]
        left, right = r.choice(widths), r.choice(widths)
        mask = {"kind": "window", "alignment": r.choice(["top_left", "bottom_right"])}
        # What is not written is unbounded, as -1 is.
        mask.update({"window_left": left} if left >= 0 or r.random() < 0.5 else {})
        mask.update({"window_right": right} if right >= 0 or r.random() < 0.5 else {})
        spec = self.spec(lse=True, mask=mask)
        shape = self.shape(spec)
        inputs = {}
        shift = shape["sk"] - shape["sq"] if mask["alignment"] == "bottom_right" else 0
        if right >= 0 and r.random() < 0.5:
            # Keys behind the window of every row.
            inputs["set"] = _set("kv", f"j > {shape['sq'] - 1 + shift + right}", "nan")
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def window_nan(self):
        """NaN that some rows of a tile see and others do not, at both ends."""
        r = self.random
        left, right = r.randint(0, 70), r.randint(0, 70)
        mask = {"kind": "window", "alignment": "top_left"}
        mask.update(window_left=left, window_right=right)
        spec = self.spec(lse=True, mask=mask)
        n = r.randint(2, 200)
        shape = self.shape(spec, sq=n, sk=n)
        bad = r.randrange(shape["sk"])
        inputs = {"set": _set("v", f"j == {bad}", r.choice(["nan", "inf"]))}
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def softcap(self):
        """From caps that no score reaches to those that all do."""
        r = self.random
        spec = self.spec(lse=True, softcap=r.choice([0.5, 5.0, 30.0, 50.0, 1000.0]))
        shape = self.shape(spec)
        inputs = {"scale_inputs": {"q": r.choice([0.25, 1, 8])}}
        return {"spec": spec, "shape": shape, "inputs": inputs}

    def determinism(self):
        spec = self.spec()
        inputs = {"perturb": "a new order of warps each run"}
        inputs["grid_limit"] = [self.random.randint(1, 5)]
        expect = {"result": "bitwise-stable", "runs": 3}
        return {
            "spec": spec,
            "shape": self.shape(spec),
            "inputs": inputs,
            "expect": expect,
        }

    def trip_counts(self):
        width = self.random.choice([64, 80, 96, 112, 128, 144, 176])
        spec = self.spec(num_kv_heads=1, ratio=1)
        shape = self.shape(spec, sk=width * self.random.randint(1, 5))
        expect = {"result": "terminates", "within_s": 120, "then": "reference"}
        return {"spec": spec, "shape": shape, "expect": expect}

    def spec_format(self):
        spec = self.spec()
        shape = self.shape(spec)
        expect = {
            "result": "reference",
            "same_artifact_as": {"spec": {"softmax_scale": 0.25}},
            "one_artifact_for": [self.shape(dict(spec)) for _ in range(2)],
        }
        return {"spec": spec, "shape": shape, "expect": expect}

    def errors(self):
        spec = self.spec()
        key = self.random.choice(["num_qo_heads", "head_dim_qk", "dtype", "layout"])
        r = self.random
        choice = r.randrange(3)
        if choice == 0:  # two neighbouring letters change places
            at = r.choice([i for i in range(len(key) - 1) if key[i] != key[i + 1]])
            wrong = key[:at] + key[at + 1] + key[at] + key[at + 2 :]
            spec[wrong] = spec[key]
            return _refused(spec, wrong, suggests=key)
        if choice == 1:
            value = r.choice([0, -8, 257, 12, 100000, 2**40])
            spec["head_dim_qk"] = value
            return _refused(spec, "head_dim_qk", value=str(value))
        value = r.choice(["f61", "fp16", "BF16", "", "float"])
        spec["dtype"] = value
        return _refused(spec, "dtype", value=value)

    KINDS = {
        "tails": tails,
        "head-dim": head_dims,
        "gqa": gqa,
        "empty-rows": empty_rows,
        "causal-alignment": alignment,
        "zero-length": zero_length,
        "strides-alignment": strides,
        "layout": layouts,
        "nan-inf": nan_inf,
        "unseen-keys": unseen_keys,
        "lse": lse,
        "large-scores": large_scores,
        "ties": ties,
        "rising-scores": rising_scores,
        "window": window,
        "window-nan": window_nan,
        "softcap": softcap,
        "determinism": determinism,
        "hang": trip_counts,
        "spec-format": spec_format,
        "errors": errors,
    }


def _causal(side):
    return {"kind": "causal", "alignment": side}


def _set(tensors, where, value):
    return [{"tensor": t, "where": where, "value": value} for t in tensors]


def _refused(spec, key, **words):
    return {"spec": spec, "expect": {"exit": 2, "names": key, **words}}


def _first_seeing_row(spec, shape):
    """The first query row that sees a key."""
    mask = spec.get("mask")
    if shape["sk"] == 0:
        return shape["sq"]
    if not mask or mask["kind"] != "causal" or mask["alignment"] == "top_left":
        return 0
    return min(shape["sq"], max(0, shape["sq"] - shape["sk"]))


def _has_empty_rows(spec, shape):
    return _first_seeing_row(spec, shape) > 0


def finish(kind, number, seed, case):
    """Adds what every case has, and the empty rows of those that compute."""
    expect = case.setdefault("expect", {"result": "reference"})
    if "shape" in case and _has_empty_rows(case["spec"], case["shape"]):
        rows = [[0, _first_seeing_row(case["spec"], case["shape"])]]
        expect["o_zero_rows"] = rows
        if case["spec"].get("lse"):
            expect["lse_neg_inf_rows"] = rows
    identity = {"id": f"{kind}-{seed}-{number}", "kind": kind}
    return {**identity, **case, "size": "emulator", "feature_stage": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument(
        "--work",
        type=float,
        default=4e6,
        help="the most heads x queries x keys x head dim",
    )
    parser.add_argument("--kind", choices=sorted(Generator.KINDS))
    options = parser.parse_args()
    generator = Generator(options.seed, options.work)
    kinds = [options.kind] if options.kind else list(Generator.KINDS)
    for number in range(options.count):
        kind = kinds[number % len(kinds)]
        case = Generator.KINDS[kind](generator)
        print(json.dumps(finish(kind, number, options.seed, case)))


if __name__ == "__main__":
    main()
