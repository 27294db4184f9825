//===- Arguments.h - From tensors to kernel parameters -------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host half of a launch, free of any device: checks what the user passes
// against the manifest and computes grids and parameter values from it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ARGUMENTS_H
#define ATTN_RUNTIME_ARGUMENTS_H

#include "runtime/Manifest.h"

#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::runtime {

/// A tensor on the device. Sizes and strides are in elements, in the order of
/// the manifest's dims.
struct TensorView {
  std::string_view name;
  DevicePtr data = 0;
  int rank = 0;
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};

  bool isEmpty() const;
};

struct ScalarValue {
  std::string_view name;
  double value = 0;
};

/// What one call passes.
struct LaunchInputs {
  std::vector<TensorView> tensors;
  std::vector<ScalarValue> scalars;
  DevicePtr workspace = 0;
  uint64_t workspaceBytes = 0;
  /// Caps grid.x where it is not 0, so that one block takes several tiles.
  uint32_t gridLimit = 0;
};

/// The value of one kernel parameter; a TensorMapDesc is still to be encoded.
using ArgumentValue =
    std::variant<DevicePtr, int32_t, int64_t, float, double, TensorMapDesc>;

struct BoundKernel {
  Dim3 grid;
  /// Nothing to do: the grid has no block.
  bool isEmpty = false;
  std::vector<ArgumentValue> arguments;
};

struct BoundLaunch {
  Environment environment;
  std::vector<BoundKernel> kernels;
  uint64_t workspaceBytes = 0;
};

/// Gives every name of the manifest its value and checks everything the user
/// passed: tensors, sizes, strides, alignment, nulls, scalars, constraints.
/// `tensors` comes back in the manifest's order.
Expected<Environment> bindNames(const Manifest &manifest,
                                const DeviceInfo &device,
                                const LaunchInputs &inputs,
                                std::vector<TensorView> &tensors);

Expected<uint64_t> computeWorkspaceBytes(const Manifest &manifest,
                                         const Environment &environment);

/// bindNames, then grids and parameters.
Expected<BoundLaunch> bindLaunch(const Manifest &manifest,
                                 const DeviceInfo &device,
                                 const LaunchInputs &inputs);

/// The tensor map that a recipe asks for. A tensor without elements gets a map
/// of one element at `dummyBase`, which no kernel reads.
Expected<TensorMapDesc> makeTensorMap(const TensorSpec &spec,
                                      const TensorMapRecipe &recipe,
                                      const TensorView &tensor,
                                      DevicePtr dummyBase);

/// Whether this device can run the manifest's kernels at all.
Status checkDevice(const Manifest &manifest, const DeviceInfo &device,
                   bool isBinary);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_ARGUMENTS_H
