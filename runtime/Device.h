//===- Device.h - What a machine that runs kernels offers -------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One interface, two devices: the CUDA driver and the emulator. A program
// picks one by name (openDevice) and does not see the difference.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_DEVICE_H
#define ATTN_RUNTIME_DEVICE_H

#include "runtime/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn::runtime {

/// An address in the device's global memory.
using DevicePtr = uint64_t;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct DeviceInfo {
  std::string name;
  /// Compute capability, e.g. 9 and 0.
  int major = 0, minor = 0;
  int multiprocessors = 0;
  /// The most dynamic shared memory a block may ask for, in bytes.
  size_t maxSharedBytes = 0;
};

enum class ElementType { F16, BF16, F32, U8, I32, F64 };

/// How a TMA box is stored in shared memory: XOR of address bits with a
/// period of 8 rows of this many bytes.
enum class TensorMapSwizzle { None, B32, B64, B128 };

/// What cuTensorMapEncodeTiled needs, dimension 0 being the fastest.
struct TensorMapDesc {
  ElementType element = ElementType::F16;
  DevicePtr base = 0;
  int rank = 0;
  std::array<uint64_t, 5> dims{};
  /// Byte strides of dimensions 1 to rank - 1; strides[0] is dimension 1's.
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
};

/// The opaque 128-byte descriptor that a kernel takes as a parameter.
struct alignas(64) TensorMap {
  std::array<uint8_t, 128> bytes{};
};

/// A stream of the device; the emulator has only the null stream.
using Stream = void *;

/// An address that a kernel will follow, and the operand that it came with.
struct NamedAddress {
  std::string_view name;
  DevicePtr address = 0;
};

struct LaunchConfig {
  Dim3 grid, block;
  uint32_t dynamicSharedBytes = 0;
  Stream stream = nullptr;
};

/// One kernel of a loaded module; lives as long as the module.
class Kernel {
public:
  virtual ~Kernel() = default;
  /// `arguments[i]` points at the value of parameter i, as cuLaunchKernel
  /// wants it. The values are copied before the call returns.
  virtual Status launch(const LaunchConfig &config,
                        const std::vector<void *> &arguments) = 0;
};

class Module {
public:
  virtual ~Module() = default;
  virtual Expected<Kernel *> kernel(const std::string &entry) = 0;
};

/// Measures the device's time between two points of a stream.
class Timer {
public:
  virtual ~Timer() = default;
  virtual Status start(Stream stream) = 0;
  virtual Status stop(Stream stream) = 0;
  /// Waits for the stop.
  virtual Expected<double> seconds() = 0;
};

class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceInfo &info() const = 0;

  virtual Expected<DevicePtr> allocate(size_t bytes) = 0;
  virtual Status free(DevicePtr pointer) = 0;
  virtual Status copyToDevice(DevicePtr to, const void *from, size_t bytes) = 0;
  virtual Status copyToHost(void *to, DevicePtr from, size_t bytes) = 0;

  /// `image` is PTX text or a cubin; the device sees which from its content.
  virtual Expected<std::unique_ptr<Module>> load(std::string_view image) = 0;

  virtual Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) = 0;

  /// Whether kernels here may follow these addresses and run on this stream:
  /// another GPU's memory is no error of a launch but the end of its context.
  virtual Status checkAccess(const std::vector<NamedAddress> &, Stream) {
    return Status::ok();
  }

  /// Waits for everything launched so far and reports a failure of any of it.
  virtual Status synchronize() = 0;

  /// Sets every byte; asynchronous on the stream where the device has streams.
  virtual Status fill(DevicePtr to, uint8_t value, size_t bytes,
                      Stream stream) {
    (void)stream;
    std::vector<uint8_t> chunk(bytes < (1 << 20) ? bytes : (1 << 20), value);
    for (size_t done = 0; done < bytes; done += chunk.size()) {
      size_t left = bytes - done;
      Status status = copyToDevice(to + done, chunk.data(),
                                   left < chunk.size() ? left : chunk.size());
      if (!status.isOk())
        return status;
    }
    return Status::ok();
  }

  // What only benchmarks need. An emulator's time means nothing and its memory
  // is the host's, so it leaves these as they are.
  virtual Expected<std::unique_ptr<Timer>> createTimer() {
    return Status::unsupported(info().name + " has no clock");
  }
  virtual Expected<size_t> freeMemory() {
    return Status::unsupported(info().name + " has no memory limit");
  }
  /// Asynchronous on the stream.
  virtual Status copy(DevicePtr, DevicePtr, size_t, Stream) {
    return Status::unsupported(info().name + " cannot copy within itself");
  }
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_DEVICE_H
