//===- FragmentLayout.h - Which thread holds which element ------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows how a worker's vectors are spread over its threads.
// A fragment is cut into slabs of 16 rows per warp. Lane l of the warp holds of
// each slab rows l/4 (half 0) and l/4 + 8 (half 1), and of these the columns
// 8j + 2(l%4) + {0, 1}. Its scalars are numbered 4j + 2*half + {0, 1} within a
// slab, slab after slab:
//
//     vector<64x80xf32>, 4 warps: 1 slab, 40 scalars a thread
//       scalar 0: row l/4,     column 2(l%4)       scalar 2: row l/4 + 8, ...
//       scalar 1: row l/4,     column 2(l%4) + 1   scalar 4: column 8 + 2(l%4)
//
// Every position is the thread's own (first row, first column) plus a constant,
// which is what keeps coordinates out of the thread code. In 16 bits, scalars
// 2r and 2r + 1 share register r: the order of the A operand of the matmuls.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_FRAGMENTLAYOUT_H
#define ATTN_CODEGEN_TONVVM_FRAGMENTLAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::attn_gpu {

class FragmentLayout {
public:
  enum class Kind { Rows, Columns, Fragment };

  /// The layout of `type` in a worker of `warps` warps; none if the worker's
  /// threads cannot share it evenly.
  static std::optional<FragmentLayout> get(VectorType type, int64_t warps);

  Kind getKind() const { return kind; }
  /// Whether the elements live two to a 32-bit register.
  bool isPacked() const { return packed; }
  int64_t getColumns() const { return columns; }
  int64_t getNumSlabs() const { return slabs; }

  /// Elements that a thread holds.
  int64_t getNumElements() const;
  /// Registers that hold them.
  int64_t getNumRegisters() const {
    return packed ? getNumElements() / 2 : getNumElements();
  }

  /// Constant distance of an element from the thread's first row or column.
  int64_t getRow(int64_t element) const;
  int64_t getColumn(int64_t element) const;

  /// The element of a row vector (column vector) that belongs to an element of
  /// this fragment.
  int64_t getRowElement(int64_t element) const;
  int64_t getColumnElement(int64_t element) const;

private:
  Kind kind;
  bool packed;
  int64_t slabs;
  int64_t columns;
  /// Rows of a slab over all warps of the worker.
  int64_t slabRows;
};

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_FRAGMENTLAYOUT_H
