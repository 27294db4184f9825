//===- SharedLayout.cpp - Addresses of tiles in shared memory -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/SharedLayout.h"

using namespace mlir::attn_gpu;

int64_t SharedLayout::byteOffset(int64_t row, int64_t column) const {
  int64_t panel = column / panelColumns();
  int64_t byte = column % panelColumns() * elementBytes;
  // The hardware XORs address bits [4, 7) with bits [7, 10), as far as the
  // swizzle width reaches; rows narrower than 128 bytes share a 128-byte line.
  int64_t linear = row * swizzle + byte;
  int64_t units = swizzle / 16;
  int64_t swizzled = linear ^ (((linear / 128) % units) * 16);
  return panel * panelBytes() + swizzled;
}

int64_t BlockRead::laneOffset(const SharedLayout &layout, int64_t lane) const {
  return layout.byteOffset(laneRow(lane),
                           laneUnit(lane) * 16 / layout.elementBytes);
}

int64_t mlir::attn_gpu::getBlockXor(const SharedLayout &layout,
                                    int64_t column) {
  return column % layout.panelColumns() * layout.elementBytes;
}

int64_t mlir::attn_gpu::getBlockOffset(const SharedLayout &layout, int64_t row,
                                       int64_t column) {
  return column / layout.panelColumns() * layout.panelBytes() +
         row * layout.swizzle;
}

/// The descriptor's code for a swizzle of 32, 64 or 128 bytes.
static uint64_t encodeSwizzle(int64_t swizzle) {
  switch (swizzle) {
  case 128:
    return 1;
  case 64:
    return 2;
  default:
    return 3;
  }
}

static uint64_t encodeFields(int64_t leadingBytes, int64_t strideBytes,
                             int64_t swizzle) {
  return (static_cast<uint64_t>(leadingBytes >> 4) & 0x3fff) << 16 |
         (static_cast<uint64_t>(strideBytes >> 4) & 0x3fff) << 32 |
         encodeSwizzle(swizzle) << 62;
}

MatrixDescriptor
mlir::attn_gpu::getKMajorDescriptor(const SharedLayout &layout) {
  // Groups of 8 rows follow each other; the leading offset is not used with a
  // swizzle and is 1 by convention.
  return {encodeFields(16, 8 * layout.swizzle, layout.swizzle),
          /*kMajor=*/true};
}

MatrixDescriptor
mlir::attn_gpu::getMNMajorDescriptor(const SharedLayout &layout) {
  // From panel to panel along the outer dimension, and from one group of 8
  // rows to the next along the inner one.
  return {encodeFields(layout.panelBytes(), 8 * layout.swizzle, layout.swizzle),
          /*kMajor=*/false};
}

int64_t MatrixDescriptor::stepOffset(const SharedLayout &layout,
                                     int64_t step) const {
  if (!kMajor)
    return 16 * step * layout.swizzle;
  int64_t column = 16 * step;
  int64_t panel = column / layout.panelColumns();
  int64_t byte = column % layout.panelColumns() * layout.elementBytes;
  return panel * layout.panelBytes() + byte;
}
