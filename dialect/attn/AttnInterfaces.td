//===- AttnInterfaces.td - What passes ask of masks --------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNINTERFACES_TD
#define ATTN_DIALECT_ATTN_ATTNINTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_BandMaskInterface : AttrInterface<"BandMaskInterface"> {
  let cppNamespace = "::mlir::attn";
  let description = [{
    A mask that shows query row `i` the keys of one interval
    `[lower(i), upper(i))`, both ends non-decreasing in `i`. Causal, window and
    prefix masks are of this kind. Everything the compiler does with such a mask
    follows from the two ends: which key tiles a query tile needs, which of
    them need no compare, and the compare itself. The loop bounds and the
    element mask therefore cannot disagree.

    `position.row` is an `index` or a vector of `index`; the result has its
    type, all else of the position is a scalar. The result need not be clamped
    to `[0, seqlen_k)`: the caller does that once. What the mask takes at run
    time, such as the widths of a window, are `operands`: one scalar each.
  }];
  let methods = [
    InterfaceMethod<
      "the first visible key of a row, or null where it is always key 0",
      "::mlir::Value", "lower",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::mlir::attn::MaskPosition &":$position,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<
      "one past the last visible key of a row, or null where it is seqlen_k",
      "::mlir::Value", "upper",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::mlir::attn::MaskPosition &":$position,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<
      "whether the operands are what the mask takes; none by default",
      "::llvm::LogicalResult", "verifyOperands",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "::mlir::TypeRange":$operands),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        if (operands.empty())
          return ::mlir::success();
        return emitError() << "expected no operands of mask " << $_attr
                           << ", but got " << operands.size();
      }]>,
    InterfaceMethod<
      "the names of the operands, as launches and specs have them; numbered by "
      "default. An operand counts rows or keys: one beyond both lengths means "
      "the same as the longer of them, which launches pass in its place",
      "::llvm::SmallVector<std::string>", "getOperandNames",
      (ins "size_t":$count), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        ::llvm::SmallVector<std::string> names;
        for (size_t number = 0; number < count; ++number)
          names.push_back("mask_" + std::to_string(number));
        return names;
      }]>,
    InterfaceMethod<
      "whether rows may see different keys",
      "bool", "dependsOnRow", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return true;">,
    InterfaceMethod<
      "whether rows far from each other see different numbers of keys, so that "
      "query tiles differ in how long they take",
      "bool", "hasUnevenTiles", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr.dependsOnRow();">,
  ];
}

def Attn_TileMaskOpInterface : OpInterface<"TileMaskOpInterface"> {
  let cppNamespace = "::mlir::attn";
  let description = [{
    An op in the body of `attn.tile_loop` that hides scores of keys which a row
    does not see. In an iteration whose tile all rows see whole it hides
    nothing, so its result may be replaced by its source there.
  }];
  let methods = [
    InterfaceMethod<"the scores before anything is hidden", "::mlir::Value",
                    "getUnmasked">,
  ];
}

#endif // ATTN_DIALECT_ATTN_ATTNINTERFACES_TD
