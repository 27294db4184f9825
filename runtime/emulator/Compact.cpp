//===- Compact.cpp - Fewer registers for a kernel -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear scan: a value lives from the first to the last instruction at which it
// may be needed. All writes are lane by lane, so what holds for one thread
// holds for the lanes of a warp wherever they are.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Compact.h"
#include "runtime/emulator/FlowGraph.h"

#include <algorithm>

using namespace attn::runtime::emulator;

namespace {

constexpr uint32_t unitWords = 32;
constexpr uint32_t firstUnit = uint32_t(Special::Count);
constexpr uint32_t none = UINT32_MAX;

struct Value {
  /// Where it was and where it goes, in units of 32 words.
  uint32_t unit = 0, place = 0;
  uint32_t units = 1;
  uint32_t first = none, last = 0;
  bool isLiveAtEntry = false;

  void extend(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class Compaction {
public:
  explicit Compaction(Program &program) : program_(program), graph_(program) {}

  void run() {
    collect();
    words_ = (values_.size() + 63) / 64;
    // As in Flow.cpp: a bound for fuzzed input.
    if (words_ * graph_.blocks.size() > (size_t(1) << 23))
      return;
    solve();
    measure();
    place();
    rename();
  }

private:
  using Set = std::vector<uint64_t>;

  static bool isRegister(const Operand &operand) {
    return (operand.kind == Operand::Register ||
            (operand.kind == Operand::Address && !operand.constant)) &&
           operand.slot / unitWords >= firstUnit;
  }
  uint32_t valueOf(const Operand &operand) const {
    return valueOf_[operand.slot / unitWords];
  }
  /// Accumulators of a wgmma are read too, unless it says at once that it
  /// starts from zero.
  static bool isRead(const Inst &inst, const Operand &operand) {
    if (operand.isRead || !(inst.flags & TracksRegisters))
      return operand.isRead;
    const Operand &scale = inst.operands.back();
    return scale.kind != Operand::Constant || scale.constant[0] != 0;
  }

  void collect() {
    valueOf_.assign(program_.registerWords / unitWords + 2, none);
    for (const Inst &inst : program_.insts)
      for (const Operand &operand : inst.operands)
        if (isRegister(operand) && valueOf(operand) == none) {
          valueOf_[operand.slot / unitWords] =
              static_cast<uint32_t>(values_.size());
          Value &value = values_.emplace_back();
          value.unit = operand.slot / unitWords;
          value.units = operand.bytes == 8 ? 2 : 1;
        }
  }

  void transfer(const Inst &inst, Set &live) const {
    // A guarded write leaves the old value in the lanes that are off.
    if (inst.guard < 0)
      for (const Operand &operand : inst.operands)
        if (isRegister(operand) && operand.isWritten)
          live[valueOf(operand) / 64] &=
              ~(uint64_t(1) << (valueOf(operand) % 64));
    for (const Operand &operand : inst.operands)
      if (isRegister(operand) && isRead(inst, operand))
        live[valueOf(operand) / 64] |= uint64_t(1) << (valueOf(operand) % 64);
  }

  Set liveOut(uint32_t block) const {
    Set live(words_);
    for (uint32_t successor : graph_.blocks[block].successors)
      for (size_t w = 0; w < words_; ++w)
        live[w] |= liveIn_[successor][w];
    return live;
  }

  void solve() {
    liveIn_.assign(graph_.blocks.size(), Set(words_));
    std::vector<bool> queued(graph_.blocks.size(), true);
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      work.push_back(b);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      queued[b] = false;
      Set live = liveOut(b);
      for (uint32_t i = graph_.blocks[b].end; i-- > graph_.blocks[b].begin;)
        transfer(program_.insts[i], live);
      if (live == liveIn_[b])
        continue;
      liveIn_[b] = live;
      for (uint32_t predecessor : graph_.blocks[b].predecessors)
        if (!queued[predecessor]) {
          queued[predecessor] = true;
          work.push_back(predecessor);
        }
    }
  }

  void extend(const Set &live, uint32_t at) {
    for (size_t v = 0; v < values_.size(); ++v)
      if (live[v / 64] >> (v % 64) & 1)
        values_[v].extend(at);
  }

  void measure() {
    for (uint32_t b = 0; b < graph_.exit; ++b) {
      extend(liveIn_[b], graph_.blocks[b].begin);
      extend(liveOut(b), graph_.blocks[b].end - 1);
    }
    for (uint32_t i = 0; i < program_.insts.size(); ++i)
      for (const Operand &operand : program_.insts[i].operands)
        if (isRegister(operand))
          values_[valueOf(operand)].extend(i);
    for (size_t v = 0; v < values_.size(); ++v)
      values_[v].isLiveAtEntry = liveIn_[0][v / 64] >> (v % 64) & 1;
  }

  /// Results never share a place with operands of the same instruction.
  void place() {
    std::vector<Value *> order;
    for (Value &value : values_)
      order.push_back(&value);
    std::sort(order.begin(), order.end(), [](const Value *a, const Value *b) {
      return std::make_pair(a->first, a->unit) <
             std::make_pair(b->first, b->unit);
    });
    auto endsLater = [](const Value *a, const Value *b) {
      return a->last > b->last;
    };
    std::vector<Value *> active;
    std::vector<uint32_t> free[3];
    for (Value *value : order) {
      while (!active.empty() && active.front()->last < value->first) {
        std::pop_heap(active.begin(), active.end(), endsLater);
        free[active.back()->units].push_back(active.back()->place);
        active.pop_back();
      }
      std::vector<uint32_t> &reusable = free[value->units];
      if (reusable.empty()) {
        value->place = next_;
        next_ += value->units;
      } else {
        value->place = reusable.back();
        reusable.pop_back();
      }
      active.push_back(value);
      std::push_heap(active.begin(), active.end(), endsLater);
    }
  }

  void rename() {
    for (Inst &inst : program_.insts)
      for (Operand &operand : inst.operands)
        if (isRegister(operand))
          operand.slot = values_[valueOf(operand)].place * unitWords;
    for (const Value &value : values_)
      if (value.isLiveAtEntry)
        program_.readFirst.push_back(
            {value.place * unitWords, value.units * unitWords});
    program_.registerWords = size_t(next_) * unitWords;
    program_.isCompact = true;
  }

  Program &program_;
  FlowGraph graph_;
  std::vector<Value> values_;
  std::vector<uint32_t> valueOf_;
  std::vector<Set> liveIn_;
  size_t words_ = 0;
  uint32_t next_ = firstUnit;
};

} // namespace

void attn::runtime::emulator::compactRegisters(Program &program) {
  Compaction(program).run();
}
