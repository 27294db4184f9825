//===- Tensors.cpp - The tensors of one run -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Tensors.h"

#include "tools/attnc/run/Npy.h"

#include <charconv>

namespace attnc {

using attn::runtime::Environment;
using attn::runtime::Expected;
using attn::runtime::Formula;
using attn::runtime::Manifest;
using attn::runtime::Status;
using attn::runtime::TensorRole;
using attn::runtime::TensorSpec;

Expected<Assignment> parseAssignment(const Manifest &manifest, const char *flag,
                                     const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  std::optional<int> tensor = manifest.findTensor(name);
  if (equals != std::string::npos && equals + 1 < text.size() && tensor)
    return Assignment{*tensor, text.substr(equals + 1)};
  std::string names;
  for (const TensorSpec &spec : manifest.tensors)
    names += (names.empty() ? "" : ", ") + spec.name;
  return Status::invalidArgument(std::string(flag) +
                                 ": expected NAME=VALUE with a name of " +
                                 names + ", but got '" + text + "'");
}

/// The assignments of a flag that gives each tensor one value.
static Expected<std::vector<Assignment>>
parseAssignments(const Manifest &manifest, const char *flag,
                 const std::vector<std::string> &texts) {
  std::vector<Assignment> result;
  std::vector<bool> isGiven(manifest.tensors.size());
  for (const std::string &text : texts) {
    Expected<Assignment> given = parseAssignment(manifest, flag, text);
    if (!given)
      return given.status();
    if (isGiven[given->tensor])
      return Status::invalidArgument(std::string(flag) + ": expected " +
                                     manifest.tensors[given->tensor].name +
                                     " once, but got it twice");
    isGiven[given->tensor] = true;
    result.push_back(std::move(*given));
  }
  return result;
}

static bool parseInteger(std::string_view text, int64_t &value) {
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() &&
         !text.empty();
}

//===----------------------------------------------------------------------===//
// Strides and offsets
//===----------------------------------------------------------------------===//

/// The dimensions of `spec` in the order in which strides are written.
static std::vector<int> writtenOrder(const TensorSpec &spec) {
  std::vector<int> order;
  for (const char *dim : {"b", "s", "h", "d"})
    if (std::optional<int> index = spec.findDim(dim))
      order.push_back(*index);
  if (order.size() == 4 && spec.rank() == 4)
    return order;
  order.clear();
  for (int d = 0; d < spec.rank(); ++d)
    order.push_back(d);
  return order;
}

static std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

static Status parseStrides(const TensorSpec &spec,
                           const std::vector<int64_t> &sizes,
                           const std::string &text, PlacementOptions &options) {
  auto error = [&] {
    std::string order;
    for (int dim : writtenOrder(spec))
      order += (order.empty() ? "" : ",") + spec.dims[dim];
    return Status::invalidArgument("--strides: " + spec.name +
                                   ": expected integers for " + order +
                                   " or DIM:STRIDE, but got '" + text + "'");
  };
  std::vector<std::string_view> parts = split(text, ',');
  attn::runtime::TensorView contiguous = Placement::preview(spec, sizes, {});
  std::vector<int64_t> strides(contiguous.strides.begin(),
                               contiguous.strides.begin() + spec.rank());
  bool isNamed = text.find(':') != std::string::npos;
  std::vector<int> order = writtenOrder(spec);
  if (!isNamed && parts.size() != order.size())
    return error();
  for (size_t i = 0; i < parts.size(); ++i) {
    std::optional<int> dim;
    std::string_view number = parts[i];
    if (isNamed) {
      size_t colon = std::min(number.find(':'), number.size());
      dim = spec.findDim(number.substr(0, colon));
      number.remove_prefix(std::min(colon + 1, number.size()));
    } else {
      dim = order[i];
    }
    if (!dim || !parseInteger(number, strides[*dim]))
      return error();
  }
  options.strides = strides;
  return Status::ok();
}

static Status placeTensors(const Manifest &manifest,
                           const TensorOptions &options, Tensors &tensors) {
  tensors.placement.resize(manifest.tensors.size());
  Expected<std::vector<Assignment>> strides =
      parseAssignments(manifest, "--strides", options.strides);
  if (!strides)
    return strides.status();
  for (const Assignment &given : *strides) {
    Status status = parseStrides(manifest.tensors[given.tensor],
                                 tensors.host[given.tensor].sizes, given.value,
                                 tensors.placement[given.tensor]);
    if (!status.isOk())
      return status;
  }
  Expected<std::vector<Assignment>> offsets =
      parseAssignments(manifest, "--offset", options.offset);
  if (!offsets)
    return offsets.status();
  for (const Assignment &given : *offsets) {
    int64_t &offset = tensors.placement[given.tensor].offset;
    if (!parseInteger(given.value, offset) || offset < 0)
      return Status::invalidArgument(
          "--offset: expected an integer of at least 0, but got '" +
          manifest.tensors[given.tensor].name + "=" + given.value + "'");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Input files and shapes
//===----------------------------------------------------------------------===//

using Arrays = std::vector<std::optional<NpyArray>>;

static Expected<Arrays> readArrays(const Manifest &manifest,
                                   const std::vector<std::string> &in) {
  Arrays arrays(manifest.tensors.size());
  Expected<std::vector<Assignment>> assignments =
      parseAssignments(manifest, "--in", in);
  if (!assignments)
    return assignments.status();
  for (const Assignment &given : *assignments) {
    const TensorSpec &spec = manifest.tensors[given.tensor];
    if (spec.role != TensorRole::Input)
      return Status::invalidArgument("--in: expected an input, but got " +
                                     spec.name);
    Expected<NpyArray> array = readNpy(given.value);
    if (!array)
      return Status::invalidArgument("--in: " + spec.name + ": " +
                                     array.status().message());
    if (array->shape.size() != spec.dims.size())
      return Status::invalidArgument(
          given.value + ": expected " + std::to_string(spec.rank()) +
          " dimensions for " + spec.name + ", but got " +
          std::to_string(array->shape.size()));
    arrays[given.tensor] = std::move(*array);
  }
  return arrays;
}

/// Lengths that the user did not give follow from the arrays.
static void inferShape(const Manifest &manifest, const Arrays &arrays,
                       Shape &shape) {
  static const std::pair<const char *, const char *> kNames[] = {
      {"batch", "b"}, {"seqlen_q", "sq"}, {"seqlen_k", "sk"}};
  for (size_t t = 0; t < arrays.size(); ++t) {
    if (!arrays[t])
      continue;
    const TensorSpec &spec = manifest.tensors[t];
    for (int d = 0; d < spec.rank(); ++d)
      for (auto [formula, name] : kNames)
        if (spec.shape[d].text() == formula)
          shape.emplace(name, arrays[t]->shape[d]);
  }
}

static Expected<std::vector<int64_t>> computeSizes(const Manifest &manifest,
                                                   const TensorSpec &spec,
                                                   const Problem &problem) {
  Environment environment(manifest.symbols.size());
  for (const auto &[name, value] : problem.names())
    if (std::optional<int> symbol = manifest.symbols.find(name))
      environment[*symbol] = attn::runtime::Value::of(value);
  std::vector<int64_t> sizes;
  int64_t count = 1;
  bool overflow = false;
  for (const Formula &formula : spec.shape) {
    Expected<int64_t> size = formula.evaluateInteger(environment);
    if (!size)
      return Status::unsupported(spec.name + ": " + size.status().message());
    sizes.push_back(*size);
    overflow |= __builtin_mul_overflow(count, *size, &count);
  }
  if (overflow || count > (int64_t(1) << 48))
    return Status::invalidArgument(spec.name + ": expected at most 2^48 "
                                               "elements, but got more");
  return sizes;
}

static std::string printShape(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

static Status fillInput(HostTensor &tensor,
                        const std::optional<NpyArray> &array, uint64_t seed) {
  if (!array) {
    fillNormal(tensor, seed);
    return Status::ok();
  }
  if (array->shape != tensor.sizes)
    return Status::invalidArgument("--in: expected " + tensor.name +
                                   " of shape " + printShape(tensor.sizes) +
                                   ", but got " + printShape(array->shape));
  tensor.isGiven = true;
  return storeNpy(*array, tensor);
}

Expected<Tensors> prepareTensors(const Manifest &manifest,
                                 const std::string &spec,
                                 const TensorOptions &options) {
  Expected<Shape> shape = parseShape(options.shape);
  if (!shape)
    return shape.status();
  Expected<Arrays> arrays = readArrays(manifest, options.in);
  if (!arrays)
    return arrays.status();
  inferShape(manifest, *arrays, *shape);
  Expected<Problem> problem = makeProblem(spec, *shape, options.findIntervals);
  if (!problem)
    return problem.status();
  Tensors tensors;
  tensors.problem = *problem;
  for (size_t t = 0; t < manifest.tensors.size(); ++t) {
    const TensorSpec &tensor = manifest.tensors[t];
    Expected<std::vector<int64_t>> sizes =
        computeSizes(manifest, tensor, tensors.problem);
    if (!sizes)
      return sizes.status();
    tensors.host.push_back(makeHostTensor(tensor, *sizes));
    if (tensor.role == TensorRole::Output)
      continue;
    Status status = fillInput(tensors.host.back(), (*arrays)[t], options.seed);
    if (!status.isOk())
      return status;
  }
  if (Status status = placeTensors(manifest, options, tensors); !status.isOk())
    return status;
  return tensors;
}

} // namespace attnc
