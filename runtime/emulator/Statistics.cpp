//===- Statistics.cpp - What the emulator counts --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Statistics.h"

using namespace attn::runtime::emulator;

const char *attn::runtime::emulator::instClassName(InstClass cls) {
  static constexpr const char *names[] = {
      "integer",    "float",      "special_function", "convert", "move",
      "control",    "load_store", "atomic",           "shuffle", "barrier",
      "async_copy", "matrix",     "matrix_load",      "other"};
  static_assert(sizeof names / sizeof *names == size_t(InstClass::Count), "");
  return names[size_t(cls)];
}

static void field(std::string &text, const char *name, uint64_t value) {
  if (text.back() != '{')
    text += ", ";
  text += std::string("\"") + name + "\": " + std::to_string(value);
}

static std::string trafficJson(const Traffic &traffic) {
  std::string text = "{";
  field(text, "read_bytes", traffic.readBytes);
  field(text, "written_bytes", traffic.writtenBytes);
  field(text, "read_sector_bytes", traffic.readSectorBytes);
  field(text, "written_sector_bytes", traffic.writtenSectorBytes);
  return text + "}";
}

static std::string banksJson(const BankTraffic &banks) {
  std::string text = "{";
  field(text, "wavefronts", banks.wavefronts);
  field(text, "bank_conflicts", banks.conflicts);
  return text + "}";
}

static void openField(std::string &text, const std::string &name) {
  if (text.back() != '{')
    text += ", ";
  text += "\"" + name + "\": ";
}

/// What accesses shared memory, by class and by line.
static std::string banksJson(const Statistics &statistics) {
  std::string text = "\"shared_by_class\": {";
  for (size_t i = 0; i < statistics.banksByClass.size(); ++i) {
    const BankTraffic &banks = statistics.banksByClass[i];
    if (!banks.wavefronts)
      continue;
    openField(text, instClassName(static_cast<InstClass>(i)));
    text += banksJson(banks);
  }
  text += "}, \"shared_by_line\": {";
  for (const auto &[kernel, lines] : statistics.banksByLine) {
    openField(text, kernel);
    text += "{";
    for (const auto &[line, banks] : lines) {
      openField(text, std::to_string(line));
      text += banksJson(banks);
    }
    text += "}";
  }
  return text + "}";
}

std::string Statistics::json() const {
  std::string text = "{";
  field(text, "launches", launches);
  field(text, "blocks", blocks);
  field(text, "instructions", instructions);
  field(text, "matrix_multiply_adds", matrixMultiplyAdds);
  field(text, "divergent_branches", divergentBranches);
  field(text, "shared_wavefronts", banks.wavefronts);
  field(text, "shared_bank_conflicts", banks.conflicts);
  field(text, "named_barrier_waits", namedBarrierWaits);
  field(text, "mbarrier_waits", mbarrierWaits);
  field(text, "register_waits", registerWaits);
  text += ", \"instructions_by_class\": {";
  for (size_t i = 0; i < byClass.size(); ++i)
    field(text, instClassName(static_cast<InstClass>(i)), byClass[i]);
  text += "}, \"global\": " + trafficJson(global);
  text += ", \"shared\": " + trafficJson(shared);
  text += ", \"local\": " + trafficJson(local);
  text += ", " + banksJson(*this);
  text += ", \"allocations\": {";
  for (const auto &[base, traffic] : allocations) {
    openField(text, std::to_string(base));
    text += trafficJson(traffic);
  }
  return text + "}}";
}
