//===- ArgumentsTest.cpp - Tests of checks and parameters -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sample.h"

using namespace attn::runtime;
using namespace attn::runtime::test;

namespace {

BoundLaunch bindSample(const LaunchInputs &inputs,
                       const std::string &text = sampleManifest()) {
  Manifest manifest = parseSample(text);
  Expected<BoundLaunch> bound = bindLaunch(manifest, sampleDevice(), inputs);
  if (!bound) {
    ADD_FAILURE() << bound.status().message();
    return {};
  }
  return std::move(*bound);
}

void expectError(const LaunchInputs &inputs, StatusCode code,
                 const std::string &message,
                 const std::string &text = sampleManifest()) {
  Manifest manifest = parseSample(text);
  Expected<BoundLaunch> bound = bindLaunch(manifest, sampleDevice(), inputs);
  ASSERT_FALSE(bool(bound)) << message;
  EXPECT_EQ(bound.status().code(), code);
  EXPECT_EQ(bound.status().message(), message);
}

/// The sample's key tensor map, for layout changes through `change`.
template <typename Change>
TensorMapDesc keyMap(Change change, int64_t keys = 100) {
  LaunchInputs inputs = sampleInputs(2, 300, keys);
  change(inputs.tensors[1]);
  BoundLaunch bound = bindSample(inputs);
  if (bound.kernels.empty())
    return {};
  return std::get<TensorMapDesc>(bound.kernels[0].arguments[4]);
}

constexpr auto kInvalid = StatusCode::InvalidArgument;
constexpr auto kUnsupported = StatusCode::Unsupported;

} // namespace

TEST(Arguments, Values) {
  BoundLaunch bound = bindSample(sampleInputs(2, 300, 100));
  ASSERT_EQ(bound.kernels.size(), 1u);
  const BoundKernel &kernel = bound.kernels[0];
  EXPECT_EQ(kernel.grid.x, 3u * 4 * 2);
  EXPECT_FALSE(kernel.isEmpty);
  EXPECT_EQ(std::get<DevicePtr>(kernel.arguments[0]), 0x30000u);
  EXPECT_EQ(std::get<int32_t>(kernel.arguments[1]), 100);
  EXPECT_EQ(std::get<int64_t>(kernel.arguments[2]), 4 * 64);
  EXPECT_EQ(std::get<float>(kernel.arguments[3]), 0.125f);
}

TEST(Arguments, GridIsCappedByDeviceAndUser) {
  LaunchInputs inputs = sampleInputs(100, 300, 100);
  EXPECT_EQ(bindSample(inputs).kernels[0].grid.x, 4u * 132);
  inputs.gridLimit = 7;
  EXPECT_EQ(bindSample(inputs).kernels[0].grid.x, 7u);
}

TEST(Arguments, ScalarsOverrideDefaults) {
  LaunchInputs inputs = sampleInputs(2, 300, 100);
  inputs.scalars = {{"softmax_scale", 0.05}};
  EXPECT_EQ(std::get<float>(bindSample(inputs).kernels[0].arguments[3]), 0.05f);
  inputs.scalars = {{"scale", 0.05}};
  expectError(inputs, kInvalid,
              "scalars: expected the names softmax_scale, but got 'scale'");
  inputs.scalars = {{"softmax_scale", std::numeric_limits<double>::infinity()}};
  expectError(inputs, kInvalid,
              "softmax_scale: expected a finite f32, but got inf");
  // What is 0 as f32 as well.
  for (double value : {0.0, -1.0, 1e-50}) {
    inputs.scalars = {{"softmax_scale", value}};
    expectError(inputs, kInvalid,
                "softmax_scale: expected an f32 greater than 0, but got " +
                    Value::of(value).str());
  }
  inputs.scalars = {{"softmax_scale", 1}, {"softmax_scale", 2}};
  expectError(inputs, kInvalid,
              "softmax_scale: expected it once, but got it twice");
}

TEST(Arguments, DoubleScalarsKeepTheirValue) {
  Manifest manifest = parseSample();
  manifest.scalars[0].type = ScalarType::F64;
  manifest.kernels[0].arguments[3].kind = ArgumentKind::Float64;
  LaunchInputs inputs = sampleInputs(2, 300, 100);
  auto bind = [&](double scale) {
    inputs.scalars = {{"softmax_scale", scale}};
    return bindLaunch(manifest, sampleDevice(), inputs);
  };
  for (double scale : {0.1, 1e-50, 1e300}) {
    Expected<BoundLaunch> bound = bind(scale);
    ASSERT_TRUE(bool(bound)) << bound.status().message();
    EXPECT_EQ(std::get<double>(bound->kernels[0].arguments[3]), scale);
  }
  EXPECT_EQ(bind(0).status().message(),
            "softmax_scale: expected an f64 greater than 0, but got 0");
}

TEST(Arguments, TheHostAndGPUsHaveNoCodeInCommon) {
  Manifest manifest = parseSample();
  DeviceInfo host;
  EXPECT_FALSE(checkDevice(manifest, host, false).isOk());
  manifest.target = "host";
  manifest.major = manifest.minor = 0;
  manifest.kernels.clear();
  EXPECT_TRUE(checkDevice(manifest, host, false).isOk());
  EXPECT_FALSE(checkDevice(manifest, sampleDevice(), false).isOk());
}

TEST(Arguments, KeyMapOfContiguousTensor) {
  TensorMapDesc map = keyMap([](TensorView &) {});
  EXPECT_EQ(map.rank, 4);
  EXPECT_EQ(map.base, 0x20000u);
  EXPECT_EQ(map.element, ElementType::BF16);
  EXPECT_EQ(map.dims, (std::array<uint64_t, 5>{64, 100, 2, 2, 0}));
  EXPECT_EQ(map.strides, (std::array<uint64_t, 4>{256, 128, 25600, 0}));
  EXPECT_EQ(map.box, (std::array<uint32_t, 5>{64, 80, 1, 1, 0}));
  EXPECT_EQ(map.swizzle, TensorMapSwizzle::B128);
}

TEST(Arguments, KeyMapOfTransposedView) {
  // b, h, s, d in memory.
  TensorMapDesc map = keyMap(
      [](TensorView &k) { k.strides = {2 * 100 * 64, 64, 100 * 64, 1}; });
  EXPECT_EQ(map.strides, (std::array<uint64_t, 4>{128, 12800, 25600, 0}));
}

TEST(Arguments, LayoutBhsd) {
  // dims and shapes swap s and h.
  std::vector<std::pair<std::string, std::string>> changes = {
      {"\"layout\": \"bshd\"", "\"layout\": \"bhsd\""}};
  for (int tensor = 0; tensor < 4; ++tensor)
    changes.push_back(
        {"\"dims\": [\"b\", \"s\", \"h\"", "\"dims\": [\"b\", \"h\", \"s\""});
  for (int tensor = 0; tensor < 2; ++tensor) {
    changes.push_back({"[\"batch\", \"seqlen_q\", \"num_qo_heads\"",
                       "[\"batch\", \"num_qo_heads\", \"seqlen_q\""});
    changes.push_back({"[\"batch\", \"seqlen_k\", \"num_kv_heads\"",
                       "[\"batch\", \"num_kv_heads\", \"seqlen_k\""});
  }
  std::string text = sampleWith(changes);
  LaunchInputs inputs = sampleInputs(2, 300, 100);
  for (int tensor : {0, 1, 2, 4}) {
    TensorView &view = inputs.tensors[tensor];
    view = makeTensor(
        view.name.data(), view.data,
        {view.sizes[0], view.sizes[2], view.sizes[1], view.sizes[3]});
  }
  BoundLaunch bound = bindSample(inputs, text);
  auto map = std::get<TensorMapDesc>(bound.kernels[0].arguments[4]);
  EXPECT_EQ(map.dims, (std::array<uint64_t, 5>{64, 100, 2, 2, 0}));
  EXPECT_EQ(map.strides, (std::array<uint64_t, 4>{128, 12800, 25600, 0}));
}

TEST(Arguments, DimensionOfOneMayHaveAnyStride) {
  LaunchInputs inputs = sampleInputs(1, 1, 1);
  for (TensorView &tensor : inputs.tensors)
    for (int d = 0; d < tensor.rank; ++d)
      if (tensor.sizes[d] == 1)
        tensor.strides[d] = d == 0 ? -77 : int64_t(1) << 61;
  BoundLaunch bound = bindSample(inputs);
  auto map = std::get<TensorMapDesc>(bound.kernels[0].arguments[4]);
  EXPECT_EQ(map.dims, (std::array<uint64_t, 5>{64, 1, 2, 1, 0}));
  EXPECT_EQ(map.strides[0] % 16, 0u);
  EXPECT_LT(map.strides[0], uint64_t(1) << 40);
  EXPECT_EQ(map.strides[1], 128u);
  EXPECT_LT(map.strides[2], uint64_t(1) << 40);
  EXPECT_EQ(std::get<int64_t>(bound.kernels[0].arguments[2]), 0);
}

TEST(Arguments, InputMayBeBroadcast) {
  TensorMapDesc map = keyMap([](TensorView &k) { k.strides[2] = 0; });
  EXPECT_EQ(map.strides[1], 0u);
}

TEST(Arguments, NoKeysStillLaunches) {
  LaunchInputs inputs = sampleInputs(2, 300, 0);
  inputs.tensors[1].data = inputs.tensors[4].data = 0;
  BoundLaunch bound = bindSample(inputs);
  EXPECT_FALSE(bound.kernels[0].isEmpty);
  auto map = std::get<TensorMapDesc>(bound.kernels[0].arguments[4]);
  EXPECT_NE(map.base, 0u);
  EXPECT_EQ(map.base % 16, 0u);
  EXPECT_EQ(map.dims, (std::array<uint64_t, 5>{1, 1, 1, 1, 0}));
}

TEST(Arguments, NoQueriesIsNoLaunch) {
  LaunchInputs inputs = sampleInputs(2, 0, 40);
  inputs.tensors[0].data = inputs.tensors[2].data = inputs.tensors[3].data = 0;
  EXPECT_TRUE(bindSample(inputs).kernels[0].isEmpty);
}

TEST(Arguments, TensorsByName) {
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  inputs.tensors.pop_back();
  expectError(inputs, kInvalid, "v: expected a tensor, but got none");
  inputs.tensors.push_back(makeTensor("V", 64, {2, 40, 2, 64}));
  expectError(inputs, kInvalid,
              "tensors: expected the names q, k, o, lse, v, but got 'V'");
  inputs.tensors.back() = inputs.tensors[0];
  expectError(inputs, kInvalid, "q: expected it once, but got it twice");
  inputs = sampleInputs(2, 30, 40);
  inputs.tensors[3].rank = 2;
  expectError(inputs, kInvalid, "lse: expected 3 dimensions, but got 2");
}

TEST(Arguments, SizesMustAgree) {
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  inputs.tensors[1].sizes[0] = 3;
  expectError(inputs, kInvalid,
              "k: expected size 2 for dimension b (batch as in q), but got 3");
  inputs = sampleInputs(2, 30, 40);
  inputs.tensors[1].sizes[3] = 128;
  expectError(inputs, kInvalid,
              "k: expected size 64 for dimension d, but got 128");
  inputs = sampleInputs(2, 30, 40);
  inputs.tensors[0].sizes[1] = -1;
  expectError(inputs, kInvalid,
              "q: expected a size of dimension s of at least 0, but got -1");
}

TEST(Arguments, ConstraintsNameTheirValues) {
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  for (auto [tensor, name] : {std::pair(1, "k"), std::pair(4, "v")})
    inputs.tensors[tensor] = makeTensor(name, 0x20000, {2, 40, 3, 64});
  expectError(inputs, kInvalid,
              "expected num_qo_heads == 2 * num_kv_heads, but got "
              "num_qo_heads = 4, num_kv_heads = 3");
}

TEST(Arguments, Pointers) {
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  inputs.tensors[1].data = 0;
  expectError(inputs, kInvalid, "k: expected a device pointer, but got null");
  inputs.tensors[1].data = 0x20002;
  expectError(inputs, kUnsupported,
              "k: expected an address aligned to 16 bytes, but got 0x20002");
  inputs.tensors[1].data = 0x20001;
  expectError(inputs, kInvalid,
              "k: expected an address aligned to its element, but got 0x20001");
}

TEST(Arguments, Strides) {
  auto with = [](int tensor, int dim, int64_t stride) {
    LaunchInputs inputs = sampleInputs(2, 30, 40);
    inputs.tensors[tensor].strides[dim] = stride;
    return inputs;
  };
  expectError(with(1, 1, 65), kUnsupported,
              "k: expected a stride of dimension s that is a multiple of 16 "
              "bytes, but got 130");
  expectError(with(1, 3, 2), kUnsupported,
              "k: expected a stride of dimension d of 1, but got 2");
  expectError(with(1, 1, -64), kInvalid,
              "k: expected a stride of dimension s of at least 0, but got -64");
  expectError(with(1, 1, int64_t(1) << 61), kInvalid,
              "k: expected sizes and strides within 64-bit addresses, but got "
              "an overflow");
  for (int64_t stride : {int64_t(1) << 62, INT64_MAX})
    expectError(with(1, 0, stride), kInvalid,
                "k: expected a stride of dimension b within 64-bit addresses, "
                "but got " +
                    std::to_string(stride) + " elements");
  expectError(with(1, 0, int64_t(1) << 39), kUnsupported,
              "k: expected a stride of dimension b below 2^40 bytes for a "
              "tensor map, but got 1099511627776");
  // Strides of q matter to no tensor map here.
  EXPECT_FALSE(bindSample(with(0, 0, int64_t(1) << 39)).kernels.empty());
}

TEST(Arguments, OutputsMustNotOverlap) {
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  inputs.tensors[2].strides[2] = 0;
  expectError(inputs, kInvalid,
              "o: expected strides that give every element of an output its "
              "own address, but got a stride of 0 over elements that reach 0");
  inputs.tensors[2].strides[2] = 56;
  expectError(inputs, kInvalid,
              "o: expected strides that give every element of an output its "
              "own address, but got a stride of 56 over elements that reach "
              "63");
}

TEST(Arguments, Limits) {
  expectError(sampleInputs(1, 1, 1), kUnsupported,
              "sample_entry: expected grid.y in [0, 65535], but got 70000",
              sampleWith("multiprocessors)\",\n             \"1\"",
                         "multiprocessors)\",\n             \"70000\""));
  LaunchInputs inputs = sampleInputs(1, 1, int64_t(1) << 32);
  expectError(inputs, kUnsupported,
              "sample_entry: argument 1 (seqlen_k): expected a value of at "
              "most 2^30, but got 4294967296");
  // Kernels add to lengths in 32 bits.
  inputs = sampleInputs(1, 1, INT32_MAX);
  expectError(inputs, kUnsupported,
              "sample_entry: argument 1 (seqlen_k): expected a value of at "
              "most 2^30, but got 2147483647");
}

TEST(Arguments, Workspace) {
  std::string text =
      sampleWith("\"kernels\"", "\"workspace\": {\"bytes\": \"batch * 100\", "
                                "\"zeroed\": true}, \"kernels\"");
  LaunchInputs inputs = sampleInputs(2, 30, 40);
  expectError(inputs, kInvalid, "workspace: expected 200 bytes, but got none",
              text);
  inputs.workspace = 0x50000;
  inputs.workspaceBytes = 100;
  expectError(inputs, kInvalid, "workspace: expected 200 bytes, but got 100",
              text);
  inputs.workspaceBytes = 200;
  EXPECT_EQ(bindSample(inputs, text).workspaceBytes, 200u);
}

TEST(Arguments, VisiblePairs) {
  Manifest manifest = parseSample();
  BoundLaunch bound = bindSample(sampleInputs(1, 3, 5));
  Expected<int64_t> flops = manifest.flops->evaluateInteger(bound.environment);
  ASSERT_TRUE(bool(flops));
  EXPECT_EQ(*flops, 4 * 1 * 4 * (3 + 4 + 5) * 64);
}

TEST(Arguments, Device) {
  Manifest manifest = parseSample();
  DeviceInfo device = sampleDevice();
  EXPECT_TRUE(checkDevice(manifest, device, false).isOk());
  device.major = 10;
  EXPECT_EQ(checkDevice(manifest, device, false).message(),
            "sample: expected a device of compute capability 9.0 for target "
            "sm_90a, but got sample device with 10.0");
  manifest.target = "sm_90";
  EXPECT_TRUE(checkDevice(manifest, device, false).isOk());
  EXPECT_EQ(checkDevice(manifest, device, true).code(), kUnsupported);
  device = sampleDevice();
  device.maxSharedBytes = 90 * 1024;
  EXPECT_EQ(checkDevice(parseSample(), device, false).code(), kUnsupported);
}
