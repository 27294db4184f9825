//===- SpecSupport.cpp - What of a valid spec is not served yet -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecSupport.h"

#include "codegen/Target/TargetInfo.h"

namespace attnc {

using mlir::attn::TargetInfo;

/// What no instruction of the target computes.
static void listTargetLimits(const Spec &spec, Errors &reasons) {
  const TargetInfo &target = *mlir::attn::lookupTarget(spec.target);
  bool narrow = spec.dtype == DType::E4M3 || spec.dtypeKV == DType::E4M3;
  if (narrow && !target.isHost() && !target.fp8)
    reasons.push_back("dtype: " + spec.target +
                      " has no matrix instructions for e4m3");
  if (target.tma && !target.wgmma)
    reasons.push_back("target: " + spec.target +
                      " is not implemented yet; it has no wgmma");
}

static void listTypes(const Spec &spec, Errors &reasons) {
  auto add = [&](const char *name, DType type) {
    reasons.push_back(std::string(name) + ": " + toString(type) +
                      " is not implemented yet");
  };
  bool half = spec.dtype == DType::BF16 || spec.dtype == DType::F16;
  bool wide = spec.dtype == DType::F32 || spec.dtype == DType::F64;
  bool served = half || (wide && spec.isHost());
  if (!served)
    add("dtype", spec.dtype);
  if (spec.dtypeKV != spec.dtype)
    reasons.push_back("dtype_kv: " + std::string(toString(spec.dtypeKV)) +
                      " with dtype " + toString(spec.dtype) +
                      " is not implemented yet");
  // LLVM would round f64 to 16 bits by a call of the compiler's library.
  bool wideOutput = spec.dtypeO == DType::F32 || spec.dtypeO == DType::F64;
  bool halfOutput = spec.dtypeO == DType::BF16 || spec.dtypeO == DType::F16;
  bool anyOutput =
      spec.isHost() && (wideOutput || (halfOutput && spec.dtype != DType::F64));
  if (served && spec.dtypeO != spec.dtype && !anyOutput)
    reasons.push_back("dtype_o: " + std::string(toString(spec.dtypeO)) +
                      " with dtype " + toString(spec.dtype) +
                      " is not implemented yet");
}

Errors listUnsupported(const Spec &spec) {
  Errors reasons;
  auto unless = [&](bool fine, const std::string &what) {
    if (!fine)
      reasons.push_back(what + " is not implemented yet");
  };
  listTargetLimits(spec, reasons);
  listTypes(spec, reasons);
  unless(spec.direction == Direction::Forward, "direction: backward");
  unless(spec.headDimQK <= 256, "head_dim_qk: 576 with head_dim_vo 512");
  unless(spec.layout != Layout::THD, "layout: thd");
  unless(spec.maskKind != MaskKind::PrefixLM,
         "mask.kind: " + std::string(toString(spec.maskKind)));
  unless(!spec.maskTensor, "mask.tensor: a mask tensor");
  unless(spec.bias == Bias::None, "bias: " + std::string(toString(spec.bias)));
  unless(!spec.scoreMod, "score_mod: a region");
  unless(!spec.maskMod, "mask_mod: a region");
  unless(!spec.sinks, "sinks: a sink per head");
  unless(spec.kvKind == KVKind::Contiguous, "kv.kind: paged");
  unless(!spec.kvSeqused || spec.kvKind == KVKind::Paged,
         "kv.seqused: used lengths");
  unless(spec.numSplits == 1,
         "num_splits: " + (spec.numSplits ? std::to_string(*spec.numSplits)
                                          : std::string("auto")));
  return reasons;
}

} // namespace attnc
