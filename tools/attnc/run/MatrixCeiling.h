//===- MatrixCeiling.h - How fast a plain matrix product is --- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_MATRIXCEILING_H
#define ATTN_TOOLS_ATTNC_RUN_MATRIXCEILING_H

#include "runtime/Device.h"

namespace attnc {

/// The device memory that the measurement needs.
constexpr size_t kMatrixCeilingBytes = size_t(3) * 8192 * 8192 * 2;

/// TFLOP/s of an 8192^3 product of the 16-bit type by cuBLAS, which is looked
/// for at run time: Unsupported, with the reason, where there is none. Works on
/// the GPU that the CUDA runtime takes by default.
attn::runtime::Expected<double>
measureMatrixCeiling(attn::runtime::Device &device,
                     attn::runtime::DevicePtr scratch,
                     attn::runtime::ElementType element);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_MATRIXCEILING_H
