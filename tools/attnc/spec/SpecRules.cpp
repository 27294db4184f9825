//===- SpecRules.cpp - The rules between spec fields ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Two kinds: values that contradict each other, and values that would mean
// nothing beside the others. The second kind matters as much: a window bound
// next to a causal mask would otherwise be accepted and ignored.
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecParser.h"

namespace attnc {

namespace {

class Rules {
public:
  Rules(const SpecValues &values, const Spec &spec, Errors &errors)
      : values(values), spec(spec), errors(errors) {}

  void checkTypes();
  void checkHeads();
  void checkLengths();
  void checkMask();
  void checkScores();
  void checkCache();

private:
  void fail(const std::string &name, const std::string &expected,
            const std::string &got) {
    errors.push_back(name + ": expected " + expected + ", but got " + got);
  }
  /// A value that was given although it means nothing there.
  void failUseless(const std::string &name, const std::string &where) {
    fail(name, "no value unless " + where, printValue(values.get(name)));
  }
  void onlyIf(bool condition, const char *name, const char *where) {
    if (values.has(name) && !condition)
      failUseless(name, where);
  }

  const SpecValues &values;
  const Spec &spec;
  Errors &errors;
};

} // namespace

static bool isWide(DType type) {
  return type == DType::F32 || type == DType::F64;
}

void Rules::checkTypes() {
  const std::pair<const char *, DType> types[] = {{"dtype", spec.dtype},
                                                  {"dtype_kv", spec.dtypeKV},
                                                  {"dtype_o", spec.dtypeO}};
  for (auto [name, type] : types)
    // A derived type is the fault of the one it comes from.
    if (isWide(type) && !spec.isHost() &&
        (values.has(name) || name == std::string("dtype")))
      fail(name, "one of bf16, f16, e4m3 on " + spec.target,
           "'" + std::string(toString(type)) + "'");
  bool narrow = spec.dtype == DType::E4M3 || spec.dtypeKV == DType::E4M3;
  onlyIf(narrow, "descale", "dtype or dtype_kv is e4m3");
}

void Rules::checkHeads() {
  if (spec.numQOHeads % spec.numKVHeads != 0)
    fail("num_kv_heads",
         "a divisor of num_qo_heads, " + std::to_string(spec.numQOHeads),
         std::to_string(spec.numKVHeads));
  if ((spec.headDimQK == 576) != (spec.headDimVO == 512)) {
    if (spec.headDimQK == 576)
      fail("head_dim_qk",
           "a multiple of 8 from 8 to 256 unless head_dim_vo is 512", "576");
    else
      fail("head_dim_vo",
           "a multiple of 8 from 8 to 256 unless head_dim_qk is 576", "512");
  }
  const std::pair<const char *, std::pair<DType, int64_t>> dims[] = {
      {"head_dim_qk", {spec.dtype, spec.headDimQK}},
      {"head_dim_vo", {spec.dtypeKV, spec.headDimVO}}};
  for (auto [name, dim] : dims)
    if (dim.first == DType::E4M3 && dim.second % 16 != 0)
      fail(name, "a multiple of 16 with e4m3", std::to_string(dim.second));
}

void Rules::checkLengths() {
  bool ragged = spec.layout == Layout::THD;
  onlyIf(!ragged, "seqlen_q", "layout is bshd or bhsd");
  onlyIf(!ragged, "seqlen_k", "layout is bshd or bhsd");
}

void Rules::checkMask() {
  bool masked =
      spec.maskKind != MaskKind::None && spec.maskKind != MaskKind::Tensor;
  if (masked && !spec.maskAlignment)
    errors.push_back(
        "mask.alignment: expected top_left or bottom_right with mask.kind " +
        std::string(toString(spec.maskKind)) +
        ", since seqlen_q and seqlen_k may differ, but the spec has none");
  bool needsOffset = spec.bias == Bias::Alibi || spec.scoreMod || spec.maskMod;
  onlyIf(masked || needsOffset, "mask.alignment",
         "mask.kind is causal, window or prefix_lm, or bias is alibi, or there "
         "is a score_mod or mask_mod");
  bool window = spec.maskKind == MaskKind::Window;
  onlyIf(window, "mask.window_left", "mask.kind is window");
  onlyIf(window, "mask.window_right", "mask.kind is window");
  if (spec.maskKind == MaskKind::Tensor && values.has("mask.tensor") &&
      !std::get<bool>(values.get("mask.tensor")))
    fail("mask.tensor", "true with mask.kind tensor", "false");
}

void Rules::checkScores() {
  onlyIf(spec.bias == Bias::Tensor, "bias_dtype", "bias is tensor");
  if (spec.biasDType && *spec.biasDType != DType::F32 &&
      *spec.biasDType != spec.dtype)
    fail("bias_dtype", "f32 or the dtype, " + std::string(toString(spec.dtype)),
         "'" + std::string(toString(*spec.biasDType)) + "'");
  onlyIf(spec.scoreMod || spec.maskMod, "captures",
         "there is a score_mod or mask_mod");
}

void Rules::checkCache() {
  bool paged = spec.kvKind == KVKind::Paged;
  onlyIf(paged, "kv.page_size", "kv.kind is paged");
  if (!paged)
    return;
  if (!spec.kvPageSize)
    errors.push_back("kv.page_size: expected an integer of at least 1 with "
                     "kv.kind paged, but the spec has none");
  if (!spec.kvSeqused)
    fail("kv.seqused", "true with kv.kind paged",
         values.has("kv.seqused") ? "false" : "no value");
  onlyIf(false, "seqlen_k", "kv.kind is contiguous");
}

void checkRules(const SpecValues &values, const Spec &spec, Errors &errors) {
  Rules rules(values, spec, errors);
  rules.checkTypes();
  rules.checkHeads();
  rules.checkLengths();
  rules.checkMask();
  rules.checkScores();
  rules.checkCache();
}

} // namespace attnc
