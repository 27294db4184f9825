//===- Arguments.cpp - From tensors to kernel parameters ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Arguments.h"

#include <algorithm>
#include <limits>

namespace attn::runtime {

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Limits of cuTensorMapEncodeTiled, which answers a breach of any of them
/// with the same "invalid argument".
static constexpr uint64_t kMaxMapDim = uint64_t(1) << 32;
static constexpr uint64_t kMaxMapStride = uint64_t(1) << 40;
static constexpr uint64_t kMapAlignment = 16;
/// The sum of two such numbers and a tile still has 32 bits: kernels step past
/// the last tile by a grid, and past the last row by a tile.
static constexpr int64_t kMaxInt32 = int64_t(1) << 30;

static Status mapError(const TensorSpec &spec, const std::string &what,
                       uint64_t got) {
  return Status::unsupported(spec.name + ": expected " + what + ", but got " +
                             std::to_string(got));
}

/// The box of one copy must suit the swizzle; a fault of the manifest.
static Status checkBox(const TensorSpec &spec, const TensorMapDesc &map) {
  uint64_t rowBytes = map.box[0] * elementSize(map.element);
  uint64_t limit = 0;
  switch (map.swizzle) {
  case TensorMapSwizzle::None:
    limit = 256 * elementSize(map.element);
    break;
  case TensorMapSwizzle::B32:
    limit = 32;
    break;
  case TensorMapSwizzle::B64:
    limit = 64;
    break;
  case TensorMapSwizzle::B128:
    limit = 128;
    break;
  }
  if (rowBytes > limit || rowBytes % kMapAlignment != 0)
    return Status::invalidArgument(
        spec.name +
        ": expected a box row that is a multiple of 16 and at "
        "most " +
        std::to_string(limit) + " bytes, but got " + std::to_string(rowBytes));
  return Status::ok();
}

Expected<TensorMapDesc> makeTensorMap(const TensorSpec &spec,
                                      const TensorMapRecipe &recipe,
                                      const TensorView &tensor,
                                      DevicePtr dummyBase) {
  TensorMapDesc map;
  map.element = spec.element;
  map.rank = spec.rank();
  map.swizzle = recipe.swizzle;
  bool isEmpty = tensor.isEmpty();
  map.base = isEmpty ? dummyBase & ~(kMapAlignment - 1) : tensor.data;
  if (map.base % kMapAlignment != 0)
    return mapError(spec, "an address aligned to 16 bytes for a tensor map",
                    map.base);
  uint64_t bytes = elementSize(spec.element);
  for (int i = 0; i < map.rank; ++i) {
    int dim = recipe.order[i];
    map.dims[i] = isEmpty ? 1 : tensor.sizes[dim];
    map.box[i] = recipe.box[i];
    if (map.dims[i] > kMaxMapDim)
      return mapError(spec,
                      "size of dimension " + spec.dims[dim] +
                          " of at most 2^32 for a tensor map",
                      map.dims[i]);
    if (i == 0)
      continue;
    // A dimension of one element is never stepped along: whatever stride the
    // user has there, one that the driver accepts takes its place.
    uint64_t stride =
        map.dims[i] == 1 ? kMapAlignment : tensor.strides[dim] * bytes;
    if (stride % kMapAlignment != 0)
      return mapError(spec,
                      "a stride of dimension " + spec.dims[dim] +
                          " that is a multiple of 16 bytes",
                      stride);
    if (stride >= kMaxMapStride)
      return mapError(spec,
                      "a stride of dimension " + spec.dims[dim] +
                          " below 2^40 bytes for a tensor map",
                      stride);
    map.strides[i - 1] = stride;
  }
  if (Status status = checkBox(spec, map); !status.isOk())
    return status;
  return map;
}

//===----------------------------------------------------------------------===//
// Parameters and grids
//===----------------------------------------------------------------------===//

namespace {

class LaunchBuilder {
public:
  LaunchBuilder(const Manifest &manifest, const LaunchInputs &inputs,
                const std::vector<TensorView> &tensors,
                const Environment &environment)
      : manifest_(manifest), inputs_(inputs), tensors_(tensors),
        environment_(environment) {
    for (const TensorView &tensor : tensors_)
      if (!tensor.isEmpty())
        dummyBase_ = tensor.data;
  }

  Expected<BoundKernel> build(const KernelSpec &kernel) const;

private:
  Expected<Dim3> computeGrid(const KernelSpec &kernel, bool &isEmpty) const;
  Expected<ArgumentValue> computeArgument(const KernelSpec &kernel,
                                          size_t index) const;
  Expected<ArgumentValue> computeNumber(const KernelSpec &kernel,
                                        size_t index) const;

  const Manifest &manifest_;
  const LaunchInputs &inputs_;
  const std::vector<TensorView> &tensors_;
  const Environment &environment_;
  DevicePtr dummyBase_ = 0;
};

} // namespace

static std::string describeArgument(const KernelSpec &kernel, size_t index) {
  std::string text = kernel.entry + ": argument " + std::to_string(index);
  if (kernel.arguments[index].value)
    text += " (" + kernel.arguments[index].value->text() + ")";
  return text;
}

Expected<Dim3> LaunchBuilder::computeGrid(const KernelSpec &kernel,
                                          bool &isEmpty) const {
  static constexpr int64_t kLimits[3] = {2147483647, 65535, 65535};
  static constexpr const char *kNames[3] = {"grid.x", "grid.y", "grid.z"};
  std::array<int64_t, 3> sizes{};
  isEmpty = false;
  for (int i = 0; i < 3; ++i) {
    Expected<int64_t> size = kernel.grid[i].evaluateInteger(environment_);
    if (!size)
      return size.status();
    sizes[i] = *size;
    if (i == 0 && inputs_.gridLimit != 0)
      sizes[i] = std::min<int64_t>(sizes[i], inputs_.gridLimit);
    if (sizes[i] < 0 || sizes[i] > kLimits[i])
      return Status::unsupported(kernel.entry + ": expected " + kNames[i] +
                                 " in [0, " + std::to_string(kLimits[i]) +
                                 "], but got " + std::to_string(sizes[i]));
    isEmpty |= sizes[i] == 0;
  }
  return Dim3{uint32_t(sizes[0]), uint32_t(sizes[1]), uint32_t(sizes[2])};
}

Expected<ArgumentValue> LaunchBuilder::computeNumber(const KernelSpec &kernel,
                                                     size_t index) const {
  const ArgumentSpec &argument = kernel.arguments[index];
  Value value;
  if (argument.strideDim >= 0) {
    const TensorView &tensor = tensors_[argument.tensor];
    // The stride of a dimension of one element multiplies 0 and nothing else;
    // a user may have anything there.
    bool isUsed = tensor.sizes[argument.strideDim] > 1;
    value = Value::of(isUsed ? tensor.strides[argument.strideDim] : int64_t(0));
  } else {
    Expected<Value> result = argument.value->evaluate(environment_);
    if (!result)
      return result.status();
    value = *result;
  }
  if (argument.kind == ArgumentKind::Float32)
    return ArgumentValue(static_cast<float>(value.asReal()));
  if (argument.kind == ArgumentKind::Float64)
    return ArgumentValue(value.asReal());
  if (!value.isInteger)
    return Status::invalidArgument(describeArgument(kernel, index) +
                                   ": expected an integer, but got " +
                                   value.str());
  if (argument.kind == ArgumentKind::Int64)
    return ArgumentValue(value.integer);
  if (value.integer < -kMaxInt32 || value.integer > kMaxInt32)
    return Status::unsupported(describeArgument(kernel, index) +
                               ": expected a value of at most 2^30, but got " +
                               value.str());
  return ArgumentValue(static_cast<int32_t>(value.integer));
}

Expected<ArgumentValue> LaunchBuilder::computeArgument(const KernelSpec &kernel,
                                                       size_t index) const {
  const ArgumentSpec &argument = kernel.arguments[index];
  switch (argument.kind) {
  case ArgumentKind::TensorPointer:
    return ArgumentValue(tensors_[argument.tensor].data);
  case ArgumentKind::WorkspacePointer: {
    Expected<int64_t> offset = argument.value->evaluateInteger(environment_);
    if (!offset)
      return offset.status();
    return ArgumentValue(DevicePtr(inputs_.workspace + *offset));
  }
  case ArgumentKind::TensorMap: {
    Expected<TensorMapDesc> map =
        makeTensorMap(manifest_.tensors[argument.tensor], argument.map,
                      tensors_[argument.tensor], dummyBase_);
    if (!map)
      return map.status();
    return ArgumentValue(*map);
  }
  case ArgumentKind::Int32:
  case ArgumentKind::Int64:
  case ArgumentKind::Float32:
  case ArgumentKind::Float64:
    return computeNumber(kernel, index);
  }
  return Status::invalidArgument(describeArgument(kernel, index) +
                                 ": expected a known kind");
}

Expected<BoundKernel> LaunchBuilder::build(const KernelSpec &kernel) const {
  BoundKernel bound;
  Expected<Dim3> grid = computeGrid(kernel, bound.isEmpty);
  if (!grid)
    return grid.status();
  bound.grid = *grid;
  if (bound.isEmpty)
    return bound;
  bound.arguments.reserve(kernel.arguments.size());
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    Expected<ArgumentValue> value = computeArgument(kernel, i);
    if (!value)
      return value.status();
    bound.arguments.push_back(*value);
  }
  return bound;
}

Expected<uint64_t> computeWorkspaceBytes(const Manifest &manifest,
                                         const Environment &environment) {
  if (!manifest.workspaceBytes)
    return uint64_t(0);
  Expected<int64_t> bytes =
      manifest.workspaceBytes->evaluateInteger(environment);
  if (!bytes)
    return bytes.status();
  if (*bytes < 0)
    return Status::invalidArgument(
        "workspace: expected a size of at least 0, but got " +
        std::to_string(*bytes));
  return uint64_t(*bytes);
}

Expected<BoundLaunch> bindLaunch(const Manifest &manifest,
                                 const DeviceInfo &device,
                                 const LaunchInputs &inputs) {
  std::vector<TensorView> tensors;
  Expected<Environment> environment =
      bindNames(manifest, device, inputs, tensors);
  if (!environment)
    return environment.status();
  BoundLaunch launch;
  launch.environment = std::move(*environment);
  Expected<uint64_t> workspace =
      computeWorkspaceBytes(manifest, launch.environment);
  if (!workspace)
    return workspace.status();
  launch.workspaceBytes = *workspace;
  if (inputs.workspaceBytes < *workspace ||
      (*workspace > 0 && inputs.workspace == 0))
    return Status::invalidArgument(
        "workspace: expected " + std::to_string(*workspace) +
        " bytes, but got " +
        (inputs.workspace ? std::to_string(inputs.workspaceBytes) : "none"));
  LaunchBuilder builder(manifest, inputs, tensors, launch.environment);
  for (const KernelSpec &kernel : manifest.kernels) {
    Expected<BoundKernel> bound = builder.build(kernel);
    if (!bound)
      return bound.status();
    launch.kernels.push_back(std::move(*bound));
  }
  return launch;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Status checkDevice(const Manifest &manifest, const DeviceInfo &device,
                   bool isBinary) {
  // "sm_90a" runs on exactly that capability; machine code on the same major
  // one from its minor up; PTX on everything from its own up.
  bool isExact = !manifest.target.empty() && manifest.target.back() == 'a';
  auto have = std::make_pair(device.major, device.minor);
  auto need = std::make_pair(manifest.major, manifest.minor);
  bool fits = isExact ? have == need : have >= need;
  if (isBinary)
    fits &= device.major == manifest.major;
  // Capability 0.0 is that of the CPU, which has no other one's code.
  fits &= (manifest.major == 0) == (device.major == 0);
  if (!fits)
    return Status::unsupported(
        manifest.name + ": expected a device of compute capability " +
        std::to_string(manifest.major) + "." + std::to_string(manifest.minor) +
        " for target " + manifest.target + ", but got " + device.name +
        " with " + std::to_string(device.major) + "." +
        std::to_string(device.minor));
  for (const KernelSpec &kernel : manifest.kernels)
    if (kernel.dynamicSharedBytes > device.maxSharedBytes)
      return Status::unsupported(kernel.entry + ": expected at most " +
                                 std::to_string(device.maxSharedBytes) +
                                 " bytes of shared memory on " + device.name +
                                 ", but got " +
                                 std::to_string(kernel.dynamicSharedBytes));
  return Status::ok();
}

} // namespace attn::runtime
