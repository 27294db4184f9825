//===- AsyncCopy.cpp - What TMA and bulk copies do ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy runs some time after its instruction. Both sides are checked then,
// with what the issuing warp knew when it issued it: an access that came in
// between is a race.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AsyncCopy.h"
#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/Number.h"

#include <algorithm>
#include <cstring>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

static constexpr uint64_t sectorBytes = 32;

template <typename T>
static T combineInteger(Reduce reduce, T a, T b) {
  switch (reduce) {
  case Reduce::Add:
    return static_cast<T>(uint64_t(a) + uint64_t(b));
  case Reduce::Min:
    return std::min(a, b);
  case Reduce::Max:
    return std::max(a, b);
  case Reduce::Inc:
    return a >= b ? T(0) : static_cast<T>(a + 1);
  case Reduce::Dec:
    return a == 0 || a > b ? b : static_cast<T>(a - 1);
  case Reduce::And:
    return a & b;
  case Reduce::Or:
    return a | b;
  case Reduce::Xor:
    return a ^ b;
  case Reduce::None:
    break;
  }
  return b;
}

static double combineFloat(Reduce reduce, double a, double b) {
  switch (reduce) {
  case Reduce::Min:
    return std::fmin(a, b);
  case Reduce::Max:
    return std::fmax(a, b);
  default:
    return a + b;
  }
}

template <typename T, typename Combine>
static void forElements(uint8_t *to, const uint8_t *from, uint64_t bytes,
                        Combine combine) {
  for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    a = combine(a, b);
    std::memcpy(to + i, &a, sizeof(T));
  }
}

template <typename T>
static void reduceIntegers(Reduce reduce, uint8_t *to, const uint8_t *from,
                           uint64_t bytes) {
  forElements<T>(to, from, bytes, [reduce](T a, T b) {
    return combineInteger<T>(reduce, a, b);
  });
}

bool attn::runtime::emulator::reduceElements(Reduce reduce, Type type,
                                             uint8_t *to, const uint8_t *from,
                                             uint64_t bytes) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    reduceIntegers<uint32_t>(reduce, to, from, bytes);
    return true;
  case Type::S32:
    reduceIntegers<int32_t>(reduce, to, from, bytes);
    return true;
  case Type::U64:
  case Type::B64:
    reduceIntegers<uint64_t>(reduce, to, from, bytes);
    return true;
  case Type::S64:
    reduceIntegers<int64_t>(reduce, to, from, bytes);
    return true;
  case Type::F32:
    forElements<float>(to, from, bytes, [reduce](float a, float b) {
      return reduce == Reduce::Add
                 ? a + b
                 : static_cast<float>(combineFloat(reduce, a, b));
    });
    return true;
  case Type::F64:
    forElements<double>(to, from, bytes, [reduce](double a, double b) {
      return combineFloat(reduce, a, b);
    });
    return true;
  case Type::F16:
  case Type::F16x2:
    forElements<uint16_t>(to, from, bytes, [reduce](uint16_t a, uint16_t b) {
      return static_cast<uint16_t>(
          roundTo(combineFloat(reduce, halfToFloat(a), halfToFloat(b)), 5, 10,
                  Rounding::NearestEven));
    });
    return true;
  case Type::BF16:
  case Type::BF16x2:
    forElements<uint16_t>(to, from, bytes, [reduce](uint16_t a, uint16_t b) {
      return static_cast<uint16_t>(
          roundTo(combineFloat(reduce, bf16ToFloat(a), bf16ToFloat(b)), 8, 7,
                  Rounding::NearestEven));
    });
    return true;
  default:
    return false;
  }
}

namespace {

/// One run of bytes: contiguous in global memory, and in shared memory up to
/// the swizzle.
class CopyRun {
public:
  CopyRun(Context &context, const Inst &inst, const CopyJob &job)
      : context_(context), inst_(inst), job_(job),
        shared_(
            context, inst,
            {job.agent, job.epoch,
             static_cast<uint8_t>(job.toGlobal ? Access::Async
                                               : Access::Async | Access::Write),
             &job.known, "asynchronous copy", Access::wholeWarp, &job.foreign}),
        global_(context, inst,
                {job.globalAgent, job.epoch, globalFlags(job), &job.known,
                 "asynchronous copy", Access::wholeWarp, &job.foreign}) {}

  /// False after a fault.
  bool run();

private:
  static uint8_t globalFlags(const CopyJob &job) {
    uint8_t flags = Access::Async;
    if (job.toGlobal)
      flags |= Access::Write;
    if (job.reduce != Reduce::None)
      flags |= Access::Atomic;
    return flags;
  }

  bool tensor();
  bool row(uint64_t sharedLinear, const int64_t (&at)[5]);
  bool move(uint64_t sharedLinear, uint64_t global, uint64_t bytes);
  void zero(uint64_t sharedLinear, uint64_t bytes);
  bool checkShared(uint64_t linear, uint64_t bytes);
  uint8_t *sharedByte(uint64_t linear) {
    return context_.block.shared.data() + swizzleAddress(linear, swizzle());
  }
  TensorMapSwizzle swizzle() const {
    return job_.isTensor ? job_.map.swizzle : TensorMapSwizzle::None;
  }
  void count(Allocation &allocation, uint64_t global, uint64_t bytes);

  Context &context_;
  const Inst &inst_;
  const CopyJob &job_;
  SharedChecker shared_;
  GlobalChecker global_;
};

bool CopyRun::checkShared(uint64_t linear, uint64_t bytes) {
  if (!context_.checks())
    return true;
  if (swizzle() == TensorMapSwizzle::None)
    return shared_.apply(linear, bytes);
  // The swizzle permutes chunks of 16 bytes.
  for (uint64_t done = 0; done < bytes;) {
    uint64_t chunk = std::min(bytes - done, 16 - (linear + done) % 16);
    if (!shared_.apply(swizzleAddress(linear + done, swizzle()), chunk))
      return false;
    done += chunk;
  }
  return true;
}

void CopyRun::count(Allocation &allocation, uint64_t global, uint64_t bytes) {
  uint64_t sectors =
      ((global + bytes - 1) / sectorBytes - global / sectorBytes + 1) *
      sectorBytes;
  Statistics &statistics = context_.launch.statistics;
  auto add = [&](Traffic &traffic) {
    (job_.toGlobal ? traffic.writtenBytes : traffic.readBytes) += bytes;
    (job_.toGlobal ? traffic.writtenSectorBytes : traffic.readSectorBytes) +=
        sectors;
  };
  add(statistics.global);
  add(allocation.traffic);
  (job_.toGlobal ? statistics.shared.readBytes
                 : statistics.shared.writtenBytes) += bytes;
}

bool CopyRun::move(uint64_t linear, uint64_t global, uint64_t bytes) {
  GlobalMemory &memory = context_.launch.memory;
  Allocation *allocation = memory.find(global, bytes);
  if (!allocation) {
    context_.fault(
        inst_, static_cast<int>(job_.lane),
        std::string("out-of-bounds ") + (job_.toGlobal ? "write" : "read") +
            " of " + std::to_string(bytes) +
            " bytes by an asynchronous copy at global address " + hex(global) +
            ", which is" + memory.describe(global, bytes));
    return false;
  }
  count(*allocation, global, bytes);
  if (context_.checks() && !global_.apply(*allocation, global, bytes))
    return false;
  uint8_t *host = allocation->at(global);
  for (uint64_t done = 0; done < bytes;) {
    uint64_t chunk = std::min(bytes - done, 16 - (linear + done) % 16);
    uint8_t *shared = sharedByte(linear + done);
    if (!job_.toGlobal && chunk == 16)
      std::memcpy(shared, host + done, 16);
    else if (!job_.toGlobal)
      std::memcpy(shared, host + done, chunk);
    else if (job_.reduce == Reduce::None)
      std::memcpy(host + done, shared, chunk);
    else
      reduceElements(job_.reduce, job_.type, host + done, shared, chunk);
    done += chunk;
  }
  return true;
}

void CopyRun::zero(uint64_t linear, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i)
    *sharedByte(linear + i) = 0;
  context_.launch.statistics.shared.writtenBytes += bytes;
}

/// One row of the box, `at` its first element: what lies outside of the tensor
/// reads as zeros and is not written.
bool CopyRun::row(uint64_t linear, const int64_t (&at)[5]) {
  const DecodedMap &map = job_.map;
  int64_t element = map.elementBytes();
  int64_t first = std::max<int64_t>(0, -at[0]);
  int64_t last =
      std::min<int64_t>(map.box[0], static_cast<int64_t>(map.dims[0]) - at[0]);
  uint64_t address = map.base;
  for (uint32_t i = 1; i < map.rank; ++i) {
    if (at[i] < 0 || at[i] >= static_cast<int64_t>(map.dims[i]))
      last = first;
    address += static_cast<uint64_t>(at[i]) * map.strides[i];
  }
  bool outside = last <= first;
  if (job_.toGlobal && outside)
    return true;
  address += static_cast<uint64_t>((at[0] + first) * element);
  uint64_t before = outside ? 0 : static_cast<uint64_t>(first * element);
  uint64_t bytes =
      outside ? 0 : static_cast<uint64_t>((last - first) * element);
  if (job_.toGlobal)
    return checkShared(linear + before, bytes) &&
           move(linear + before, address, bytes);
  // The whole row at once: its parts may share a granule.
  if (!checkShared(linear, map.rowBytes()) ||
      (bytes && !move(linear + before, address, bytes)))
    return false;
  zero(linear, before);
  zero(linear + before + bytes, map.rowBytes() - before - bytes);
  return true;
}

bool CopyRun::tensor() {
  const DecodedMap &map = job_.map;
  uint64_t linear = job_.shared;
  uint32_t index[5] = {0, 0, 0, 0, 0};
  for (;;) {
    int64_t at[5];
    for (uint32_t i = 0; i < 5; ++i)
      at[i] = int64_t(job_.coordinates[i]) + index[i];
    if (!row(linear, at))
      return false;
    linear += map.rowBytes();
    uint32_t dimension = 1;
    while (dimension < map.rank && ++index[dimension] == map.box[dimension])
      index[dimension++] = 0;
    if (dimension >= map.rank)
      return true;
  }
}

bool CopyRun::run() {
  if (job_.isTensor)
    return tensor();
  return !job_.bytes || (checkShared(job_.shared, job_.bytes) &&
                         move(job_.shared, job_.global, job_.bytes));
}

} // namespace

bool attn::runtime::emulator::runCopy(Context &context, const Inst &inst,
                                      const CopyJob &job) {
  if (!CopyRun(context, inst, job).run())
    return false;
  if (job.toGlobal)
    return true;
  uint64_t bytes = job.isTensor ? job.map.boxBytes() : job.bytes;
  return completeBytes(context, inst, job.mbarrier, job.phase,
                       static_cast<int64_t>(bytes));
}
