//===- ManifestTest.cpp - Tests of the manifest reader --------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sample.h"

using namespace attn::runtime;
using namespace attn::runtime::test;

namespace {

/// The sample with one text replaced must be refused with this message.
void expectError(const std::string &from, const std::string &to,
                 const std::string &part) {
  Expected<Manifest> manifest = parseManifest(sampleWith(from, to));
  ASSERT_FALSE(bool(manifest)) << to;
  EXPECT_EQ(manifest.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(manifest.status().message().find(part), std::string::npos)
      << manifest.status().message();
}

} // namespace

TEST(Manifest, ReadsTheSample) {
  Manifest manifest = parseSample();
  EXPECT_EQ(manifest.name, "sample");
  EXPECT_EQ(manifest.major, 9);
  ASSERT_EQ(manifest.tensors.size(), 5u);
  EXPECT_EQ(manifest.tensors[1].name, "k");
  EXPECT_EQ(manifest.tensors[2].role, TensorRole::Output);
  EXPECT_EQ(manifest.tensors[3].element, ElementType::F32);
  ASSERT_EQ(manifest.kernels.size(), 1u);
  const KernelSpec &kernel = manifest.kernels[0];
  EXPECT_EQ(kernel.block.x, 384u);
  EXPECT_EQ(kernel.dynamicSharedBytes, 100000u);
  ASSERT_EQ(kernel.arguments.size(), 5u);
  EXPECT_EQ(kernel.arguments[2].strideDim, 1);
  EXPECT_EQ(kernel.arguments[4].map.order, (std::vector<int>{3, 1, 2, 0}));
  EXPECT_EQ(kernel.arguments[4].map.box[1], 80u);
  EXPECT_TRUE(manifest.mask.bottomRight);
  EXPECT_EQ(manifest.mask.right, 0);
  EXPECT_TRUE(manifest.cubinFile.empty());
}

TEST(Manifest, Syntax) {
  expectError("\"name\": \"sample\",", "\"name\": \"sample\"", "line 4");
  expectError("\"name\": \"sample\"", "\"name\": \"a\", \"name\": \"b\"",
              "'name' twice");
  expectError("\"spec\": {",
              "\"x\": " + std::string(100, '[') + std::string(100, ']') +
                  ", \"spec\": {",
              "nesting");
  expectError("\"manifest_version\": 1", "\"manifest_version\": 1e999",
              "manifest_version: expected a finite number, but got 1e999");
  EXPECT_FALSE(bool(parseManifest("")));
  EXPECT_FALSE(bool(parseManifest("[1]")));
  EXPECT_FALSE(bool(parseManifest("{\"name\": \"\xff\"}")));
}

TEST(Manifest, Header) {
  expectError("\"manifest_version\": 1", "\"manifest_version\": 2",
              "manifest_version: expected an integer in [1, 1], but got 2");
  expectError("\"name\": \"sample\"", "\"name\": 5",
              "name: expected a string, but got 5");
  expectError("[9, 0]", "[9]", "compute_capability");
}

TEST(Manifest, UnknownKeysAreErrors) {
  expectError("\"name\": \"sample\"", "\"name\": \"sample\", \"nmae\": 1",
              "manifest: expected no key of that name, but got 'nmae'");
  for (auto [from, path] :
       {std::pair("\"ptx\": \"sample.ptx\"", "files"),
        std::pair("\"flops\"", "cost"), std::pair("\"role\"", "tensors.q"),
        std::pair("\"type\": \"f32\", \"default\"", "scalars.softmax_scale"),
        std::pair("\"entry\"", "kernels[0]"),
        std::pair("\"type\": \"ptr\"", "kernels[0].arguments[0]"),
        std::pair("\"tensor\": \"o\", \"dim\"",
                  "kernels[0].arguments[2].stride"),
        std::pair("\"order\"", "kernels[0].arguments[4]")})
    expectError(from, "\"extra\": 1, " + std::string(from),
                "manifest: " + std::string(path) +
                    ": expected no key of that name, but got 'extra'");
}

TEST(Manifest, Files) {
  expectError("\"sample.ptx\"", "\"../sample.ptx\"",
              "files.ptx: expected a file name without a folder, but got "
              "\"../sample.ptx\"");
  expectError(", \"ptx_sha256\": \"@PTX@\"", "",
              "files.ptx_sha256: expected a value, but got nothing");
  expectError("\"@PTX@\"", "\"12\"",
              "files.ptx_sha256: expected 64 hexadecimal digits, but got");
  expectError("\"cubin\": null", "\"cubin\": \"sample.cubin\"",
              "files.cubin_sha256: expected a value");
}

TEST(Manifest, HashesBelongToTheContent) {
  Manifest manifest = parseSample();
  EXPECT_EQ(manifest.ptxDigest, sha256(kSampleImage));
  EXPECT_NE(manifest.specHash, manifest.buildHash);
  // What the schedule or the compiler changes has another build hash.
  for (auto [from, to] : {std::pair("\"fa3\"", "\"fa2\""),
                          std::pair("\"attnc\"", "\"attnc 2\"")}) {
    Manifest other = parseSample(sampleWith(from, to));
    EXPECT_EQ(manifest.specHash, other.specHash);
    EXPECT_NE(manifest.buildHash, other.buildHash);
  }
  expectError("\"@SPEC@\"", "\"0123456789abcdef\"",
              "spec_hash: expected " + manifest.specHash +
                  " for this spec, but got 0123456789abcdef");
  expectError("\"@BUILD@\"", "\"0123456789abcdef\"",
              "build_hash: expected " + manifest.buildHash +
                  " for this compiler, schedule and spec, but got");
  expectError("\"spec_hash\": \"@SPEC@\",", "", "spec_hash: expected a value");
  expectError("\"@BUILD@\"", "1", "build_hash: expected a string, but got 1");
}

/// Each part against the spec, which has its hash.
TEST(Manifest, PartsAgreeWithTheSpec) {
  const char *kRows[][3] = {
      {"\"target\": \"sm_90a\", \"comp", "\"target\": \"sm_80\", \"comp",
       "target: expected sm_90a, but got sm_80"},
      {"[9, 0]", "[99, 0]",
       "compute_capability: expected [9, 0] for target sm_90a, but got [99, "
       "0]"},
      {"\"role\": \"output\"", "\"role\": \"input\"",
       "tensors.o.role: expected output, but got input"},
      {"\"dtype\": \"bf16\", \"dims\"", "\"dtype\": \"f16\", \"dims\"",
       "tensors.q.dtype: expected bf16, but got f16"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f64\"",
       "tensors.lse.dtype: expected f32, but got f64"},
      {"[\"b\", \"s\", \"h\", \"d\"]", "[\"b\", \"h\", \"s\", \"d\"]",
       "tensors.q.dims[1]: expected s, but got h"},
      {"[\"batch\", \"seqlen_q\"", "[\"batch\", 7",
       "tensors.q.shape[1]: expected seqlen_q, but got 7"},
      {"\"num_qo_heads\", \"64\"]", "\"num_qo_heads\", \"128\"]",
       "tensors.q.shape[3]: expected 64, but got 128"},
      {"\"lse\": true", "\"lse\": false",
       "tensors.lse: expected no such tensor, as the spec has none, but got"},
      {"\"v\": {\"role\"", "\"w\": {\"role\"",
       "tensors.v: expected a tensor, as the spec has it, but got nothing"},
      {"\"head_dim_vo\": 64", "\"head_dim_vo\": 128",
       "tensors.v.shape[3]: expected 128, but got 64"},
      {"\"dtype_kv\": \"bf16\"", "\"dtype_kv\": \"e4m3\"",
       "tensors.k.dtype: expected e4m3, but got bf16"},
      {"\"layout\": \"bshd\"", "\"layout\": \"bhsd\"",
       "tensors.q.dims[1]: expected h, but got s"},
      {"rsqrt(64)", "rsqrt(32)",
       "scalars.softmax_scale.default: expected rsqrt(64), but got rsqrt(32)"},
      {"{\"type\": \"f32\", \"default\"", "{\"type\": \"f64\", \"default\"",
       "scalars.softmax_scale.type: expected f32, but got f64"},
      {"\"num_qo_heads == 2 * num_kv_heads\"", "",
       "constraints: expected 'num_qo_heads == 2 * num_kv_heads' among them "
       "for spec.group_size, but got others"},
      {"\"group_size\": 2", "\"group_size\": 2, \"seqlen_k\": 9",
       "constraints: expected 'seqlen_k == 9' among them for spec.seqlen_k"},
      {"\"group_size\": 2", "\"group_size\": -2",
       "spec.group_size: expected an integer of at least 0, but got -2"},
      {"\"layout\": \"bshd\"", "\"layout\": 4",
       "spec.layout: expected a string, but got 4"},
      {"\"head_dim_qk\": 64,", "",
       "spec.head_dim_qk: expected an integer of at least 0, but got nothing"},
  };
  for (auto [from, to, message] : kRows)
    expectError(from, to, std::string("manifest: ") + message);
}

TEST(Manifest, Targets) {
  auto with = [](const std::string &target, const std::string &capability) {
    return parseManifest(sampleWith({{"\"sm_90a\"", "\"" + target + "\""},
                                     {"\"sm_90a\"", "\"" + target + "\""},
                                     {"[9, 0]", capability}}));
  };
  EXPECT_TRUE(bool(with("sm_90a", "[9, 0]")));
  EXPECT_TRUE(bool(with("sm_89", "[8, 9]")));
  EXPECT_TRUE(bool(with("sm_120a", "[12, 0]")));
  for (const char *target : {"sm_", "sm_9", "sm_90b", "sm_90aa", "sm_9000",
                             "sm_a", "cpu", "sm_-90", "SM_90"}) {
    Expected<Manifest> manifest = with(target, "[9, 0]");
    ASSERT_FALSE(bool(manifest)) << target;
    EXPECT_EQ(manifest.status().message(),
              "manifest: target: expected sm_NN, sm_NNa or host, but got " +
                  std::string(target));
  }
}

/// The softmax of f64, which the host alone has, is in f64.
TEST(Manifest, Doubles) {
  std::vector<std::pair<std::string, std::string>> changes = {
      {"\"sm_90a\"", "\"host\""},
      {"\"sm_90a\"", "\"host\""},
      {"[9, 0]", "[0, 0]"}};
  for (int i = 0; i < 7; ++i) // three of the spec, four tensors
    changes.push_back({"\"bf16\"", "\"f64\""});
  changes.push_back({"\"f32\"", "\"f64\""}); // lse
  changes.push_back({"\"f32\"", "\"f64\""}); // the scalar
  changes.push_back({"\"f32\"", "\"f64\""}); // the argument
  Manifest manifest = parseSample(sampleWith(changes));
  ASSERT_EQ(manifest.tensors.size(), 5u);
  EXPECT_EQ(manifest.tensors[3].element, ElementType::F64);
  EXPECT_EQ(elementSize(ElementType::F64), 8u);
  EXPECT_EQ(manifest.kernels[0].arguments[3].kind, ArgumentKind::Float64);
  expectError("{\"type\": \"i64\", \"stride\"",
              "{\"type\": \"f64\", \"stride\"", "an integer stride");
}

TEST(Manifest, Tensors) {
  expectError("\"role\": \"input\"", "\"role\": \"in\"",
              "tensors.q.role: expected one of input, output, but got \"in\"");
  expectError("\"dtype\": \"bf16\"", "\"dtype\": \"f128\"", "tensors.q.dtype");
  expectError("\"seqlen_q\", \"num_qo_heads\", \"64\"]", "\"64\"]",
              "tensors.q.shape: expected a list of 4 to 4 elements");
  expectError("\"alignment\": 16", "\"alignmnt\": 16", "'alignmnt'");
  expectError("\"alignment\": 16", "\"alignment\": -1", "alignment");
  expectError("\"alignment\": 16", "\"alignment\": 24",
              "tensors.q.alignment: expected a power of 2, but got 24");
  expectError("\"stride_alignment\": 16", "\"stride_alignment\": 3",
              "tensors.q.stride_alignment: expected a power of 2");
  expectError("[\"b\", \"s\", \"h\", \"d\"]", "[\"b\", \"s\", \"s\", \"d\"]",
              "tensors.q.dims[2]: expected each dimension once, but got \"s\"");
}

TEST(Manifest, Kernels) {
  expectError("{\"type\": \"ptr\", \"tensor\": \"o\"}",
              "{\"type\": \"ptr\", \"tensor\": \"out\"}",
              "kernels[0].arguments[0].tensor: expected the name of a tensor, "
              "but got \"out\"");
  expectError("\"type\": \"i32\"", "\"type\": \"i8\"",
              "kernels[0].arguments[1].type");
  expectError("\"dim\": \"s\"", "\"dim\": \"t\"", "a dimension of o");
  expectError("\"block\": [384, 1, 1]", "\"block\": [384, 4, 1]",
              "at most 1024 threads");
  expectError("\"box\": [64, 80, 1, 1]", "\"box\": [64, 257, 1, 1]",
              "arguments[4].box[1]");
  expectError("[\"d\", \"s\", \"h\", \"b\"],\n       \"box\"",
              "[\"s\", \"d\", \"h\", \"b\"],\n       \"box\"",
              "the last dimension");
  expectError("[\"d\", \"s\", \"h\", \"b\"],\n       \"box\"",
              "[\"d\", \"s\", \"s\", \"b\"],\n       \"box\"",
              "each dimension once");
  expectError("\"block\": [384", "\"cluster\": 2, \"block\": [384",
              "'cluster'");
}

TEST(Manifest, FormulasUseKnownNames) {
  expectError("\"value\": \"seqlen_k\"", "\"value\": \"seqlen_z\"",
              "'seqlen_z'");
  expectError("\"value\": \"seqlen_k\"", "\"value\": \"seqlen_k +\"",
              "kernels[0].arguments[1].value: formula 'seqlen_k +'");
  expectError("\"softmax_scale\": {\"type\"", "\"batch\": {\"type\"", "batch");
}
