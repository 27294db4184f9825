//===- Binding.cpp - Checks of what the user passes -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace attn::runtime {

bool TensorView::isEmpty() const {
  return std::find(sizes.begin(), sizes.begin() + rank, 0) !=
         sizes.begin() + rank;
}

/// "k: expected ..., but got ...".
static std::string describeMismatch(std::string_view name,
                                    const std::string &expected,
                                    const std::string &got) {
  return std::string(name) + ": expected " + expected + ", but got " + got;
}

static std::string toHex(DevicePtr address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(address));
  return text;
}

namespace {

class Binder {
public:
  Binder(const Manifest &manifest, const LaunchInputs &inputs,
         std::vector<TensorView> &tensors)
      : manifest_(manifest), inputs_(inputs), tensors_(tensors),
        environment_(manifest.symbols.size()),
        origin_(manifest.symbols.size()) {}

  Status run(const DeviceInfo &device) {
    if (manifest_.multiprocessorsSymbol)
      environment_[*manifest_.multiprocessorsSymbol] =
          Value::of(int64_t(device.multiprocessors));
    for (Status (Binder::*step)() :
         {&Binder::collectTensors, &Binder::bindSizes, &Binder::checkSizes,
          &Binder::bindScalars, &Binder::bindVisiblePairs,
          &Binder::checkConstraints, &Binder::checkPlacement})
      if (Status status = (this->*step)(); !status.isOk())
        return status;
    return Status::ok();
  }

  Environment takeEnvironment() { return std::move(environment_); }

private:
  Status collectTensors();
  Status bindSizes();
  Status checkSizes();
  Status bindScalars();
  Status bindVisiblePairs();
  Status checkConstraints();
  Status checkPlacement();
  Status checkExtent(const TensorSpec &spec, const TensorView &tensor) const;
  Status checkStrides(const TensorSpec &spec, const TensorView &tensor) const;
  Status checkDistinct(const TensorSpec &spec, const TensorView &tensor) const;

  const Manifest &manifest_;
  const LaunchInputs &inputs_;
  std::vector<TensorView> &tensors_;
  Environment environment_;
  /// The tensor that a size's value came from, for messages.
  std::vector<int> origin_;
};

} // namespace

Status Binder::collectTensors() {
  tensors_.assign(manifest_.tensors.size(), TensorView());
  std::vector<bool> seen(tensors_.size());
  for (const TensorView &tensor : inputs_.tensors) {
    std::optional<int> index = manifest_.findTensor(tensor.name);
    if (!index) {
      std::string names;
      for (const TensorSpec &spec : manifest_.tensors)
        names += (names.empty() ? "" : ", ") + spec.name;
      return Status::invalidArgument(
          describeMismatch("tensors", "the names " + names,
                           "'" + std::string(tensor.name) + "'"));
    }
    if (seen[*index])
      return Status::invalidArgument(
          describeMismatch(tensor.name, "it once", "it twice"));
    seen[*index] = true;
    int rank = manifest_.tensors[*index].rank();
    if (tensor.rank != rank)
      return Status::invalidArgument(
          describeMismatch(tensor.name, std::to_string(rank) + " dimensions",
                           std::to_string(tensor.rank)));
    tensors_[*index] = tensor;
  }
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i])
      return Status::invalidArgument(
          describeMismatch(manifest_.tensors[i].name, "a tensor", "none"));
  return Status::ok();
}

/// A dimension whose formula is a name gives that name its value; the first
/// tensor decides and the others must agree.
Status Binder::bindSizes() {
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const TensorSpec &spec = manifest_.tensors[t];
    for (int d = 0; d < spec.rank(); ++d) {
      int64_t size = tensors_[t].sizes[d];
      if (size < 0)
        return Status::invalidArgument(describeMismatch(
            spec.name, "a size of dimension " + spec.dims[d] + " of at least 0",
            std::to_string(size)));
      std::optional<int> symbol = spec.shape[d].asSymbol();
      if (!symbol || environment_[*symbol])
        continue;
      environment_[*symbol] = Value::of(size);
      origin_[*symbol] = static_cast<int>(t);
    }
  }
  return Status::ok();
}

Status Binder::checkSizes() {
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const TensorSpec &spec = manifest_.tensors[t];
    for (int d = 0; d < spec.rank(); ++d) {
      Expected<int64_t> size = spec.shape[d].evaluateInteger(environment_);
      if (!size)
        return size.status();
      if (*size == tensors_[t].sizes[d])
        continue;
      std::string expected =
          "size " + std::to_string(*size) + " for dimension " + spec.dims[d];
      if (std::optional<int> symbol = spec.shape[d].asSymbol())
        expected += " (" + spec.shape[d].text() + " as in " +
                    manifest_.tensors[origin_[*symbol]].name + ")";
      return Status::invalidArgument(describeMismatch(
          spec.name, expected, std::to_string(tensors_[t].sizes[d])));
    }
  }
  return Status::ok();
}

static Expected<Value> convertScalar(const ScalarSpec &spec, double value) {
  if (spec.type != ScalarType::I32) {
    bool isSingle = spec.type == ScalarType::F32;
    std::string type = isSingle ? "f32" : "f64";
    double largest = isSingle ? std::numeric_limits<float>::max()
                              : std::numeric_limits<double>::max();
    if (!std::isfinite(value) || std::fabs(value) > largest)
      return Status::invalidArgument(describeMismatch(
          spec.name, "a finite " + type, Value::of(value).str()));
    // Kernels divide by it, or multiply infinities with it.
    bool isFactor = spec.name == "softmax_scale" || spec.name == "softcap";
    double passed = isSingle ? static_cast<float>(value) : value;
    if (isFactor && !(passed > 0))
      return Status::invalidArgument(describeMismatch(
          spec.name, "an " + type + " greater than 0", Value::of(value).str()));
    return Value::of(value);
  }
  if (value != std::floor(value) ||
      std::fabs(value) > std::numeric_limits<int32_t>::max())
    return Status::invalidArgument(describeMismatch(
        spec.name, "a 32-bit integer", Value::of(value).str()));
  return Value::of(static_cast<int64_t>(value));
}

Status Binder::bindScalars() {
  for (const ScalarValue &scalar : inputs_.scalars) {
    std::optional<int> index = manifest_.findScalar(scalar.name);
    if (!index) {
      std::string names;
      for (const ScalarSpec &spec : manifest_.scalars)
        names += (names.empty() ? "" : ", ") + spec.name;
      return Status::invalidArgument(describeMismatch(
          "scalars", names.empty() ? "none" : "the names " + names,
          "'" + std::string(scalar.name) + "'"));
    }
    const ScalarSpec &spec = manifest_.scalars[*index];
    if (environment_[spec.symbol])
      return Status::invalidArgument(
          describeMismatch(scalar.name, "it once", "it twice"));
    Expected<Value> value = convertScalar(spec, scalar.value);
    if (!value)
      return value.status();
    environment_[spec.symbol] = *value;
  }
  for (const ScalarSpec &spec : manifest_.scalars) {
    if (environment_[spec.symbol])
      continue;
    if (!spec.defaultValue)
      return Status::invalidArgument(
          describeMismatch(spec.name, "a value", "none"));
    Expected<Value> value = spec.defaultValue->evaluate(environment_);
    if (!value)
      return value.status();
    environment_[spec.symbol] = *value;
  }
  return Status::ok();
}

/// Only cost formulas use it, so a mask that is no band counts as full.
Status Binder::bindVisiblePairs() {
  if (!manifest_.visiblePairsSymbol)
    return Status::ok();
  auto integer = [&](const char *name) -> std::optional<int64_t> {
    std::optional<int> symbol = manifest_.symbols.find(name);
    if (!symbol || !environment_[*symbol])
      return std::nullopt;
    return environment_[*symbol]->integer;
  };
  Band band = manifest_.mask;
  for (auto [bound, name] : {std::make_pair(&band.left, "window_left"),
                             std::make_pair(&band.right, "window_right")})
    if (std::optional<int64_t> value = integer(name); value && *value >= 0)
      *bound = *value;
  environment_[*manifest_.visiblePairsSymbol] = Value::of(countVisiblePairs(
      band, integer("seqlen_q").value_or(0), integer("seqlen_k").value_or(0)));
  return Status::ok();
}

Status Binder::checkConstraints() {
  for (const Formula &constraint : manifest_.constraints) {
    Expected<Value> holds = constraint.evaluate(environment_);
    if (!holds)
      return holds.status();
    if (holds->asReal() != 0)
      continue;
    std::string values;
    for (int symbol : constraint.symbols())
      values += (values.empty() ? "" : ", ") + manifest_.symbols.name(symbol) +
                " = " + environment_[symbol]->str();
    return Status::invalidArgument("expected " + constraint.text() +
                                   ", but got " + values);
  }
  return Status::ok();
}

/// The last byte of the tensor must have an address.
Status Binder::checkExtent(const TensorSpec &spec,
                           const TensorView &tensor) const {
  int64_t last = 0, bytes = 0;
  bool overflow = false;
  for (int d = 0; d < tensor.rank; ++d) {
    int64_t part = 0;
    overflow |=
        __builtin_mul_overflow(tensor.sizes[d] - 1, tensor.strides[d], &part);
    overflow |= __builtin_add_overflow(last, part, &last);
  }
  overflow |= __builtin_add_overflow(last, 1, &last);
  overflow |= __builtin_mul_overflow(
      last, static_cast<int64_t>(elementSize(spec.element)), &bytes);
  uint64_t end = 0;
  overflow |= __builtin_add_overflow(tensor.data, uint64_t(bytes), &end);
  if (overflow)
    return Status::invalidArgument(describeMismatch(
        spec.name, "sizes and strides within 64-bit addresses", "an overflow"));
  return Status::ok();
}

Status Binder::checkStrides(const TensorSpec &spec,
                            const TensorView &tensor) const {
  int64_t bytes = elementSize(spec.element);
  for (int d = 0; d < tensor.rank; ++d) {
    int64_t stride = tensor.strides[d];
    if (tensor.sizes[d] == 1)
      continue; // never used
    std::string what = "stride of dimension " + spec.dims[d];
    if (stride < 0)
      return Status::invalidArgument(describeMismatch(
          spec.name, "a " + what + " of at least 0", std::to_string(stride)));
    if (d == tensor.rank - 1 && stride != 1)
      return Status::unsupported(describeMismatch(
          spec.name, "a " + what + " of 1", std::to_string(stride)));
    int64_t strideBytes = 0;
    if (__builtin_mul_overflow(stride, bytes, &strideBytes))
      return Status::invalidArgument(
          describeMismatch(spec.name, "a " + what + " within 64-bit addresses",
                           std::to_string(stride) + " elements"));
    if (d < tensor.rank - 1 && strideBytes % spec.strideAlignment != 0)
      return Status::unsupported(
          describeMismatch(spec.name,
                           "a " + what + " that is a multiple of " +
                               std::to_string(spec.strideAlignment) + " bytes",
                           std::to_string(strideBytes)));
  }
  return Status::ok();
}

/// Two elements of an output must not share an address: whichever is written
/// last would win.
Status Binder::checkDistinct(const TensorSpec &spec,
                             const TensorView &tensor) const {
  std::array<std::pair<int64_t, int64_t>, kMaxRank> dims; // stride, size
  int count = 0;
  for (int d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] > 1)
      dims[count++] = {tensor.strides[d], tensor.sizes[d]};
  std::sort(dims.begin(), dims.begin() + count);
  int64_t reach = 0; // the largest offset the dimensions so far can make
  for (int d = 0; d < count; ++d) {
    auto [stride, size] = dims[d];
    if (stride <= reach)
      return Status::invalidArgument(describeMismatch(
          spec.name,
          "strides that give every element of an output "
          "its own address",
          "a stride of " + std::to_string(stride) +
              " over elements that reach " + std::to_string(reach)));
    reach += (size - 1) * stride;
  }
  return Status::ok();
}

Status Binder::checkPlacement() {
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const TensorSpec &spec = manifest_.tensors[t];
    const TensorView &tensor = tensors_[t];
    if (tensor.isEmpty())
      continue; // nothing of it is touched, so anything will do
    if (tensor.data == 0)
      return Status::invalidArgument(
          describeMismatch(spec.name, "a device pointer", "null"));
    if (tensor.data % elementSize(spec.element) != 0)
      return Status::invalidArgument(describeMismatch(
          spec.name, "an address aligned to its element", toHex(tensor.data)));
    for (const Status &status :
         {checkStrides(spec, tensor), checkExtent(spec, tensor)})
      if (!status.isOk())
        return status;
    if (tensor.data % spec.alignment != 0)
      return Status::unsupported(describeMismatch(
          spec.name,
          "an address aligned to " + std::to_string(spec.alignment) + " bytes",
          toHex(tensor.data)));
    if (spec.role == TensorRole::Output)
      if (Status status = checkDistinct(spec, tensor); !status.isOk())
        return status;
  }
  return Status::ok();
}

Expected<Environment> bindNames(const Manifest &manifest,
                                const DeviceInfo &device,
                                const LaunchInputs &inputs,
                                std::vector<TensorView> &tensors) {
  Binder binder(manifest, inputs, tensors);
  if (Status status = binder.run(device); !status.isOk())
    return status;
  return binder.takeEnvironment();
}

} // namespace attn::runtime
