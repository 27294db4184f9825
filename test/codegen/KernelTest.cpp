//===- KernelTest.cpp - A whole kernel, down to machine code --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel written by hand at the kernel altitude, so that the lowering is
// tested apart from the passes that make kernels: the assembler must find
// nothing to serialise and nothing to spill.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Assemble.h"
#include "codegen/Emit/EmitPTX.h"
#include "codegen/ToNVVM/Passes.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace mlir;

namespace {

class KernelTest : public testing::Test {
protected:
  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, attn::AttnDialect,
                    attn_gpu::AttnGPUDialect, gpu::GPUDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
    attn::registerEmitDialects(registry);
    return registry;
  }

  /// The PTX of the only kernel of Inputs/`name`.
  FailureOr<std::string> compile(StringRef name) {
    module = parseSourceFile<ModuleOp>(
        (ATTN_TEST_SOURCE_DIR "/Inputs/" + name).str(), &context);
    if (!module)
      return failure();
    PassManager manager(&context);
    manager.addNestedPass<gpu::GPUModuleOp>(
        attn_gpu::createConvertAttnToNVVMPass());
    if (failed(manager.run(*module)))
      return failure();
    auto kernels = *module->getOps<gpu::GPUModuleOp>().begin();
    llvm::LLVMContext llvmContext;
    auto translated = attn::translateToLLVM(kernels, target, llvmContext);
    if (failed(translated))
      return failure();
    return attn::emitPTX(**translated, target, attn::EmitOptions(), kernels);
  }

  MLIRContext context{getRegistry()};
  OwningOpRef<ModuleOp> module;
  const attn::TargetInfo &target = *attn::lookupTarget("sm_90a");
};

StringRef getEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

TEST_F(KernelTest, AssemblesWithoutSpillOrSerialisation) {
  FailureOr<std::string> ptx = compile("causal-128.mlir");
  ASSERT_TRUE(succeeded(ptx));
  attn::PtxasSearch search;
  search.environment = getEnvironment("PTXAS").str();
  search.cudaHome = getEnvironment("CUDA_HOME").str();
  llvm::Expected<std::string> ptxas = attn::findPtxas(search);
  if (!ptxas) {
    llvm::consumeError(ptxas.takeError());
    GTEST_SKIP() << "no ptxas on this machine";
  }
  llvm::Expected<attn::Assembly> assembly =
      attn::assemble(*ptxas, *ptx, target);
  ASSERT_TRUE(static_cast<bool>(assembly))
      << llvm::toString(assembly.takeError());
  EXPECT_EQ(attn::checkPtxasReport(assembly->report), "");
}

// What costs issue slots in the loop over keys, counted: 40 scores a thread.
TEST_F(KernelTest, LoopHoldsOnlyWhatItMust) {
  FailureOr<std::string> ptx = compile("causal-128.mlir");
  ASSERT_TRUE(succeeded(ptx));
  StringRef text(*ptx);
  // From the first product to the last wait, both inside the loop.
  size_t begin = text.find("wgmma.fence");
  size_t end = text.rfind("wgmma.wait_group");
  ASSERT_NE(begin, StringRef::npos);
  ASSERT_NE(end, StringRef::npos);
  StringRef loop = text.slice(begin, end);
  EXPECT_EQ(loop.count("ex2.approx.ftz.f32"), 40u + 2u);
  EXPECT_EQ(loop.count("cvt.rn.bf16x2.f32"), 20u);
  EXPECT_EQ(loop.count("wgmma.mma_async"), 8u + 5u);
  // Accumulators stay in their registers, and nothing is packed in pairs.
  EXPECT_EQ(loop.count("mov.b64 \t{"), 0u);
  EXPECT_EQ(loop.count("mov.f32"), 0u);
  EXPECT_EQ(loop.count(".local"), 0u);
}

} // namespace
