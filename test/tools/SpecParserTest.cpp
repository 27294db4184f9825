//===- SpecParserTest.cpp - What spec files are refused for, and how ------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecParser.h"

#include "tools/attnc/spec/SpecCanonical.h"
#include "tools/attnc/spec/SpecSupport.h"

#include <gtest/gtest.h>

using namespace attnc;

namespace {

/// What every spec below has.
const char kBase[] = R"("version": 1, "num_qo_heads": 4, "head_dim_qk": 64)";

Spec parse(const std::string &text, Errors &errors) {
  SpecValues values;
  values.readJSON(text, "spec", errors);
  return errors.empty() ? values.resolve(errors) : Spec();
}

/// The messages for the base spec and `more`, one a line.
std::string errorsOfText(const std::string &text) {
  Errors errors;
  parse(text, errors);
  std::string all;
  for (const std::string &error : errors)
    all += (all.empty() ? "" : "\n") + error;
  return all;
}

std::string errorsOf(const std::string &more) {
  return errorsOfText("{" + std::string(kBase) +
                      (more.empty() ? "" : ", " + more) + "}");
}

Spec parseValid(const std::string &more) {
  Errors errors;
  Spec spec =
      parse("{" + std::string(kBase) + (more.empty() ? "" : ", " + more) + "}",
            errors);
  EXPECT_EQ(errors, Errors()) << more;
  return spec;
}

} // namespace

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

TEST(SpecParser, ReportsPlaceOfSyntaxError) {
  EXPECT_EQ(errorsOfText("{\n  \"version\": 1,\n"),
            "spec: expected valid JSON, but got a syntax error at line 3, "
            "column 1");
  EXPECT_NE(errorsOfText(""), "");
}

TEST(SpecParser, RefusesOtherThanOneObject) {
  EXPECT_EQ(errorsOfText("[1]"), "spec: expected an object, but got [1]");
  EXPECT_NE(errorsOfText("{} {}"), "");
}

TEST(SpecParser, RefusesDuplicateKey) {
  EXPECT_EQ(errorsOf(R"("head_dim_qk": 128)"),
            "spec: expected each key once, but got 'head_dim_qk' twice");
}

TEST(SpecParser, SurvivesDepthAndSize) {
  EXPECT_NE(errorsOfText(std::string(100000, '[')), "");
  EXPECT_NE(
      errorsOf("\"mask\": " + std::string(5000, '[') + std::string(5000, ']')),
      "");
  EXPECT_NE(errorsOfText(std::string(2000000, ' ')), "");
  EXPECT_NE(errorsOf("\"batch\": 1" + std::string(400, '0')), "");
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

TEST(SpecParser, SuggestsNearestKey) {
  EXPECT_EQ(errorsOf(R"("num_q_heads": 4)"),
            "num_q_heads: expected a key of the spec, but got 'num_q_heads'; "
            "did you mean 'num_qo_heads'?");
  EXPECT_EQ(errorsOf(R"("mask": {"knd": "causal"})"),
            "mask.knd: expected a key of 'mask', but got 'mask.knd'; did you "
            "mean 'mask.kind'?");
  EXPECT_EQ(errorsOf(R"("window_left": 4)"),
            "window_left: expected a key of the spec, but got 'window_left'; "
            "did you mean 'mask.window_left'?");
  EXPECT_EQ(errorsOf(R"("xyzzy": 4)"),
            "xyzzy: expected a key of the spec, but got 'xyzzy'");
}

TEST(SpecParser, RefusesDottedKey) {
  EXPECT_EQ(errorsOf(R"("mask.kind": "causal")"),
            "mask.kind: expected a dotted name to be an object in an object, "
            "but got 'mask.kind' as one key");
}

TEST(SpecParser, SuggestsNearestChoice) {
  EXPECT_EQ(errorsOf(R"("mask": {"kind": "casual"})"),
            "mask.kind: expected one of none, causal, window, prefix_lm, "
            "tensor, but got 'casual'; did you mean 'causal'?");
  // A missing letter is nearer than a wrong one.
  EXPECT_EQ(errorsOf(R"("target": "sm_90")"),
            "target: expected one of sm_80, sm_86, sm_89, sm_90a, sm_100a, "
            "sm_120a, host, but got 'sm_90'; did you mean 'sm_90a'?");
}

TEST(SpecParser, SaysNothingElseOfOtherVersions) {
  EXPECT_EQ(errorsOfText(R"({"foo": 1, "version": 2})"),
            "version: expected 1, but got 2");
}

TEST(SpecParser, ChecksTypes) {
  EXPECT_EQ(errorsOf(R"("lse": 1)"), "lse: expected true or false, but got 1");
  EXPECT_EQ(errorsOf(R"("dtype": null)"),
            "dtype: expected one of bf16, f16, e4m3, f32, f64, but got null");
  EXPECT_EQ(errorsOf(R"("mask": 3)"), "mask: expected an object, but got 3");
  EXPECT_EQ(errorsOf(R"("softcap": "30")"),
            "softcap: expected a finite number greater than 0, but got '30'");
}

TEST(SpecParser, ChecksRanges) {
  EXPECT_EQ(
      errorsOfText(R"({"version": 1, "num_qo_heads": 4, "head_dim_qk": 264})"),
      "head_dim_qk: expected a multiple of 8 from 8 to 256 or 576, but "
      "got 264");
  EXPECT_EQ(errorsOf(R"("softcap": 0.0)"),
            "softcap: expected a finite number greater than 0, but got 0");
  EXPECT_EQ(errorsOf(R"("batch": 2.5)"),
            "batch: expected an integer from 0 to 2147483647, but got 2.5");
  EXPECT_EQ(errorsOf(R"("batch": 18446744073709551615)"),
            "batch: expected an integer from 0 to 2147483647, but got "
            "18446744073709551615");
  // Would be 0 or infinite as the f32 that kernels take.
  EXPECT_NE(errorsOf(R"("softmax_scale": 1e-60)"), "");
  EXPECT_NE(errorsOf(R"("softmax_scale": 1e60)"), "");
}

TEST(SpecParser, NamesEveryMissingField) {
  EXPECT_EQ(errorsOfText("{}"),
            "version: expected 1, but the spec has none\n"
            "num_qo_heads: expected an integer from 1 to 2147483647, but the "
            "spec has none\n"
            "head_dim_qk: expected a multiple of 8 from 8 to 256 or 576, but "
            "the spec has none");
}

TEST(SpecParser, TakesIntegersWithAPoint) {
  EXPECT_EQ(parseValid(R"("batch": 2.0)").batch, 2);
}

//===----------------------------------------------------------------------===//
// Rules between fields
//===----------------------------------------------------------------------===//

TEST(SpecRules, AskForAlignmentWhereLengthsMayDiffer) {
  const char message[] =
      "mask.alignment: expected top_left or bottom_right with mask.kind "
      "causal, since seqlen_q and seqlen_k may differ, but the spec has none";
  EXPECT_EQ(errorsOf(R"("mask": {"kind": "causal"})"), message);
  EXPECT_EQ(errorsOf(R"("mask": {"kind": "causal"},
                        "seqlen_q": 64, "seqlen_k": 65)"),
            message);
  EXPECT_EQ(errorsOf(R"("mask": {"kind": "causal"},
                        "seqlen_q": 64, "seqlen_k": 64)"),
            "");
}

TEST(SpecRules, RefuseWhatMeansNothing) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("mask": {"kind": "causal", "alignment": "top_left",
                   "window_left": 128})",
       "mask.window_left: expected no value unless mask.kind is window, but "
       "got 128"},
      {R"("mask": {"alignment": "top_left"})",
       "mask.alignment: expected no value unless mask.kind is causal, window "
       "or prefix_lm, or bias is alibi, or there is a score_mod or mask_mod, "
       "but got 'top_left'"},
      {R"("descale": "head")",
       "descale: expected no value unless dtype or dtype_kv is e4m3, but got "
       "'head'"},
      {R"("bias_dtype": "f32")",
       "bias_dtype: expected no value unless bias is tensor, but got 'f32'"},
      {R"("captures": {"t": "memref<?xf32>"})",
       "captures: expected no value unless there is a score_mod or mask_mod, "
       "but got {\"t\":\"memref<?xf32>\"}"},
      {R"("kv": {"page_size": 16})",
       "kv.page_size: expected no value unless kv.kind is paged, but got 16"},
      {R"("layout": "thd", "seqlen_q": 4)",
       "seqlen_q: expected no value unless layout is bshd or bhsd, but got 4"},
  };
  for (auto [more, message] : cases)
    EXPECT_EQ(errorsOf(more), message) << more;
}

TEST(SpecRules, RefuseContradictions) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("num_kv_heads": 3)",
       "num_kv_heads: expected a divisor of num_qo_heads, 4, but got 3"},
      {R"("dtype": "f32")",
       "dtype: expected one of bf16, f16, e4m3 on sm_90a, but got 'f32'"},
      {R"("head_dim_vo": 512)",
       "head_dim_vo: expected a multiple of 8 from 8 to 256 unless "
       "head_dim_qk is 576, but got 512"},
      {R"("head_dim_vo": 24, "dtype": "e4m3")",
       "head_dim_vo: expected a multiple of 16 with e4m3, but got 24"},
      {R"("bias": "tensor", "bias_dtype": "f16")",
       "bias_dtype: expected f32 or the dtype, bf16, but got 'f16'"},
      {R"("mask": {"kind": "tensor", "tensor": false})",
       "mask.tensor: expected true with mask.kind tensor, but got false"},
      {R"("kv": {"kind": "paged", "page_size": 16})",
       "kv.seqused: expected true with kv.kind paged, but got no value"},
  };
  for (auto [more, message] : cases)
    EXPECT_EQ(errorsOf(more), message) << more;
}

TEST(SpecRules, DeriveDefaults) {
  Spec spec = parseValid(R"("dtype": "f16")");
  EXPECT_EQ(spec.dtypeKV, DType::F16);
  EXPECT_EQ(spec.dtypeO, DType::F16);
  EXPECT_EQ(spec.numKVHeads, 4);
  EXPECT_EQ(spec.headDimVO, 64);
  EXPECT_EQ(parseValid(R"("dtype": "e4m3")").dtypeO, DType::BF16);
}

//===----------------------------------------------------------------------===//
// What is not served
//===----------------------------------------------------------------------===//

TEST(SpecSupport, GivesEveryReason) {
  Spec spec = parseValid(R"("target": "sm_80", "dtype": "e4m3",
                            "direction": "backward", "sinks": true)");
  EXPECT_EQ(listUnsupported(spec),
            (Errors{"dtype: sm_80 has no matrix instructions for e4m3",
                    "dtype: e4m3 is not implemented yet",
                    "direction: backward is not implemented yet",
                    "sinks: a sink per head is not implemented yet"}));
}

TEST(SpecSupport, NamesTheTargetsOfLaterStyles) {
  EXPECT_EQ(listUnsupported(parseValid(R"("target": "sm_120a")")),
            Errors{"target: sm_120a is not implemented yet; it has no wgmma"});
}

TEST(SpecSupport, ServesThePlainForward) {
  for (const char *target : {"sm_80", "sm_86", "sm_89", "sm_90a"})
    EXPECT_EQ(listUnsupported(
                  parseValid(R"("target": ")" + std::string(target) + "\"")),
              Errors());
}

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

static std::string hashOf(const std::string &more) {
  return specHash(canonicalSpec(parseValid(more)));
}

TEST(SpecCanonical, DefaultsWrittenOutAreTheSame) {
  EXPECT_EQ(hashOf(""), hashOf(R"(
      "direction": "forward", "target": "sm_90a", "dtype_o": "bf16",
      "head_dim_vo": 64, "layout": "bshd", "mask": {"kind": "none"},
      "bias": "none", "sinks": false, "lse": false, "num_splits": 1,
      "kv": {"kind": "contiguous", "seqused": false}, "deterministic": true)"));
}

TEST(SpecCanonical, LaunchValuesStayOut) {
  EXPECT_EQ(hashOf(""), hashOf(R"("softmax_scale": 0.5)"));
  EXPECT_EQ(hashOf(R"("softcap": 10)"), hashOf(R"("softcap": 20)"));
  EXPECT_NE(hashOf(R"("softcap": 10)"), hashOf(""));
  EXPECT_EQ(hashOf(R"("num_kv_heads": 2)"), specHash(canonicalSpec([] {
              Spec spec = parseValid(R"("num_kv_heads": 2)");
              spec.numQOHeads = 8;
              spec.numKVHeads = 4;
              return spec;
            }())));
  const char window[] = R"("mask": {"kind": "window", "alignment": "top_left",
                                    "window_left": %})";
  auto with = [&](const char *bound) {
    std::string text = window;
    return text.replace(text.find('%'), 1, bound);
  };
  EXPECT_EQ(hashOf(with("4")), hashOf(with("5")));
  EXPECT_NE(hashOf(with("4")), hashOf(with("-1")));
}

TEST(SpecCanonical, StaticValuesCount) {
  const char *changes[] = {R"("dtype": "f16")",
                           R"("num_kv_heads": 2)",
                           R"("head_dim_vo": 32)",
                           R"("layout": "bhsd")",
                           R"("batch": 2)",
                           R"("seqlen_q": 64)",
                           R"("lse": true)",
                           R"("deterministic": false)",
                           R"("target": "sm_100a")",
                           R"("num_splits": 2)",
                           R"("num_splits": "auto")",
                           R"("mask": {"tensor": true})",
                           R"("kv": {"seqused": true})",
                           R"("sinks": true)"};
  std::set<std::string> hashes = {hashOf("")};
  for (const char *change : changes)
    EXPECT_TRUE(hashes.insert(hashOf(change)).second) << change;
}

TEST(SpecCanonical, CompleteSpecReadsBack) {
  Spec spec = parseValid(R"("softcap": 30.5, "num_splits": "auto",
      "mask": {"kind": "window", "alignment": "bottom_right",
               "window_left": 127}, "sinks": true)");
  Errors errors;
  Spec again = parse(completeSpec(spec).dump(), errors);
  EXPECT_EQ(errors, Errors());
  EXPECT_EQ(completeSpec(again), completeSpec(spec));
}
