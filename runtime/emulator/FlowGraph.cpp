//===- FlowGraph.cpp - Basic blocks of a kernel ---------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/FlowGraph.h"

#include <algorithm>

using namespace attn::runtime::emulator;

FlowGraph::FlowGraph(const Program &program) {
  const std::vector<Inst> &insts = program.insts;
  uint32_t size = static_cast<uint32_t>(insts.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = leader[size] = true;
  for (uint32_t i = 0; i < size; ++i) {
    if (insts[i].flags & (IsBranch | EndsFlow))
      leader[i + 1] = true;
    if (insts[i].flags & IsBranch) {
      leader[insts[i].target] = true;
      for (uint32_t target : insts[i].targets)
        leader[target] = true;
    }
  }
  blockOf.resize(size + 1);
  for (uint32_t i = 0; i < size; ++i) {
    if (leader[i]) {
      if (!blocks.empty())
        blocks.back().end = i;
      blocks.emplace_back().begin = i;
    }
    blockOf[i] = static_cast<uint32_t>(blocks.size() - 1);
  }
  blocks.back().end = size;
  exit = blockOf[size] = static_cast<uint32_t>(blocks.size());
  blocks.emplace_back().begin = size;
  for (uint32_t b = 0; b < exit; ++b)
    connect(insts, b);
}

void FlowGraph::edge(uint32_t from, uint32_t to) {
  std::vector<uint32_t> &successors = blocks[from].successors;
  if (std::find(successors.begin(), successors.end(), to) != successors.end())
    return;
  successors.push_back(to);
  blocks[to].predecessors.push_back(from);
}

void FlowGraph::connect(const std::vector<Inst> &insts, uint32_t b) {
  const Inst &last = insts[blocks[b].end - 1];
  bool falls = !(last.flags & EndsFlow) || last.guard >= 0;
  if (last.flags & IsBranch) {
    if (last.targets.empty())
      edge(b, blockOf[last.target]);
    for (uint32_t target : last.targets)
      edge(b, blockOf[target]);
  } else if (last.flags & EndsFlow) {
    edge(b, exit);
  }
  if (falls)
    edge(b, blockOf[blocks[b].end]);
}
