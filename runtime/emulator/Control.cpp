//===- Control.cpp - Branches and ends ------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Flow.h"
#include "runtime/emulator/Lanes.h"

using namespace attn::runtime::emulator;

namespace {

Step bra(Context &context, const Inst &inst) {
  return branch(context, inst, context.mask, inst.target);
}

bool decodeBra(Decoder &d, Inst &inst) {
  inst.flags |= IsBranch;
  if (d.take("uni"))
    inst.flags |= IsUniform;
  if (inst.guard < 0)
    inst.flags |= EndsFlow;
  inst.execute = bra;
  return d.label(inst.target);
}

Step brx(Context &context, const Inst &inst) {
  const uint32_t *index = context.source(inst.operands[0]);
  uint32_t targets[warpLanes] = {};
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    if (index[lane] >= inst.targets.size())
      return context.fault(
          inst, static_cast<int>(lane),
          "index " + std::to_string(index[lane]) + " is beyond the " +
              std::to_string(inst.targets.size()) + " targets");
    targets[lane] = inst.targets[index[lane]];
  }
  return branchIndexed(context, inst, targets);
}

bool decodeBrx(Decoder &d, Inst &inst) {
  if (!d.need("idx"))
    return false;
  d.take("uni");
  inst.flags |= IsBranch;
  if (inst.guard < 0)
    inst.flags |= EndsFlow;
  inst.execute = brx;
  return d.source(Type::U32) && d.labels(inst.targets);
}

bool decodeExit(Decoder &d, Inst &inst) {
  if (d.ast().opcode == "ret")
    d.take("uni");
  inst.flags |= EndsFlow;
  inst.execute = [](Context &, const Inst &) { return Step::Exit; };
  return true;
}

bool decodeTrap(Decoder &, Inst &inst) {
  inst.flags |= EndsFlow;
  inst.execute = [](Context &context, const Inst &inst) {
    return context.fault(inst, static_cast<int>(firstLane(context.mask)),
                         "the kernel executed a trap");
  };
  return true;
}

bool decodeNothing(Decoder &d, Inst &inst) {
  // nanosleep's argument does not matter to a machine without time.
  if (d.take("u32")) {
    inst.execute = [](Context &, const Inst &) { return Step::Next; };
    return d.source(Type::U32);
  }
  return d.fail("expected '.u32' in 'nanosleep'");
}

constexpr Opcode table[] = {
    {"bra", InstClass::Control, decodeBra},
    {"brx", InstClass::Control, decodeBrx},
    {"ret", InstClass::Control, decodeExit},
    {"exit", InstClass::Control, decodeExit},
    {"trap", InstClass::Control, decodeTrap},
    {"nanosleep", InstClass::Control, decodeNothing},
};

} // namespace

OpcodeTable attn::runtime::emulator::controlOpcodes() {
  return makeTable(table);
}
