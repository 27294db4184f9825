//===- AssembleTest.cpp - What ptxas says, and where it is looked for -----===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Assemble.h"

#include <gtest/gtest.h>

using namespace mlir::attn;

TEST(PtxasLog, CleanKernelPasses) {
  PtxasReport report = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'f' for 'sm_90a'\n"
      "ptxas info    : Function properties for f\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 16 barriers\n");
  EXPECT_EQ(report.registers, 168);
  EXPECT_EQ(checkPtxasReport(report), "");
}

TEST(PtxasLog, SpillIsAnError) {
  PtxasReport report = parsePtxasLog(
      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n");
  EXPECT_EQ(checkPtxasReport(report),
            "expected no spilled registers, but got 28 bytes from ptxas");
}

TEST(PtxasLog, StackFrameIsAnError) {
  PtxasReport report = parsePtxasLog(
      "    432 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  EXPECT_EQ(checkPtxasReport(report),
            "expected no stack frame, but got 432 bytes from ptxas");
}

TEST(PtxasLog, SerializedMatmulsAreQuoted) {
  const char line[] = "ptxas info    : (C7513) Potential Performance Loss: "
                      "wgmma.mma_async instructions are serialized due to "
                      "non wgmma instructions in the function 'f'";
  PtxasReport report = parsePtxasLog(std::string(line) + "\n");
  EXPECT_EQ(checkPtxasReport(report),
            std::string("expected no serialised instructions, but got from "
                        "ptxas: ") +
                line);
}

TEST(PtxasSearch, NamedProgramIsFinal) {
  for (PtxasSearch search : {PtxasSearch{"/nowhere/ptxas", "", ""},
                             PtxasSearch{"", "/nowhere/ptxas", ""}}) {
    auto found = findPtxas(search);
    ASSERT_FALSE(static_cast<bool>(found));
    std::string message = llvm::toString(found.takeError());
    EXPECT_NE(message.find("'/nowhere/ptxas'"), std::string::npos) << message;
  }
}

/// Anything that is no ptxas is the user's to change, and says so.
TEST(Assemble, WrongProgramIsNamed) {
  for (const char *program : {"/bin/true", "/bin/false", "/bin/echo"}) {
    auto assembly = assemble(program, "", *lookupTarget("sm_90a"));
    ASSERT_FALSE(static_cast<bool>(assembly)) << program;
    llvm::handleAllErrors(
        assembly.takeError(), [&](const llvm::StringError &error) {
          EXPECT_EQ(error.convertToErrorCode(), std::errc::invalid_argument);
          EXPECT_NE(error.getMessage().find(program), std::string::npos);
        });
  }
}
