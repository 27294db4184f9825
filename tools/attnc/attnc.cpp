//===- attnc.cpp - From an attention spec to a kernel ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"
#include "tools/attnc/Compile.h"
#include "tools/attnc/Explain.h"
#include "tools/attnc/SpecSchema.h"

#include <cstdio>

using namespace attnc;

static int runVerb(const CommandLine &command) {
  if (auto code = Session::parseMLIRFlags(command.mlirFlags))
    return *code;
  if (auto code = checkFiles(command))
    return *code;
  switch (command.verb) {
  case Verb::Compile:
    return runCompile(command);
  case Verb::Schema:
    std::fputs(specSchema().c_str(), stdout);
    return kOk;
  case Verb::Run:
  case Verb::Bench:
    return runLaunch(command);
  case Verb::Explain:
    return runExplain(command);
  case Verb::Support:
    return runSupport(command);
  }
  return kFailed;
}

int main(int argc, char **argv) {
  CommandLine command;
  auto parsed = parseCommandLine(argc, argv, command);
  int code = parsed ? *parsed : runVerb(command);
  if (code != kOk)
    return code;
  auto printed = finishStandardOutput();
  return printed.isOk() ? code : reportErrors({printed.message()}, kInvalid);
}
