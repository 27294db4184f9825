//===- HostCode.cpp - Machine code in this process ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Host/HostCode.h"

#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <cmath>
#include <cstdint>
#include <mutex>

using namespace mlir::attn;

void mlir::attn::initializeHostBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::string mlir::attn::getPackedName(const std::string &entry) {
  return entry + "_packed";
}

HostCode::HostCode(std::unique_ptr<llvm::orc::LLJIT> jit)
    : jit(std::move(jit)) {}

HostCode::~HostCode() = default;

/// To bf16, to nearest even. As the calling conventions have it, a bf16 is
/// returned where a float is, in the low bits.
static float truncateToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t rounded = std::isnan(value)
                         ? bits >> 16 | 0x40
                         : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return llvm::bit_cast<float>(rounded);
}

/// LLVM calls it to move a bf16 on a CPU without instructions for them, even
/// where nothing is rounded. Only compiler-rt and newer versions of libgcc have
/// it; what libgcc has for f16 is as old as what we build with.
static llvm::Error defineRuntimeFunctions(llvm::orc::LLJIT &jit) {
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(
      {{jit.mangleAndIntern("__truncsfbf2"),
        {llvm::orc::ExecutorAddr::fromPtr(&truncateToBF16),
         llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable}}}));
}

llvm::Expected<std::unique_ptr<HostCode>>
HostCode::compile(llvm::StringRef ir) {
  initializeHostBackend();
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseIR(llvm::MemoryBufferRef(ir, "host"), diagnostic, *context);
  if (!module)
    return llvm::createStringError("expected LLVM IR, but got: " +
                                   diagnostic.getMessage());
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = defineRuntimeFunctions(**jit))
    return error;
  // exp2 and malloc are found among the symbols of this process.
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  return std::unique_ptr<HostCode>(new HostCode(std::move(*jit)));
}

llvm::Expected<HostCode::PackedFunction>
HostCode::lookup(const std::string &entry) {
  auto address = jit->lookup(getPackedName(entry));
  if (!address)
    return address.takeError();
  return address->toPtr<PackedFunction>();
}
