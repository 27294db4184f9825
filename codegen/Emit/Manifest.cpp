//===- Manifest.cpp - The JSON file beside a kernel -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Manifest.h"

#include "codegen/ToNVVM/KernelAbi.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::attn;
using mlir::attn_gpu::KernelParameter;

// The order of keys is for people; that of the tensors is the user's.
using Json = nlohmann::ordered_json;

static std::string nameType(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string sha256(StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                     /*LowerCase=*/true);
}

/// What identifies a build: the same spec may come out of it as other code.
/// The runtime's hashJson computes it anew from what the manifest says.
static std::string hashBuild(const Json &compiler, const Json &schedule,
                             const Json &spec) {
  nlohmann::json build = {
      {"compiler", compiler}, {"schedule", schedule}, {"spec", spec}};
  return sha256(build.dump()).substr(0, 16);
}

namespace {

class Writer {
public:
  Writer(const ManifestHeader &header, const TargetInfo &target,
         const ProblemDescription &problem, const KernelDescription &kernel)
      : header(header), target(target), problem(problem), kernel(kernel) {}

  std::optional<Json> write();
  /// What went wrong.
  std::string error;

private:
  Json writeTensors();
  std::string nameScalar(Type type);
  Json writeScalars();
  Json writeSchedule();
  Json writeFiles();
  std::optional<Json> writeKernel();
  std::string nameSizes(StringRef formula);
  std::optional<Json> writeArgument(const KernelParameter &parameter);
  std::optional<Json> writeArguments();
  Json writeHostArguments();
  Json writeTensorMap(const KernelParameter &parameter);
  Json writeGrid();
  bool hasTensorMap(unsigned tensor);

  const ManifestHeader &header;
  const TargetInfo &target;
  const ProblemDescription &problem;
  const KernelDescription &kernel;
};

} // namespace

/// Memref arguments come first, so a tensor's number is its argument's.
bool Writer::hasTensorMap(unsigned tensor) {
  return llvm::is_contained(kernel.mapOf, std::optional<unsigned>(tensor));
}

Json Writer::writeTensors() {
  Json tensors = Json::object();
  for (auto [number, tensor] : llvm::enumerate(problem.tensors)) {
    // Threads read elements and write registers of 32 bits; the copy engine
    // wants more.
    int64_t bytes = tensor.elementType.getIntOrFloatBitWidth() / 8;
    int64_t byThreads = tensor.isOutput ? std::max<int64_t>(4, bytes) : bytes;
    int64_t alignment =
        hasTensorMap(number) ? TargetInfo::copyAlignment : byThreads;
    if (target.isHost())
      alignment = bytes;
    tensors[tensor.name] = {{"role", tensor.isOutput ? "output" : "input"},
                            {"dtype", nameType(tensor.elementType)},
                            {"dims", tensor.dims},
                            {"shape", tensor.shape},
                            {"alignment", alignment},
                            {"stride_alignment", alignment}};
  }
  return tensors;
}

/// What the user passes: an index is 32 bits wide, whatever computes with it.
std::string Writer::nameScalar(Type type) {
  return type.isIndex() ? "i32" : nameType(type);
}

Json Writer::writeScalars() {
  Json scalars = Json::object();
  for (const ScalarDescription &scalar : problem.scalars) {
    Json &json = scalars[scalar.name] = {{"type", nameScalar(scalar.type)}};
    if (!scalar.defaultValue.empty())
      json["default"] = scalar.defaultValue;
  }
  return scalars;
}

Json Writer::writeSchedule() {
  ScheduleAttr schedule = problem.schedule;
  return {{"style", stringifyStyle(schedule.getStyle()).str()},
          {"rows", schedule.getRows()},
          {"keys", schedule.getKeys()},
          {"workers", schedule.getWorkers()},
          {"query_stages", schedule.getQueryStages()},
          {"stages", schedule.getStages()},
          {"registers", std::vector<int64_t>(schedule.getRegisters().begin(),
                                             schedule.getRegisters().end())},
          {"overlap", schedule.getOverlap()},
          {"rescale_threshold", schedule.getRescaleThreshold()},
          {"persistent", schedule.getPersistent()},
          {"descending", schedule.getDescending()}};
}

Json Writer::writeTensorMap(const KernelParameter &parameter) {
  auto type =
      cast<attn_gpu::TensorMapType>(kernel.arguments[parameter.argument]);
  const TensorDescription &tensor =
      problem.tensors[*kernel.mapOf[parameter.argument]];
  // The driver wants the fastest dimension first.
  std::vector<std::string> order(tensor.dims.rbegin(), tensor.dims.rend());
  std::vector<int64_t> box(type.getBox().rbegin(), type.getBox().rend());
  std::string swizzle =
      type.getSwizzle() == 0 ? "none" : std::to_string(type.getSwizzle()) + "B";
  return {{"type", "tensor_map"},
          {"tensor", tensor.name},
          {"order", order},
          {"box", box},
          {"swizzle", swizzle}};
}

/// `dim(argument, dimension)` by the size's name in the manifest.
std::string Writer::nameSizes(StringRef formula) {
  std::string result;
  while (!formula.empty()) {
    auto [before, after] = formula.split("dim(");
    result += before;
    unsigned argument, dim;
    if (after.consumeInteger(10, argument) || !after.consume_front(", ") ||
        after.consumeInteger(10, dim) || !after.consume_front(")"))
      break;
    result += problem.tensors[argument].shape[dim];
    formula = after;
  }
  return result;
}

std::optional<Json> Writer::writeArgument(const KernelParameter &parameter) {
  using Kind = KernelParameter::Kind;
  unsigned argument = parameter.argument;
  if (parameter.kind == Kind::TensorMap) {
    if (kernel.mapOf[argument] &&
        *kernel.mapOf[argument] < problem.tensors.size())
      return writeTensorMap(parameter);
    error = "expected " + attn_gpu::kMapOfAttr.str() + " on argument " +
            std::to_string(argument);
    return std::nullopt;
  }
  if (parameter.kind == Kind::Scalar) {
    for (const ScalarDescription &scalar : problem.scalars)
      if (scalar.argument == argument)
        return Json{{"type", nameType(parameter.type)},
                    {"value", scalar.passedValue}};
    if (!kernel.formulas[argument].empty())
      return Json{{"type", nameType(parameter.type)},
                  {"value", nameSizes(kernel.formulas[argument])}};
    error = "expected no scalar argument but those of the op and formulas, but "
            "got "
            "argument " +
            std::to_string(argument);
    return std::nullopt;
  }
  if (argument >= problem.tensors.size()) {
    error = "expected no memref but the tensors of the problem, but got "
            "argument " +
            std::to_string(argument);
    return std::nullopt;
  }
  const TensorDescription &tensor = problem.tensors[argument];
  if (parameter.kind == Kind::Pointer)
    return Json{{"type", "ptr"}, {"tensor", tensor.name}};
  std::string type = nameType(parameter.type);
  if (parameter.kind == Kind::Size)
    return Json{{"type", type}, {"value", tensor.shape[parameter.dim]}};
  return Json{{"type", type},
              {"stride",
               {{"tensor", tensor.name}, {"dim", tensor.dims[parameter.dim]}}}};
}

/// Blocks walk the tiles in steps of the grid, so any grid is right and the
/// limit of the hardware costs nothing.
Json Writer::writeGrid() {
  if (target.isHost())
    return {"1", "1", "1"};
  std::string limit =
      problem.schedule.getPersistent() ? "multiprocessors" : "2147483647";
  return {"min(" + problem.tiles + ", " + limit + ")", "1", "1"};
}

/// What describeHostFunction says, for every tensor; then the scalars.
Json Writer::writeHostArguments() {
  Json arguments = Json::array();
  for (const TensorDescription &tensor : problem.tensors) {
    for (int pointer = 0; pointer < 2; ++pointer)
      arguments.push_back({{"type", "ptr"}, {"tensor", tensor.name}});
    arguments.push_back({{"type", "i64"}, {"value", "0"}});
    for (const std::string &size : tensor.shape)
      arguments.push_back({{"type", "i64"}, {"value", size}});
    for (const std::string &dim : tensor.dims)
      arguments.push_back(
          {{"type", "i64"},
           {"stride", {{"tensor", tensor.name}, {"dim", dim}}}});
  }
  for (const ScalarDescription &scalar : problem.scalars)
    arguments.push_back(
        {{"type", scalar.type.isIndex() ? "i64" : nameType(scalar.type)},
         {"value", scalar.passedValue}});
  return arguments;
}

std::optional<Json> Writer::writeArguments() {
  if (target.isHost())
    return writeHostArguments();
  FailureOr<SmallVector<KernelParameter>> parameters =
      attn_gpu::getKernelParameters(kernel.arguments);
  if (failed(parameters)) {
    error = "expected only arguments that kernels can take";
    return std::nullopt;
  }
  Json arguments = Json::array();
  for (const KernelParameter &parameter : *parameters) {
    std::optional<Json> argument = writeArgument(parameter);
    if (!argument)
      return std::nullopt;
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

std::optional<Json> Writer::writeKernel() {
  std::optional<Json> arguments = writeArguments();
  if (!arguments)
    return std::nullopt;
  return Json{
      {"entry", kernel.entry},
      {"arguments", *arguments},
      {"grid", writeGrid()},
      {"block", std::vector<int32_t>(kernel.block.begin(), kernel.block.end())},
      {"dynamic_shared_memory", kernel.sharedBytes}};
}

/// Each file with the digest that tells it from another build's.
Json Writer::writeFiles() {
  Json files = {{"ptx", nullptr},
                {"cubin", nullptr},
                {"ptx_sha256", nullptr},
                {"cubin_sha256", nullptr}};
  // Code for the host is never a file.
  if (!target.isHost()) {
    files["ptx"] = header.fileStem + ".ptx";
    files["ptx_sha256"] = sha256(header.ptx);
  }
  if (!header.cubin.empty()) {
    files["cubin"] = header.fileStem + ".cubin";
    files["cubin_sha256"] = sha256(header.cubin);
  }
  return files;
}

std::optional<Json> Writer::write() {
  std::optional<Json> kernelJson = writeKernel();
  if (!kernelJson)
    return std::nullopt;
  std::string isa = std::to_string(target.ptxVersion / 10) + "." +
                    std::to_string(target.ptxVersion % 10);
  Json spec = Json::parse(header.spec, nullptr, false);
  Json compiler = {{"name", "attnc"},
                   {"version", header.version},
                   {"llvm", LLVM_VERSION_STRING}};
  Json schedule = writeSchedule();
  return Json{
      {"manifest_version", 1},
      {"name", header.name},
      {"spec", spec},
      {"spec_hash", header.specHash},
      {"build_hash", hashBuild(compiler, schedule, spec)},
      {"compiler", compiler},
      {"target", target.name.str()},
      {"ptx_isa", isa},
      {"compute_capability", {target.major, target.minor}},
      {"tensors", writeTensors()},
      {"scalars", writeScalars()},
      {"constraints", problem.constraints},
      {"kernels", Json::array({std::move(*kernelJson)})},
      {"workspace", {{"bytes", "0"}, {"zeroed", false}}},
      {"cost",
       {{"flops", problem.cost.flops}, {"hbm_bytes", problem.cost.hbmBytes}}},
      {"schedule", schedule},
      {"files", writeFiles()},
  };
}

FailureOr<std::string>
mlir::attn::writeManifest(const ManifestHeader &header,
                          const TargetInfo &target,
                          const ProblemDescription &problem,
                          const KernelDescription &kernel, Location location) {
  Writer writer(header, target, problem, kernel);
  std::optional<Json> manifest = writer.write();
  if (!manifest)
    return emitError(location)
           << "no manifest for kernel " << kernel.entry << ": " << writer.error;
  return manifest->dump(2) + "\n";
}
