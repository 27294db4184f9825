//===- Visibility.cpp - How many keys the queries see ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Visibility.h"

#include <algorithm>
#include <limits>

namespace attn::runtime {

/// The sum of clamp(i + first, 0, keys) over i in [0, queries), in closed form
/// because a length may be 2^31.
static __int128 sumClamped(__int128 first, __int128 queries, __int128 keys) {
  // Rows before `rising` contribute 0, rows from `full` on contribute `keys`.
  __int128 rising = std::clamp<__int128>(-first, 0, queries);
  __int128 full = std::clamp<__int128>(keys - first, rising, queries);
  __int128 count = full - rising;
  __int128 ramp = count * (rising + first) + count * (count - 1) / 2;
  return ramp + (queries - full) * keys;
}

int64_t countVisiblePairs(const Band &band, int64_t queries, int64_t keys) {
  __int128 offset = band.bottomRight ? __int128(keys) - queries : 0;
  __int128 pairs = __int128(queries) * keys;
  if (band.right)
    pairs = sumClamped(offset + *band.right + 1, queries, keys);
  if (band.left)
    pairs -= sumClamped(offset - *band.left, queries, keys);
  return static_cast<int64_t>(
      std::clamp<__int128>(pairs, 0, std::numeric_limits<int64_t>::max()));
}

} // namespace attn::runtime
