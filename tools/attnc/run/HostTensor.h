//===- HostTensor.h - A tensor in host memory ----------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_HOSTTENSOR_H
#define ATTN_TOOLS_ATTNC_RUN_HOSTTENSOR_H

#include "runtime/Manifest.h"
#include "tools/attnc/run/Rounding.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attnc {

/// Contiguous, in the element type and the dimension order of the manifest.
struct HostTensor {
  std::string name;
  attn::runtime::ElementType element = attn::runtime::ElementType::F16;
  std::vector<std::string> dims;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> data;
  /// The values are a user's, not made up.
  bool isGiven = false;

  int64_t count() const;
  /// The stride, in elements, of the dimension of this name; 0 if none.
  int64_t stride(std::string_view dim) const;

  double load(int64_t index) const;
  /// Rounds to the element type.
  void store(int64_t index, double value);
  /// `count` elements from `index` on.
  void loadRow(int64_t index, int64_t count, float *to) const;
  void loadRow(int64_t index, int64_t count, double *to) const;
};

/// A tensor with room for `sizes`, all zero.
HostTensor makeHostTensor(const attn::runtime::TensorSpec &spec,
                          const std::vector<int64_t> &sizes);

/// Fills with numbers close to the standard normal distribution, the same for
/// the same seed on every machine. Uses all cores.
void fillNormal(HostTensor &tensor, uint64_t seed);

/// The format of floating-point elements.
FloatFormat formatOf(attn::runtime::ElementType element);

/// Calls body(begin, end) for pieces of [0, count) on all cores.
void parallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t, int64_t)> &body);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_HOSTTENSOR_H
