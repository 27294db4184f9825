//===- WarpMatmulToNVVM.cpp - Matrix products by mma.sync -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.m16n8k16 per 16 rows, 8 columns and 16 of the inner dimension. A block of
// 16x16 elements of a tile comes to the lanes by one ldmatrix.x4: it is the A
// operand of one step, or the B operands of two neighbouring columns of results
// (transposed on the way where the inner dimension runs across rows).
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Shape of the instruction (PTX ISA, "Matrix multiply-accumulate operation
/// using mma instruction").
static constexpr int64_t kRows = 16;
static constexpr int64_t kColumns = 8;
/// Columns of a block that ldmatrix.x4 reads.
static constexpr int64_t kBlockColumns = 16;
/// Registers of a thread: of A, of B, of the accumulator.
static constexpr int64_t kARegisters = 4;
static constexpr int64_t kBRegisters = 2;
static constexpr int64_t kAccumulators = 4;

namespace {

/// Reads blocks of one tile.
class BlockReader {
public:
  BlockReader(ImplicitLocOpBuilder &b, const Kernel &kernel, TileType type,
              Value tile, bool rowsFirst, bool transposes)
      : b(b), layout(getSharedLayout(type.getLayout(), type.getElementType())),
        transposes(transposes) {
    start = LLVM::AddOp::create(b, tile, createLaneOffset(kernel, rowsFirst));
  }

  /// The registers of `count` matrices of the block at (row, column).
  SmallVector<Value> read(int64_t row, int64_t column, int64_t count) {
    Value address = start;
    if (int64_t bits = getBlockXor(layout, column))
      address = LLVM::XOrOp::create(b, address, createI32(b, bits));
    if (int64_t offset = getBlockOffset(layout, row, column))
      address = LLVM::AddOp::create(b, address, createI32(b, offset));
    auto result = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(count, b.getI32Type()));
    Value loaded = NVVM::LdMatrixOp::create(
        b, result, toSharedPointer(b, address), count,
        transposes ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> registers;
    for (int64_t i = 0; i < count; ++i)
      registers.push_back(LLVM::ExtractValueOp::create(b, loaded, i));
    return registers;
  }

private:
  /// BlockRead::laneOffset of the executing lane, as code.
  Value createLaneOffset(const Kernel &kernel, bool rowsFirst) {
    auto bit = [&](int64_t position, int64_t to) -> Value {
      Value moved =
          LLVM::LShrOp::create(b, kernel.thread, createI32(b, position));
      Value one = LLVM::AndOp::create(b, moved, createI32(b, 1));
      return LLVM::ShlOp::create(b, one, createI32(b, to));
    };
    Value row = LLVM::AndOp::create(b, kernel.thread, createI32(b, 7));
    Value lower = bit(rowsFirst ? 3 : 4, /*to=*/3);
    Value unit = LLVM::XOrOp::create(b, bit(rowsFirst ? 4 : 3, /*to=*/0), row);
    Value rowBytes = LLVM::MulOp::create(b, LLVM::OrOp::create(b, row, lower),
                                         createI32(b, layout.swizzle));
    return LLVM::OrOp::create(b, rowBytes,
                              LLVM::ShlOp::create(b, unit, createI32(b, 4)));
  }

  ImplicitLocOpBuilder &b;
  SharedLayout layout;
  bool transposes;
  Value start;
};

/// mma_async -> a product per 16x8 elements of the result and step
struct MMAAsyncPattern : ThreadPattern<MMAAsyncOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(MMAAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    int64_t inner = op.getB().getType().getShape()[op.getTransposeB() ? 1 : 0];
    auto aTile = dyn_cast<TileType>(op.getA().getType());
    if (kernel.warpsPerWorker != 1)
      return rewriter.notifyMatchFailure(op, "workers are not warps");
    if (shape[0] % kRows != 0 || shape[1] % kColumns != 0 ||
        (op.getTransposeB() && shape[1] % kBlockColumns != 0))
      return rewriter.notifyMatchFailure(op, "rows or columns do not fit");
    // A tile is padded with zeros up to whole steps, registers are not.
    if (inner % kMatmulStep != 0 && (!aTile || !op.getTransposeB()))
      return rewriter.notifyMatchFailure(op, "inner dimension does not fit");
    // Eight rows of 16 bytes must be in eight different places of a row.
    for (TileType tile : {aTile, op.getB().getType()})
      if (tile && tile.getLayout().getSwizzle() != 128)
        return rewriter.notifyMatchFailure(op, "layout has bank conflicts");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Product product{op, adaptor, shape[0] / kRows, shape[1],
                    llvm::divideCeilSigned(inner, kMatmulStep)};
    SmallVector<Value> result = createAccumulator(b, product);
    std::optional<BlockReader> aReader;
    if (aTile)
      aReader.emplace(b, kernel, aTile, adaptor.getA().front(),
                      /*rowsFirst=*/true, /*transposes=*/false);
    // V has its inner dimension across rows.
    BlockReader bReader(b, kernel, op.getB().getType(), adaptor.getB().front(),
                        /*rowsFirst=*/!op.getTransposeB(),
                        /*transposes=*/!op.getTransposeB());
    for (int64_t step = 0; step < product.steps; ++step)
      multiplyStep(b, product, step, aReader, bReader, result);
    replaceByRegisters(rewriter, op, result);
    return success();
  }

private:
  struct Product {
    MMAAsyncOp op;
    Adaptor adaptor;
    int64_t slabs;
    int64_t columns;
    int64_t steps;
  };

  static SmallVector<Value> createAccumulator(ImplicitLocOpBuilder &b,
                                              Product &product) {
    if (product.op.getAccumulator())
      return llvm::to_vector(product.adaptor.getAccumulator());
    Value zero =
        LLVM::ConstantOp::create(b, b.getF32Type(), b.getF32FloatAttr(0.0f));
    return SmallVector<Value>(product.slabs * product.columns / 2, zero);
  }

  /// The A operands of all slabs at one step.
  static SmallVector<SmallVector<Value>>
  getA(Product &product, int64_t step, std::optional<BlockReader> &reader) {
    SmallVector<SmallVector<Value>> result;
    for (int64_t slab = 0; slab < product.slabs; ++slab) {
      if (reader) {
        result.push_back(
            reader->read(slab * kRows, step * kMatmulStep, kARegisters));
        continue;
      }
      int64_t first = (slab * product.steps + step) * kARegisters;
      result.push_back(
          llvm::to_vector(product.adaptor.getA().slice(first, kARegisters)));
    }
    return result;
  }

  static void multiplyStep(ImplicitLocOpBuilder &b, Product &product,
                           int64_t step, std::optional<BlockReader> &aReader,
                           BlockReader &bReader,
                           MutableArrayRef<Value> result) {
    SmallVector<SmallVector<Value>> a = getA(product, step, aReader);
    bool isRowMajor = product.op.getTransposeB();
    Type element = product.op.getB().getType().getElementType();
    for (int64_t column = 0; column < product.columns;
         column += kBlockColumns) {
      int64_t parts =
          std::min(kBlockColumns, product.columns - column) / kColumns;
      SmallVector<Value> registers =
          isRowMajor
              ? bReader.read(column, step * kMatmulStep, parts * kBRegisters)
              : bReader.read(step * kMatmulStep, column, parts * kBRegisters);
      for (int64_t part = 0; part < parts; ++part) {
        ArrayRef<Value> operand =
            ArrayRef(registers).slice(part * kBRegisters, kBRegisters);
        for (int64_t slab = 0; slab < product.slabs; ++slab) {
          int64_t first =
              (slab * product.columns + column + part * kColumns) / 2;
          multiply(b, element, a[slab], operand,
                   result.slice(first, kAccumulators));
        }
      }
    }
  }

  /// accumulator += a * b, for 16x8 elements.
  static void multiply(ImplicitLocOpBuilder &b, Type element,
                       ArrayRef<Value> aRegisters, ArrayRef<Value> bRegisters,
                       MutableArrayRef<Value> accumulator) {
    bool isF16 = element.isF16();
    // The intrinsics want pairs of f16 as such, pairs of bf16 as an integer.
    auto toOperands = [&](ArrayRef<Value> registers) {
      SmallVector<Value> operands(registers);
      if (isF16)
        for (Value &operand : operands)
          operand = LLVM::BitcastOp::create(
              b, VectorType::get({2}, b.getF16Type()), operand);
      return operands;
    };
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(kAccumulators, b.getF32Type()));
    NVVM::MMATypes operandType =
        isF16 ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    Value product = NVVM::MmaOp::create(
        b, type, toOperands(aRegisters), toOperands(bRegisters), accumulator,
        ArrayRef<int64_t>{kRows, kColumns, kMatmulStep}, /*b1Op=*/std::nullopt,
        /*intOverflow=*/std::nullopt, std::array{operandType, operandType},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(accumulator))
      value = LLVM::ExtractValueOp::create(b, product, i);
  }
};

/// mma_wait, mma_skip -> their operand: a product is there at once
template <typename OpTy>
struct NothingInFlightPattern : ThreadPattern<OpTy> {
  using ThreadPattern<OpTy>::ThreadPattern;

  LogicalResult
  matchAndRewrite(OpTy op, typename ThreadPattern<OpTy>::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    replaceByRegisters(rewriter, op,
                       llvm::to_vector(adaptor.getOperands().front()));
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateWarpMatmulPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<MMAAsyncPattern, NothingInFlightPattern<MMASkipOp>,
               NothingInFlightPattern<MMAWaitOp>>(converter, kernel,
                                                  patterns.getContext());
}
