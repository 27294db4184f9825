//===- Compare.cpp - Whether a result is within the bar -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Compare.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace attnc {

constexpr double kLseTolerance = 1e-5;
/// Of O and LSE in f64, and of O in f32: whatever the plain computation's luck.
constexpr double kDoubleTolerance = 1e-14;
constexpr double kSingleTolerance = 1e-6;

double Comparison::maxRelError() const {
  return maxAbsExpected > 0 ? maxAbsError / maxAbsExpected : maxAbsError;
}

double Comparison::relativeNorm() const {
  return expectedSquares > 0 ? std::sqrt(errorSquares / expectedSquares)
                             : std::sqrt(errorSquares);
}

double Comparison::oBar() const {
  return std::max(2 * plainMaxAbsError,
                  oTolerance * std::max(1.0, maxAbsExpected));
}

double Comparison::lseBar() const {
  return std::max(2 * plainLseError, lseTolerance);
}

bool Comparison::isOWithinBar() const {
  return specialMismatches == 0 && worst.error <= oBar();
}

bool Comparison::isLseWithinBar() const {
  return lseMismatches == 0 && lseError <= lseBar();
}

/// Whether both are the same NaN or infinity; neither is an ordinary number.
static bool isSameSpecial(double got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : got == expected;
}

static void keepWorst(Sample &worst, const Sample &sample) {
  // The order of blocks is not fixed; the place of the worst element should be.
  if (sample.error > worst.error ||
      (sample.error == worst.error && sample.at < worst.at))
    worst = sample;
}

static void keepFirst(std::optional<Sample> &first, const Sample &sample) {
  if (!first || sample.at < first->at)
    first = sample;
}

static void addO(Comparison &result, const Sample &at, double plain,
                 FloatFormat format) {
  Sample sample = at;
  result.nanCount += std::isnan(sample.got);
  if (!std::isfinite(sample.expected) || !std::isfinite(sample.got)) {
    // A result too large for the output's format has no better rounding.
    bool isOverflow = std::isinf(sample.got) &&
                      roundTo(sample.expected, format) == sample.got;
    if (!isSameSpecial(sample.got, sample.expected) && !isOverflow) {
      ++result.specialMismatches;
      keepFirst(result.firstMismatch, sample);
    }
    return;
  }
  double error = std::fabs(sample.got - sample.expected);
  double rounding = halfUlp(sample.expected, format);
  result.maxAbsError = std::max(result.maxAbsError, error);
  result.maxAbsExpected =
      std::max(result.maxAbsExpected, std::fabs(sample.expected));
  result.errorSquares += error * error;
  result.expectedSquares += sample.expected * sample.expected;
  sample.error = error - rounding;
  keepWorst(result.worst, sample);
  double plainError = std::fabs(roundTo(plain, format) - sample.expected);
  if (std::isfinite(plainError))
    result.plainMaxAbsError = std::max(result.plainMaxAbsError, plainError);
}

/// Relative above 1, absolute below.
static double lseErrorOf(double got, double expected) {
  return std::fabs(got - expected) / std::max(1.0, std::fabs(expected));
}

static void addLse(Comparison &result, const Sample &at) {
  Sample sample = at;
  if (!std::isfinite(sample.expected) || !std::isfinite(sample.got)) {
    if (!isSameSpecial(sample.got, sample.expected)) {
      ++result.lseMismatches;
      keepFirst(result.firstLseMismatch, sample);
    }
    return;
  }
  sample.error = lseErrorOf(sample.got, sample.expected);
  result.lseError = std::max(result.lseError, sample.error);
  keepWorst(result.worstLse, sample);
}

static void merge(Comparison &into, const Comparison &from) {
  into.rowsChecked += from.rowsChecked;
  into.maxAbsError = std::max(into.maxAbsError, from.maxAbsError);
  into.maxAbsExpected = std::max(into.maxAbsExpected, from.maxAbsExpected);
  into.errorSquares += from.errorSquares;
  into.expectedSquares += from.expectedSquares;
  into.plainMaxAbsError =
      std::max(into.plainMaxAbsError, from.plainMaxAbsError);
  keepWorst(into.worst, from.worst);
  into.nanCount += from.nanCount;
  into.specialMismatches += from.specialMismatches;
  if (from.firstMismatch)
    keepFirst(into.firstMismatch, *from.firstMismatch);
  into.lseError = std::max(into.lseError, from.lseError);
  keepWorst(into.worstLse, from.worstLse);
  into.lseMismatches += from.lseMismatches;
  if (from.firstLseMismatch)
    keepFirst(into.firstLseMismatch, *from.firstLseMismatch);
}

int64_t affordableRows(const Problem &problem) {
  // A few operations a nanosecond and core, for both computations.
  // Long double has no vectors.
  double operationsPerCore = problem.dtype == "f64" ? 1e10 : 1e11;
  constexpr double kMinRows = 64;
  double budget =
      operationsPerCore * std::max(1u, std::thread::hardware_concurrency());
  double work = problem.flops();
  if (work <= budget)
    return 0;
  double rows = static_cast<double>(problem.batch) *
                static_cast<double>(problem.qoHeads) *
                static_cast<double>(problem.queries);
  return static_cast<int64_t>(std::max(kMinRows, rows * (budget / work)));
}

/// The blocks that hold the chosen rows, in order.
static std::vector<RowBlock> chooseBlocks(const Problem &problem,
                                          int64_t checkRows, uint64_t seed) {
  int64_t perHead = problem.queries, heads = problem.batch * problem.qoHeads;
  int64_t total = heads * perHead;
  // Blocks hold all scores of their rows: fewer rows where those are many.
  int64_t blockRows = std::clamp<int64_t>(
      (int64_t(1) << 22) / std::max<int64_t>(problem.keys, 1), 1,
      kMaxBlockRows);
  std::vector<RowBlock> blocks;
  auto add = [&](int64_t index) {
    int64_t batch = index / perHead / problem.qoHeads;
    int64_t head = index / perHead % problem.qoHeads;
    if (blocks.empty() || blocks.back().batch != batch ||
        blocks.back().head != head ||
        static_cast<int64_t>(blocks.back().rows.size()) >= blockRows) {
      blocks.emplace_back();
      blocks.back().batch = batch;
      blocks.back().head = head;
    }
    blocks.back().rows.push_back(index % perHead);
  };
  if (checkRows <= 0 || checkRows >= total) {
    for (int64_t i = 0; i < total; ++i)
      add(i);
    return blocks;
  }
  std::set<int64_t> chosen = {total - 1};
  if (checkRows > 1)
    chosen.insert(0);
  // The engine's numbers are the same everywhere; a distribution's are not.
  std::mt19937_64 engine(seed);
  while (static_cast<int64_t>(chosen.size()) < checkRows)
    chosen.insert(static_cast<int64_t>(engine() % total));
  for (int64_t i : chosen)
    add(i);
  return blocks;
}

static Comparison compareBlock(const Problem &problem,
                               const ReferenceInputs &inputs,
                               const HostTensor &o, const HostTensor *lse,
                               RowBlock block) {
  Comparison result;
  FloatFormat outFormat = formatOf(o.element);
  RowBlock plain = block;
  computeReference(problem, inputs, block);
  computePlain(problem, inputs, formatOf(inputs.q->element), plain);
  int64_t depth = problem.headDimVo;
  std::vector<double> line(depth);
  for (size_t r = 0; r < block.rows.size(); ++r) {
    int64_t row = block.rows[r];
    o.loadRow(block.batch * o.stride("b") + row * o.stride("s") +
                  block.head * o.stride("h"),
              depth, line.data());
    Sample sample;
    for (int64_t c = 0; c < depth; ++c) {
      sample.at = {block.batch, block.head, row, c};
      sample.got = line[c];
      sample.expected = block.o[r * depth + c];
      addO(result, sample, plain.o[r * depth + c], outFormat);
    }
    if (lse) {
      sample.at[3] = -1;
      sample.got =
          lse->load(block.batch * lse->stride("b") + row * lse->stride("s") +
                    block.head * lse->stride("h"));
      sample.expected = block.lse[r];
      addLse(result, sample);
    }
  }
  result.rowsChecked = static_cast<int64_t>(block.rows.size());
  return result;
}

/// The largest error of LSE computed plainly in f32.
static double findPlainLseError(const Problem &problem,
                                const ReferenceInputs &inputs,
                                const std::vector<RowBlock> &blocks) {
  FloatFormat format = formatOf(inputs.q->element);
  double worst = 0;
  std::mutex mutex;
  parallelFor(static_cast<int64_t>(blocks.size()), 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  RowBlock exact = blocks[i], plain = blocks[i];
                  computeReferenceLse(problem, inputs, exact);
                  computePlainLse(problem, inputs, format, plain);
                  std::lock_guard<std::mutex> lock(mutex);
                  for (size_t r = 0; r < exact.lse.size(); ++r)
                    if (double error = lseErrorOf(plain.lse[r], exact.lse[r]);
                        std::isfinite(error))
                      worst = std::max(worst, error);
                }
              });
  return worst;
}

Comparison compareResults(const Problem &problem, const ReferenceInputs &inputs,
                          const HostTensor &o, const HostTensor *lse,
                          int64_t checkRows, uint64_t seed) {
  Comparison total;
  std::mutex mutex;
  std::vector<RowBlock> blocks = chooseBlocks(problem, checkRows, seed);
  parallelFor(
      static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          Comparison part = compareBlock(problem, inputs, o, lse, blocks[i]);
          std::lock_guard<std::mutex> lock(mutex);
          merge(total, part);
        }
      });
  total.rowsTotal = problem.batch * problem.qoHeads * problem.queries;
  total.hasLse = lse != nullptr;
  FloatFormat format = formatOf(inputs.q->element);
  total.lseTolerance = kLseTolerance;
  if (format.mantissaBits == kF64.mantissaBits)
    total.oTolerance = total.lseTolerance = kDoubleTolerance;
  else if (format.mantissaBits == kF32.mantissaBits)
    total.oTolerance = kSingleTolerance;
  // Another pass over all products, so only where it decides.
  if (total.lseError > total.lseTolerance)
    total.plainLseError = findPlainLseError(problem, inputs, blocks);
  return total;
}

} // namespace attnc
