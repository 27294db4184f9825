//===- ElementwiseToNVVM.cpp - Arithmetic, element by element -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread does to each of its scalars what the op does to the whole vector:
// one pattern, instantiated with what to emit per scalar. The scalar form of an
// op is the case of one register.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// log2(e) and ln(2).
static constexpr float kLog2E = 1.44269504f;
static constexpr float kLn2 = 0.693147181f;

/// Whether a thread holds `type` two elements to a register.
static bool isPacked(const ThreadTypeConverter &converter, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return false;
  std::optional<FragmentLayout> layout = converter.getLayout(vector);
  return layout && layout->isPacked();
}

namespace {

/// What to emit for one scalar of `op`, given its operands.
template <typename OpTy>
using ScalarEmitter = Value (*)(ImplicitLocOpBuilder &b, OpTy op, Type type,
                                ValueRange operands);

/// op(vectors) -> op(scalar 0), op(scalar 1), ...
template <typename OpTy>
struct ElementwisePattern : ThreadPattern<OpTy> {
  using typename ThreadPattern<OpTy>::Adaptor;

  ElementwisePattern(const ThreadTypeConverter &converter, const Kernel &kernel,
                     MLIRContext *context, ScalarEmitter<OpTy> emit)
      : ThreadPattern<OpTy>(converter, kernel, context), emit(emit) {}

  LogicalResult
  matchAndRewrite(OpTy op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    Type resultType = op->getResult(0).getType();
    if (failed(this->getConverter().convertType(resultType, types)))
      return rewriter.notifyMatchFailure(op, "type has no thread form");
    auto holdsPairs = [&](Type type) {
      return isPacked(this->getConverter(), type);
    };
    if (holdsPairs(resultType) ||
        llvm::any_of(op->getOperandTypes(), holdsPairs))
      return rewriter.notifyMatchFailure(op, "two elements to a register");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ArrayRef<ValueRange> operands = adaptor.getOperands();
    SmallVector<Value> result;
    SmallVector<Value> scalars(operands.size());
    for (auto [number, type] : llvm::enumerate(types)) {
      for (auto [scalar, registers] : llvm::zip(scalars, operands))
        // A scalar operand of a vector op, such as a select's condition.
        scalar = registers.size() == 1 ? registers[0] : registers[number];
      result.push_back(emit(b, op, type, scalars));
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }

private:
  ScalarEmitter<OpTy> emit;
};

} // namespace

//===----------------------------------------------------------------------===//
// What to emit
//===----------------------------------------------------------------------===//

/// An LLVM op of the same operands without attributes.
template <typename Target, typename OpTy>
static Value emitSame(ImplicitLocOpBuilder &b, OpTy, Type type,
                      ValueRange operands) {
  return Target::create(b, TypeRange(type), operands,
                        ArrayRef<NamedAttribute>());
}

/// An LLVM op of the same operands, with the fast-math flags of the source.
template <typename Target, typename OpTy>
static Value emitFloat(ImplicitLocOpBuilder &b, OpTy op, Type type,
                       ValueRange operands) {
  auto result =
      Target::create(b, TypeRange(type), operands, ArrayRef<NamedAttribute>());
  result.setFastmathFlags(
      arith::convertArithFastMathFlagsToLLVM(op.getFastmath()));
  return result;
}

/// The value itself: both types are the same in a thread, or differ in width.
template <bool isSigned, typename OpTy>
static Value emitIntegerCast(ImplicitLocOpBuilder &b, OpTy, Type type,
                             ValueRange operands) {
  unsigned from = operands[0].getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return operands[0];
  if (from > to)
    return LLVM::TruncOp::create(b, type, operands[0]);
  if (isSigned)
    return LLVM::SExtOp::create(b, type, operands[0]);
  return LLVM::ZExtOp::create(b, type, operands[0]);
}

static Value emitIntrinsic(ImplicitLocOpBuilder &b, StringRef name,
                           Value operand) {
  return LLVM::CallIntrinsicOp::create(b, operand.getType(),
                                       b.getStringAttr(name), operand)
      .getResult(0);
}

static Value createF32(ImplicitLocOpBuilder &b, float value) {
  return LLVM::ConstantOp::create(b, b.getF32Type(), b.getF32FloatAttr(value));
}

// The hardware's approximations (2 ulp); their `ftz` forms are one instruction,
// the others scale denormals first. Whoever needs an exact form calls another
// op.
static Value emitExp2(ImplicitLocOpBuilder &b, Value x) {
  return emitIntrinsic(b, "llvm.nvvm.ex2.approx.ftz.f32", x);
}

static Value emitLog2(ImplicitLocOpBuilder &b, Value x) {
  return emitIntrinsic(b, "llvm.nvvm.lg2.approx.ftz.f", x);
}

/// tanh to about 1e-7, absolute and relative. The hardware's own, to 2^-11, is
/// too coarse for scores. Near 0, where the exponential form cancels, an odd
/// polynomial: of least squares to (tanh(x) / x - 1) / x^2, relative error 4e-8
/// before rounding.
static Value emitTanh(ImplicitLocOpBuilder &b, Value x) {
  constexpr float kNearZero = 0.55f;
  constexpr float kTerms[] = {-0.333329412f, 0.133206433f, -0.0526680257f,
                              0.0164320085f};
  auto mul = [&](Value l, Value r) -> Value {
    return LLVM::FMulOp::create(b, l, r);
  };
  Value magnitude = LLVM::FAbsOp::create(b, x);
  Value power = emitExp2(b, mul(magnitude, createF32(b, 2 * kLog2E)));
  Value inverse =
      emitIntrinsic(b, "llvm.nvvm.rcp.approx.ftz.f",
                    LLVM::FAddOp::create(b, power, createF32(b, 1)));
  // 1 - 2 / (exp(2 |x|) + 1), which is 1 where the exponential is infinite.
  Value far =
      LLVM::FMAOp::create(b, inverse, createF32(b, -2), createF32(b, 1));
  far = LLVM::CopySignOp::create(b, far, x);

  Value square = mul(x, x);
  Value sum = createF32(b, kTerms[3]);
  for (int term : {2, 1, 0})
    sum = LLVM::FMAOp::create(b, sum, square, createF32(b, kTerms[term]));
  Value near = LLVM::FMAOp::create(b, mul(sum, square), x, x);
  Value isNear = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::olt, magnitude,
                                      createF32(b, kNearZero));
  return LLVM::SelectOp::create(b, isNear, near, far);
}

/// (a + b - 1) / b. Sizes and coordinates are below 2^31, so it cannot wrap.
static Value emitCeilDivU(ImplicitLocOpBuilder &b, arith::CeilDivUIOp,
                          Type type, ValueRange operands) {
  Value one = LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, 1));
  Value sum = LLVM::AddOp::create(b, operands[0], operands[1]);
  Value up = LLVM::SubOp::create(b, sum, one);
  return LLVM::UDivOp::create(b, up, operands[1]);
}

/// The quotient rounded down, or up for `roundsUp`: the truncated quotient,
/// corrected where there is a remainder and the exact quotient's sign says so.
static Value emitRoundedDivision(ImplicitLocOpBuilder &b, Type type,
                                 ValueRange operands, bool roundsUp) {
  using Predicate = LLVM::ICmpPredicate;
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  };
  Value quotient = LLVM::SDivOp::create(b, operands[0], operands[1]);
  Value remainder = LLVM::SRemOp::create(b, operands[0], operands[1]);
  Value isInexact =
      LLVM::ICmpOp::create(b, Predicate::ne, remainder, constant(0));
  Value signs = LLVM::XOrOp::create(b, operands[0], operands[1]);
  Value corrects = LLVM::ICmpOp::create(
      b, roundsUp ? Predicate::sge : Predicate::slt, signs, constant(0));
  Value both = LLVM::AndOp::create(b, isInexact, corrects);
  Value corrected =
      LLVM::AddOp::create(b, quotient, constant(roundsUp ? 1 : -1));
  return LLVM::SelectOp::create(b, both, corrected, quotient);
}

static Value emitCmpI(ImplicitLocOpBuilder &b, arith::CmpIOp op, Type,
                      ValueRange operands) {
  // The enums have the same members in the same order.
  auto predicate = static_cast<LLVM::ICmpPredicate>(op.getPredicate());
  return LLVM::ICmpOp::create(b, predicate, operands[0], operands[1]);
}

static Value emitCmpF(ImplicitLocOpBuilder &b, arith::CmpFOp op, Type,
                      ValueRange operands) {
  auto predicate = static_cast<LLVM::FCmpPredicate>(op.getPredicate());
  return LLVM::FCmpOp::create(
      b, predicate, operands[0], operands[1],
      arith::convertArithFastMathFlagsToLLVM(op.getFastmath()));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

class Table {
public:
  Table(RewritePatternSet &patterns, const ThreadTypeConverter &converter,
        const Kernel &kernel)
      : patterns(patterns), converter(converter), kernel(kernel) {}

  template <typename OpTy>
  void add(ScalarEmitter<OpTy> emit) {
    patterns.add<ElementwisePattern<OpTy>>(converter, kernel,
                                           patterns.getContext(), emit);
  }
  template <typename OpTy, typename Target>
  void addSame() {
    add<OpTy>(emitSame<Target, OpTy>);
  }
  template <typename OpTy, typename Target>
  void addFloat() {
    add<OpTy>(emitFloat<Target, OpTy>);
  }

private:
  RewritePatternSet &patterns;
  const ThreadTypeConverter &converter;
  const Kernel &kernel;
};

} // namespace

static void addIntegerOps(Table &table) {
  table.addSame<arith::AddIOp, LLVM::AddOp>();
  table.addSame<arith::SubIOp, LLVM::SubOp>();
  table.addSame<arith::MulIOp, LLVM::MulOp>();
  table.addSame<arith::DivSIOp, LLVM::SDivOp>();
  table.addSame<arith::DivUIOp, LLVM::UDivOp>();
  table.addSame<arith::RemSIOp, LLVM::SRemOp>();
  table.addSame<arith::RemUIOp, LLVM::URemOp>();
  table.addSame<arith::AndIOp, LLVM::AndOp>();
  table.addSame<arith::OrIOp, LLVM::OrOp>();
  table.addSame<arith::XOrIOp, LLVM::XOrOp>();
  table.addSame<arith::ShLIOp, LLVM::ShlOp>();
  table.addSame<arith::ShRSIOp, LLVM::AShrOp>();
  table.addSame<arith::ShRUIOp, LLVM::LShrOp>();
  table.addSame<arith::MinSIOp, LLVM::SMinOp>();
  table.addSame<arith::MaxSIOp, LLVM::SMaxOp>();
  table.addSame<arith::MinUIOp, LLVM::UMinOp>();
  table.addSame<arith::MaxUIOp, LLVM::UMaxOp>();
  table.add<arith::CeilDivUIOp>(emitCeilDivU);
  table.add<arith::CeilDivSIOp>(
      [](ImplicitLocOpBuilder &b, arith::CeilDivSIOp, Type type, ValueRange v) {
        return emitRoundedDivision(b, type, v, /*roundsUp=*/true);
      });
  table.add<arith::FloorDivSIOp>([](ImplicitLocOpBuilder &b,
                                    arith::FloorDivSIOp, Type type,
                                    ValueRange v) {
    return emitRoundedDivision(b, type, v, /*roundsUp=*/false);
  });
  table.add<arith::CmpIOp>(emitCmpI);
  table.add<arith::IndexCastOp>(emitIntegerCast<true>);
  table.add<arith::IndexCastUIOp>(emitIntegerCast<false>);
  table.add<arith::ExtSIOp>(emitIntegerCast<true>);
  table.add<arith::ExtUIOp>(emitIntegerCast<false>);
  table.add<arith::TruncIOp>(emitIntegerCast<false>);
}

static void addFloatOps(Table &table) {
  table.addFloat<arith::AddFOp, LLVM::FAddOp>();
  table.addFloat<arith::SubFOp, LLVM::FSubOp>();
  table.addFloat<arith::MulFOp, LLVM::FMulOp>();
  table.addFloat<arith::DivFOp, LLVM::FDivOp>();
  table.addFloat<arith::NegFOp, LLVM::FNegOp>();
  table.addFloat<arith::MaximumFOp, LLVM::MaximumOp>();
  table.addFloat<arith::MinimumFOp, LLVM::MinimumOp>();
  table.addFloat<arith::MaxNumFOp, LLVM::MaxNumOp>();
  table.addFloat<arith::MinNumFOp, LLVM::MinNumOp>();
  table.add<arith::CmpFOp>(emitCmpF);
  table.addSame<arith::SelectOp, LLVM::SelectOp>();
  table.addSame<arith::BitcastOp, LLVM::BitcastOp>();
  table.addSame<arith::SIToFPOp, LLVM::SIToFPOp>();
  table.addSame<arith::UIToFPOp, LLVM::UIToFPOp>();
  table.addSame<arith::FPToSIOp, LLVM::FPToSIOp>();
  table.addSame<arith::FPToUIOp, LLVM::FPToUIOp>();
  table.addSame<arith::ExtFOp, LLVM::FPExtOp>();
  table.addSame<arith::TruncFOp, LLVM::FPTruncOp>();
}

static void addMathOps(Table &table) {
  table.addFloat<math::FmaOp, LLVM::FMAOp>();
  table.addFloat<math::AbsFOp, LLVM::FAbsOp>();
  table.addFloat<math::FloorOp, LLVM::FFloorOp>();
  table.addFloat<math::CeilOp, LLVM::FCeilOp>();
  table.addFloat<math::RoundEvenOp, LLVM::RoundEvenOp>();
  table.addFloat<math::SqrtOp, LLVM::SqrtOp>();
  table.add<math::Exp2Op>([](ImplicitLocOpBuilder &b, math::Exp2Op, Type,
                             ValueRange v) { return emitExp2(b, v[0]); });
  table.add<math::Log2Op>([](ImplicitLocOpBuilder &b, math::Log2Op, Type,
                             ValueRange v) { return emitLog2(b, v[0]); });
  table.add<math::TanhOp>([](ImplicitLocOpBuilder &b, math::TanhOp, Type,
                             ValueRange v) { return emitTanh(b, v[0]); });
  table.add<math::ExpOp>(
      [](ImplicitLocOpBuilder &b, math::ExpOp, Type, ValueRange v) {
        return emitExp2(b, LLVM::FMulOp::create(b, v[0], createF32(b, kLog2E)));
      });
  table.add<math::LogOp>(
      [](ImplicitLocOpBuilder &b, math::LogOp, Type, ValueRange v) -> Value {
        return LLVM::FMulOp::create(b, emitLog2(b, v[0]), createF32(b, kLn2));
      });
}

void mlir::attn_gpu::populateElementwisePatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  Table table(patterns, converter, kernel);
  addIntegerOps(table);
  addFloatOps(table);
  addMathOps(table);
}
