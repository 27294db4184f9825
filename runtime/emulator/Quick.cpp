//===- Quick.cpp - Execution without checks -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Quick.h"
#include "runtime/emulator/Compact.h"
#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Flow.h"

using namespace attn::runtime::emulator;

namespace {

/// `@%p1 add.s32 %r1, ...` without guard and operands.
std::string_view opcodeOf(std::string_view text) {
  if (!text.empty() && text[0] == '@') {
    size_t end = text.find_first_of(" \t\n");
    text.remove_prefix(std::min(end, text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  }
  return text.substr(0, text.find_first_of(" \t\n"));
}

class Preparation {
public:
  explicit Preparation(const Program &program) : program_(program) {}

  std::shared_ptr<const QuickProgram> run() {
    auto result = std::make_shared<QuickProgram>();
    std::vector<QuickInst> &insts = result->insts;
    for (const Inst &inst : program_.insts)
      insts.push_back(prepare(inst));
    // A stretch ends at what has a guard or needs a look; it may be entered
    // anywhere.
    for (size_t i = insts.size(); i-- > 0;)
      if (insts[i].full && insts[i].guard < 0)
        insts[i].stretch =
            1 + (insts[i + 1].full && insts[i].masked && insts[i + 1].masked
                     ? insts[i + 1].stretch
                     : 0);
    result->constants.resize(64 * constants_.size());
    for (const auto &[lanes, index] : constants_)
      std::copy(lanes, lanes + 64, result->constants.begin() + 64 * index);
    return result;
  }

private:
  QuickInst prepare(const Inst &inst) {
    QuickInst quick;
    quick.guard = inst.guard;
    quick.guardNegated = inst.guardNegated;
    const QuickEntry *entry = findQuick(opcodeOf(inst.text));
    if (!entry || !matches(inst, entry->operands))
      return quick;
    uint32_t *fields[] = {&quick.result, &quick.a, &quick.b, &quick.c};
    size_t next = 0;
    for (const Operand &operand : inst.operands)
      if (operand.kind != Operand::Sink && next < 4)
        *fields[next++] = field(operand);
    if (inst.operands[0].kind == Operand::Predicate)
      quick.result = inst.operands[0].slot;
    if (entry->masked == nullptr)
      quick.extra = inst.operands[3].constant[0];
    quick.full = entry->full;
    quick.masked = entry->masked;
    return quick;
  }

  static bool matches(const Inst &inst, std::string_view kinds) {
    if (kinds.size() != inst.operands.size())
      return false;
    for (size_t i = 0; i < kinds.size(); ++i)
      if (!matches(inst.operands[i], kinds[i]))
        return false;
    return true;
  }

  static bool matches(const Operand &operand, char kind) {
    bool isRegister = operand.kind == Operand::Register;
    bool isValue = isRegister || operand.kind == Operand::Constant;
    switch (kind) {
    case 'r':
      return isRegister && operand.bytes == 4;
    case 'd':
      return isRegister && operand.bytes == 8;
    case 'x':
      return isValue && operand.bytes == 4;
    case 'y':
      return isValue && operand.bytes == 8;
    case 'p':
      return operand.kind == Operand::Predicate;
    case '_':
      return operand.kind == Operand::Sink;
    case 'l': // what lane numbers differ by
      return operand.kind == Operand::Constant && operand.constant[0] < 32;
    case 'w': // the whole warp
      return operand.kind == Operand::Constant && operand.constant[0] == 31;
    case 'm': // all members
      return operand.kind == Operand::Constant &&
             operand.constant[0] == UINT32_MAX;
    default:
      return false;
    }
  }

  uint32_t field(const Operand &operand) {
    if (operand.kind == Operand::Predicate)
      return operand.slot * 2 + operand.negated;
    if (operand.kind != Operand::Constant)
      return operand.slot * 4;
    uint32_t index =
        constants_
            .emplace(operand.constant, static_cast<uint32_t>(constants_.size()))
            .first->second;
    return index * 256 + 1;
  }

  const Program &program_;
  std::map<const uint32_t *, uint32_t> constants_;
};

/// After so many polls a fragment's turn is over: what it polls for is for
/// others to do.
constexpr uint64_t pollsPerTurn = 1;

class Runner {
public:
  Runner(Block &block, Warp &warp, Fragment &fragment)
      : launch_(block.launch), warp_(warp), fragment_(fragment),
        context_{launch_, block, warp, &fragment, 0},
        quick_(launch_.program.quick->insts.data()),
        state_{reinterpret_cast<uint8_t *>(warp.registers.data()),
               warp.predicates.data(),
               reinterpret_cast<const uint8_t *>(
                   launch_.program.quick->constants.data())} {}

  bool run(uint32_t quantum);

private:
  enum class Outcome : uint8_t { GoOn, Stop, Fault };

  uint32_t runStretch(uint32_t quantum);
  Outcome step();
  Outcome execute(uint32_t mask);

  Launch &launch_;
  Warp &warp_;
  Fragment &fragment_;
  Context context_;
  const QuickInst *quick_;
  QuickState state_;
};

/// Runs the instructions from the pc on that need no look, and returns how many
/// there were.
uint32_t Runner::runStretch(uint32_t quantum) {
  const QuickInst *inst = quick_ + fragment_.pc;
  uint32_t count = std::min(inst->stretch, quantum);
  if (fragment_.joinPc > fragment_.pc)
    count = std::min(count, fragment_.joinPc - fragment_.pc);
  uint32_t mask = fragment_.mask;
  const QuickInst *end = inst + count;
  if (mask == UINT32_MAX) {
    for (; inst != end; ++inst)
      inst->full(state_, *inst, mask);
  } else {
    if (count && !inst->masked)
      return 0;
    for (; inst != end; ++inst)
      inst->masked(state_, *inst, mask);
  }
  fragment_.pc += count;
  return count;
}

Runner::Outcome Runner::step() {
  const QuickInst &quick = quick_[fragment_.pc];
  uint32_t mask = fragment_.mask;
  if (quick.guard >= 0) {
    uint32_t bits = warp_.predicates[static_cast<uint32_t>(quick.guard)];
    mask &= quick.guardNegated ? ~bits : bits;
    if (!mask) {
      ++fragment_.pc;
      return Outcome::GoOn;
    }
  }
  QuickRun run = mask == UINT32_MAX ? quick.full : quick.masked;
  if (!run)
    return execute(mask);
  run(state_, quick, mask);
  ++fragment_.pc;
  return Outcome::GoOn;
}

Runner::Outcome Runner::execute(uint32_t mask) {
  const Inst &inst = launch_.program.insts[fragment_.pc];
  context_.mask = mask;
  switch (inst.execute(context_, inst)) {
  case Step::Next:
    ++fragment_.pc;
    return Outcome::GoOn;
  case Step::Jump:
    break;
  case Step::Wait:
  case Step::Retry:
    return Outcome::Stop;
  case Step::Exit:
    if (mask != fragment_.mask)
      ++fragment_.pc;
    endLanes(warp_, fragment_, mask);
    break;
  case Step::Fault:
    return Outcome::Fault;
  }
  return fragment_.state == Fragment::Ready ? Outcome::GoOn : Outcome::Stop;
}

bool Runner::run(uint32_t quantum) {
  const uint64_t polls = launch_.polls;
  while (quantum && launch_.polls < polls + pollsPerTurn) {
    if (fragment_.pc == fragment_.joinPc) {
      arriveAtJoin(warp_, fragment_);
      if (fragment_.state != Fragment::Ready)
        return true;
    }
    uint32_t done = runStretch(quantum);
    if (done) {
      launch_.instructions += done;
      quantum -= done;
      continue;
    }
    ++launch_.instructions;
    --quantum;
    Outcome outcome = step();
    if (outcome != Outcome::GoOn)
      return outcome == Outcome::Stop;
  }
  return true;
}

} // namespace

void attn::runtime::emulator::prepareQuick(Program &program) {
  compactRegisters(program);
  program.quick = Preparation(program).run();
}

bool attn::runtime::emulator::runQuick(Block &block, Warp &warp,
                                       Fragment &fragment, uint32_t quantum) {
  return Runner(block, warp, fragment).run(quantum);
}
