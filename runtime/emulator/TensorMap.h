//===- TensorMap.h - The emulator's tensor map format -----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's 128 bytes are opaque, so the emulator has a format of its own,
// little-endian like the machine that it runs on:
//
//   offset  bytes
//        0      8  "ATTNTMAP"
//        8      1  element type, as ElementType
//        9      1  rank, 1 to 5
//       10      1  swizzle, as TensorMapSwizzle
//       11      5  zero
//       16      8  base address
//       24     40  extents of 5 dimensions, the fastest first; 1 past the rank
//       64     32  byte strides of dimensions 1 to 4; 0 past the rank
//       96     10  box, 16 bits a dimension; 1 past the rank
//      106     22  zero
//
// A kernel that gets a descriptor from elsewhere lacks the magic and is told.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_TENSORMAP_H
#define ATTN_RUNTIME_EMULATOR_TENSORMAP_H

#include "runtime/Device.h"

namespace attn::runtime::emulator {

struct DecodedMap {
  ElementType element = ElementType::U8;
  uint32_t rank = 1;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  uint64_t base = 0;
  uint64_t dims[5] = {1, 1, 1, 1, 1};
  /// strides[0] is the element's size.
  uint64_t strides[5] = {0, 0, 0, 0, 0};
  uint32_t box[5] = {1, 1, 1, 1, 1};

  uint32_t elementBytes() const;
  uint32_t rowBytes() const { return box[0] * elementBytes(); }
  uint64_t boxBytes() const;
};

uint32_t elementBytes(ElementType element);

/// Refuses what cuTensorMapEncodeTiled refuses.
Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc);

/// False if the bytes are no such map.
bool decodeTensorMap(const uint8_t *bytes, DecodedMap &map);

/// The shared address at which the byte of linear address `address` of a box
/// lies: some of bits 4 to 6 are XORed with bits 7 to 9.
inline uint64_t swizzleAddress(uint64_t address, TensorMapSwizzle swizzle) {
  switch (swizzle) {
  case TensorMapSwizzle::None:
    return address;
  case TensorMapSwizzle::B32:
    return address ^ (address >> 3 & 0x10);
  case TensorMapSwizzle::B64:
    return address ^ (address >> 3 & 0x30);
  case TensorMapSwizzle::B128:
    return address ^ (address >> 3 & 0x70);
  }
  return address;
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_TENSORMAP_H
