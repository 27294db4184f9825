//===- Assemble.h - From PTX to a cubin, by ptxas ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ptxas is optional for users and a judge for us: what it only warns of (code
// that it had to serialise, spilled registers) makes a kernel several times
// slower, so here it is an error.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_EMIT_ASSEMBLE_H
#define ATTN_CODEGEN_EMIT_ASSEMBLE_H

#include "codegen/Target/TargetInfo.h"

#include "llvm/Support/Error.h"

#include <string>

namespace mlir::attn {

/// Where to look for ptxas, in this order; empty strings are skipped. After
/// `environment` comes the search path of the process.
struct PtxasSearch {
  /// Given by the user: the program or nothing, no further search.
  std::string path;
  /// The value of $PTXAS, likewise.
  std::string environment;
  /// The value of $CUDA_HOME.
  std::string cudaHome;
};

/// The program to run, or a message saying where it was looked for.
llvm::Expected<std::string> findPtxas(const PtxasSearch &search);

/// What ptxas said about the one kernel of a module.
struct PtxasReport {
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillBytes = 0;
  /// Lines that hold a message on serialised or ignored instructions.
  std::string warnings;
};

/// Reads what `ptxas -v` printed.
PtxasReport parsePtxasLog(llvm::StringRef log);

/// Empty, or why a kernel with this report is not good enough.
std::string checkPtxasReport(const PtxasReport &report);

struct Assembly {
  std::string cubin;
  PtxasReport report;
  std::string log;
};

/// Runs `ptxas` on `ptx`. Fails where ptxas fails, and only there: the caller
/// decides on the report, so that it can still dump the rest. The error code is
/// std::errc::invalid_argument where the program and not the PTX is at fault.
llvm::Expected<Assembly> assemble(llvm::StringRef ptxas, llvm::StringRef ptx,
                                  const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_EMIT_ASSEMBLE_H
