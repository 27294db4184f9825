//===- QuickMemory.cpp - Loads and stores without checks ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/QuickMemory.h"
#include "runtime/emulator/Check.h"
#include "runtime/emulator/Lanes.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

/// Bytes `first` to `first + size` of a space, which the host has at `host`.
struct Region {
  uint8_t *host = nullptr;
  uint64_t first = 0, size = 0;
};

/// Where the first lane's access lies; without bytes where it cannot be told.
Region regionOf(Context &context, ptx::Space space, uint64_t address,
                uint64_t bytes, bool isLoad) {
  if (space == ptx::Space::Shared) {
    Block &block = context.block;
    return {block.shared.data() + sharedReservedBytes, sharedReservedBytes,
            block.sharedBytes - sharedReservedBytes};
  }
  if (space == ptx::Space::Param && isLoad) {
    std::vector<uint8_t> &parameters = context.launch.parameters;
    return {parameters.data(), 0, parameters.size()};
  }
  if (space != ptx::Space::Global)
    return {};
  Allocation *allocation = context.launch.memory.find(address, bytes);
  if (!allocation)
    return {};
  return {allocation->host, allocation->base, allocation->size};
}

/// Offsets of the lanes that are on; false if one is not within the region or
/// not aligned.
bool offsetsIn(const Region &region, uint32_t mask, uint64_t bytes,
               const uint64_t (&addresses)[warpLanes],
               uint64_t (&offsets)[warpLanes]) {
  if (region.size < bytes)
    return false;
  uint64_t most = region.size - bytes;
  bool good = true;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t offset = addresses[lane] - region.first;
    bool isFine = offset <= most && addresses[lane] % bytes == 0;
    good &= isFine || !(mask >> lane & 1);
    offsets[lane] = offset;
  }
  return good;
}

/// The first active lane's space and address, and where all of them are.
bool locate(Context &context, const Inst &inst, bool isLoad,
            const uint64_t (&addresses)[warpLanes], Region &region,
            uint64_t (&offsets)[warpLanes]) {
  uint64_t bytes = uint64_t(typeBytes(inst.type)) * inst.count;
  if (inst.space == ptx::Space::None)
    return false;
  region = regionOf(context, inst.space, addresses[firstLane(context.mask)],
                    bytes, isLoad);
  return region.host &&
         offsetsIn(region, context.mask, bytes, addresses, offsets);
}

template <typename T, typename Word>
void loadElement(const Region &region, uint32_t mask,
                 const uint64_t (&offsets)[warpLanes], unsigned at, Word *to) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    T value;
    std::memcpy(&value, region.host + offsets[lane] + at, sizeof value);
    to[lane] = value;
  }
}

template <typename T, typename Word>
void storeElement(const Region &region, uint32_t mask,
                  const uint64_t (&offsets)[warpLanes], unsigned at,
                  const Word *from) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    T value = static_cast<T>(from[lane]);
    std::memcpy(region.host + offsets[lane] + at, &value, sizeof value);
  }
}

/// Whether the registers are those that the functions above know: as wide as
/// the elements, of 2, 4 or 8 bytes, so that nothing is extended.
bool isPlain(const Inst &inst, const Operand *operands) {
  unsigned bytes = typeBytes(inst.type);
  if (bytes < 2)
    return false;
  for (unsigned e = 0; e < inst.count; ++e) {
    const Operand &operand = operands[e];
    if (operand.kind == Operand::Register && operand.declaredBytes != bytes)
      return false;
    if (operand.kind != Operand::Register && operand.kind != Operand::Sink &&
        operand.kind != Operand::Constant)
      return false;
  }
  return true;
}

} // namespace

bool attn::runtime::emulator::loadQuickly(
    Context &context, const Inst &inst,
    const uint64_t (&addresses)[warpLanes]) {
  Region region;
  uint64_t offsets[warpLanes];
  if (!isPlain(inst, inst.operands.data()) ||
      !locate(context, inst, true, addresses, region, offsets))
    return false;
  unsigned bytes = typeBytes(inst.type);
  for (unsigned e = 0; e < inst.count; ++e) {
    const Operand &target = inst.operands[e];
    if (target.kind != Operand::Register)
      continue;
    if (bytes == 8)
      loadElement<uint64_t>(region, context.mask, offsets, 8 * e,
                            context.destination64(target));
    else if (bytes == 4)
      loadElement<uint32_t>(region, context.mask, offsets, 4 * e,
                            context.destination(target));
    else
      loadElement<uint16_t>(region, context.mask, offsets, 2 * e,
                            context.destination(target));
  }
  return true;
}

bool attn::runtime::emulator::storeQuickly(
    Context &context, const Inst &inst,
    const uint64_t (&addresses)[warpLanes]) {
  Region region;
  uint64_t offsets[warpLanes];
  if (!isPlain(inst, inst.operands.data() + 1) ||
      !locate(context, inst, false, addresses, region, offsets))
    return false;
  unsigned bytes = typeBytes(inst.type);
  for (unsigned e = 0; e < inst.count; ++e) {
    const Operand &source = inst.operands[1 + e];
    if (bytes == 8)
      storeElement<uint64_t>(region, context.mask, offsets, 8 * e,
                             context.source64(source));
    else if (bytes == 4)
      storeElement<uint32_t>(region, context.mask, offsets, 4 * e,
                             context.source(source));
    else
      storeElement<uint16_t>(region, context.mask, offsets, 2 * e,
                             context.source(source));
  }
  return true;
}
