//===- SharedLayoutTest.cpp - Copy, descriptor and address agree ----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four parties name the place of an element: the copy engine that writes it,
// the descriptor by which wgmma reads it, the lanes of ldmatrix, and byteOffset
// for everyone else. The first two are modelled here from the PTX ISA, and
// every element of every layout in use is asked for.
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/SharedLayout.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace mlir::attn_gpu;

namespace {

constexpr int64_t kElementBytes = 2;

/// PTX ISA, "Swizzle modes": the units of 16 bytes within the swizzle's width,
/// XORed with the number of the 128-byte line, in bits of the address itself.
int64_t swizzleAddress(int64_t address, int64_t swizzle) {
  int64_t line = address >> 7 & (swizzle / 16 - 1);
  return address ^ line << 4;
}

/// Where the copy of a box of one panel per request puts element (row, column)
/// of a tile that starts at `base`.
int64_t getCopyAddress(const SharedLayout &layout, int64_t base, int64_t row,
                       int64_t column) {
  int64_t panelColumns = layout.swizzle / kElementBytes;
  int64_t destination =
      base + column / panelColumns * layout.rows * layout.swizzle;
  int64_t inBox = row * layout.swizzle + column % panelColumns * kElementBytes;
  return swizzleAddress(destination + inBox, layout.swizzle);
}

/// PTX ISA, "Matrix descriptor format".
struct Descriptor {
  explicit Descriptor(uint64_t fields)
      : leading((fields >> 16 & 0x3fff) << 4),
        stride((fields >> 32 & 0x3fff) << 4), mode(fields >> 62) {}

  int64_t getSwizzle() const {
    return mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 0;
  }

  int64_t leading, stride;
  uint64_t mode;
};

/// Where the product reads element `inner` of the k-step and `outer` of M or N,
/// in a K-major operand: rows of 8 follow at the stride offset.
int64_t getKMajorAddress(const Descriptor &descriptor, int64_t start,
                         int64_t inner, int64_t outer) {
  int64_t swizzle = descriptor.getSwizzle();
  return swizzleAddress(start + outer / 8 * descriptor.stride +
                            outer % 8 * swizzle + inner * kElementBytes,
                        swizzle);
}

/// Likewise in an MN-major operand: pieces as wide as the swizzle follow at the
/// leading offset, 8 of the inner dimension at the stride offset.
int64_t getMNMajorAddress(const Descriptor &descriptor, int64_t start,
                          int64_t inner, int64_t outer) {
  int64_t swizzle = descriptor.getSwizzle();
  int64_t width = swizzle / kElementBytes;
  return swizzleAddress(start + outer / width * descriptor.leading +
                            inner / 8 * descriptor.stride +
                            inner % 8 * swizzle + outer % width * kElementBytes,
                        swizzle);
}

struct Tile {
  int64_t rows, columns, swizzle;
};

/// Tiles of Q, K and V that schedules use, and the smallest and largest.
std::vector<Tile> getTiles() {
  std::vector<Tile> tiles;
  for (int64_t swizzle : {32, 64, 128})
    for (int64_t rows : {8, 16, 64, 80, 112, 128, 176, 192, 256})
      for (int64_t columns : {8, 16, 32, 64, 72, 96, 128, 192, 256})
        tiles.push_back({rows, columns, swizzle});
  return tiles;
}

/// A tile in the third slot of a ring that starts where tiles may start.
struct PlacedTile : Tile {
  explicit PlacedTile(const Tile &tile) : Tile(tile) {}

  SharedLayout layout{rows, swizzle, kElementBytes};
  int64_t base = 1024 + 2 * layout.tileBytes(columns);
};

/// Runs `check` on every tile, naming it in failures.
void forEachTile(void (*check)(const PlacedTile &)) {
  for (const Tile &tile : getTiles()) {
    SCOPED_TRACE(std::to_string(tile.rows) + "x" +
                 std::to_string(tile.columns) + ", swizzle " +
                 std::to_string(tile.swizzle));
    check(PlacedTile(tile));
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(SharedLayoutTest, CopyWritesWhereByteOffsetSays) {
  forEachTile([](const PlacedTile &tile) {
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        ASSERT_EQ(getCopyAddress(tile.layout, tile.base, row, column),
                  tile.base + tile.layout.byteOffset(row, column))
            << "row " << row << ", column " << column;
  });
}

TEST(SharedLayoutTest, ElementsDoNotShareBytes) {
  forEachTile([](const PlacedTile &tile) {
    std::set<int64_t> seen;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t offset = tile.layout.byteOffset(row, column);
        ASSERT_GE(offset, 0);
        ASSERT_LT(offset, tile.layout.tileBytes(tile.columns));
        ASSERT_TRUE(seen.insert(offset).second);
      }
  });
}

TEST(SharedLayoutTest, KMajorDescriptorReadsWhatWasWritten) {
  forEachTile([](const PlacedTile &tile) {
    MatrixDescriptor matrix = getKMajorDescriptor(tile.layout);
    Descriptor descriptor(matrix.fields);
    ASSERT_EQ(descriptor.getSwizzle(), tile.swizzle);
    // Up to the panel's width the copy fills with zeros.
    for (int64_t step = 0; step < (tile.columns + 15) / 16; ++step) {
      int64_t start = tile.base + matrix.stepOffset(tile.layout, step);
      ASSERT_EQ(start % 16, 0);
      for (int64_t row = 0; row < tile.rows; ++row)
        for (int64_t inner = 0; inner < 16; ++inner)
          ASSERT_EQ(
              getKMajorAddress(descriptor, start, inner, row),
              getCopyAddress(tile.layout, tile.base, row, 16 * step + inner))
              << "row " << row << ", step " << step << ", inner " << inner;
    }
  });
}

TEST(SharedLayoutTest, MNMajorDescriptorReadsWhatWasWritten) {
  forEachTile([](const PlacedTile &tile) {
    MatrixDescriptor matrix = getMNMajorDescriptor(tile.layout);
    Descriptor descriptor(matrix.fields);
    ASSERT_EQ(descriptor.getSwizzle(), tile.swizzle);
    for (int64_t step = 0; step < tile.rows / 16; ++step) {
      int64_t start = tile.base + matrix.stepOffset(tile.layout, step);
      ASSERT_EQ(start % 16, 0);
      for (int64_t inner = 0; inner < 16; ++inner)
        for (int64_t column = 0; column < tile.columns; ++column)
          ASSERT_EQ(
              getMNMajorAddress(descriptor, start, inner, column),
              getCopyAddress(tile.layout, tile.base, 16 * step + inner, column))
              << "step " << step << ", inner " << inner << ", column "
              << column;
    }
  });
}

/// PTX ISA, "ldmatrix": where matrix `number` lies in a 16x16 block, for the
/// order of A's registers, or of two B operands in rows.
std::pair<int64_t, int64_t> getMatrixStart(bool rowsFirst, int64_t number) {
  return rowsFirst ? std::pair(number % 2 * 8, number / 2 * 8)
                   : std::pair(number / 2 * 8, number % 2 * 8);
}

int64_t getLaneAddress(const PlacedTile &tile, const BlockRead &read,
                       int64_t row, int64_t column, int64_t lane) {
  int64_t start = tile.base + read.laneOffset(tile.layout, lane);
  return (start ^ getBlockXor(tile.layout, column)) +
         getBlockOffset(tile.layout, row, column);
}

TEST(SharedLayoutTest, LanesReadTheRowsOfTheirMatrix) {
  forEachTile([](const PlacedTile &tile) {
    for (BlockRead read : {BlockRead{true}, BlockRead{false}})
      for (int64_t row = 0; row + 16 <= tile.rows; row += 8)
        for (int64_t column = 0; column < tile.columns; column += 16)
          for (int64_t lane = 0; lane < 32; ++lane) {
            auto [top, left] = getMatrixStart(read.rowsFirst, lane / 8);
            ASSERT_EQ(getLaneAddress(tile, read, row, column, lane),
                      getCopyAddress(tile.layout, tile.base,
                                     row + top + lane % 8, column + left))
                << "row " << row << ", column " << column << ", lane " << lane;
          }
  });
}

// A matrix comes in one pass if its eight rows touch all 32 banks once.
TEST(SharedLayoutTest, RowsOfAMatrixLieInDifferentBanks) {
  forEachTile([](const PlacedTile &tile) {
    if (tile.swizzle != 128)
      return;
    for (BlockRead read : {BlockRead{true}, BlockRead{false}})
      for (int64_t column = 0; column < tile.columns; column += 16)
        for (int64_t first = 0; first < 32 && tile.rows >= 16; first += 8) {
          std::set<int64_t> places;
          for (int64_t lane = first; lane < first + 8; ++lane)
            places.insert(getLaneAddress(tile, read, 0, column, lane) / 16 % 8);
          ASSERT_EQ(places.size(), 8u);
        }
  });
}

// A worker's rows of a larger tile start a descriptor of their own.
TEST(SharedLayoutTest, SubtilesStartAtARow) {
  forEachTile([](const PlacedTile &tile) {
    MatrixDescriptor matrix = getKMajorDescriptor(tile.layout);
    Descriptor descriptor(matrix.fields);
    for (int64_t first = 0; first < tile.rows; first += 8) {
      int64_t start = tile.base + first * tile.swizzle;
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t inner = 0; inner < 16; ++inner)
          ASSERT_EQ(getKMajorAddress(descriptor, start, inner, row),
                    getCopyAddress(tile.layout, tile.base, first + row, inner));
    }
  });
}

} // namespace
