//===- EmitPTXTest.cpp - From LLVM and NVVM ops to PTX --------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/EmitPTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// Parses and emits; the first diagnostic where that fails.
class Emitter {
public:
  Emitter() {
    mlir::attn::registerEmitDialects(registry);
    registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
    context.appendDialectRegistry(registry);
  }

  std::string emit(const char *source, llvm::StringRef targetName = "sm_90a",
                   const mlir::attn::EmitOptions &options = {}) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return message;
    gpu::GPUModuleOp kernels = *module->getOps<gpu::GPUModuleOp>().begin();
    const mlir::attn::TargetInfo &target =
        *mlir::attn::lookupTarget(targetName);
    llvm::LLVMContext llvmContext;
    auto llvmModule = mlir::attn::translateToLLVM(kernels, target, llvmContext);
    if (failed(llvmModule))
      return message;
    auto ptx = mlir::attn::emitPTX(**llvmModule, target, options, kernels);
    return failed(ptx) ? message : *ptx;
  }

private:
  DialectRegistry registry;
  MLIRContext context;
};

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

constexpr char kKernel[] = R"(
gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @f(%out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    %base = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %a = llvm.ptrtoint %base : !llvm.ptr<3> to i32
    %b = llvm.ptrtoint %base : !llvm.ptr<3> to i32
    %sum = llvm.add %a, %b : i32
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    llvm.return
  }
})";

} // namespace

TEST(EmitPTX, WritesAnEntryForTheTarget) {
  std::string ptx = Emitter().emit(kKernel);
  EXPECT_TRUE(contains(ptx, ".version 8.6")) << ptx;
  EXPECT_TRUE(contains(ptx, ".target sm_90a")) << ptx;
  EXPECT_TRUE(contains(ptx, ".visible .entry f(")) << ptx;
  EXPECT_TRUE(contains(ptx, ".reqntid 384")) << ptx;
}

TEST(EmitPTX, TakesTheIsaVersionOfTheTarget) {
  EXPECT_TRUE(contains(Emitter().emit(kKernel, "sm_80"), ".version 7.8"));
}

/// Internal arrays of no bytes would become static memory of one byte.
TEST(EmitPTX, KeepsDynamicSharedMemoryExternalAndAligned) {
  std::string ptx = Emitter().emit(kKernel);
  EXPECT_TRUE(contains(ptx, ".extern .shared .align 1024")) << ptx;
}

/// A loop over addresses computes them from its number, unless the schedule
/// allows a variable that is counted up for each.
TEST(EmitPTX, ReducesStrengthOnRequest) {
  constexpr char kLoop[] = R"(
gpu.module @m {
  llvm.func @f(%out: !llvm.ptr<1>, %n: i32, %scale: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^head(%zero : i32)
  ^head(%i: i32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %product = llvm.mul %i, %scale : i32
    llvm.store volatile %product, %out : i32, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next : i32)
  ^end:
    llvm.return
  }
})";
  mlir::attn::EmitOptions reduced;
  reduced.reduceStrength = true;
  Emitter emitter;
  EXPECT_TRUE(contains(emitter.emit(kLoop), "mul.lo.s32"));
  EXPECT_FALSE(contains(emitter.emit(kLoop, "sm_90a", reduced), "mul.lo.s32"));
  // The switch is the process's, and this emission is not the one before.
  EXPECT_TRUE(contains(emitter.emit(kLoop), "mul.lo.s32"));
}

TEST(EmitPTX, RefusesCalls) {
  std::string message = Emitter().emit(R"(
gpu.module @m {
  llvm.func @helper(f32) -> f32
  llvm.func @f(%x: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %y = llvm.call @helper(%x) : (f32) -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
})");
  EXPECT_EQ(message, "expected no calls in a kernel, but got one of helper");
}
