//===- SharedLayout.h - Addresses of tiles in shared memory -----*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of `#attn_gpu.panels`, apart from MLIR so that a unit test can
// walk every address. A 192x128 tile of 16-bit elements with a swizzle of 128:
//
//     panel 0: columns 0..63, 192 rows of 128 bytes    bytes 0 .. 24575
//     panel 1: columns 64..127                         bytes 24576 .. 49151
//     row 5 of panel 0 starts at byte 640; its column 8, the unit 1 of 16
//     bytes, lies at unit 1 XOR 5 = 4: byte 640 + 64
//
// The copy engine and wgmma apply the same XOR to address bits, so a box of one
// panel arrives in this layout and a descriptor that walks it undoes it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTNGPU_SHAREDLAYOUT_H
#define ATTN_DIALECT_ATTNGPU_SHAREDLAYOUT_H

#include <cstdint>

namespace mlir::attn_gpu {

struct SharedLayout {
  /// Rows of a panel, a multiple of 8.
  int64_t rows;
  /// Bytes of a row of a panel: 32, 64 or 128.
  int64_t swizzle;
  int64_t elementBytes;

  int64_t panelColumns() const { return swizzle / elementBytes; }
  int64_t panelBytes() const { return rows * swizzle; }
  int64_t numPanels(int64_t columns) const {
    return (columns + panelColumns() - 1) / panelColumns();
  }
  /// Bytes of a tile of `columns` columns, whole panels.
  int64_t tileBytes(int64_t columns) const {
    return numPanels(columns) * panelBytes();
  }
  /// Where element (row, column) lies, in bytes from the tile's start.
  int64_t byteOffset(int64_t row, int64_t column) const;
};

/// How a warp reads blocks of 16x16 elements of 16 bits by `ldmatrix.x4`: each
/// lane names 16 bytes, and matrix m of the four gets its rows from lanes
/// 8m .. 8m + 7. For a block whose first row is a multiple of 8 and whose first
/// column is a multiple of 16, a lane's address is
///
///     ((tile + laneOffset) XOR blockXor) + blockOffset
///
/// where only `laneOffset` depends on the lane and nothing else is more than a
/// constant. The tile starts at a multiple of 8 rows of a panel.
struct BlockRead {
  /// Whether matrix 1 lies below matrix 0 and matrix 2 beside it, the order of
  /// the A operand of `mma.m16n8k16`; else the other way around, the order of
  /// two B operands in rows.
  bool rowsFirst;

  int64_t laneRow(int64_t lane) const {
    return lane % 8 + 8 * ((rowsFirst ? lane / 8 : lane / 16) % 2);
  }
  /// Which half of the 32 bytes of a row.
  int64_t laneUnit(int64_t lane) const {
    return (rowsFirst ? lane / 16 : lane / 8) % 2;
  }
  int64_t laneOffset(const SharedLayout &layout, int64_t lane) const;
};

/// The parts of a block's address that all lanes share.
int64_t getBlockXor(const SharedLayout &layout, int64_t column);
int64_t getBlockOffset(const SharedLayout &layout, int64_t row, int64_t column);

/// A shared-memory matrix descriptor of wgmma without its address field, and
/// how to step through the tile. PTX ISA, "Matrix descriptor format".
struct MatrixDescriptor {
  /// Leading and stride byte offsets and the swizzle mode, in place.
  uint64_t fields;
  /// Bytes from the tile's start to its k-step number `step` of 16 elements.
  int64_t stepOffset(const SharedLayout &layout, int64_t step) const;
  /// Whether the inner dimension of the product runs along a row.
  bool kMajor;
};

/// For an operand whose inner dimension runs along rows of the tile (Q, and K
/// in Q K^T): "K-major".
MatrixDescriptor getKMajorDescriptor(const SharedLayout &layout);
/// For an operand whose inner dimension runs across rows (V in P V):
/// "MN-major", the transposed form.
MatrixDescriptor getMNMajorDescriptor(const SharedLayout &layout);

} // namespace mlir::attn_gpu

#endif // ATTN_DIALECT_ATTNGPU_SHAREDLAYOUT_H
