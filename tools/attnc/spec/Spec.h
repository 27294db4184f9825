//===- Spec.h - An attention problem as a user states it ------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Everything a spec may say, after defaults are filled in. What the fields
// mean for the result is on attn.attention; SpecFields.cpp has their names,
// limits and help texts.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPEC_H
#define ATTN_TOOLS_ATTNC_SPEC_SPEC_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace attnc {

// The order of the names of each in SpecFields.cpp.
enum class Direction { Forward, Backward };
enum class DType { BF16, F16, E4M3, F32, F64 };
enum class Layout { BSHD, BHSD, THD };
enum class MaskKind { None, Causal, Window, PrefixLM, Tensor };
enum class Alignment { TopLeft, BottomRight };
enum class Bias { None, Tensor, Alibi };
enum class KVKind { Contiguous, Paged };
enum class Descale { Tensor, Head };

struct Spec {
  int64_t version = 1;
  Direction direction = Direction::Forward;
  std::string target = "sm_90a";
  DType dtype = DType::BF16;
  DType dtypeKV = DType::BF16;
  DType dtypeO = DType::BF16;
  int64_t numQOHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDimQK = 0;
  int64_t headDimVO = 0;
  Layout layout = Layout::BSHD;
  std::optional<int64_t> batch;
  std::optional<int64_t> seqlenQ;
  std::optional<int64_t> seqlenK;
  /// Absent: 1 / sqrt(headDimQK).
  std::optional<double> softmaxScale;
  std::optional<double> softcap;
  MaskKind maskKind = MaskKind::None;
  bool maskTensor = false;
  std::optional<Alignment> maskAlignment;
  int64_t windowLeft = -1;
  int64_t windowRight = -1;
  Bias bias = Bias::None;
  std::optional<DType> biasDType;
  std::optional<std::string> scoreMod;
  std::optional<std::string> maskMod;
  /// Name to MLIR type.
  std::map<std::string, std::string> captures;
  bool sinks = false;
  KVKind kvKind = KVKind::Contiguous;
  std::optional<int64_t> kvPageSize;
  bool kvSeqused = false;
  bool lse = false;
  std::optional<Descale> descale;
  /// Absent: chosen by the compiler (`auto`).
  std::optional<int64_t> numSplits = 1;
  bool deterministic = true;

  int64_t groupSize() const { return numQOHeads / numKVHeads; }
  bool isHost() const { return target == "host"; }
};

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPEC_H
