//===- Visibility.h - How many keys the queries see ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_VISIBILITY_H
#define ATTN_RUNTIME_VISIBILITY_H

#include <cstdint>
#include <optional>

namespace attn::runtime {

/// A mask that lets query i see keys [i + o - left, i + o + right], where o is
/// len_k - len_q for bottom_right and 0 for top_left. No bound: no limit on
/// that side. Causal is right = 0.
struct Band {
  bool bottomRight = false;
  std::optional<int64_t> left, right;
};

/// Visible (query, key) pairs of one head of one sequence.
int64_t countVisiblePairs(const Band &band, int64_t queries, int64_t keys);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_VISIBILITY_H
