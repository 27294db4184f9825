//===- AttnInterfaces.td - What passes ask of a mask -------*- tablegen -*-===//
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
    follows from the two ends: which key tiles a query tile visits, which of
    them need no compare, and the compare itself. The loop bounds and the
    element mask therefore cannot disagree.

    `row` is an `index` or a vector of `index`; the result has its type. The
    result need not be clamped to `[0, seqlen_k)`: the caller does that once.
  }];
  let methods = [
    InterfaceMethod<
      "the first visible key of a row, or null where it is always key 0",
      "::mlir::Value", "lower",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$row, "::mlir::Value":$seqlenQ,
           "::mlir::Value":$seqlenK)>,
    InterfaceMethod<
      "one past the last visible key of a row, or null where it is seqlen_k",
      "::mlir::Value", "upper",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$row, "::mlir::Value":$seqlenQ,
           "::mlir::Value":$seqlenK)>,
  ];
}

#endif // ATTN_DIALECT_ATTN_ATTNINTERFACES_TD
