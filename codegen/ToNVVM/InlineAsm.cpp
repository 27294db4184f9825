//===- InlineAsm.cpp - Instructions that no NVVM op can say ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/InlineAsm.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Everything here touches state that LLVM does not see: the tensor cores, the
/// barriers and, through them, shared memory.
static constexpr llvm::StringLiteral kMemoryClobber = "~{memory}";

static LLVM::InlineAsmOp createAsm(ImplicitLocOpBuilder &b, Type result,
                                   ValueRange operands, StringRef text,
                                   ArrayRef<std::string> constraints) {
  return LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text,
      llvm::join(constraints, ","), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

/// Takes a struct of registers apart.
static SmallVector<Value> unpackRegisters(ImplicitLocOpBuilder &b,
                                          Value registers, int64_t count) {
  SmallVector<Value> result;
  result.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractValueOp::create(b, registers, i));
  return result;
}

/// `count` f32 results, each in the register of the operand of its number if
/// `tied`.
static void addAccumulators(int64_t count, bool tied,
                            SmallVectorImpl<std::string> &constraints) {
  constraints.append(count, "=f");
  if (tied)
    for (int64_t i = 0; i < count; ++i)
      constraints.push_back(std::to_string(i));
}

static Type getAccumulatorType(ImplicitLocOpBuilder &b, int64_t count) {
  return LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, b.getF32Type()));
}

/// `{$from, ..., $(from + count - 1)}`
static void printRegisters(llvm::raw_ostream &os, int64_t from, int64_t count) {
  os << '{';
  for (int64_t i = 0; i < count; ++i)
    os << (i ? ", $" : "$") << from + i;
  os << '}';
}

/// Puts descriptors of A that are no operands into registers a0, a1, ...
static void printDescriptors(llvm::raw_ostream &os, ArrayRef<int64_t> steps,
                             int64_t last) {
  for (auto [i, step] : llvm::enumerate(steps))
    os << ".reg .b64 a" << i << ";\n"
       << "add.s64 a" << i << ", $" << last << ", " << step << ";\n";
}

// `nvvm.wgmma.mma_async` takes A from shared memory only, and a fence or commit
// of its own would have to name every register again. As one block the fence
// sees the accumulators and A as they are when the products start, and LLVM has
// one operation where there would be one per 16 of the inner dimension.
SmallVector<Value> mlir::attn_gpu::emitMatmulChain(ImplicitLocOpBuilder &b,
                                                   const MatmulChain &chain) {
  int64_t count = chain.columns / 2;
  bool accumulates = !chain.accumulator.empty();
  SmallVector<std::string> constraints;
  addAccumulators(count, accumulates, constraints);
  int64_t aNumber = constraints.size();
  int64_t bNumber = aNumber + chain.a.size();
  constraints.append(chain.a.size(), chain.aInRegisters ? "r" : "l");
  constraints.append(chain.b.size(), "l");
  constraints.push_back(kMemoryClobber.str());
  SmallVector<Value> operands(chain.accumulator);
  operands.append(chain.a);
  operands.append(chain.b);

  StringRef type = chain.elementType.isF16() ? "f16" : "bf16";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "{\n";
  printDescriptors(os, chain.aSteps, bNumber - 1);
  os << "wgmma.fence.sync.aligned;\n";
  int64_t numGiven = chain.a.size();
  for (int64_t step = 0, e = chain.b.size(); step < e; ++step) {
    os << "wgmma.mma_async.sync.aligned.m64n" << chain.columns << "k16.f32."
       << type << '.' << type << ' ';
    printRegisters(os, 0, count);
    os << ", ";
    if (chain.aInRegisters)
      printRegisters(os, aNumber + 4 * step, 4);
    else if (step < numGiven)
      os << '$' << aNumber + step;
    else
      os << 'a' << step - numGiven;
    // Scale of the accumulator, then signs of A and B, then which are
    // transposed; A in registers has no transposed form.
    os << ", $" << bNumber + step << ", " << (accumulates || step > 0)
       << ", 1, 1, " << (chain.aInRegisters ? "" : "0, ") << chain.transposeB
       << ";\n";
  }
  if (chain.commit)
    os << "wgmma.commit_group.sync.aligned;\n";
  os << '}';
  auto block =
      createAsm(b, getAccumulatorType(b, count), operands, text, constraints);
  return unpackRegisters(b, block.getRes(), count);
}

// `nvvm.wgmma.wait.group.sync.aligned` names no register, so LLVM is free to
// move arithmetic on an accumulator above it, and does.
SmallVector<Value> mlir::attn_gpu::emitMatmulWait(ImplicitLocOpBuilder &b,
                                                  int64_t pending,
                                                  ValueRange registers) {
  int64_t count = registers.size();
  SmallVector<std::string> constraints;
  addAccumulators(count, /*tied=*/true, constraints);
  constraints.push_back(kMemoryClobber.str());
  std::string text =
      "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";";
  auto wait =
      createAsm(b, getAccumulatorType(b, count), registers, text, constraints);
  return unpackRegisters(b, wait.getRes(), count);
}

// `nvvm.mbarrier.try_wait.parity` clobbers no memory: LLVM could read shared
// memory before it.
void mlir::attn_gpu::emitBarrierWait(ImplicitLocOpBuilder &b, Value address,
                                     Value parity, bool suspends) {
  std::string text = "{\n"
                     ".reg .pred done;\n"
                     "WAIT:\n"
                     "mbarrier.";
  text += suspends ? "try" : "test";
  text += "_wait.parity.shared::cta.b64 done, [$0], $1;\n"
          "@!done bra WAIT;\n"
          "}";
  createAsm(b, /*result=*/{}, {address, parity}, text,
            {"r", "r", kMemoryClobber.str()});
}

// `nvvm.mbarrier.arrive` has no predicate, and a branch around it costs more
// than the instruction.
void mlir::attn_gpu::emitBarrierArrive(ImplicitLocOpBuilder &b, Value address,
                                       Value predicate) {
  createAsm(b, /*result=*/{}, {address, predicate},
            "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];",
            {"r", "b", kMemoryClobber.str()});
}

// The intrinsic is pure: LLVM moves it above the wait for the product that
// still reads the register it writes, and ptxas then serialises everything.
Value mlir::attn_gpu::emitPack(ImplicitLocOpBuilder &b, Type elementType,
                               Value low, Value high) {
  StringRef text = elementType.isF16() ? "cvt.rn.f16x2.f32 $0, $2, $1;"
                                       : "cvt.rn.bf16x2.f32 $0, $2, $1;";
  return createAsm(b, b.getI32Type(), {low, high}, text, {"=r", "f", "f"})
      .getRes();
}
