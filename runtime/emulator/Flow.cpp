//===- Flow.cpp - Where lanes meet again, and which registers live --------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Flow.h"
#include "runtime/emulator/FlowGraph.h"

#include <algorithm>

using namespace attn::runtime::emulator;

namespace {

/// Immediate post-dominators by Cooper, Harvey and Kennedy's iteration over
/// the reversed graph. A block that cannot reach the exit has none.
std::vector<uint32_t> postDominators(const FlowGraph &graph) {
  uint32_t size = static_cast<uint32_t>(graph.blocks.size());
  std::vector<uint32_t> order, number(size, UINT32_MAX);
  std::vector<bool> seen(size, false);
  std::vector<std::pair<uint32_t, size_t>> stack = {{graph.exit, 0}};
  seen[graph.exit] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    const std::vector<uint32_t> &predecessors =
        graph.blocks[block].predecessors;
    if (next < predecessors.size()) {
      uint32_t to = predecessors[next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.push_back({to, 0});
      }
      continue;
    }
    number[block] = static_cast<uint32_t>(order.size());
    order.push_back(block);
    stack.pop_back();
  }
  std::vector<uint32_t> idom(size, UINT32_MAX);
  idom[graph.exit] = graph.exit;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = idom[a];
      while (number[b] < number[a])
        b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      uint32_t best = UINT32_MAX;
      for (uint32_t successor : graph.blocks[order[i]].successors)
        if (idom[successor] != UINT32_MAX)
          best = best == UINT32_MAX ? successor : intersect(successor, best);
      if (best != idom[order[i]]) {
        idom[order[i]] = best;
        changed = true;
      }
    }
  }
  return idom;
}

/// Which registers of wgmmas are live, as bit sets. Others do not count: the
/// assembler may make an address again, keep it in the uniform file or reorder
/// the code, but an accumulator has to be somewhere.
class Liveness {
public:
  Liveness(Program &program, const FlowGraph &graph)
      : program_(program), graph_(graph) {}

  void run() {
    number();
    words_ = (count_ + 63) / 64;
    // Fuzzed input may declare a register for each instruction; the bound
    // keeps the sets below 64 MiB.
    if (words_ * graph_.blocks.size() > (size_t(1) << 23))
      return;
    std::vector<std::vector<uint64_t>> in(graph_.blocks.size(),
                                          std::vector<uint64_t>(words_));
    std::vector<bool> queued(graph_.blocks.size(), true);
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      work.push_back(b);
    std::vector<uint64_t> live(words_);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      queued[b] = false;
      liveOut(b, in, live);
      for (uint32_t i = graph_.blocks[b].end; i-- > graph_.blocks[b].begin;)
        transfer(program_.insts[i], live);
      if (live == in[b])
        continue;
      in[b] = live;
      for (uint32_t predecessor : graph_.blocks[b].predecessors)
        if (!queued[predecessor]) {
          queued[predecessor] = true;
          work.push_back(predecessor);
        }
    }
    for (uint32_t b = 0; b < graph_.exit; ++b) {
      liveOut(b, in, live);
      for (uint32_t i = graph_.blocks[b].end; i-- > graph_.blocks[b].begin;) {
        // Before or after: a result that is overwritten needs a register too.
        std::vector<uint64_t> either = live;
        transfer(program_.insts[i], live);
        for (size_t w = 0; w < words_; ++w)
          either[w] |= live[w];
        program_.insts[i].liveRegisters = count(either);
      }
    }
  }

private:
  static bool isRegister(const Operand &operand) {
    return operand.kind == Operand::Register ||
           (operand.kind == Operand::Address && !operand.constant);
  }

  void number() {
    index_.assign(program_.registerWords / 32 + 1, UINT32_MAX);
    for (uint32_t slot : program_.tracked)
      index_[slot / 32] = static_cast<uint32_t>(count_++);
  }

  void liveOut(uint32_t b, const std::vector<std::vector<uint64_t>> &in,
               std::vector<uint64_t> &live) const {
    std::fill(live.begin(), live.end(), 0);
    for (uint32_t successor : graph_.blocks[b].successors)
      for (size_t w = 0; w < words_; ++w)
        live[w] |= in[successor][w];
  }

  void transfer(const Inst &inst, std::vector<uint64_t> &live) const {
    // A guarded write leaves the old value in the lanes that are off.
    if (inst.guard < 0)
      for (const Operand &operand : inst.operands)
        if (isRegister(operand) && operand.isWritten)
          if (uint32_t i = index_[operand.slot / 32]; i != UINT32_MAX)
            live[i / 64] &= ~(uint64_t(1) << (i % 64));
    for (const Operand &operand : inst.operands)
      if (isRegister(operand) && operand.isRead)
        if (uint32_t i = index_[operand.slot / 32]; i != UINT32_MAX)
          live[i / 64] |= uint64_t(1) << (i % 64);
  }

  static uint32_t count(const std::vector<uint64_t> &live) {
    uint32_t total = 0;
    for (uint64_t bits : live)
      total += static_cast<uint32_t>(__builtin_popcountll(bits));
    return total;
  }

  Program &program_;
  const FlowGraph &graph_;
  std::vector<uint32_t> index_;
  size_t count_ = 0;
  size_t words_ = 0;
};

/// Collects the registers of wgmmas and tells every instruction which of them
/// it touches.
void trackMatrixRegisters(Program &program) {
  std::vector<uint32_t> &tracked = program.tracked;
  for (const Inst &inst : program.insts)
    if (inst.flags & TracksRegisters)
      for (const Operand &operand : inst.operands)
        if (operand.kind == Operand::Register && operand.bytes == 4)
          tracked.push_back(operand.slot);
  std::sort(tracked.begin(), tracked.end());
  tracked.erase(std::unique(tracked.begin(), tracked.end()), tracked.end());
  if (tracked.size() > UINT16_MAX)
    tracked.resize(UINT16_MAX);
  for (Inst &inst : program.insts)
    for (const Operand &operand : inst.operands) {
      if (operand.kind != Operand::Register)
        continue;
      auto it = std::lower_bound(tracked.begin(), tracked.end(), operand.slot);
      if (it != tracked.end() && *it == operand.slot)
        inst.tracked.push_back(static_cast<uint16_t>(it - tracked.begin()));
    }
}

} // namespace

void attn::runtime::emulator::analyzeFlow(Program &program) {
  FlowGraph graph(program);
  std::vector<uint32_t> idom = postDominators(graph);
  for (Inst &inst : program.insts) {
    inst.join = noJoin;
    if (!(inst.flags & IsBranch))
      continue;
    uint32_t block =
        graph.blockOf[static_cast<size_t>(&inst - program.insts.data())];
    if (idom[block] != UINT32_MAX && idom[block] != graph.exit)
      inst.join = graph.blocks[idom[block]].begin;
  }
  trackMatrixRegisters(program);
  Liveness(program, graph).run();
}
