//===- ManifestFuzzer.cpp - Any text as a manifest ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text must be refused or accepted, and what is accepted must bind or be
// refused too. Beside the kernel that it names, it goes the way of attn-launch:
// an error, wrong numbers, or right ones in every row, and nothing outside the
// tensors is touched on the way.
//
//===----------------------------------------------------------------------===//

#include "FakeAttention.h"
#include "ManifestMutator.h"

#include "runtime/Launch.h"
#include "runtime/Sha256.h"
#include "tools/attnc/run/Run.h"
#include "tools/attnc/spec/SpecMatch.h"

#include <cstdio>
#include <cstdlib>

using namespace attn::runtime;
using namespace attnc;

namespace {
constexpr int64_t kBatch = 1, kQueries = 3, kKeys = 5, kHeads = 4;
constexpr const char *kShape = "b=1,sq=3,sk=5";
} // namespace

/// The kernel of FakeAttention.h.
static const std::string &image() {
  static const std::string text = [] {
    Expected<std::string> read =
        readFile(ATTN_TEST_SOURCE_DIR "/Inputs/attention.ptx");
    if (!read) {
      std::fprintf(stderr, "%s\n", read.status().message().c_str());
      std::abort();
    }
    return *read;
  }();
  return text;
}

const std::string &validManifest() {
  static const std::string text = fakeAttentionManifest("attention", image());
  return text;
}

static TensorView makeView(const TensorSpec &spec, const int64_t *sizes) {
  TensorView tensor;
  tensor.name = spec.name;
  tensor.data = 4096;
  tensor.rank = spec.rank();
  int64_t stride = 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    tensor.sizes[d] = sizes[d];
    tensor.strides[d] = stride;
    stride *= sizes[d];
  }
  return tensor;
}

/// Tensors of 8 in every dimension, which need not fit.
static void bindAnything(const Manifest &manifest) {
  static const int64_t kEights[kMaxRank] = {8, 8, 8, 8, 8};
  LaunchInputs inputs;
  for (const TensorSpec &spec : manifest.tensors)
    inputs.tensors.push_back(makeView(spec, kEights));
  DeviceInfo device;
  device.multiprocessors = 132;
  (void)bool(bindLaunch(manifest, device, inputs));
}

/// A grid of any size is no mistake, but more than a fuzzer can wait for.
static bool isSmall(const Manifest &manifest) {
  static const int64_t kSizes[2][4] = {{kBatch, kQueries, kHeads, 16},
                                       {kBatch, kKeys, kHeads / 2, 16}};
  static const int64_t kLseSizes[3] = {kBatch, kHeads, kQueries};
  LaunchInputs inputs;
  for (const TensorSpec &spec : manifest.tensors) {
    bool isKeySide = spec.name == "k" || spec.name == "v";
    if (spec.rank() != (spec.name == "lse" ? 3 : 4))
      return true; // no launch will come of it
    inputs.tensors.push_back(
        makeView(spec, spec.rank() == 3 ? kLseSizes : kSizes[isKeySide]));
  }
  inputs.workspace = 256;
  inputs.workspaceBytes = UINT64_MAX;
  DeviceInfo device;
  device.multiprocessors = 132;
  Expected<BoundLaunch> bound = bindLaunch(manifest, device, inputs);
  if (!bound)
    return true;
  uint64_t threads = 0;
  for (size_t i = 0; i < bound->kernels.size(); ++i) {
    const Dim3 &grid = bound->kernels[i].grid,
               &block = manifest.kernels[i].block;
    threads += uint64_t(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
  }
  return threads <= 16384 && bound->workspaceBytes <= (1 << 20);
}

static void launch(const Manifest &manifest) {
  Errors errors;
  RunOptions options;
  options.artifact.spec = readMatchingSpec(
      std::string(kFakeAttentionSpec) + "}", "spec", manifest.specText, errors);
  if (!errors.empty() || !isSmall(manifest))
    return;
  options.artifact.manifest = manifest.text;
  options.artifact.image = image();
  options.tensors.shape = kShape;
  options.device = "emulator";
  Expected<RunResult> result = run(options);
  if (!result || !result->isPassed())
    return;
  // A pass is worth something only if all of both outputs was looked at.
  if (result->comparison.rowsChecked != kBatch * kHeads * kQueries ||
      !manifest.findTensor("o") || !manifest.findTensor("lse"))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Manifest> manifest = parseManifest(
      std::string_view(reinterpret_cast<const char *>(data), size));
  if (!manifest)
    return 0;
  bindAnything(*manifest);
  static const std::string digest = sha256(image());
  if (manifest->ptxDigest == digest)
    launch(*manifest);
  return 0;
}
