//===- CudaDevice.h - A GPU through the CUDA driver ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDADEVICE_H
#define ATTN_RUNTIME_CUDADEVICE_H

#include "runtime/Device.h"

#include <optional>

namespace attn::runtime {

/// Uses the primary context, as the CUDA runtime and PyTorch do, so pointers
/// and streams of theirs are valid here. Calls may come from any thread;
/// launching allocates nothing, waits for nothing and may be captured into a
/// graph. Unsupported where there is no driver or no such GPU. Without a number
/// it is the GPU whose context is current in this thread, else GPU 0.
Expected<std::unique_ptr<Device>> createCudaDevice(std::optional<int> ordinal);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_CUDADEVICE_H
