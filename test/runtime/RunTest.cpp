//===- RunTest.cpp - Tests of the verbs run and bench ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// End to end, with the fake driver's kernels as the GPU.
//
//===----------------------------------------------------------------------===//

#include "FakeAttention.h"

#include "runtime/Json.h"
#include "runtime/Launch.h"
#include "tools/attnc/run/Bench.h"
#include "tools/attnc/run/Npy.h"
#include "tools/attnc/run/Run.h"
#include "tools/attnc/spec/SpecMatch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

using namespace attnc;
using attn::runtime::Expected;
using attn::runtime::parseJson;
using attn::runtime::StatusCode;

namespace {

std::string readText(const std::string &name) {
  Expected<std::string> text = attn::runtime::readFile(
      std::string(ATTN_TEST_SOURCE_DIR) + "/Inputs/" + name);
  return text ? *text : "";
}

Artifact makeArtifact(const std::string &entry = "attention",
                      const std::string &more = "") {
  Artifact artifact;
  artifact.spec = kFakeAttentionSpec + more + "}";
  artifact.image = readText("attention.ptx"); // which the fake does not read
  artifact.manifest = fakeAttentionManifest(entry, artifact.image);
  return artifact;
}

RunOptions makeOptions(const std::string &entry = "attention",
                       const std::string &more = "") {
  RunOptions options;
  options.artifact = makeArtifact(entry, more);
  options.tensors.shape = "b=2,sq=33,sk=20";
  options.device = "cuda";
  return options;
}

RunResult runOk(const RunOptions &options) {
  Expected<RunResult> result = run(options);
  if (!result) {
    ADD_FAILURE() << result.status().message();
    return {};
  }
  return *result;
}

void expectError(const RunOptions &options, StatusCode code,
                 const std::string &message) {
  Expected<RunResult> result = run(options);
  ASSERT_FALSE(bool(result)) << message;
  EXPECT_EQ(result.status().code(), code);
  EXPECT_EQ(result.status().message(), message);
}

std::string temporary(const std::string &name) {
  return testing::TempDir() + "/" + name;
}

} // namespace

TEST(Run, RightKernelPasses) {
  RunResult result = runOk(makeOptions());
  EXPECT_TRUE(result.isPassed());
  EXPECT_EQ(result.deviceKind, "cuda");
  EXPECT_EQ(result.kernelName, "fake");
  EXPECT_EQ(result.comparison.rowsChecked, 2 * 4 * 33);
  EXPECT_LT(result.comparison.lseError, 1e-6);
  std::string text = printText(result, false);
  EXPECT_NE(text.find("result:  pass"), std::string::npos) << text;
  auto json = parseJson(printJson(result, false), "output");
  ASSERT_TRUE(bool(json));
  EXPECT_EQ((*json)["passed"], true);
  EXPECT_EQ((*json)["device"], "cuda");
}

TEST(Run, WrongElementFails) {
  RunResult result = runOk(makeOptions("attention_wrong_row"));
  EXPECT_FALSE(result.isPassed());
  EXPECT_EQ(result.comparison.worst.at, (std::array<int64_t, 4>{1, 3, 32, 3}));
  std::string text = printText(result, false);
  EXPECT_NE(text.find("result:  FAIL: o is off by"), std::string::npos);
  EXPECT_NE(text.find("b=1 h=3 row=32 column=3"), std::string::npos) << text;
}

TEST(Run, MissingElementIsPoison) {
  RunResult result = runOk(makeOptions("attention_no_write"));
  EXPECT_FALSE(result.isPassed());
  EXPECT_EQ(result.comparison.nanCount, 1);
}

TEST(Run, WriteOutsideIsCaught) {
  expectError(makeOptions("attention_past_end"), StatusCode::LaunchFailed,
              "o: expected no write outside the tensor, but got one 8448 bytes "
              "from its start");
}

TEST(Run, WriteIntoAGapIsCaught) {
  // Rows of 16 elements, 24 apart: the fault lands in a gap inside.
  RunOptions options = makeOptions("attention_past_end");
  options.tensors.strides = {"o=3168,96,24,1"};
  expectError(options, StatusCode::LaunchFailed,
              "o: expected no write outside the tensor, but got one 12656 "
              "bytes from its start");
}

TEST(Run, UnstableBitsFail) {
  RunOptions options = makeOptions("attention_unstable");
  options.runs = 3;
  RunResult result = runOk(options);
  EXPECT_TRUE(result.unstableRun.has_value());
  EXPECT_FALSE(result.isPassed());
  options.artifact = makeArtifact();
  result = runOk(options);
  EXPECT_FALSE(result.unstableRun.has_value());
}

TEST(Run, StridesAndOffsets) {
  RunOptions options = makeOptions();
  // Transposed views, gaps, a broadcast head, offsets.
  options.tensors.strides = {"q=2112,16,528,1", "k=s:24,h:0,b:480",
                             "v=2048,64,16,1", "o=2112,16,528,1"};
  options.tensors.offset = {"q=8", "o=128"};
  EXPECT_TRUE(runOk(options).isPassed());
}

TEST(Run, ZeroLengths) {
  for (const char *shape :
       {"b=2,sq=0,sk=5", "b=2,sq=5,sk=0", "b=0,sq=5,sk=5", "b=1,sq=1,sk=1"}) {
    RunOptions options = makeOptions();
    options.tensors.shape = shape;
    EXPECT_TRUE(runOk(options).isPassed()) << shape;
  }
}

TEST(Run, ScaleOfTheSpecIsPassed) {
  RunOptions options = makeOptions("attention", ", \"softmax_scale\": 0.7");
  EXPECT_TRUE(runOk(options).isPassed());
  // The reference alone with another scale must notice.
  options.artifact.manifest.replace(
      options.artifact.manifest.find("\"value\": \"softmax_scale\""), 24,
      "\"value\": \"0.25 + 0.0   \"");
  EXPECT_FALSE(runOk(options).isPassed());
}

/// What the fuzzer starts from must get as far as a launch, or it finds
/// nothing.
TEST(Run, SeedsOfTheManifestFuzzerAreManifests) {
  for (const char *name : {"attention", "sm_80", "sm_90a"}) {
    std::string text =
        readText("../../fuzz/manifest/" + std::string(name) + ".json");
    Expected<attn::runtime::Manifest> manifest =
        attn::runtime::parseManifest(text);
    ASSERT_TRUE(bool(manifest)) << name << ": " << manifest.status().message();
    if (name != std::string("attention"))
      continue;
    RunOptions options = makeOptions();
    options.device = "emulator";
    options.artifact.manifest = text;
    Errors errors;
    options.artifact.spec = readMatchingSpec(options.artifact.spec, "spec",
                                             manifest->specText, errors);
    EXPECT_TRUE(errors.empty()) << errors.front();
    EXPECT_TRUE(runOk(options).isPassed());
  }
}

TEST(Run, AnotherBuildsKernelIsRefused) {
  RunOptions options = makeOptions();
  options.artifact.image += " ";
  Expected<RunResult> result = run(options);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(result.status().message().find(
                "fake.ptx: expected the file that the manifest was written "
                "with, of SHA-256 "),
            0u)
      << result.status().message();
}

TEST(Run, SeedsDiffer) {
  RunOptions options = makeOptions();
  RunResult first = runOk(options);
  options.tensors.seed = 1;
  EXPECT_NE(first.comparison.maxAbsError,
            runOk(options).comparison.maxAbsError);
}

TEST(Run, FilesInAndOut) {
  std::string path = temporary("v.npy");
  attn::runtime::TensorSpec spec;
  spec.element = attn::runtime::ElementType::F32;
  HostTensor ones = makeHostTensor(spec, {2, 20, 2, 16});
  for (int64_t i = 0; i < ones.count(); ++i)
    ones.store(i, 1);
  ASSERT_TRUE(writeFiles({{path, printNpy(ones)}}).isOk());
  RunOptions options = makeOptions();
  options.tensors.shape = "sq=33"; // the rest follows from the file
  options.tensors.in = {"v=" + path};
  options.out = {"o=" + temporary("o.npy"), "lse=" + temporary("lse.npy")};
  EXPECT_TRUE(runOk(options).isPassed());
  // An input stays, and nothing is launched where a result has no place.
  options.out = {"o=" + path};
  expectError(options, StatusCode::InvalidArgument,
              "--out: expected a file that is no input, but got '" + path +
                  "', the same as '" + path + "' (--in)");
  std::string folder = testing::TempDir(), fresh = temporary("fresh.npy");
  options.out = {"o=" + fresh, "lse=" + folder};
  options.artifact = makeArtifact("attention_past_end"); // would be noticed
  expectError(options, StatusCode::InvalidArgument,
              "--out: expected to write '" + folder +
                  "', but got: Is a directory");
  EXPECT_FALSE(bool(readNpy(fresh)));
  options.artifact = makeArtifact();
  options.out.clear();
  Expected<NpyArray> o = readNpy(temporary("o.npy"));
  ASSERT_TRUE(bool(o));
  EXPECT_EQ(o->shape, (std::vector<int64_t>{2, 33, 4, 16}));
  EXPECT_EQ(o->load(0), 0);              // row 0 of 33 sees no key of 20
  EXPECT_EQ(o->load(o->count() - 1), 1); // a mean of ones
  Expected<NpyArray> lse = readNpy(temporary("lse.npy"));
  ASSERT_TRUE(bool(lse));
  EXPECT_EQ(lse->shape, (std::vector<int64_t>{2, 4, 33}));
  EXPECT_TRUE(std::isinf(lse->load(0)));
  // Two heads at one address: the file has to have the same in both.
  options.tensors.strides = {"v=h:0"};
  EXPECT_TRUE(runOk(options).isPassed());
  ones.store(ones.count() - 1, 2);
  ASSERT_TRUE(writeFiles({{path, printNpy(ones)}}).isOk());
  expectError(options, StatusCode::InvalidArgument,
              "--in: expected the same values in all elements of v that share "
              "an address, but got others");
  options.tensors.strides = {};
  options.tensors.shape = "b=3,sq=33,sk=20";
  expectError(options, StatusCode::InvalidArgument,
              "--in: expected v of shape [3, 20, 2, 16], but got [2, 20, 2, "
              "16]");
}

TEST(Run, UsageErrors) {
  auto with = [](auto change) {
    RunOptions options = makeOptions();
    change(options);
    return options;
  };
  constexpr auto kInvalid = StatusCode::InvalidArgument;
  expectError(with([](auto &o) { o.tensors.shape = "b=2,sq=3"; }), kInvalid,
              "seqlen_k: expected --shape sk=N, but got none");
  expectError(with([](auto &o) { o.tensors.shape = "b=2,sq=-3"; }), kInvalid,
              "--shape: expected sq in [0, 2147483647], but got 'sq=-3'");
  expectError(with([](auto &o) { o.tensors.shape = "s=2"; }), kInvalid,
              "--shape: expected b=N, sq=N or sk=N, but got 's=2'");
  expectError(with([](auto &o) { o.tensors.strides = {"x=1,2,3,4"}; }),
              kInvalid,
              "--strides: expected NAME=VALUE with a name of q, k, v, o, lse, "
              "but got 'x=1,2,3,4'");
  expectError(with([](auto &o) { o.tensors.strides = {"q=1,2,3"}; }), kInvalid,
              "--strides: q: expected integers for b,s,h,d or DIM:STRIDE, but "
              "got '1,2,3'");
  expectError(with([](auto &o) { o.tensors.offset = {"q=-1"}; }), kInvalid,
              "--offset: expected an integer of at least 0, but got 'q=-1'");
  expectError(with([](auto &o) { o.tensors.in = {"o=x.npy"}; }), kInvalid,
              "--in: expected an input, but got o");
  for (auto [flag, member, text] :
       {std::make_tuple("--in", &TensorOptions::in, "k=x.npy"),
        std::make_tuple("--strides", &TensorOptions::strides, "k=s:96"),
        std::make_tuple("--offset", &TensorOptions::offset, "k=8")}) {
    RunOptions options = makeOptions();
    options.tensors.*member = {text, text};
    expectError(options, kInvalid,
                std::string(flag) + ": expected k once, but got it twice");
  }
  expectError(with([](auto &o) { o.out = {"o=x.npy", "lse=./x.npy"}; }),
              kInvalid,
              "--out: expected a file for each result, but got 'x.npy' and "
              "'./x.npy'");
  for (auto [flag, member] :
       {std::make_pair("--in", &TensorOptions::in),
        std::make_pair("--strides", &TensorOptions::strides),
        std::make_pair("--offset", &TensorOptions::offset)}) {
    RunOptions options = makeOptions();
    options.tensors.*member = {"q="};
    expectError(options, kInvalid,
                std::string(flag) +
                    ": expected NAME=VALUE with a name of q, k, v, o, lse, but "
                    "got 'q='");
  }
  expectError(with([](auto &o) { o.runs = 0; }), kInvalid,
              "--runs: expected at least 1, but got 0");
  for (std::string device : {"gpu", "cuda:-1", "cuda:", "cuda:1x", "cuda:+1"})
    expectError(with([&](auto &o) { o.device = device; }), kInvalid,
                "device: expected auto, cuda, cuda:N or emulator, but got '" +
                    device + "'");
  constexpr const char *kHuge = "9223372036854775807";
  expectError(
      with([](auto &o) { o.tensors.strides = {std::string("q=s:") + kHuge}; }),
      kInvalid,
      std::string("q: expected a stride of dimension s within 64-bit "
                  "addresses, but got ") +
          kHuge + " elements");
}

TEST(Run, PinnedLengthsAreChecked) {
  RunOptions options = makeOptions("attention", ", \"seqlen_q\": 64");
  expectError(options, StatusCode::InvalidArgument,
              "seqlen_q: expected 64 as the spec pins it, but got 33");
  options.tensors.shape = "b=1,sk=20";
  EXPECT_EQ(runOk(options).problem.queries, 64);
}

TEST(Run, WhatTheKernelCannotTakeIsRefused) {
  RunOptions options = makeOptions();
  options.tensors.strides = {"k=1300,65,16,1"};
  expectError(options, StatusCode::Unsupported,
              "k: expected a stride of dimension b that is a multiple of 16 "
              "bytes, but got 2600");
  options.tensors.strides = {"k=1280,64,32,2"};
  expectError(options, StatusCode::Unsupported,
              "k: expected a stride of dimension d of 1, but got 2");
  options.tensors.strides = {};
  options.tensors.offset = {"k=1"};
  expectError(options, StatusCode::Unsupported,
              "k: expected an address aligned to 16 bytes, but got 0x1002");
  options = makeOptions("attention", ", \"bias\": \"alibi\"");
  expectError(options, StatusCode::Unsupported,
              "bias: expected \"none\" for a run, but got \"alibi\"");
}

TEST(Run, VerbReturnsExitCodes) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(runVerb(makeOptions()), 0);
  EXPECT_EQ(runVerb(makeOptions("attention_wrong_row")), 1);
  RunOptions options = makeOptions();
  options.tensors.offset = {"k=1"};
  EXPECT_EQ(runVerb(options), 3);
  options.tensors.offset = {"k=x"};
  EXPECT_EQ(runVerb(options), 2);
  std::string out = testing::internal::GetCapturedStdout();
  std::string errors = testing::internal::GetCapturedStderr();
  EXPECT_NE(out.find("result:  pass"), std::string::npos);
  EXPECT_NE(errors.find("error: k: expected an address aligned"),
            std::string::npos);
}

TEST(Run, SampledRowsAreSaid) {
  RunOptions options = makeOptions();
  options.checkRows = 5;
  std::string text = printText(runOk(options), false);
  EXPECT_NE(text.find("rows:    5 of 264 compared (sampled)"),
            std::string::npos)
      << text;
}

TEST(Emulator, RunsTheSameArtifact) {
  RunOptions options = makeOptions();
  options.device = "emulator";
  options.gridLimit = 3;
  options.runs = 2;
  options.emulatorSeed = 7;
  RunResult result = runOk(options);
  EXPECT_TRUE(result.isPassed()) << printText(result, true);
  EXPECT_EQ(result.deviceKind, "emulator");
  EXPECT_NE(result.statistics.find("instructions"), std::string::npos);
  ASSERT_EQ(result.traffic.size(), 5u);
  const TensorTraffic &o = result.traffic[3];
  EXPECT_EQ(o.name, "o");
  EXPECT_EQ(o.writtenBytes, o.tensorBytes); // every element once
  EXPECT_EQ(o.readBytes, 0u);
}

TEST(Emulator, SparseStridesNeedNoMemory) {
  RunOptions options = makeOptions();
  options.device = "emulator";
  options.tensors.shape = "b=3,sq=2,sk=4";
  options.tensors.strides = {"k=2147483712,32,16,1", "q=b:0,s:67108928",
                             "o=b:2147483776"};
  RunResult result = runOk(options);
  EXPECT_TRUE(result.isPassed()) << printText(result, false);
}

TEST(Emulator, AccessOutsideIsCaught) {
  RunOptions options = makeOptions();
  options.device = "emulator";
  // The kernel believes in one more key than there is.
  std::string &manifest = options.artifact.manifest;
  manifest.replace(manifest.find("\"value\": \"seqlen_k\""), 19,
                   "\"value\": \"seqlen_k + 1\"");
  Expected<RunResult> result = run(options);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.status().code(), StatusCode::LaunchFailed);
}

TEST(Emulator, BenchCounts) {
  BenchOptions options;
  options.artifact = makeArtifact();
  options.tensors.shape = "b=1,sq=4,sk=6";
  options.device = "emulator";
  Expected<BenchResult> result = bench(options);
  ASSERT_TRUE(bool(result)) << result.status().message();
  EXPECT_EQ(result->runs, 0);
  EXPECT_NE(printText(*result).find("no measure of speed"), std::string::npos);
  auto json = parseJson(printJson(*result), "output");
  ASSERT_TRUE(bool(json));
  EXPECT_TRUE((*json)["counts"].contains("instructions"));
}

TEST(Bench, OnAGpu) {
  BenchOptions options;
  options.artifact = makeArtifact();
  options.tensors.shape = "b=1,sq=4,sk=6";
  options.device = "cuda";
  options.runs = 3;
  options.ceilingTflops = 100;
  Expected<BenchResult> result = bench(options);
  ASSERT_TRUE(bool(result)) << result.status().message();
  EXPECT_EQ(result->runs, 3);
  EXPECT_NEAR(result->medianSeconds, 2e-3, 1e-9); // the fake's clock
  EXPECT_EQ(result->flops, 4.0 * 4 * (3 + 4 + 5 + 6) * 16);
  EXPECT_EQ(result->hbmBytes, 2 * (2 * 4 * 4 * 16 + 2 * 6 * 2 * 16) + 4 * 16);
  EXPECT_NE(printText(*result).find("100.0 TFLOP/s (given)"),
            std::string::npos);
  auto json = parseJson(printJson(*result), "output");
  ASSERT_TRUE(bool(json));
  EXPECT_EQ((*json)["runs"], 3);
  options.ceilingTflops = 0; // no cuBLAS here, or one without a GPU
  result = bench(options);
  ASSERT_TRUE(bool(result)) << result.status().message();
  EXPECT_NE(printText(*result).find("give --ceiling-tflops"),
            std::string::npos);
  std::string csv = printCsv(*result);
  size_t lineBreak = csv.find('\n');
  EXPECT_EQ(std::count(csv.begin(), csv.begin() + lineBreak, ','),
            std::count(csv.begin() + lineBreak, csv.end(), ','));
}

TEST(ParallelFor, PassesOnWhatABodyThrows) {
  EXPECT_THROW(attnc::parallelFor(
                   1000, 1, [](int64_t, int64_t) { throw std::bad_alloc(); }),
               std::bad_alloc);
  std::atomic<int64_t> sum{0};
  attnc::parallelFor(1000, 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sum += i;
  });
  EXPECT_EQ(sum, 499500);
}
