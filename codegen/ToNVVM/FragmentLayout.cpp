//===- FragmentLayout.cpp - Which thread holds which element --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/FragmentLayout.h"

using namespace mlir;
using namespace mlir::attn_gpu;

std::optional<FragmentLayout> FragmentLayout::get(VectorType type,
                                                  int64_t warps) {
  if (type.isScalable() || type.getRank() < 1 || type.getRank() > 2)
    return std::nullopt;
  FragmentLayout layout;
  layout.slabRows = 16 * warps;
  layout.packed = false;
  int64_t rows = type.getShape()[0];
  layout.columns = type.getRank() == 2 ? type.getShape()[1] : 1;
  if (rows == 1 && type.getRank() == 2) {
    layout.kind = Kind::Columns;
    layout.slabs = 1;
    if (layout.columns % 8 != 0)
      return std::nullopt;
    return layout;
  }
  if (rows % layout.slabRows != 0)
    return std::nullopt;
  layout.slabs = rows / layout.slabRows;
  layout.kind = layout.columns == 1 ? Kind::Rows : Kind::Fragment;
  if (layout.kind == Kind::Rows)
    return layout;
  if (layout.columns % 8 != 0)
    return std::nullopt;
  layout.packed =
      type.getElementType().isF16() || type.getElementType().isBF16();
  return layout;
}

int64_t FragmentLayout::getNumElements() const {
  switch (kind) {
  case Kind::Rows:
    return 2 * slabs;
  case Kind::Columns:
    return columns / 4;
  case Kind::Fragment:
    return slabs * columns / 2;
  }
  llvm_unreachable("every kind was handled");
}

int64_t FragmentLayout::getRow(int64_t element) const {
  int64_t rowElement = getRowElement(element);
  return rowElement / 2 * slabRows + rowElement % 2 * 8;
}

int64_t FragmentLayout::getColumn(int64_t element) const {
  int64_t columnElement = getColumnElement(element);
  return columnElement / 2 * 8 + columnElement % 2;
}

int64_t FragmentLayout::getRowElement(int64_t element) const {
  switch (kind) {
  case Kind::Rows:
    return element;
  case Kind::Columns:
    return 0;
  case Kind::Fragment: {
    int64_t perSlab = columns / 2;
    return element / perSlab * 2 + element % perSlab % 4 / 2;
  }
  }
  llvm_unreachable("every kind was handled");
}

int64_t FragmentLayout::getColumnElement(int64_t element) const {
  switch (kind) {
  case Kind::Rows:
    return 0;
  case Kind::Columns:
    return element;
  case Kind::Fragment: {
    int64_t inSlab = element % (columns / 2);
    return inSlab / 4 * 2 + inSlab % 2;
  }
  }
  llvm_unreachable("every kind was handled");
}
