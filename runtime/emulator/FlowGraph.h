//===- FlowGraph.h - Basic blocks of a kernel -------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_FLOWGRAPH_H
#define ATTN_RUNTIME_EMULATOR_FLOWGRAPH_H

#include "runtime/emulator/Flow.h"

namespace attn::runtime::emulator {

struct FlowBlock {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> successors, predecessors;
};

/// Basic blocks; the last entry is the virtual exit.
class FlowGraph {
public:
  explicit FlowGraph(const Program &program);

  std::vector<FlowBlock> blocks;
  std::vector<uint32_t> blockOf;
  uint32_t exit = 0;

private:
  void edge(uint32_t from, uint32_t to);
  void connect(const std::vector<Inst> &insts, uint32_t b);
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_FLOWGRAPH_H
