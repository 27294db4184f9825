//===- Launch.cpp - Runs the blocks of a grid -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Machine.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

/// Warp instructions that may pass without anything that another warp could
/// see; then the launch is taken for hung.
static constexpr uint64_t maxIdleInstructions = 1'000'000'000;
/// The same while every warp that can run only polls.
static constexpr uint64_t maxPolls = 10'000;

/// As the assembler would choose: all registers of a multiprocessor, shared
/// by the blocks that are to fit.
static uint32_t registersPerThread(const Program &program, uint32_t threads) {
  uint32_t blocks = std::max(1u, program.minBlocksPerMultiprocessor);
  uint32_t rounded = (threads + warpLanes - 1) / warpLanes * warpLanes;
  uint32_t limit = 65536 / std::max(1u, rounded * blocks) / 8 * 8;
  limit = std::min(limit, 255u);
  return program.maxRegisters ? std::min(limit, program.maxRegisters) : limit;
}

static std::string
deadlockReport(const std::vector<std::unique_ptr<Block>> &resident) {
  std::string report = "deadlock: no warp can run";
  size_t shown = 0;
  for (const std::unique_ptr<Block> &block : resident) {
    if (++shown > 2) {
      report +=
          "\n  and " + std::to_string(resident.size() - 2) + " more blocks";
      break;
    }
    report += block->describeState();
  }
  return report;
}

Status Launch::run() {
  uint64_t total = uint64_t(grid.x) * grid.y * grid.z;
  uint32_t threadCount = threads.x * threads.y * threads.z;
  registersAtLaunch = registersPerThread(program, threadCount);
  random.seed(seed);
  banks.assign(program.insts.size(), BankTraffic());
  ++statistics.launches;
  memory.beginLaunch();
  std::vector<std::unique_ptr<Block>> resident;
  uint64_t next = 0;
  size_t wanted = seed ? 4 : 1;
  uint32_t quantum = seed ? 2000 : 1 << 20;
  if (maxInstructions)
    quantum =
        static_cast<uint32_t>(std::min<uint64_t>(quantum, maxInstructions + 1));
  auto failure = [&](const std::string &message) {
    return Status::launchFailed("kernel '" + program.name + "': " + message);
  };
  while (next < total || !resident.empty()) {
    while (next < total && resident.size() < wanted) {
      resident.push_back(
          std::make_unique<Block>(*this, static_cast<uint32_t>(next++)));
      ++statistics.blocks;
    }
    size_t pick = seed ? random() % resident.size() : 0;
    bool anyRan = false;
    for (size_t i = 0; i < resident.size() && !anyRan; ++i) {
      Block &block = *resident[(pick + i) % resident.size()];
      if (!block.canRun())
        continue;
      anyRan = true;
      if (!block.advance(quantum))
        return failure(fault);
      if (block.finished()) {
        std::string problem = checkBlockEnd(block);
        if (!problem.empty())
          return failure(problem);
        resident.erase(resident.begin() +
                       static_cast<ptrdiff_t>((pick + i) % resident.size()));
      } else if (!seed) {
        // It waits or spins: let others run beside it.
        std::rotate(resident.begin(), resident.begin() + 1, resident.end());
        wanted = std::min<size_t>(multiprocessors, resident.size() + 1);
      }
    }
    if (!anyRan) {
      if (next < total && resident.size() < multiprocessors) {
        wanted = resident.size() + 1;
        continue;
      }
      return failure(deadlockReport(resident));
    }
    uint64_t idle = instructions - lastProgress;
    if (idle > maxIdleInstructions || polls > maxPolls)
      return failure(deadlockReport(resident) +
                     "\n  (warps spin, but nothing changed for " +
                     std::to_string(idle) + " instructions)");
    if (maxInstructions && instructions > maxInstructions)
      return failure("gave up after " + std::to_string(instructions) +
                     " warp instructions");
  }
  statistics.instructions += instructions;
  for (size_t i = 0; i < banks.size(); ++i)
    if (banks[i].wavefronts)
      statistics.banksByLine[program.name][program.insts[i].line] += banks[i];
  return Status::ok();
}
