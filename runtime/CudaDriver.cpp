//===- CudaDriver.cpp - The CUDA driver, found at run time ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDriver.h"

#include <dlfcn.h>

namespace attn::runtime::cuda {

std::string Driver::describe(const char *call, CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return std::string(call) + ": " +
         (name ? name : "error " + std::to_string(result)) + " (" +
         (text ? text : "no description") + ")";
}

Expected<Driver> loadDriverFrom(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Status::unsupported(std::string("no CUDA driver: ") +
                               (reason ? reason : library));
  }
  // The library stays open: functions of it may run until the process ends.
  Driver driver;
  const char *missing = nullptr;
  auto find = [&](const char *symbol, auto &member, bool isRequired) {
    member =
        reinterpret_cast<std::decay_t<decltype(member)>>(dlsym(handle, symbol));
    if (!member && isRequired && !missing)
      missing = symbol;
  };
#define ATTN_CUDA_FIND(symbol, member, parameters)                             \
  find(#symbol, driver.member, true);
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_FIND)
#undef ATTN_CUDA_FIND
  find("cuTensorMapEncodeTiled", driver.tensorMapEncodeTiled, false);
  if (missing)
    return Status::unsupported(std::string(library) + ": expected the symbol " +
                               missing + ", but got a library without it");
  if (CUresult result = driver.init(0); result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuInit", result));
  return driver;
}

Expected<const Driver *> loadDriver() {
  static const Expected<Driver> driver = loadDriverFrom("libcuda.so.1");
  if (!driver)
    return driver.status();
  return &*driver;
}

} // namespace attn::runtime::cuda
