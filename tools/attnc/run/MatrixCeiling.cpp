//===- MatrixCeiling.cpp - How fast a plain matrix product is -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/MatrixCeiling.h"

#include "tools/attnc/run/HostTensor.h"

#include <algorithm>
#include <dlfcn.h>

namespace attnc {

using attn::runtime::Device;
using attn::runtime::DevicePtr;
using attn::runtime::ElementType;
using attn::runtime::Expected;
using attn::runtime::Status;
using attn::runtime::Timer;

namespace {

/// The three functions of cuBLAS, declared here so that building needs no
/// toolkit. Enumerators are those of cublas_api.h and library_types.h.
struct Cublas {
  static constexpr int kNoTranspose = 0, kTranspose = 1;
  static constexpr int kF16 = 2, kBF16 = 14;
  static constexpr int kCompute32F = 68, kDefaultAlgorithm = -1;

  int (*create)(void **handle) = nullptr;
  int (*destroy)(void *handle) = nullptr;
  int (*gemmEx)(void *handle, int transA, int transB, int m, int n, int k,
                const void *alpha, const void *a, int aType, int lda,
                const void *b, int bType, int ldb, const void *beta, void *c,
                int cType, int ldc, int computeType, int algorithm) = nullptr;
};

constexpr int kSize = 8192;
constexpr size_t kMatrixBytes = size_t(kSize) * kSize * 2;
constexpr int kRuns = 12;

} // namespace

static Expected<Cublas> loadCublas() {
  void *library = nullptr;
  for (const char *name : {"libcublas.so.13", "libcublas.so.12"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::unsupported("no libcublas.so.13 or libcublas.so.12");
  Cublas cublas;
  auto find = [&](const char *symbol, auto &member) {
    member = reinterpret_cast<std::decay_t<decltype(member)>>(
        dlsym(library, symbol));
    return member != nullptr;
  };
  if (!find("cublasCreate_v2", cublas.create) ||
      !find("cublasDestroy_v2", cublas.destroy) ||
      !find("cublasGemmEx", cublas.gemmEx))
    return Status::unsupported("expected cublasGemmEx in libcublas, but got "
                               "none");
  return cublas;
}

/// Random data: a GPU is faster, and cooler, on zeros.
static Status fillOperands(Device &device, DevicePtr scratch,
                           ElementType element) {
  HostTensor matrix;
  matrix.name = "matrix";
  matrix.element = element;
  matrix.sizes = {kSize, kSize};
  matrix.data.resize(kMatrixBytes);
  fillNormal(matrix, 0);
  for (int i = 0; i < 2; ++i)
    if (Status status = device.copyToDevice(scratch + i * kMatrixBytes,
                                            matrix.data.data(), kMatrixBytes);
        !status.isOk())
      return status;
  return Status::ok();
}

static Status multiply(const Cublas &cublas, void *handle, DevicePtr scratch,
                       ElementType element) {
  const float one = 1, zero = 0;
  int type = element == ElementType::F16 ? Cublas::kF16 : Cublas::kBF16;
  auto *a = reinterpret_cast<char *>(scratch);
  int result =
      cublas.gemmEx(handle, Cublas::kTranspose, Cublas::kNoTranspose, kSize,
                    kSize, kSize, &one, a, type, kSize, a + kMatrixBytes, type,
                    kSize, &zero, a + 2 * kMatrixBytes, type, kSize,
                    Cublas::kCompute32F, Cublas::kDefaultAlgorithm);
  if (result != 0)
    return Status::launchFailed("cublasGemmEx: status " +
                                std::to_string(result));
  return Status::ok();
}

static Expected<double> timeProducts(const Cublas &cublas, void *handle,
                                     Timer &timer, DevicePtr scratch,
                                     ElementType element) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    if (Status status = timer.start(nullptr); !status.isOk())
      return status;
    if (Status status = multiply(cublas, handle, scratch, element);
        !status.isOk())
      return status;
    if (Status status = timer.stop(nullptr); !status.isOk())
      return status;
    Expected<double> seconds = timer.seconds();
    if (!seconds)
      return seconds.status();
    times.push_back(*seconds);
  }
  // The first ones warm up.
  std::sort(times.begin() + 2, times.end());
  double median = times[2 + (kRuns - 2) / 2];
  return 2.0 * kSize * kSize * kSize / median / 1e12;
}

Expected<double> measureMatrixCeiling(Device &device, DevicePtr scratch,
                                      ElementType element) {
  Expected<Cublas> cublas = loadCublas();
  if (!cublas)
    return cublas.status();
  Expected<std::unique_ptr<Timer>> timer = device.createTimer();
  if (!timer)
    return timer.status();
  void *handle = nullptr;
  if (int result = cublas->create(&handle); result != 0)
    return Status::unsupported("cublasCreate: status " +
                               std::to_string(result));
  Status filled = fillOperands(device, scratch, element);
  Expected<double> tflops =
      filled.isOk() ? timeProducts(*cublas, handle, **timer, scratch, element)
                    : Expected<double>(filled);
  cublas->destroy(handle);
  return tflops;
}

} // namespace attnc
