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
  ASSERT_EQ(manifest.tensors.size(), 4u);
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

TEST(Manifest, Doubles) {
  Manifest manifest =
      parseSample(sampleWith("\"dtype\": \"f32\"", "\"dtype\": \"f64\""));
  EXPECT_EQ(manifest.tensors[3].element, ElementType::F64);
  EXPECT_EQ(elementSize(ElementType::F64), 8u);
  manifest = parseSample(
      sampleWith("{\"type\": \"f32\", \"value\": \"softmax_scale\"}",
                 "{\"type\": \"f64\", \"value\": \"softmax_scale\"}"));
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
