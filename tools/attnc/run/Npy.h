//===- Npy.h - NumPy array files ------------------------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_NPY_H
#define ATTN_TOOLS_ATTNC_RUN_NPY_H

#include "tools/attnc/run/HostTensor.h"

namespace attnc {

/// An array as it is in a file: f16, bf16, f32, f64, i16, u16, i32, i64, u8 or
/// bool, with the last dimension along memory.
struct NpyArray {
  std::string dtype; // "<f4"
  std::vector<int64_t> shape;
  std::string data;

  int64_t count() const;
  double load(int64_t index) const;
};

/// Parses the content of a file. Big-endian and structured arrays, short and
/// long files are errors.
attn::runtime::Expected<NpyArray> parseNpy(std::string content);
attn::runtime::Expected<NpyArray> readNpy(const std::string &path);

/// Rounds to the tensor's type, whose shape is the array's. Integers of 16 bits
/// are the bits of a tensor of 16-bit floats.
attn::runtime::Status storeNpy(const NpyArray &array, HostTensor &tensor);

/// The content of a file. 16-bit elements become f32, which NumPy can read
/// whatever their format.
std::string printNpy(const HostTensor &tensor);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_NPY_H
