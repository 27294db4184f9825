//===- HostCode.h - Machine code in this process --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_HOST_HOSTCODE_H
#define ATTN_CODEGEN_HOST_HOSTCODE_H

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::attn {

/// Brings up the backend of this machine, once a process.
void initializeHostBackend();

/// The function that calls `entry` with arguments by address.
std::string getPackedName(const std::string &entry);

/// LLVM IR compiled in this process, and gone with this object.
class HostCode {
public:
  using PackedFunction = void (*)(void *const *);

  /// `ir` is the text of a module.
  static llvm::Expected<std::unique_ptr<HostCode>> compile(llvm::StringRef ir);
  ~HostCode();

  /// `lookup(entry)(arguments)` calls `entry` with `*arguments[i]` as argument
  /// number i.
  llvm::Expected<PackedFunction> lookup(const std::string &entry);

private:
  explicit HostCode(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::attn

#endif // ATTN_CODEGEN_HOST_HOSTCODE_H
