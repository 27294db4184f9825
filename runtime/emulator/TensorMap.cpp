//===- TensorMap.cpp - The emulator's tensor map format -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/TensorMap.h"

#include <cstring>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

static constexpr char magic[8] = {'A', 'T', 'T', 'N', 'T', 'M', 'A', 'P'};

namespace {

struct Layout {
  char magic[8];
  uint8_t element;
  uint8_t rank;
  uint8_t swizzle;
  uint8_t zero[5];
  uint64_t base;
  uint64_t dims[5];
  uint64_t strides[4];
  uint16_t box[5];
  uint8_t rest[22];
};
static_assert(sizeof(Layout) == 128, "a tensor map has 128 bytes");

} // namespace

uint32_t attn::runtime::emulator::elementBytes(ElementType element) {
  switch (element) {
  case ElementType::U8:
    return 1;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
    return 8;
  }
  return 1;
}

uint32_t DecodedMap::elementBytes() const {
  return emulator::elementBytes(element);
}

uint64_t DecodedMap::boxBytes() const {
  uint64_t bytes = elementBytes();
  for (uint32_t extent : box)
    bytes *= extent;
  return bytes;
}

static Status refuse(const std::string &what) {
  return Status::invalidArgument("tensor map: " + what);
}

static uint32_t swizzleBytes(TensorMapSwizzle swizzle) {
  switch (swizzle) {
  case TensorMapSwizzle::None:
    return 0;
  case TensorMapSwizzle::B32:
    return 32;
  case TensorMapSwizzle::B64:
    return 64;
  case TensorMapSwizzle::B128:
    return 128;
  }
  return 0;
}

static Status checkDesc(const TensorMapDesc &desc) {
  if (desc.rank < 1 || desc.rank > 5)
    return refuse("expected a rank from 1 to 5, but got " +
                  std::to_string(desc.rank));
  if (!desc.base || desc.base % 16)
    return refuse("expected a base address that is a multiple of 16, but got " +
                  std::to_string(desc.base));
  for (int i = 0; i < desc.rank; ++i) {
    std::string dimension = " of dimension " + std::to_string(i);
    if (!desc.dims[i] || desc.dims[i] > (uint64_t(1) << 32))
      return refuse("expected an extent" + dimension +
                    " from 1 to 2^32, but got " + std::to_string(desc.dims[i]));
    if (!desc.box[i] || desc.box[i] > 256)
      return refuse("expected a box extent" + dimension +
                    " from 1 to 256, but got " + std::to_string(desc.box[i]));
    if (i == 0)
      continue;
    uint64_t stride = desc.strides[i - 1];
    if (stride % 16 || stride >= (uint64_t(1) << 40))
      return refuse("expected a stride" + dimension +
                    " that is a multiple of 16 bytes and less than 2^40, but "
                    "got " +
                    std::to_string(stride));
  }
  uint32_t row = desc.box[0] * elementBytes(desc.element);
  if (row % 16)
    return refuse("expected a box whose rows are a multiple of 16 bytes, but "
                  "got " +
                  std::to_string(row));
  uint32_t width = swizzleBytes(desc.swizzle);
  if (width && row > width)
    return refuse("expected box rows of at most " + std::to_string(width) +
                  " bytes for this swizzle, but got " + std::to_string(row));
  return Status::ok();
}

Expected<TensorMap>
attn::runtime::emulator::encodeTensorMap(const TensorMapDesc &desc) {
  Status status = checkDesc(desc);
  if (!status.isOk())
    return status;
  Layout layout = {};
  std::memcpy(layout.magic, magic, sizeof magic);
  layout.element = static_cast<uint8_t>(desc.element);
  layout.rank = static_cast<uint8_t>(desc.rank);
  layout.swizzle = static_cast<uint8_t>(desc.swizzle);
  layout.base = desc.base;
  for (int i = 0; i < 5; ++i) {
    bool used = i < desc.rank;
    layout.dims[i] = used ? desc.dims[i] : 1;
    layout.box[i] = static_cast<uint16_t>(used ? desc.box[i] : 1);
    if (i)
      layout.strides[i - 1] = used ? desc.strides[i - 1] : 0;
  }
  TensorMap map;
  std::memcpy(map.bytes.data(), &layout, sizeof layout);
  return map;
}

bool attn::runtime::emulator::decodeTensorMap(const uint8_t *bytes,
                                              DecodedMap &map) {
  Layout layout;
  std::memcpy(&layout, bytes, sizeof layout);
  // A program may have changed the bytes: nothing in them is trusted.
  if (std::memcmp(layout.magic, magic, sizeof magic) != 0 || layout.rank < 1 ||
      layout.rank > 5 || layout.element > uint8_t(ElementType::F64) ||
      layout.swizzle > uint8_t(TensorMapSwizzle::B128))
    return false;
  map.element = static_cast<ElementType>(layout.element);
  map.rank = layout.rank;
  map.swizzle = static_cast<TensorMapSwizzle>(layout.swizzle);
  map.base = layout.base;
  map.strides[0] = map.elementBytes();
  for (int i = 0; i < 5; ++i) {
    if (!layout.box[i] || layout.box[i] > 256)
      return false;
    map.dims[i] = layout.dims[i];
    map.box[i] = layout.box[i];
    if (i)
      map.strides[i] = layout.strides[i - 1];
  }
  return true;
}
