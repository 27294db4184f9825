//===- SpecRegions.cpp - Whether a spec's region texts are regions --------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecRegions.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace attnc {

namespace {

/// One of the two region texts.
struct RegionText {
  const char *name;
  const std::string &text;
  bool isMask;
};

class RegionChecker {
public:
  RegionChecker(MLIRContext &context, const Spec &spec, Errors &errors)
      : context(context), spec(spec), errors(errors) {}

  void check(const RegionText &region);

private:
  Block *parse(const RegionText &region, OwningOpRef<ModuleOp> &module);
  void checkArguments(const RegionText &region, Block &block);
  void checkOps(const RegionText &region, Block &block);
  void fail(const RegionText &region, const std::string &expected,
            const std::string &got) {
    errors.push_back(std::string(region.name) + ": expected " + expected +
                     ", but got " + got);
  }

  MLIRContext &context;
  const Spec &spec;
  Errors &errors;
};

} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The one block of the text, or null with an error.
Block *RegionChecker::parse(const RegionText &region,
                            OwningOpRef<ModuleOp> &module) {
  std::string captures;
  for (const auto &[name, type] : spec.captures)
    captures += (captures.empty() ? "%" : ", %") + name + ": " + type;
  std::string source = "func.func @captures(" + captures +
                       ") {\n\"spec.region\"() ({\n" + region.text +
                       "\n}) : () -> ()\nreturn\n}\n";

  std::string message;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    bool allowed = context.allowsUnregisteredDialects();
    context.allowUnregisteredDialects(true);
    // A yield is verified with the op around it, which is not there yet.
    module = parseSourceString<ModuleOp>(
        source, ParserConfig(&context, /*verifyAfterParse=*/false));
    context.allowUnregisteredDialects(allowed);
  }
  if (!module) {
    fail(region, "an MLIR region", message);
    return nullptr;
  }
  // The text might have closed the region and gone on.
  auto functions = module->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(module->getOps()) || functions.empty() ||
      !llvm::hasNItems((*functions.begin()).getOps(), 2)) {
    fail(region, "one region and nothing else", "more");
    return nullptr;
  }
  Region &body = (*(*functions.begin()).getOps().begin()).getRegion(0);
  if (!body.hasOneBlock()) {
    fail(region, "one block", std::to_string(body.getBlocks().size()));
    return nullptr;
  }
  return &body.front();
}

/// (%score: f32, %b: index, %h: index, %q: index, %k: index), where a mask may
/// leave the score out.
void RegionChecker::checkArguments(const RegionText &region, Block &block) {
  Builder builder(&context);
  SmallVector<Type> expected(5, builder.getIndexType());
  expected[0] = builder.getF32Type();
  bool fits = TypeRange(expected) == block.getArgumentTypes() ||
              (region.isMask && TypeRange(ArrayRef(expected).drop_front()) ==
                                    block.getArgumentTypes());
  if (fits)
    return;
  std::string got;
  for (Type type : block.getArgumentTypes())
    got += (got.empty() ? "(" : ", ") + print(type);
  fail(region, "arguments (f32, index, index, index, index)",
       got.empty() ? "none" : got + ")");
}

void RegionChecker::checkOps(const RegionText &region, Block &block) {
  auto yield =
      block.empty() ? attn::YieldOp() : dyn_cast<attn::YieldOp>(block.back());
  Type wanted = region.isMask ? Type(IntegerType::get(&context, 1))
                              : Type(Float32Type::get(&context));
  SmallVector<Type> yielded;
  if (yield)
    llvm::append_range(yielded, yield->getOperandTypes());
  if (yielded != SmallVector<Type>{wanted})
    fail(region, "attn.yield of " + print(wanted) + " at the end",
         !yielded.empty() ? print(yielded.front())
         : block.empty()  ? "nothing"
                          : block.back().getName().getStringRef().str());
  for (Operation &op : block) {
    if (&op == yield.getOperation())
      continue;
    Dialect *dialect = op.getDialect();
    bool known =
        isa<memref::LoadOp>(op) ||
        isa_and_nonnull<arith::ArithDialect, math::MathDialect>(dialect);
    if (!known) {
      fail(region, "ops of arith and math and memref.load",
           op.getName().getStringRef().str());
      continue;
    }
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    if (failed(verify(&op)))
      fail(region, "valid ops", message);
  }
}

void RegionChecker::check(const RegionText &region) {
  OwningOpRef<ModuleOp> module;
  Block *block = parse(region, module);
  if (!block)
    return;
  checkArguments(region, *block);
  checkOps(region, *block);
}

void checkRegions(MLIRContext &context, const Spec &spec, Errors &errors) {
  RegionChecker checker(context, spec, errors);
  if (spec.scoreMod)
    checker.check({"score_mod", *spec.scoreMod, false});
  if (spec.maskMod)
    checker.check({"mask_mod", *spec.maskMod, true});
}

} // namespace attnc
