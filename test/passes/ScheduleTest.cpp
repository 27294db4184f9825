//===- ScheduleTest.cpp - What is said of schedules, against kernels ------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits are checked before there is a kernel, by sums over a schedule. Here
// they are compared with what the kernel of that schedule is.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Passes.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"
#include "passes/Pipelines.h"
#include "passes/ScheduleTable.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::attn;

namespace {

constexpr char kProblem[] = R"(
#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!q = memref<?x?x?x{0}xbf16>
!v = memref<?x?x?x{1}xbf16>
func.func @f(%q: !q, %k: !q, %v: !v, %o: !v, %scale: f32) {{
  attn.attention query(%q : !q) key(%k : !q) value(%v : !v) scale(%scale)
      outs(%o : !v) {2} schedule({3}) maps [#q, #k, #v, #o]
  return
}
)";

class ScheduleTest : public testing::Test {
protected:
  ScheduleTest() {
    DialectRegistry registry;
    registry.insert<affine::AffineDialect, arith::ArithDialect, AttnDialect,
                    attn_gpu::AttnGPUDialect, cf::ControlFlowDialect,
                    func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, vector::VectorDialect>();
    context.appendDialectRegistry(registry);
    table = ScheduleTable::read(&context, "");
  }

  /// Shared memory that the kernel of a problem takes; none if it has no
  /// kernel.
  std::optional<int64_t> compile(ScheduleAttr schedule,
                                 const ScheduleQuery &query) {
    std::string text;
    llvm::raw_string_ostream(text) << schedule;
    auto module = parseSourceString<ModuleOp>(
        llvm::formatv(kProblem, query.headDimQK, query.headDimVO,
                      query.isMasked ? "mask(#attn.causal<top_left>)" : "",
                      text)
            .str(),
        &context);
    if (!module)
      return std::nullopt;
    PassManager manager(&context);
    buildTilePipeline(manager);
    buildKernelPipeline(manager);
    manager.addNestedPass<gpu::GPUModuleOp>(
        attn_gpu::createConvertAttnToNVVMPass());
    if (failed(manager.run(*module)))
      return std::nullopt;
    std::optional<int64_t> bytes;
    module->walk([&](LLVM::LLVMFuncOp function) {
      bytes = function->getAttrOfType<IntegerAttr>(attn_gpu::kSharedBytesAttr)
                  .getInt();
    });
    return bytes;
  }

  /// Compares for one problem, if the schedule fits it. Returns whether it did.
  bool compare(ScheduleAttr schedule, bool isMasked, int64_t headDimQK,
               int64_t headDimVO) {
    ScheduleQuery query;
    query.target = schedule.getTarget().str();
    query.headDimQK = headDimQK;
    query.headDimVO = headDimVO;
    query.isMasked = isMasked;
    if (!checkSchedule(schedule, query).empty())
      return false;
    std::string text;
    llvm::raw_string_ostream(text) << schedule;
    EXPECT_EQ(compile(schedule, query),
              std::optional(getSharedBytes(schedule, query)))
        << headDimQK << "/" << headDimVO << " " << text;
    return true;
  }

  /// Compares all rows of a style for all head dims that they fit.
  void compareRows(Style style) {
    ASSERT_TRUE(succeeded(table));
    for (const ScheduleRow &row : table->getRows()) {
      if (row.schedule.getStyle() != style)
        continue;
      bool isMasked = row.uneven.value_or(true);
      int fitting = 0;
      for (int64_t headDim = 8; headDim <= 256; headDim += 8)
        fitting += compare(row.schedule, isMasked, headDim, headDim);
      for (auto [qk, vo] : {std::pair<int64_t, int64_t>{192, 128},
                            {128, 192},
                            {64, 128},
                            {40, 256}})
        compare(row.schedule, isMasked, qk, vo);
      // At least those that it is meant for.
      EXPECT_GE(fitting, row.maxHeadDim / 8);
    }
  }

  MLIRContext context;
  FailureOr<ScheduleTable> table = failure();
};

} // namespace

TEST_F(ScheduleTest, FA3KernelsTakeTheSharedMemoryThatIsChecked) {
  compareRows(Style::FA3);
}

TEST_F(ScheduleTest, FA2KernelsTakeTheSharedMemoryThatIsChecked) {
  compareRows(Style::FA2);
}

/// What of a schedule decides about shared memory, beyond the rows.
TEST_F(ScheduleTest, OtherSchedulesTakeTheSharedMemoryThatIsChecked) {
  for (const char *text :
       {R"(#attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 32,
             workers = 2, query_stages = 1, stages = 3, registers = [],
             overlap = true, rescale_threshold = 0, persistent = true,
             descending = true>)",
        R"(#attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 32,
             workers = 2, query_stages = 1, stages = 1, registers = [],
             overlap = false, rescale_threshold = 0, persistent = true,
             descending = true, spill_indices = false>)",
        R"(#attn.schedule<style = fa3, target = "sm_90a", rows = 128, keys = 48,
             workers = 2, query_stages = 3, stages = 5, registers = [24, 240],
             overlap = false, rescale_threshold = 0, persistent = false,
             descending = true>)"}) {
    auto schedule =
        dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, &context));
    ASSERT_TRUE(schedule);
    for (bool isMasked : {false, true})
      EXPECT_TRUE(compare(schedule, isMasked, 72, 40));
  }
}
