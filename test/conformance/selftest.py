# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the runner's own parts: a judge that passes everything judges nothing.

usage: selftest.py"""

import dataclasses
import sys
import unittest

import numpy as np

import checks
import reference
import timing
from attnc import Outcome
from case import Case, nested
from formula import FormulaError, evaluate
from tensors import make_inputs, round_to, strides_of


def case(**changes):
    spec = {
        "version": 1,
        "dtype": "bf16",
        "num_qo_heads": 4,
        "num_kv_heads": 2,
        "head_dim_qk": 16,
        "mask.kind": "causal",
        "mask.alignment": "bottom_right",
        "lse": True,
    }
    made = Case("some-case", "tails", spec, {}, {"b": 2, "sq": 9, "sk": 5})
    return dataclasses.replace(made, **changes)


class Formulas(unittest.TestCase):
    def test_arrays(self):
        i = np.arange(4)
        got = evaluate("1 if i % 2 == 0 and i < 3 else -i // 2", {"i": i})
        np.testing.assert_array_equal(got, [1, -1, 1, -2])

    def test_floor_division_of_manifests(self):
        grid = "min(ceildiv(s, 128) * 7 / 2, 132)"
        self.assertEqual(evaluate(grid, {"s": 257}, floor_division=True), 10)

    def test_refuses_what_it_does_not_know(self):
        for text in ("x.real", "__import__('os')", "y", "[1, 2]", "f(1)", "1 +"):
            with self.assertRaises(FormulaError):
                evaluate(text, {"x": 1})


class Rounding(unittest.TestCase):
    def test_bf16_ties_go_to_even(self):
        halves = np.array([1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256])
        np.testing.assert_array_equal(round_to("bf16", halves), [1, 1 + 1 / 64, -1])

    def test_bf16_rounds_once(self):
        # Through f32 this would first fall onto the tie, and then to 1.
        self.assertEqual(round_to("bf16", 1 + 2.0**-8 + 2.0**-40), 1 + 2.0**-7)
        self.assertEqual(round_to("bf16", 1 + 2.0**-8 - 2.0**-40), 1)

    def test_wide_types(self):
        self.assertEqual(round_to("f32", 1 + 2.0**-24), 1)
        self.assertEqual(round_to("f64", 1 + 2.0**-52), 1 + 2.0**-52)

    def test_not_finite(self):
        got = round_to("bf16", [np.nan, np.inf, -np.inf, 3.4e38])
        np.testing.assert_array_equal(got, [np.nan, np.inf, -np.inf, np.inf])


class Inputs(unittest.TestCase):
    def test_strides_fill_in_what_is_contiguous(self):
        one = case(inputs={"strides": {"k": {"s": "hk * d + 8", "offset": 16}}})
        self.assertEqual(strides_of(one, "k"), ([160, 40, 16, 1], 16))
        self.assertEqual(strides_of(one, "q"), (None, None))

    def test_shared_addresses_hold_one_value(self):
        one = case(inputs={"strides": {"k": {"h": 0, "s": 16, "b": 80}}})
        k = make_inputs(one)["k"]
        np.testing.assert_array_equal(k[:, 0], k[:, 1])
        self.assertGreater(np.abs(k).max(), 0)

    def test_set_overwrites(self):
        change = {"tensor": "v", "where": "j >= 3 and c == 1", "value": "nan"}
        v = make_inputs(case(inputs={"set": [change]}))["v"]
        self.assertTrue(np.isnan(v[:, :, 3:, 1]).all())
        self.assertEqual(np.isnan(v).sum(), 2 * 2 * 2)

    def test_nesting(self):
        self.assertEqual(nested({"mask.kind": "none", "a": 1})["mask"]["kind"], "none")


class Reference(unittest.TestCase):
    def test_against_a_loop(self):
        one = case()
        inputs = make_inputs(one)
        ref = reference.compute(one, **inputs)
        q, k, v = (inputs[n] for n in "qkv")
        for b, h, i in ((0, 0, 4), (1, 3, 8), (0, 2, 6)):
            keys = range(i - 4 + 1)
            scores = [float(q[b, h, i] @ k[b, h // 2, j]) / 4 for j in keys]
            total = sum(np.exp(s) for s in scores)
            o = sum(np.exp(s) * v[b, h // 2, j] for s, j in zip(scores, keys)) / total
            np.testing.assert_allclose(ref.o[b, h, i], o, rtol=1e-12, atol=1e-14)
            self.assertAlmostEqual(ref.lse[b, h, i], np.log(total), places=12)

    def test_empty_rows(self):
        one = case()
        ref = reference.compute(one, **make_inputs(one))
        self.assertTrue((ref.o[:, :, :4] == 0).all())
        self.assertTrue((ref.lse[:, :, :4] == -np.inf).all())
        self.assertTrue(np.isfinite(ref.lse[:, :, 4:]).all())

    def test_what_is_not_seen_does_not_matter(self):
        change = [{"tensor": t, "where": "j == 4", "value": "nan"} for t in ("k", "v")]
        one = case(inputs={"set": change})
        ref = reference.compute(one, **make_inputs(one))
        self.assertTrue(np.isfinite(ref.o[:, :, :8]).all())
        self.assertTrue(np.isnan(ref.o[:, :, 8]).all())

    def test_f64_has_a_bar_of_its_own(self):
        double = case().with_dtype("f64")
        tensors = make_inputs(double)
        ref = reference.compute(double, **tensors)
        self.assertEqual(ref.o_bar.max(), 1e-14 * max(1, np.abs(ref.o).max()))
        wrong = Outcome(0, "", ref.o + 1e-13, ref.lse)
        self.assertIn("o[", checks.against_reference(wrong, ref))

    def test_lse_has_the_error_of_plain_f32(self):
        lse = np.array([0.5, -100, -np.inf])
        np.testing.assert_allclose(
            reference.lse_bar(case(), lse, 0), [1e-5, 1e-3, 0], rtol=1e-12
        )
        np.testing.assert_allclose(
            reference.lse_bar(case(), lse, 0.25), [0.5, 50, 0], rtol=1e-12
        )
        one = case()
        ref = reference.compute(one, **make_inputs(one))
        self.assertLess(ref.lse_error, 1e-6)
        self.assertEqual(ref.lse_bar[0, 0, 8], max(1, ref.lse[0, 0, 8]) * 1e-5)

    def test_scores_that_cancel(self):
        # Pairs of columns, 100 * 100 - 100 * 99.75 and the like.
        big = {"value": "100 * sin(12.9 * i + 4.1 * (c // 2))"}
        pair = "100 * cos(7.7 * j + 3.3 * (c // 2)) * (1 if c % 2 == 0 else -1)"
        keys = {"value": pair + " + (0.25 * sin(j + c) if c % 2 == 1 else 0)"}
        spec = {**case().spec, "dtype": "f16", "head_dim_qk": 64}
        one = case(spec=spec, inputs={"q": big, "k": keys})
        ref = reference.compute(one, **make_inputs(one))
        finite = np.isfinite(ref.lse)
        self.assertLess(np.abs(ref.lse[finite]).max(), 1e3)
        self.assertGreater(ref.lse_error, 1e-5)
        self.assertLess(ref.lse_error, 1e-2)
        off = Outcome(0, "", ref.o, ref.lse * (1 + 1.9 * ref.lse_error))
        self.assertIsNone(checks.against_reference(off, ref))
        off = Outcome(0, "", ref.o, ref.lse * (1 + 2.1 * ref.lse_error))
        self.assertIn("lse[", checks.against_reference(off, ref))

    def test_a_case_about_types_keeps_its_own(self):
        spec = {**case().spec, "dtype_o": "f16"}
        self.assertEqual(case(spec=spec).with_dtype("f64").setting("dtype"), "bf16")

    def test_the_bar_is_near_one_rounding(self):
        one = case(shape={"b": 1, "sq": 60, "sk": 60})
        ref = reference.compute(one, **make_inputs(one))
        self.assertLess((ref.o_bar / np.abs(ref.o).max()).max(), 2.0**-5)


class Timing(unittest.TestCase):
    def times(self, count):
        made = [timing.Times(f"case-{n}", seconds=n) for n in range(count)]
        for n, each in enumerate(made):
            each.add(n / 2, 300)
            each.add(1, 300)
        return made

    def test_the_slowest_ten(self):
        lines = timing.report(self.times(40))
        self.assertEqual(len(lines), 11)
        self.assertIn("case-39 (19.5 s of 300 s)", lines[1])
        self.assertIn("case-30 ", lines[10])

    def test_few_cases_are_not_listed(self):
        self.assertEqual(timing.report(self.times(10)), [])
        self.assertEqual(timing.report([]), [])

    def test_near_the_limit(self):
        times = self.times(3)
        times[1].add(20, 30)  # a limit of its own
        times[1].add(140, 300)  # longer, but a smaller share
        times[2].add(149, 300)
        lines = timing.report(times)
        self.assertEqual(len(lines), 1)
        self.assertIn("case-1 is near its limit: expected at most 15 s", lines[0])
        self.assertIn("took 20.0 s", lines[0])


class Judging(unittest.TestCase):
    def setUp(self):
        self.case = case(expect={"o_zero_rows": [[0, 4]], "lse_neg_inf_rows": [[0, 4]]})
        self.ref = reference.compute(self.case, **make_inputs(self.case))
        self.good = Outcome(0, "", self.ref.o.copy(), self.ref.lse.copy())

    def fault(self):
        return checks.against_reference(self.good, self.ref) or checks.exact_rows(
            self.case, self.good
        )

    def test_right(self):
        self.assertIsNone(self.fault())

    def test_one_element_off(self):
        self.good.o[1, 2, 7, 3] += 0.5
        self.assertIn("o[1, 2, 7, 3]", self.fault())

    def test_one_element_unwritten(self):
        self.good.o[0, 3, 8, 15] = np.nan
        self.assertIn("o[0, 3, 8, 15]", self.fault())

    def test_lse_in_the_wrong_unit(self):
        self.good.lse *= 1.4427
        self.assertIn("lse", self.fault())

    def test_a_number_is_not_an_infinity(self):
        self.good.lse[0, 0, 0] = 5  # a row that sees nothing
        fault = checks.against_reference(self.good, self.ref)
        self.assertIn("expected -inf, but got 5", fault)

    def test_almost_zero_is_not_zero(self):
        self.good.o[0, 0, 0, 0] = 1e-30
        self.assertIn("o_zero_rows", self.fault())

    def test_one_bit(self):
        other = Outcome(0, "", self.good.o.copy(), self.good.lse.copy())
        self.assertIsNone(checks.bitwise(self.good, other))
        other.lse[0, 0, 8] = np.nextafter(other.lse[0, 0, 8], 9)
        self.assertIn("lse[0, 0, 8]", checks.bitwise(self.good, other))

    def test_messages(self):
        expect = {"names": "mask.kind", "suggests": "causal", "mentions": ["line"]}
        text = "line 3: unknown mask.kind 'casual', did you mean 'causal'?"
        self.assertIsNone(checks.message(expect, text))
        self.assertIn("causal", checks.message(expect, "line 3: mask.kind is odd"))

    def test_grid(self):
        kernel = {"entry": "f", "grid": ["batch * num_qo_heads", "1", "1"]}
        wide = case(
            shape={"b": 2**30, "sq": 1, "sk": 1}, expect={"grid_max": [2**31, 1, 1]}
        )
        self.assertIn("4294967296", checks.grid(wide, {"kernels": [kernel]}))


def main():
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(
        f"{result.testsRun - failed} passed, {failed} failed, {len(result.skipped)} skipped"
    )
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
