//===- FakeAttention.cpp - A kernel of the fake driver --------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeAttention.h"

#include "tools/attnc/run/Rounding.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace attnc;

static constexpr int kDepth = 16;

static FakeAttention readParameters(void **parameters) {
  FakeAttention a;
  int next = 0;
  auto read = [&](auto &field) {
    std::memcpy(&field, parameters[next++], sizeof field);
  };
  read(a.q);
  read(a.k);
  read(a.v);
  read(a.o);
  read(a.lse);
  for (int32_t *field : {&a.batch, &a.queries, &a.keys, &a.qoHeads, &a.kvHeads})
    read(*field);
  for (auto *strides : {&a.qStrides, &a.kStrides, &a.vStrides, &a.oStrides})
    for (int64_t &stride : *strides)
      read(stride);
  read(a.scale);
  return a;
}

template <typename T>
static T *rowOf(T *tensor, const int64_t (&strides)[3], int b, int s, int h) {
  return tensor + b * strides[0] + s * strides[1] + h * strides[2];
}

static void runRow(const FakeAttention &a, int b, int h, int i) {
  int visible = std::min(a.keys, i + a.keys - a.queries + 1);
  int kvHead = h / (a.qoHeads / a.kvHeads);
  const uint16_t *q = rowOf(a.q, a.qStrides, b, i, h);
  std::vector<double> weights;
  double sum = 0, o[kDepth] = {};
  for (int j = 0; j < visible; ++j) {
    const uint16_t *k = rowOf(a.k, a.kStrides, b, j, kvHead);
    double score = 0;
    for (int c = 0; c < kDepth; ++c)
      score += double(decode16(q[c], kF16)) * decode16(k[c], kF16);
    weights.push_back(std::exp(score * a.scale));
    sum += weights.back();
  }
  for (int j = 0; j < visible; ++j)
    for (int c = 0; c < kDepth; ++c)
      o[c] += weights[j] / sum *
              decode16(rowOf(a.v, a.vStrides, b, j, kvHead)[c], kF16);
  for (int c = 0; c < kDepth; ++c)
    rowOf(a.o, a.oStrides, b, i, h)[c] = encode16(o[c], kF16);
  a.lse[(b * a.qoHeads + h) * a.queries + i] =
      visible > 0 ? static_cast<float>(std::log(sum))
                  : -std::numeric_limits<float>::infinity();
}

void runFakeAttention(const std::string &entry, void **parameters) {
  FakeAttention a = readParameters(parameters);
  for (int b = 0; b < a.batch; ++b)
    for (int h = 0; h < a.qoHeads; ++h)
      for (int i = 0; i < a.queries; ++i)
        runRow(a, b, h, i);
  uint16_t *last =
      rowOf(a.o, a.oStrides, a.batch - 1, a.queries - 1, a.qoHeads - 1);
  static int calls = 0;
  if (entry == "attention_past_end")
    last[kDepth] = 0;
  if (entry == "attention_wrong_row")
    last[3] = encode16(decode16(last[3], kF16) + 0.05, kF16);
  if (entry == "attention_no_write")
    last[3] = 0xffff;
  if (entry == "attention_unstable" && ++calls % 2 == 0)
    last[3] ^= 1;
}
