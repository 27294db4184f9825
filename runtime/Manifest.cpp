//===- Manifest.cpp - The JSON file beside a kernel -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Manifest.h"

#include "runtime/Json.h"
#include "runtime/ManifestRules.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace attn::runtime {

std::optional<int> TensorSpec::findDim(std::string_view dim) const {
  auto it = std::find(dims.begin(), dims.end(), dim);
  if (it == dims.end())
    return std::nullopt;
  return static_cast<int>(it - dims.begin());
}

template <typename T>
static std::optional<int> findByName(const std::vector<T> &list,
                                     std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return static_cast<int>(i);
  return std::nullopt;
}

std::optional<int> Manifest::findTensor(std::string_view tensorName) const {
  return findByName(tensors, tensorName);
}

std::optional<int> Manifest::findScalar(std::string_view scalarName) const {
  return findByName(scalars, scalarName);
}

size_t elementSize(ElementType element) {
  switch (element) {
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
    return 8;
  case ElementType::U8:
    return 1;
  }
  return 0;
}

namespace {

/// A place in the manifest, with the path that messages name.
struct Node {
  const Json *value;
  std::string path;
};

/// Keeps the first error and hands out harmless defaults after it, so that the
/// code below reads like the format and checks once at the end.
class Reader {
public:
  explicit Reader(Manifest &manifest) : manifest_(manifest) {}

  Status status() const {
    return error_.empty() ? Status::ok() : Status::invalidArgument(error_);
  }

  void read(const Json &root);

private:
  void fail(const std::string &path, const std::string &expected,
            const std::string &got) {
    if (error_.empty())
      error_ = "manifest: " + (path.empty() ? "" : path + ": ") + "expected " +
               expected + ", but got " + got;
  }
  void fail(const Node &node, const std::string &expected) {
    std::string got =
        node.value->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (got.size() > 60)
      got = got.substr(0, 57) + "...";
    fail(node.path, expected, got);
  }

  // Navigation.
  bool isObject(const Node &node);
  bool isArray(const Node &node, size_t minSize, size_t maxSize);
  bool has(const Node &node, const char *key) {
    return node.value->is_object() && node.value->contains(key) &&
           !(*node.value)[key].is_null();
  }
  Node get(const Node &node, const char *key);
  Node at(const Node &node, size_t index) {
    return {&(*node.value)[index],
            node.path + "[" + std::to_string(index) + "]"};
  }
  void allowKeys(const Node &node, std::initializer_list<const char *> keys);

  // Leaves.
  std::string string(const Node &node);
  int64_t integer(const Node &node, int64_t low, int64_t high);
  int64_t powerOfTwo(const Node &node);
  std::string hexadecimal(const Node &node, size_t digits);
  std::string fileName(const Node &node);
  bool boolean(const Node &node);
  std::optional<Formula> formula(const Node &node);
  std::vector<Formula> formulas(const Node &node, size_t minSize,
                                size_t maxSize);
  template <typename T>
  T choice(const Node &node,
           std::initializer_list<std::pair<const char *, T>> values);

  // The format, top down.
  void readSpec(const Node &node);
  void readHeader(const Node &root);
  void readFiles(const Node &node);
  void readCost(const Node &node);
  void readTensor(const std::string &name, const Node &node);
  void readScalar(const std::string &name, const Node &node);
  void readKernel(const Node &node);
  void readBlock(const Node &node, Dim3 &block);
  ArgumentSpec readArgument(const Node &node);
  void readTensorMap(const Node &node, ArgumentSpec &argument);
  void readNumber(const Node &node, ArgumentSpec &argument);
  int tensorReference(const Node &node);
  int dimReference(const Node &node, int tensor);
  void readWorkspace(const Node &node);
  void checkSymbols();

  static constexpr size_t kMaxList = 64;
  Manifest &manifest_;
  Json null_;
  std::string error_;
};

} // namespace

//===----------------------------------------------------------------------===//
// Navigation and leaves
//===----------------------------------------------------------------------===//

bool Reader::isObject(const Node &node) {
  if (node.value->is_object())
    return true;
  fail(node, "an object");
  return false;
}

bool Reader::isArray(const Node &node, size_t minSize, size_t maxSize) {
  if (node.value->is_array() && node.value->size() >= minSize &&
      node.value->size() <= maxSize)
    return true;
  fail(node, "a list of " + std::to_string(minSize) + " to " +
                 std::to_string(maxSize) + " elements");
  return false;
}

Node Reader::get(const Node &node, const char *key) {
  std::string path = node.path.empty() ? key : node.path + "." + key;
  if (!has(node, key)) {
    fail(path, "a value", "nothing");
    return {&null_, path};
  }
  return {&(*node.value)[key], path};
}

/// A key that this version does not know could change what a launch means, so
/// it is never skipped.
void Reader::allowKeys(const Node &node,
                       std::initializer_list<const char *> keys) {
  if (!isObject(node))
    return;
  for (const auto &item : node.value->items())
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
      fail(node.path, "no key of that name", "'" + item.key() + "'");
}

std::string Reader::string(const Node &node) {
  if (node.value->is_string() &&
      !node.value->get_ref<const std::string &>().empty())
    return node.value->get<std::string>();
  fail(node, "a string");
  return {};
}

int64_t Reader::integer(const Node &node, int64_t low, int64_t high) {
  const Json &value = *node.value;
  bool fits = value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.get<uint64_t>() <= uint64_t(INT64_MAX));
  if (fits && value.get<int64_t>() >= low && value.get<int64_t>() <= high)
    return value.get<int64_t>();
  fail(node, "an integer in [" + std::to_string(low) + ", " +
                 std::to_string(high) + "]");
  return low;
}

/// Of an alignment in bytes.
int64_t Reader::powerOfTwo(const Node &node) {
  int64_t value = integer(node, 1, 4096);
  if ((value & (value - 1)) != 0)
    fail(node, "a power of 2");
  return value;
}

std::string Reader::hexadecimal(const Node &node, size_t digits) {
  std::string text = string(node);
  if (text.size() != digits ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos)
    fail(node, std::to_string(digits) + " hexadecimal digits");
  return text;
}

/// Of a file beside the manifest, and nowhere else.
std::string Reader::fileName(const Node &node) {
  std::string text = string(node);
  if (text.find('/') != std::string::npos)
    fail(node, "a file name without a folder");
  return text;
}

bool Reader::boolean(const Node &node) {
  if (node.value->is_boolean())
    return node.value->get<bool>();
  fail(node, "true or false");
  return false;
}

/// A formula is a string; a plain number says the same as its digits.
std::optional<Formula> Reader::formula(const Node &node) {
  std::string text;
  if (node.value->is_number())
    text = node.value->dump();
  else
    text = string(node);
  if (!error_.empty())
    return std::nullopt;
  Expected<Formula> parsed = Formula::parse(text, manifest_.symbols);
  if (parsed)
    return std::move(*parsed);
  error_ = "manifest: " + node.path + ": " + parsed.status().message();
  return std::nullopt;
}

std::vector<Formula> Reader::formulas(const Node &node, size_t minSize,
                                      size_t maxSize) {
  std::vector<Formula> result;
  if (!isArray(node, minSize, maxSize))
    return result;
  for (size_t i = 0; i < node.value->size(); ++i)
    if (std::optional<Formula> parsed = formula(at(node, i)))
      result.push_back(std::move(*parsed));
  return result;
}

template <typename T>
T Reader::choice(const Node &node,
                 std::initializer_list<std::pair<const char *, T>> values) {
  std::string names;
  for (const auto &[name, value] : values) {
    if (node.value->is_string() && *node.value == name)
      return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  fail(node, "one of " + names);
  return values.begin()->second;
}

//===----------------------------------------------------------------------===//
// The format
//===----------------------------------------------------------------------===//

/// The spec is the compiler's; only the mask matters here, for costs.
void Reader::readSpec(const Node &node) {
  manifest_.specText = node.value->dump();
  if (!has(node, "mask"))
    return;
  Node mask = get(node, "mask");
  if (has(mask, "alignment"))
    manifest_.mask.bottomRight =
        string(get(mask, "alignment")) == "bottom_right";
  if (has(mask, "kind") && string(get(mask, "kind")) == "causal")
    manifest_.mask.right = 0;
}

void Reader::readFiles(const Node &node) {
  allowKeys(node, {"ptx", "cubin", "ptx_sha256", "cubin_sha256"});
  constexpr size_t kDigits = 64;
  if (has(node, "ptx")) {
    manifest_.ptxFile = fileName(get(node, "ptx"));
    manifest_.ptxDigest = hexadecimal(get(node, "ptx_sha256"), kDigits);
  }
  if (has(node, "cubin")) {
    manifest_.cubinFile = fileName(get(node, "cubin"));
    manifest_.cubinDigest = hexadecimal(get(node, "cubin_sha256"), kDigits);
  }
}

void Reader::readCost(const Node &node) {
  allowKeys(node, {"flops", "hbm_bytes"});
  if (has(node, "flops"))
    manifest_.flops = formula(get(node, "flops"));
  if (has(node, "hbm_bytes"))
    manifest_.hbmBytes = formula(get(node, "hbm_bytes"));
}

void Reader::readHeader(const Node &root) {
  // The version goes first: another version may differ in everything else.
  integer(get(root, "manifest_version"), 1, 1);
  if (!error_.empty())
    return;
  allowKeys(root, {"manifest_version", "name", "spec", "spec_hash",
                   "build_hash", "compiler", "target", "ptx_isa",
                   "compute_capability", "tensors", "scalars", "constraints",
                   "kernels", "workspace", "cost", "schedule", "files"});
  manifest_.name = string(get(root, "name"));
  manifest_.target = string(get(root, "target"));
  if (has(root, "ptx_isa"))
    string(get(root, "ptx_isa"));
  Node capability = get(root, "compute_capability");
  if (isArray(capability, 2, 2)) {
    manifest_.major = integer(at(capability, 0), 0, 99);
    manifest_.minor = integer(at(capability, 1), 0, 99);
  }
  constexpr size_t kDigits = 16;
  manifest_.specHash = hexadecimal(get(root, "spec_hash"), kDigits);
  manifest_.buildHash = hexadecimal(get(root, "build_hash"), kDigits);
  isObject(get(root, "compiler"));
  if (isObject(get(root, "spec")))
    readSpec(get(root, "spec"));
  if (isObject(get(root, "schedule")))
    manifest_.scheduleText = get(root, "schedule").value->dump();
  readFiles(get(root, "files"));
  if (has(root, "cost"))
    readCost(get(root, "cost"));
}

static bool isDeviceDtype(const std::string &dtype, ElementType &element) {
  static const std::pair<const char *, ElementType> kTable[] = {
      {"f16", ElementType::F16}, {"bf16", ElementType::BF16},
      {"f32", ElementType::F32}, {"f64", ElementType::F64},
      {"i32", ElementType::I32}, {"bool", ElementType::U8},
      {"u8", ElementType::U8},   {"e4m3", ElementType::U8},
  };
  for (const auto &[name, value] : kTable)
    if (dtype == name) {
      element = value;
      return true;
    }
  return false;
}

void Reader::readTensor(const std::string &name, const Node &node) {
  allowKeys(node, {"role", "dtype", "dims", "shape", "alignment",
                   "stride_alignment"});
  TensorSpec tensor;
  tensor.name = name;
  tensor.role =
      choice<TensorRole>(get(node, "role"), {{"input", TensorRole::Input},
                                             {"output", TensorRole::Output}});
  tensor.dtype = string(get(node, "dtype"));
  if (!isDeviceDtype(tensor.dtype, tensor.element))
    fail(get(node, "dtype"), "one of f16, bf16, f32, f64, i32, u8, bool, e4m3");
  Node dims = get(node, "dims");
  if (isArray(dims, 1, kMaxRank))
    for (size_t i = 0; i < dims.value->size(); ++i) {
      std::string dim = string(at(dims, i));
      if (tensor.findDim(dim))
        fail(at(dims, i), "each dimension once");
      tensor.dims.push_back(std::move(dim));
    }
  tensor.shape =
      formulas(get(node, "shape"), tensor.dims.size(), tensor.dims.size());
  if (has(node, "alignment"))
    tensor.alignment = powerOfTwo(get(node, "alignment"));
  if (has(node, "stride_alignment"))
    tensor.strideAlignment = powerOfTwo(get(node, "stride_alignment"));
  manifest_.tensors.push_back(std::move(tensor));
}

void Reader::readScalar(const std::string &name, const Node &node) {
  allowKeys(node, {"type", "default"});
  ScalarSpec scalar;
  scalar.name = name;
  scalar.symbol = manifest_.symbols.intern(name);
  scalar.type =
      choice<ScalarType>(get(node, "type"), {{"f32", ScalarType::F32},
                                             {"f64", ScalarType::F64},
                                             {"i32", ScalarType::I32}});
  if (has(node, "default"))
    scalar.defaultValue = formula(get(node, "default"));
  manifest_.scalars.push_back(std::move(scalar));
}

int Reader::tensorReference(const Node &node) {
  std::string name = string(node);
  if (std::optional<int> tensor = manifest_.findTensor(name))
    return *tensor;
  fail(node, "the name of a tensor");
  return -1;
}

int Reader::dimReference(const Node &node, int tensor) {
  std::string name = string(node);
  if (tensor < 0)
    return 0;
  if (std::optional<int> dim = manifest_.tensors[tensor].findDim(name))
    return *dim;
  fail(node, "a dimension of " + manifest_.tensors[tensor].name);
  return 0;
}

void Reader::readTensorMap(const Node &node, ArgumentSpec &argument) {
  allowKeys(node, {"type", "tensor", "order", "box", "swizzle", "meaning"});
  argument.tensor = tensorReference(get(node, "tensor"));
  if (argument.tensor < 0)
    return;
  TensorMapRecipe &map = argument.map;
  size_t rank = manifest_.tensors[argument.tensor].dims.size();
  Node order = get(node, "order"), box = get(node, "box");
  if (!isArray(order, rank, rank) || !isArray(box, rank, rank))
    return;
  for (size_t i = 0; i < rank; ++i) {
    int dim = dimReference(at(order, i), argument.tensor);
    if (std::find(map.order.begin(), map.order.end(), dim) != map.order.end())
      fail(order, "each dimension once");
    map.order.push_back(dim);
    map.box[i] = integer(at(box, i), 1, 256);
  }
  // The fastest dimension has no stride of its own in a tensor map.
  if (map.order[0] != static_cast<int>(rank) - 1)
    fail(at(order, 0), "the last dimension of the tensor");
  map.swizzle = choice<TensorMapSwizzle>(get(node, "swizzle"),
                                         {{"none", TensorMapSwizzle::None},
                                          {"32B", TensorMapSwizzle::B32},
                                          {"64B", TensorMapSwizzle::B64},
                                          {"128B", TensorMapSwizzle::B128}});
}

/// An i32, i64, f32 or f64: a formula, or the stride of a dimension.
void Reader::readNumber(const Node &node, ArgumentSpec &argument) {
  allowKeys(node, {"type", "value", "stride", "meaning"});
  if (!has(node, "stride")) {
    argument.value = formula(get(node, "value"));
    return;
  }
  Node stride = get(node, "stride");
  allowKeys(stride, {"tensor", "dim"});
  bool isFloat = argument.kind == ArgumentKind::Float32 ||
                 argument.kind == ArgumentKind::Float64;
  if (has(node, "value") || isFloat)
    fail(node, "a value or an integer stride");
  argument.tensor = tensorReference(get(stride, "tensor"));
  argument.strideDim = dimReference(get(stride, "dim"), argument.tensor);
}

ArgumentSpec Reader::readArgument(const Node &node) {
  ArgumentSpec argument;
  if (!isObject(node))
    return argument;
  argument.kind = choice<ArgumentKind>(
      get(node, "type"), {{"ptr", ArgumentKind::TensorPointer},
                          {"i32", ArgumentKind::Int32},
                          {"i64", ArgumentKind::Int64},
                          {"f32", ArgumentKind::Float32},
                          {"f64", ArgumentKind::Float64},
                          {"tensor_map", ArgumentKind::TensorMap}});
  if (argument.kind == ArgumentKind::TensorMap) {
    readTensorMap(node, argument);
  } else if (argument.kind != ArgumentKind::TensorPointer) {
    readNumber(node, argument);
  } else if (has(node, "workspace")) {
    allowKeys(node, {"type", "workspace", "meaning"});
    argument.kind = ArgumentKind::WorkspacePointer;
    argument.value = formula(get(node, "workspace"));
  } else {
    allowKeys(node, {"type", "tensor", "meaning"});
    argument.tensor = tensorReference(get(node, "tensor"));
  }
  return argument;
}

void Reader::readBlock(const Node &node, Dim3 &block) {
  if (!isArray(node, 3, 3))
    return;
  block.x = integer(at(node, 0), 1, 1024);
  block.y = integer(at(node, 1), 1, 1024);
  block.z = integer(at(node, 2), 1, 64);
  if (uint64_t(block.x) * block.y * block.z > 1024)
    fail(node, "at most 1024 threads");
}

void Reader::readKernel(const Node &node) {
  allowKeys(node,
            {"entry", "arguments", "grid", "block", "dynamic_shared_memory"});
  KernelSpec kernel;
  kernel.entry = string(get(node, "entry"));
  Node arguments = get(node, "arguments");
  if (isArray(arguments, 0, kMaxList))
    for (size_t i = 0; i < arguments.value->size(); ++i)
      kernel.arguments.push_back(readArgument(at(arguments, i)));
  kernel.grid = formulas(get(node, "grid"), 3, 3);
  readBlock(get(node, "block"), kernel.block);
  if (has(node, "dynamic_shared_memory"))
    kernel.dynamicSharedBytes =
        integer(get(node, "dynamic_shared_memory"), 0, 1 << 20);
  manifest_.kernels.push_back(std::move(kernel));
}

void Reader::readWorkspace(const Node &node) {
  allowKeys(node, {"bytes", "zeroed"});
  manifest_.workspaceBytes = formula(get(node, "bytes"));
  if (has(node, "zeroed"))
    manifest_.workspaceZeroed = boolean(get(node, "zeroed"));
}

/// Every name in a formula must get its value from somewhere: a tensor whose
/// dimension it is, a scalar, the device, or the mask.
void Reader::checkSymbols() {
  Symbols &symbols = manifest_.symbols;
  std::vector<bool> known(symbols.size());
  for (const TensorSpec &tensor : manifest_.tensors)
    for (const Formula &size : tensor.shape)
      if (std::optional<int> symbol = size.asSymbol())
        known[*symbol] = true;
  for (const ScalarSpec &scalar : manifest_.scalars) {
    if (known[scalar.symbol])
      fail("scalars", "names that are no sizes", "'" + scalar.name + "'");
    known[scalar.symbol] = true;
  }
  manifest_.multiprocessorsSymbol = symbols.find("multiprocessors");
  manifest_.visiblePairsSymbol = symbols.find("visible_pairs");
  for (auto symbol :
       {manifest_.multiprocessorsSymbol, manifest_.visiblePairsSymbol})
    if (symbol)
      known[*symbol] = true;
  for (int i = 0; i < symbols.size(); ++i)
    if (!known[i])
      fail("formulas",
           "names of tensor sizes, scalars, multiprocessors or visible_pairs",
           "'" + symbols.name(i) + "'");
}

void Reader::read(const Json &root) {
  Node top{&root, ""};
  if (!root.is_object())
    return fail("the file", "an object", root.type_name());
  readHeader(top);
  if (!error_.empty())
    return;
  Node tensors = get(top, "tensors");
  if (isObject(tensors))
    for (const auto &item : tensors.value->items())
      readTensor(item.key(), {&item.value(), "tensors." + item.key()});
  if (has(top, "scalars") && isObject(get(top, "scalars")))
    for (const auto &item : get(top, "scalars").value->items())
      readScalar(item.key(), {&item.value(), "scalars." + item.key()});
  if (has(top, "constraints"))
    manifest_.constraints = formulas(get(top, "constraints"), 0, kMaxList);
  if (has(top, "workspace"))
    readWorkspace(get(top, "workspace"));
  Node kernels = get(top, "kernels");
  if (isArray(kernels, 1, kMaxList))
    for (size_t i = 0; i < kernels.value->size(); ++i)
      readKernel(at(kernels, i));
  if (error_.empty())
    checkSymbols();
}

Expected<Manifest> parseManifest(std::string_view text) {
  Expected<Json> root = parseJson(text, "manifest");
  if (!root)
    return root.status();
  Manifest manifest;
  manifest.text = text;
  Reader reader(manifest);
  reader.read(*root);
  if (!reader.status().isOk())
    return reader.status();
  if (Status status = checkManifestRules(*root, manifest); !status.isOk())
    return status;
  return manifest;
}

} // namespace attn::runtime
