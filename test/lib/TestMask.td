//===- TestMask.td - A mask that no compiler knows ---------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "dialect/attn/AttnInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def Test_Dialect : Dialect {
  let name = "test";
  let cppNamespace = "::attn_test";
  let summary = "what tests bring along from outside";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Test_IntervalAttr : AttrDef<Test_Dialect, "Interval", [
    DeclareAttrInterfaceMethods<Attn_BandMaskInterface>]> {
  let summary = "a query sees its own group of positions, and some before it";
  let description = [{
    Positions are in groups of `group`. Row `i` sees the keys of its own group
    and of `before` groups in front of it: both ends are steps, where the masks
    of the compiler's own dialect have diagonals.
  }];
  let mnemonic = "interval";
  let parameters = (ins "int64_t":$group, "int64_t":$before);
  let assemblyFormat = "`<` `group` `=` $group `,` `before` `=` $before `>`";
}
