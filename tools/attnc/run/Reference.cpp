//===- Reference.cpp - Attention in float64 or better ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Reference.h"

#include "tools/attnc/run/MatrixKernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace attnc {

namespace {

/// Which keys a row sees, and what becomes of a score: everything of a problem
/// that is no matrix product. A new mask or bias goes here and nowhere else.
class Scores {
public:
  explicit Scores(const Problem &problem) : problem_(problem) {}

  /// No key outside [first, last) is visible to the row.
  int64_t first(int64_t row) const { return problem_.visibleKeys(row).first; }
  int64_t last(int64_t row) const { return problem_.visibleKeys(row).last; }

  /// From <q, k> to what the softmax takes.
  template <typename T>
  T transform(T product) const {
    T score = static_cast<T>(problem_.scale) * product;
    if (problem_.softcap) {
      T cap = static_cast<T>(*problem_.softcap);
      score = cap * std::tanh(score / cap);
    }
    return score;
  }

private:
  const Problem &problem_;
};

/// Computes one block in the type T; `round` is applied to scores and weights.
template <typename T, typename Round>
class BlockEvaluator {
public:
  BlockEvaluator(const Problem &problem, const ReferenceInputs &inputs,
                 RowBlock &block, Round round)
      : problem_(problem), inputs_(inputs), block_(block), scores_(problem),
        round_(round), rows_(block.rows.size()) {
    begin_ = problem.keys;
    end_ = 0;
    for (int64_t row : block.rows) {
      begin_ = std::min(begin_, scores_.first(row));
      end_ = std::max(end_, scores_.last(row));
    }
    end_ = std::max(end_, begin_);
  }

  void run() {
    block_.o.assign(rows_ * problem_.headDimVo, 0);
    sums_.assign(rows_, 0);
    prepareScores();
    for (int64_t r = 0; r < rows_; ++r)
      softmaxRow(r);
    multiplyWeightsByValues();
  }

  /// LSE alone, with sums in the type S.
  template <typename S>
  void runLse() {
    prepareScores();
    for (int64_t r = 0; r < rows_; ++r)
      if (std::optional<T> maximum = scoreRow(r))
        block_.lse[r] =
            static_cast<double>(*maximum + std::log(sumRow<S>(r, *maximum)));
  }

private:
  /// What elements of tensors are read as, and what is wide enough for a sum.
  using Element = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using Sum = decltype(T() + double());

  int64_t width() const { return end_ - begin_; }

  void prepareScores() {
    block_.lse.assign(rows_, -std::numeric_limits<double>::infinity());
    weights_.assign(rows_ * width(), T(0));
    multiplyQueriesByKeys();
  }

  /// The scores or weights of a row, indexed by key.
  T *line(int64_t r) { return weights_.data() + r * width() - begin_; }
  int64_t firstKey(int64_t r) const { return scores_.first(block_.rows[r]); }
  int64_t lastKey(int64_t r) const { return scores_.last(block_.rows[r]); }

  /// One row of a tensor whose rows belong to (batch, position, head).
  void loadRow(const HostTensor &tensor, int64_t head, int64_t position,
               int64_t size, Element *to) const {
    tensor.loadRow(block_.batch * tensor.stride("b") +
                       position * tensor.stride("s") +
                       head * tensor.stride("h"),
                   size, to);
  }

  void multiplyQueriesByKeys() {
    int64_t depth = problem_.headDimQk;
    std::vector<Element> line(depth);
    std::vector<T> queries(rows_ * depth), keys(depth * kTile);
    for (int64_t r = 0; r < rows_; ++r) {
      loadRow(*inputs_.q, block_.head, block_.rows[r], depth, line.data());
      std::copy(line.begin(), line.end(), queries.begin() + r * depth);
    }
    int64_t kvHead = block_.head / problem_.groupSize();
    for (int64_t j = begin_; j < end_; j += kTile) {
      int64_t size = std::min(kTile, end_ - j);
      // Transposed, so that the loop over keys runs along memory.
      for (int64_t t = 0; t < size; ++t) {
        loadRow(*inputs_.k, kvHead, j + t, depth, line.data());
        for (int64_t c = 0; c < depth; ++c)
          keys[c * kTile + t] = line[c];
      }
      for (int64_t r = 0; r < rows_; ++r)
        accumulateProducts(queries.data() + r * depth, keys.data(), kTile,
                           depth, size,
                           weights_.data() + r * width() + (j - begin_));
    }
  }

  /// Turns a row of products into scores, in place. Returns their maximum, or
  /// nothing for an empty row: o = 0, lse = -inf.
  std::optional<T> scoreRow(int64_t r) {
    T *scores = line(r);
    T maximum = -std::numeric_limits<T>::infinity();
    bool hasNan = false;
    for (int64_t j = firstKey(r); j < lastKey(r); ++j) {
      scores[j] = round_(scores_.transform(scores[j]));
      maximum = std::max(maximum, scores[j]);
      hasNan |= std::isnan(scores[j]);
    }
    if (maximum == -std::numeric_limits<T>::infinity() && !hasNan)
      return std::nullopt;
    return maximum;
  }

  /// Turns a row of scores into exponentials, in place, and adds them up.
  template <typename S>
  S sumRow(int64_t r, T maximum) {
    T *scores = line(r);
    S sum = 0;
    for (int64_t j = firstKey(r); j < lastKey(r); ++j) {
      scores[j] = std::exp(scores[j] - maximum);
      sum += scores[j];
    }
    return sum;
  }

  /// Turns a row of products into weights, in place.
  void softmaxRow(int64_t r) {
    std::optional<T> maximum = scoreRow(r);
    if (!maximum)
      return;
    Sum sum = sumRow<Sum>(r, *maximum);
    T *weights = line(r);
    for (int64_t j = firstKey(r); j < lastKey(r); ++j)
      weights[j] = round_(static_cast<T>(weights[j] / sum));
    sums_[r] = sum;
    block_.lse[r] = static_cast<double>(*maximum + std::log(sum));
  }

  void multiplyWeightsByValues() {
    int64_t depth = problem_.headDimVo;
    int64_t kvHead = block_.head / problem_.groupSize();
    std::vector<Element> line(depth);
    std::vector<T> values(kTile * depth), o(rows_ * depth, T(0));
    for (int64_t j = begin_; j < end_; j += kTile) {
      int64_t size = std::min(kTile, end_ - j);
      for (int64_t t = 0; t < size; ++t) {
        loadRow(*inputs_.v, kvHead, j + t, depth, line.data());
        std::copy(line.begin(), line.end(), values.begin() + t * depth);
      }
      for (int64_t r = 0; r < rows_; ++r) {
        if (sums_[r] == 0)
          continue; // an empty row
        int64_t from = std::max(j, scores_.first(block_.rows[r]));
        int64_t to = std::min(j + size, scores_.last(block_.rows[r]));
        accumulateRows(weights_.data() + r * width() + (from - begin_),
                       values.data() + (from - j) * depth, to - from, depth,
                       o.data() + r * depth);
      }
    }
    std::copy(o.begin(), o.end(), block_.o.begin());
  }

  static constexpr int64_t kTile = 128;
  const Problem &problem_;
  const ReferenceInputs &inputs_;
  RowBlock &block_;
  Scores scores_;
  Round round_;
  int64_t rows_;
  /// The keys that any row of the block sees.
  int64_t begin_, end_;
  std::vector<T> weights_;
  /// Of exponentials; 0 for an empty row, NaN where a score is.
  std::vector<Sum> sums_;
};

} // namespace

void computeReference(const Problem &problem, const ReferenceInputs &inputs,
                      RowBlock &block) {
  auto exact = [](auto value) { return value; };
  // What is compared with f64 must be more than f64 itself.
  if (problem.dtype == "f64")
    BlockEvaluator<long double, decltype(exact)>(problem, inputs, block, exact)
        .run();
  else
    BlockEvaluator<double, decltype(exact)>(problem, inputs, block, exact)
        .run();
}

void computePlain(const Problem &problem, const ReferenceInputs &inputs,
                  FloatFormat format, RowBlock &block) {
  auto exact = [](auto value) { return value; };
  auto round = [format](float value) { return roundMantissa(value, format); };
  if (format.mantissaBits == kF64.mantissaBits)
    BlockEvaluator<double, decltype(exact)>(problem, inputs, block, exact)
        .run();
  else if (format.mantissaBits == kF32.mantissaBits)
    BlockEvaluator<float, decltype(exact)>(problem, inputs, block, exact).run();
  else
    BlockEvaluator<float, decltype(round)>(problem, inputs, block, round).run();
}

void computeReferenceLse(const Problem &problem, const ReferenceInputs &inputs,
                         RowBlock &block) {
  auto exact = [](auto value) { return value; };
  if (problem.dtype == "f64")
    BlockEvaluator<long double, decltype(exact)>(problem, inputs, block, exact)
        .template runLse<long double>();
  else
    BlockEvaluator<double, decltype(exact)>(problem, inputs, block, exact)
        .template runLse<double>();
}

void computePlainLse(const Problem &problem, const ReferenceInputs &inputs,
                     FloatFormat format, RowBlock &block) {
  auto exact = [](auto value) { return value; };
  if (format.mantissaBits == kF64.mantissaBits)
    BlockEvaluator<double, decltype(exact)>(problem, inputs, block, exact)
        .template runLse<double>();
  else
    BlockEvaluator<float, decltype(exact)>(problem, inputs, block, exact)
        .template runLse<float>();
}

} // namespace attnc
