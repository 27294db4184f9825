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

/// An array as it is in a file: f16, f32, f64, i32, i64, u8 or bool.
struct NpyArray {
  std::string dtype; // "<f4"
  std::vector<int64_t> shape;
  std::string data;

  int64_t count() const;
  double load(int64_t index) const;
};

/// Parses the content of a file. Big-endian, Fortran-order and structured
/// arrays, short and long files are errors.
attn::runtime::Expected<NpyArray> parseNpy(std::string content);
attn::runtime::Expected<NpyArray> readNpy(const std::string &path);

/// Writes 16-bit elements as f32, which NumPy can read whatever their format.
/// The file appears whole or not at all.
attn::runtime::Status writeNpy(const std::string &path,
                               const HostTensor &tensor);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_NPY_H
