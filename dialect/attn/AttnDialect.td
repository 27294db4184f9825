//===- AttnDialect.td - Attention as a problem -------------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNDIALECT_TD
#define ATTN_DIALECT_ATTN_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::mlir::attn";
  let summary = "attention as a problem, before anything about a machine";
  let description = [{
    Exact scaled-dot-product attention as one op on tensors or memrefs, the
    masks a compiler can reason about as attributes, and the few ops on tiles
    that upstream dialects lack. Nothing in this dialect knows of threads,
    shared memory or instructions: that is `attn_gpu`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

#endif // ATTN_DIALECT_ATTN_ATTNDIALECT_TD
