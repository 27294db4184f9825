//===- CopyOps.cpp - cp.async.bulk and its tensor forms ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AsyncCopy.h"
#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/CpAsync.h"
#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Sync.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

std::string number(uint64_t value) { return std::to_string(value); }

// Bulk copies. Inst::flags says which; immediate is the Reduce.

enum CopyFlags : uint32_t {
  ToGlobal = 1,
  IsTensor = 2,
  HasPolicy = 4,
};

/// Reads the map behind a generic (or param) address.
bool readMap(Context &context, const Inst &inst, unsigned lane,
             uint64_t address, DecodedMap &map) {
  uint64_t offset = 0;
  ptx::Space space = genericSpace(address, offset);
  if (offset % 64) {
    context.fault(inst, static_cast<int>(lane),
                  "misaligned tensor map: expected a multiple of 64, but got " +
                      hex(offset));
    return false;
  }
  // 16 bytes at a time: the widest aligned access.
  uint8_t bytes[128];
  for (unsigned i = 0; i < 128; i += 16) {
    const uint8_t *from = accessLane(context, inst, space, offset + i, 16, lane,
                                     AccessKind::Read);
    if (!from)
      return false;
    std::memcpy(bytes + i, from, 16);
  }
  if (decodeTensorMap(bytes, map))
    return true;
  context.fault(inst, static_cast<int>(lane),
                "expected a tensor map of this device at address " +
                    hex(address));
  return false;
}

bool checkTensorJob(Context &context, const Inst &inst, const CopyJob &job) {
  const DecodedMap &map = job.map;
  int lane = static_cast<int>(job.lane);
  if (map.rank != inst.count) {
    context.fault(inst, lane,
                  "the copy has " + number(inst.count) +
                      " dimensions, but the tensor map " + number(map.rank));
    return false;
  }
  static constexpr uint32_t widths[] = {0, 32, 64, 128};
  uint32_t width = widths[uint32_t(map.swizzle)];
  if (width && map.rowBytes() != width) {
    context.fault(inst, lane,
                  "unsupported tensor map: box rows of " +
                      number(map.rowBytes()) + " bytes with a swizzle of " +
                      number(width));
    return false;
  }
  // With a swizzle of 128 bytes the pattern repeats every 1024, by address.
  if (job.shared % 128) {
    context.fault(inst, lane,
                  "misaligned tensor copy: expected a shared address that is "
                  "a multiple of 128, but got " +
                      hex(job.shared));
    return false;
  }
  return sharedInBounds(context, inst, lane, job.shared, map.boxBytes(),
                        "tensor copy");
}

bool checkBulkJob(Context &context, const Inst &inst, const CopyJob &job) {
  int lane = static_cast<int>(job.lane);
  if (job.shared % 16 || job.global % 16 || job.bytes % 16) {
    context.fault(inst, lane,
                  "misaligned bulk copy: expected addresses and a size that "
                  "are multiples of 16, but got shared " +
                      hex(job.shared) + ", global " + hex(job.global) +
                      " and " + number(job.bytes) + " bytes");
    return false;
  }
  return sharedInBounds(context, inst, lane, job.shared, job.bytes,
                        "bulk copy");
}

Type typeOf(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return Type::F16;
  case ElementType::BF16:
    return Type::BF16;
  case ElementType::F32:
    return Type::F32;
  case ElementType::I32:
    return Type::S32;
  case ElementType::U8:
    return Type::U8;
  case ElementType::F64:
    return Type::F64;
  }
  return Type::U8;
}

/// Operands of a load: shared, [map and coordinates | global, size], mbarrier;
/// of a store: [map and coordinates | global], shared [, size].
bool makeJob(Context &context, const Inst &inst, unsigned lane, CopyJob &job) {
  job.toGlobal = inst.flags & ToGlobal;
  job.isTensor = inst.flags & IsTensor;
  job.reduce = static_cast<Reduce>(inst.immediate);
  job.lane = lane;
  size_t next = 0;
  auto operand = [&]() -> const Operand & { return inst.operands[next++]; };
  auto readTensor = [&] {
    uint64_t address = laneAddress(context, operand(), lane);
    for (unsigned i = 0; i < inst.count; ++i)
      job.coordinates[i] =
          static_cast<int32_t>(laneValue(context, operand(), lane));
    return readMap(context, inst, lane, address, job.map);
  };
  if (!job.toGlobal)
    job.shared = laneShared(context, operand(), lane);
  if (job.isTensor) {
    if (!readTensor())
      return false;
    job.type = typeOf(job.map.element);
  } else {
    job.global = laneAddress(context, operand(), lane);
    job.type = inst.type;
  }
  if (job.toGlobal)
    job.shared = laneShared(context, operand(), lane);
  if (!job.isTensor)
    job.bytes = laneValue(context, operand(), lane);
  if (!job.toGlobal)
    job.mbarrier = static_cast<uint32_t>(laneShared(context, operand(), lane));
  return job.isTensor ? checkTensorJob(context, inst, job)
                      : checkBulkJob(context, inst, job);
}

/// Binds the job to the group or the mbarrier that it completes on.
bool bindJob(Context &context, const Inst &inst, CopyJob &job) {
  Warp &warp = context.warp;
  Block &block = context.block;
  if (job.toGlobal) {
    job.agent = static_cast<uint16_t>(block.bulkAgent(warp.index));
    job.globalAgent = static_cast<uint16_t>(block.bulkWriteAgent(warp.index));
    job.epoch = warp.bulkIssued = warp.bulkGroup;
    warp.bulkLanes |= 1u << job.lane;
  } else {
    Mbarrier *barrier = findMbarrierForCopy(
        context, inst, static_cast<int>(job.lane), job.mbarrier);
    if (!barrier)
      return false;
    ++barrier->copiesInFlight;
    job.phase = barrier->phase;
    job.agent = job.globalAgent = static_cast<uint16_t>(barrier->agent);
    job.epoch = barrier->lastCopyEpoch = barrier->phase + 1;
    barrier->lastCopyLine = inst.line;
  }
  if (context.checks()) {
    publishLane(warp, job.lane, job.known);
    job.foreign = foreignOf(warp, job.lane);
    // What the warp does from now on is not ordered before the copy.
    nextEpoch(warp);
  }
  return true;
}

Step bulkCopy(Context &context, const Inst &inst) {
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    auto job = std::make_shared<CopyJob>();
    if (!makeJob(context, inst, firstLane(rest), *job) ||
        !bindJob(context, inst, *job))
      return Step::Fault;
    Block *block = &context.block;
    Warp *warp = &context.warp;
    const Inst *source = &inst;
    AsyncOp op;
    op.warp = warp->index;
    op.inst = context.instIndex(inst);
    op.bulkGroup = job->toGlobal ? warp->bulkGroup : 0;
    op.run = [block, warp, source, job] {
      Context later{block->launch, *block, *warp, &warp->fragments[0],
                    1u << job->lane};
      return runCopy(later, *source, *job);
    };
    block->async.push_back(std::move(op));
  }
  return Step::Next;
}

/// Bulk groups belong to a thread: commits and waits of lanes other than those
/// that issued the copies do nothing for them.
bool ownsBulkGroups(const Context &context) {
  return !(context.warp.bulkLanes & ~context.mask);
}

Step commitBulk(Context &context, const Inst &inst) {
  context.noteSync(inst);
  if (ownsBulkGroups(context))
    ++context.warp.bulkGroup;
  return Step::Next;
}

/// Runs what must be done now. With .read only the sources are free, but the
/// emulator writes at the same time; the checks keep the difference.
Step waitBulk(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  Block &block = context.block;
  context.noteSync(inst);
  int64_t limit = int64_t(warp.bulkGroup) - 1 - inst.immediate;
  if (limit <= 0 || !ownsBulkGroups(context))
    return Step::Next;
  uint32_t retired = static_cast<uint32_t>(limit);
  for (size_t i = 0; i < block.async.size();) {
    AsyncOp &candidate = block.async[i];
    if (candidate.warp != warp.index || !candidate.bulkGroup ||
        candidate.bulkGroup > retired) {
      ++i;
      continue;
    }
    AsyncOp op = std::move(candidate);
    block.async.erase(block.async.begin() + static_cast<ptrdiff_t>(i));
    if (!op.run())
      return Step::Fault;
  }
  warp.bulkWaited = std::max(warp.bulkWaited, retired);
  if (context.checks()) {
    Knowledge over;
    over.seen.raise(block.bulkAgent(warp.index), retired);
    if (!inst.flags)
      over.seen.raise(block.bulkWriteAgent(warp.index), retired);
    learn(warp, context.mask, over);
  }
  return Step::Next;
}

// Decoding.

int takeDimensions(Decoder &d) {
  int index = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  return index + 1;
}

/// `.L2::cache_hint` adds a policy at the end; it changes no value.
bool finishPolicy(Decoder &d, const Inst &inst) {
  return !(inst.flags & HasPolicy) || d.policy();
}

/// The size of a copy of plain bytes.
bool takeBytes(Decoder &d, const Inst &inst) {
  return d.source(Type::U32) &&
         d.checkImmediate(inst.operands.size() - 1, 0, INT32_MAX, 16);
}

void takePolicy(Decoder &d, Inst &inst) {
  if (d.take("L2::cache_hint"))
    inst.flags |= HasPolicy;
}

bool decodeTensorCopy(Decoder &d, Inst &inst) {
  int dimensions = takeDimensions(d);
  if (!dimensions)
    return d.fail("expected .1d to .5d in a tensor copy, but got '." +
                  std::string(d.peek()) + "'");
  inst.flags |= IsTensor;
  inst.count = static_cast<uint8_t>(dimensions);
  inst.execute = bulkCopy;
  unsigned count = static_cast<unsigned>(dimensions);
  if (d.take("global")) {
    inst.flags |= ToGlobal;
    if (!d.need("shared::cta"))
      return false;
    d.take("tile");
    if (!d.need("bulk_group"))
      return false;
    takePolicy(d, inst);
    return d.tensorAddress(count) && d.address(ptx::Space::Shared) &&
           finishPolicy(d, inst);
  }
  if (d.takeOneOf({"shared::cluster", "shared::cta"}) < 0)
    return d.fail("expected .global or .shared::cluster in a tensor copy");
  if (!d.need("global"))
    return false;
  d.take("tile");
  if (!d.need("mbarrier::complete_tx::bytes"))
    return false;
  takePolicy(d, inst);
  return d.address(ptx::Space::Shared) && d.tensorAddress(count) &&
         d.address(ptx::Space::Shared) && finishPolicy(d, inst);
}

bool decodePlainBulk(Decoder &d, Inst &inst) {
  inst.execute = bulkCopy;
  if (d.take("global")) {
    inst.flags |= ToGlobal;
    if (!d.need("shared::cta") || !d.need("bulk_group"))
      return false;
    takePolicy(d, inst);
    return d.address(ptx::Space::Global) && d.address(ptx::Space::Shared) &&
           takeBytes(d, inst) && finishPolicy(d, inst);
  }
  if (d.takeOneOf({"shared::cluster", "shared::cta"}) < 0)
    return d.fail("unknown bulk copy '." + std::string(d.peek()) + "'");
  if (!d.need("global") || !d.need("mbarrier::complete_tx::bytes"))
    return false;
  takePolicy(d, inst);
  return d.address(ptx::Space::Shared) && d.address(ptx::Space::Global) &&
         takeBytes(d, inst) && d.address(ptx::Space::Shared) &&
         finishPolicy(d, inst);
}

bool decodeBulk(Decoder &d, Inst &inst) {
  if (!d.needTarget(90))
    return false;
  if (d.take("commit_group")) {
    inst.execute = commitBulk;
    return true;
  }
  if (d.take("wait_group")) {
    inst.flags = d.take("read");
    inst.execute = waitBulk;
    return d.immediate(inst.immediate, 0, 1 << 20);
  }
  if (d.take("prefetch")) {
    inst.execute = [](Context &, const Inst &) { return Step::Next; };
    if (!d.need("tensor"))
      return false;
    int dimensions = takeDimensions(d);
    if (!dimensions || !d.need("L2") || !d.need("global"))
      return d.fail("unknown prefetch");
    d.take("tile");
    takePolicy(d, inst);
    return d.tensorAddress(static_cast<unsigned>(dimensions)) &&
           finishPolicy(d, inst);
  }
  return d.take("tensor") ? decodeTensorCopy(d, inst)
                          : decodePlainBulk(d, inst);
}

bool decodeCp(Decoder &d, Inst &inst) {
  if (!d.needTarget(80) || !d.need("async"))
    return false;
  return d.take("bulk") ? decodeBulk(d, inst) : decodeCpAsync(d, inst);
}

/// The types that a reduction has.
bool checkReduction(Decoder &d, const Inst &inst, bool noftz) {
  Type type = inst.type;
  bool isShort = type == Type::F16 || type == Type::BF16;
  bool good = isBits(type);
  switch (static_cast<Reduce>(inst.immediate)) {
  case Reduce::Add:
    good = !isBits(type) && type != Type::S64;
    break;
  case Reduce::Min:
  case Reduce::Max:
    good = !isBits(type) && (!isFloat(type) || isShort);
    break;
  case Reduce::Inc:
  case Reduce::Dec:
    good = type == Type::U32;
    break;
  default:
    break;
  }
  bool isSum = static_cast<Reduce>(inst.immediate) == Reduce::Add;
  return (good && noftz == (isShort && isSum)) ||
         d.fail("unsupported type '." + std::string(typeName(type)) +
                "' of this operation of 'cp.reduce'");
}

/// cp.reduce.async.bulk[.tensor]: the operation stands after the spaces.
bool decodeCpReduce(Decoder &d, Inst &inst) {
  if (!d.needTarget(90) || !d.need("async") || !d.need("bulk"))
    return false;
  inst.flags |= ToGlobal;
  inst.execute = bulkCopy;
  bool isTensor = d.take("tensor");
  unsigned dimensions = 0;
  if (isTensor) {
    inst.flags |= IsTensor;
    dimensions = static_cast<unsigned>(takeDimensions(d));
    inst.count = static_cast<uint8_t>(dimensions);
    if (!dimensions)
      return d.fail("expected .1d to .5d in a tensor copy");
  }
  if (!d.need("global") || !d.need("shared::cta"))
    return false;
  if (!isTensor && !d.need("bulk_group"))
    return false;
  if (!isTensor)
    takePolicy(d, inst);
  int operation =
      d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (operation < 0)
    return d.fail("unknown reduction '." + std::string(d.peek()) + "'");
  inst.immediate = operation + 1;
  if (isTensor) {
    d.take("tile");
    if (!d.need("bulk_group"))
      return false;
    takePolicy(d, inst);
    return d.tensorAddress(dimensions) && d.address(ptx::Space::Shared) &&
           finishPolicy(d, inst);
  }
  bool noftz = d.take("noftz");
  return d.needType(inst.type,
                    {Type::F16, Type::BF16, Type::F32, Type::F64, Type::B32,
                     Type::U32, Type::S32, Type::B64, Type::U64, Type::S64}) &&
         checkReduction(d, inst, noftz) && d.address(ptx::Space::Global) &&
         d.address(ptx::Space::Shared) && takeBytes(d, inst) &&
         finishPolicy(d, inst);
}

bool decodeAnyCp(Decoder &d, Inst &inst) {
  return d.take("reduce") ? decodeCpReduce(d, inst) : decodeCp(d, inst);
}

constexpr Opcode table[] = {
    {"cp", InstClass::AsyncCopy, decodeAnyCp},
};

} // namespace

OpcodeTable attn::runtime::emulator::asyncCopyOpcodes() {
  return makeTable(table);
}
