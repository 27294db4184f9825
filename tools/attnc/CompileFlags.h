//===- CompileFlags.h - How to compile ------------------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_COMPILEFLAGS_H
#define ATTN_TOOLS_ATTNC_COMPILEFLAGS_H

#include <string>

namespace attnc {

/// How far to compile.
enum class Emit { Attn, Tiled, Kernel, NVVM, LLVM, PTX, Cubin, Bundle };

struct CompileFlags {
  Emit emit = Emit::Bundle;
  /// A file, or for a bundle also a directory; empty for standard output or,
  /// for a bundle, the current directory.
  std::string output;
  /// Of the files of a bundle; empty for the kernel's name.
  std::string fileStem;
  std::string dumpTo;
  std::string ptxOverride;
  std::string ptxasPath;
  /// fa2 or fa3; empty for the target's best.
  std::string style;
  /// A file with the table of schedules; empty for the one built in.
  std::string schedules;
  bool allowFallback = false;
};

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_COMPILEFLAGS_H
