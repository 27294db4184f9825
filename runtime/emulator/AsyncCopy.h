//===- AsyncCopy.h - Copies that finish later -------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_ASYNCCOPY_H
#define ATTN_RUNTIME_EMULATOR_ASYNCCOPY_H

#include "runtime/emulator/Check.h"
#include "runtime/emulator/TensorMap.h"

namespace attn::runtime::emulator {

/// What a reduction does to each element in global memory.
enum class Reduce : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// One copy between shared and global memory, as issued by one lane.
struct CopyJob {
  bool toGlobal = false;
  Reduce reduce = Reduce::None;
  /// Of the elements, for reductions.
  Type type = Type::B8;
  uint64_t shared = 0;

  /// Either a box of a tensor ...
  bool isTensor = false;
  DecodedMap map;
  int32_t coordinates[5] = {0, 0, 0, 0, 0};
  /// ... or plain bytes.
  uint64_t global = 0;
  uint64_t bytes = 0;

  // Where a load reports.
  uint32_t mbarrier = 0;
  uint32_t phase = 0;

  // The issuing side, as it was then.
  uint32_t lane = 0;
  uint16_t agent = 0;
  uint16_t globalAgent = 0;
  uint32_t epoch = 0;
  Knowledge known;
  BlockKnowledge foreign;
};

/// Moves the bytes and reports. False after a fault.
bool runCopy(Context &context, const Inst &inst, const CopyJob &job);

/// Combines `count` bytes of elements into global memory.
bool reduceElements(Reduce reduce, Type type, uint8_t *to, const uint8_t *from,
                    uint64_t bytes);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_ASYNCCOPY_H
