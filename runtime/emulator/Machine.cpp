//===- Machine.cpp - Messages and small helpers of a launch ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Executor.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

std::string attn::runtime::emulator::hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

unsigned attn::runtime::emulator::firstLane(uint32_t mask) {
  return mask ? static_cast<unsigned>(__builtin_ctz(mask)) : 0;
}

static std::string number(uint64_t value) { return std::to_string(value); }

static std::string blockName(const Dim3 &index) {
  return "block (" + number(index.x) + "," + number(index.y) + "," +
         number(index.z) + ")";
}

/// The source without its end of line, and not all of a long wgmma.
static std::string shortText(const Inst &inst) {
  std::string text(inst.text.substr(0, 90));
  for (char &c : text)
    if (c == '\t' || c == '\n')
      c = ' ';
  if (inst.text.size() > 90)
    text += "...";
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

void Context::addresses(const Operand &operand,
                        uint64_t (&result)[warpLanes]) const {
  uint64_t offset = static_cast<uint64_t>(operand.offset);
  if (operand.bytes == 8) {
    const uint64_t *base = source64(operand);
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      result[lane] = base[lane] + offset;
    return;
  }
  const uint32_t *base = source(operand);
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = static_cast<uint32_t>(base[lane] + offset);
}

bool Context::uniform(const Inst &inst, const Operand &operand, uint64_t &value,
                      const char *what) const {
  unsigned first = firstLane(mask);
  auto at = [&](unsigned lane) {
    return operand.bytes == 8 ? source64(operand)[lane]
                              : uint64_t(source(operand)[lane]);
  };
  value = at(first);
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    if ((mask >> lane & 1) && at(lane) != value) {
      fault(inst, static_cast<int>(lane),
            std::string("expected the same ") + what +
                " in all lanes, but got " + hex(at(lane)) + " where lane " +
                number(first) + " has " + hex(value));
      return false;
    }
  return true;
}

Step Context::fault(const Inst &inst, int lane,
                    const std::string &message) const {
  if (!launch.fault.empty())
    return Step::Fault;
  std::string text = "ptx line " + number(inst.line) + ", " +
                     blockName(block.index) + ", warp " + number(warp.index);
  if (lane >= 0)
    text += ", lane " + number(static_cast<uint64_t>(lane));
  text += ": " + message + "\n  at: " + shortText(inst);
  std::string history;
  for (uint32_t line : warp.recentSync)
    if (line)
      history += (history.empty() ? "" : ", ") + number(line);
  if (!history.empty())
    text += "\n  before: this warp last synchronised at ptx lines " + history;
  launch.fault = text;
  return Step::Fault;
}

bool Context::converged(const Inst &inst) const {
  if (mask == warp.live)
    return true;
  uint32_t missing = warp.live & ~mask;
  std::string where;
  for (const Fragment &fragment : warp.fragments)
    if (fragment.state != Fragment::Free && &fragment != this->fragment)
      where += ", lanes " + hex(fragment.mask) + " are at ptx line " +
               number(launch.program.insts[fragment.pc].line);
  fault(inst, -1,
        "collective instruction in a diverged warp: expected lanes " +
            hex(warp.live) + ", but got " + hex(mask) + " (missing " +
            hex(missing) + where + ")");
  return false;
}

void Context::noteSync(const Inst &inst) const {
  if (warp.recentSync[3] == inst.line)
    return;
  std::move(warp.recentSync + 1, warp.recentSync + 4, warp.recentSync);
  warp.recentSync[3] = inst.line;
}

void attn::runtime::emulator::sleep(Context &context, Wait wait, uint64_t key) {
  context.fragment->state = Fragment::Asleep;
  context.fragment->wait = wait;
  context.fragment->waitKey = key;
}

std::string attn::runtime::emulator::describeAccess(const Launch &launch,
                                                    const Block &block,
                                                    const Access &access) {
  const char *verb = access.flags & Access::Atomic  ? "atomic"
                     : access.flags & Access::Write ? "write"
                                                    : "read";
  std::string who;
  uint32_t warps = static_cast<uint32_t>(block.warps.size());
  if (access.agent < warps)
    who = "warp " + number(access.agent);
  else if (access.agent < 2 * warps)
    who = "wgmma of warpgroup " + number(access.agent - warps);
  else if (access.agent < 3 * warps)
    who = "cp.async of warp " + number(access.agent - 2 * warps);
  else if (access.agent < 5 * warps)
    who = "bulk copy of warp " + number(access.agent % warps);
  else
    who = "an asynchronous copy";
  if (access.lane < warpLanes)
    who += ", lane " + number(access.lane);
  if (access.block != block.linear)
    who += ", of block number " + number(access.block);
  return std::string("the ") + verb + " by " + who + " at ptx line " +
         number(launch.program.insts[access.inst].line);
}

// The state of a block, for a deadlock.

static std::string describeWait(const Fragment &fragment) {
  switch (fragment.wait) {
  case Wait::Mbarrier:
    return "waits for mbarrier " + hex(fragment.waitKey & UINT32_MAX) +
           ", parity " + number(fragment.waitKey >> 32 & 1);
  case Wait::NamedBarrier:
    return "waits at barrier " + number(fragment.waitKey);
  case Wait::Warpgroup:
    return "waits for the rest of its warpgroup";
  case Wait::Registers:
    return "waits for " + number(fragment.waitKey) + " registers per thread";
  case Wait::Join:
  case Wait::None:
    break;
  }
  return fragment.state == Fragment::Ready ? "can run" : "sleeps";
}

/// Where the fragments of a warp are, and the lanes that wait at joins.
static std::vector<std::string> warpStates(const Program &program,
                                           const Warp &warp) {
  std::vector<std::string> states;
  for (const Fragment &fragment : warp.fragments) {
    if (fragment.state == Fragment::Free)
      continue;
    const Inst &inst = program.insts[fragment.pc];
    std::string lanes;
    if (fragment.mask != warp.launched)
      lanes = " lanes " + hex(fragment.mask);
    states.push_back(lanes + " at ptx line " + number(inst.line) + " " +
                     describeWait(fragment) + ": " + shortText(inst));
  }
  for (const Join &join : warp.joins)
    if (join.used && join.arrived)
      states.push_back(" lanes " + hex(join.arrived) +
                       " wait for the rest of their warp at ptx line " +
                       number(program.insts[join.pc].line));
  if (warp.live == 0)
    states.push_back(" ended");
  return states;
}

std::string Block::describeState() const {
  std::string text = "\n  " + blockName(index) + ":";
  for (const auto &[address, barrier] : mbarriers) {
    text += "\n    mbarrier " + hex(address) + " (init at ptx line " +
            number(barrier.initLine) + "): phase " + number(barrier.phase) +
            ", " + number(barrier.pending) + " of " + number(barrier.count) +
            " arrivals pending";
    if (barrier.transactions)
      text += ", " + std::to_string(barrier.transactions) +
              " more bytes expected than arrived";
  }
  for (uint32_t i = 0; i < namedBarriers; ++i)
    if (barriers[i].arrived)
      text += "\n    barrier " + number(i) + ": " +
              number(barriers[i].arrived) + " of " +
              number(barriers[i].expected) + " threads arrived";
  if (registerPool)
    text +=
        "\n    setmaxnreg pool: " + std::to_string(registerPool) + " registers";
  // Warps that do the same share a line.
  for (size_t first = 0; first < warps.size();) {
    std::vector<std::string> states = warpStates(launch.program, warps[first]);
    size_t last = first;
    while (last + 1 < warps.size() &&
           warpStates(launch.program, warps[last + 1]) == states)
      ++last;
    std::string who = "\n    warp " + number(first);
    if (last > first)
      who = "\n    warps " + number(first) + " to " + number(last);
    for (const std::string &state : states)
      text += who + state;
    first = last + 1;
  }
  return text;
}
