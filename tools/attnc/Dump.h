//===- Dump.h - One numbered file per stage ------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_DUMP_H
#define ATTN_TOOLS_ATTNC_DUMP_H

#include "tools/attnc/spec/SpecParser.h"

#include <string>

namespace attnc {

/// Writes DIR/00-attn.mlir, DIR/01-tiled.mlir and so on, each as soon as its
/// stage is done, so that a failure leaves the stages before it.
class Dump {
public:
  /// An empty directory name dumps nothing.
  explicit Dump(std::string directory) : directory(std::move(directory)) {}

  bool enabled() const { return !directory.empty(); }
  void add(const std::string &name, const std::string &content);
  /// Of the files that could not be written.
  const Errors &errors() const { return failures; }

private:
  std::string directory;
  unsigned count = 0;
  Errors failures;
};

/// The machine code in a cubin, as text, where cuobjdump or nvdisasm is in the
/// search path or beside `ptxas`; empty where neither is.
std::string disassemble(const std::string &cubin, const std::string &ptxas);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_DUMP_H
