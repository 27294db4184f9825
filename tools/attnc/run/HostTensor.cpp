//===- HostTensor.cpp - A tensor in host memory ---------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/HostTensor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace attnc {

using attn::runtime::elementSize;
using attn::runtime::ElementType;
using attn::runtime::TensorSpec;

int64_t HostTensor::count() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

int64_t HostTensor::stride(std::string_view dim) const {
  int64_t product = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == dim)
      return product;
    product *= sizes[i];
  }
  return 0;
}

FloatFormat formatOf(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return kF16;
  case ElementType::F32:
    return kF32;
  case ElementType::F64:
    return kF64;
  default:
    return kBF16;
  }
}

template <typename T>
static T loadAs(const std::vector<uint8_t> &data, int64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void storeAs(std::vector<uint8_t> &data, int64_t index, T value) {
  std::memcpy(data.data() + index * sizeof(T), &value, sizeof(T));
}

double HostTensor::load(int64_t index) const {
  switch (element) {
  case ElementType::F16:
  case ElementType::BF16:
    return decode16(loadAs<uint16_t>(data, index), formatOf(element));
  case ElementType::F32:
    return loadAs<float>(data, index);
  case ElementType::I32:
    return loadAs<int32_t>(data, index);
  case ElementType::U8:
    return loadAs<uint8_t>(data, index);
  case ElementType::F64:
    return loadAs<double>(data, index);
  }
  return 0;
}

void HostTensor::store(int64_t index, double value) {
  switch (element) {
  case ElementType::F16:
  case ElementType::BF16:
    return storeAs<uint16_t>(data, index, encode16(value, formatOf(element)));
  case ElementType::F32:
    return storeAs<float>(data, index, static_cast<float>(value));
  case ElementType::I32:
    return storeAs<int32_t>(data, index, static_cast<int32_t>(value));
  case ElementType::U8:
    return storeAs<uint8_t>(data, index, static_cast<uint8_t>(value));
  case ElementType::F64:
    return storeAs<double>(data, index, value);
  }
}

template <typename T>
static void loadRowAs(const HostTensor &tensor, int64_t index, int64_t count,
                      T *to) {
  ElementType element = tensor.element;
  if (element == ElementType::F16 || element == ElementType::BF16) {
    FloatFormat format = formatOf(element);
    for (int64_t i = 0; i < count; ++i)
      to[i] = decode16(loadAs<uint16_t>(tensor.data, index + i), format);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(tensor.load(index + i));
}

void HostTensor::loadRow(int64_t index, int64_t count, float *to) const {
  loadRowAs(*this, index, count, to);
}

void HostTensor::loadRow(int64_t index, int64_t count, double *to) const {
  loadRowAs(*this, index, count, to);
}

HostTensor makeHostTensor(const TensorSpec &spec,
                          const std::vector<int64_t> &sizes) {
  HostTensor tensor;
  tensor.name = spec.name;
  tensor.element = spec.element;
  tensor.dims = spec.dims;
  tensor.sizes = sizes;
  tensor.data.resize(tensor.count() * elementSize(spec.element));
  return tensor;
}

void parallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t, int64_t)> &body) {
  int64_t pieces = (count + grain - 1) / grain;
  int64_t workers = std::min<int64_t>(
      pieces, std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  // What a body throws (it may run out of memory) would end the process in any
  // thread but the first.
  auto work = [&] {
    try {
      for (int64_t piece; (piece = next++) < pieces;)
        body(piece * grain, std::min(count, (piece + 1) * grain));
    } catch (...) {
      next = pieces;
      std::lock_guard<std::mutex> lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(std::max<int64_t>(workers, 1)));
  try {
    for (int64_t i = 1; i < workers; ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // No more threads to be had: those that there are do the work.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

/// One step of SplitMix64 at an arbitrary position of its sequence.
static uint64_t hash64(uint64_t position) {
  uint64_t z = position * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The number of ones among 256 random bits is binomial with standard
/// deviation 8; a uniform fraction fills the steps in. Only exact operations
/// but the last, so that no machine's math library has a say.
static double normalAt(uint64_t stream, uint64_t index) {
  uint64_t position = stream + index * 5;
  int ones = 0;
  for (int i = 1; i <= 4; ++i)
    ones += __builtin_popcountll(hash64(position + i));
  double fraction = static_cast<double>(hash64(position + 5) >> 11) * 0x1p-53;
  return (ones - 128 + fraction - 0.5) / 8.005206;
}

void fillNormal(HostTensor &tensor, uint64_t seed) {
  uint64_t stream = hash64(seed);
  for (char c : tensor.name)
    stream = hash64(stream + static_cast<unsigned char>(c));
  parallelFor(tensor.count(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      tensor.store(i, normalAt(stream, i));
  });
}

} // namespace attnc
