//===- Compile.cpp - From a problem to a kernel, stage by stage -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Compile.h"

#include "tools/attnc/Dump.h"
#include "tools/attnc/spec/SpecCanonical.h"

#include "codegen/Emit/Assemble.h"
#include "codegen/Emit/EmitPTX.h"
#include "codegen/Emit/Manifest.h"
#include "codegen/Host/EmitHost.h"
#include "codegen/ToNVVM/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

using namespace mlir;

namespace attnc {

namespace {

/// One compilation, from stage to stage.
class Compiler {
public:
  Compiler(const ModuleProblem &problem, const CompileFlags &flags,
           Compiled &result, ConfigurePasses configure)
      : problem(problem), flags(flags), configure(configure),
        dump(flags.dumpTo),
        target(*mlir::attn::lookupTarget(problem.spec.target)), result(result) {
  }

  MaybeFailure compile(Emit last);

private:
  /// A stage's text is wanted for the dump or because it is the last.
  bool isWanted(bool isLast) const { return isLast || dump.enabled(); }
  void keep(const char *fileName, bool isLast, std::string text);
  template <typename Build>
  MaybeFailure lower(Build build, ExitCode code = kFailed);
  MaybeFailure lowerModule(Emit last);
  MaybeFailure lowerToKernel(Emit last);
  MaybeFailure lowerToHost(Emit last);
  MaybeFailure emitText(Emit last);
  MaybeFailure overridePTX();
  MaybeFailure assembleText(bool isRequired);
  MaybeFailure describe();
  MaybeFailure compileStages(Emit last);

  const ModuleProblem &problem;
  const CompileFlags &flags;
  ConfigurePasses configure;
  Dump dump;
  const mlir::attn::TargetInfo &target;
  Compiled &result;

  OwningOpRef<ModuleOp> module;
  mlir::attn::ProblemDescription problemDescription;
  mlir::attn::KernelDescription kernelDescription;
};

} // namespace

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

void Compiler::keep(const char *fileName, bool isLast, std::string text) {
  dump.add(fileName, text);
  if (isLast)
    result.text = std::move(text);
}

/// Runs the passes that `build` adds.
template <typename Build>
MaybeFailure Compiler::lower(Build build, ExitCode code) {
  PassManager manager(module->getContext());
  if (configure)
    configure(manager);
  build(manager);
  if (succeeded(manager.run(*module)))
    return std::nullopt;
  return Failure{code, {}};
}

/// The stages that are MLIR.
MaybeFailure Compiler::lowerModule(Emit last) {
  module = problem.module.get().clone();
  mlir::attn::AttentionOp op;
  module->walk([&](mlir::attn::AttentionOp found) { op = found; });
  auto function = op->getParentOfType<func::FuncOp>();
  result.name = nameKernel(function.getName().str(), flags);
  function.setName(result.name);
  if (isWanted(last == Emit::Attn))
    keep("attn.mlir", last == Emit::Attn, print(*module));
  if (last == Emit::Attn)
    return std::nullopt;

  // No schedule that fits is a limit of the target, not a failure.
  mlir::attn::PipelineOptions options;
  options.target = problem.spec.target;
  options.style = flags.style;
  options.schedules = flags.schedules;
  if (MaybeFailure failure = lower(
          [&](PassManager &manager) {
            mlir::attn::buildSchedulePipeline(manager, options);
          },
          kUnsupported))
    return failure;
  problemDescription = mlir::attn::describeProblem(op);
  result.style = problemDescription.schedule.getStyle();

  if (MaybeFailure failure = lower(
          [](PassManager &manager) { mlir::attn::buildTilePipeline(manager); }))
    return failure;
  if (isWanted(last == Emit::Tiled))
    keep("tiled.mlir", last == Emit::Tiled, print(*module));
  return std::nullopt;
}

/// The stages of a kernel that are MLIR.
MaybeFailure Compiler::lowerToKernel(Emit last) {
  if (MaybeFailure failure = lower([](PassManager &manager) {
        mlir::attn::buildKernelPipeline(manager);
      }))
    return failure;
  if (isWanted(last == Emit::Kernel))
    keep("kernel.mlir", last == Emit::Kernel, print(*module));
  if (last == Emit::Kernel)
    return std::nullopt;
  module->walk([&](gpu::GPUFuncOp kernel) {
    kernelDescription = mlir::attn::describeKernel(kernel);
  });

  if (MaybeFailure failure = lower([](PassManager &manager) {
        manager.addNestedPass<gpu::GPUModuleOp>(
            attn_gpu::createConvertAttnToNVVMPass());
      }))
    return failure;
  if (isWanted(last == Emit::NVVM))
    keep("nvvm.mlir", last == Emit::NVVM, print(*module));
  return std::nullopt;
}

/// All stages behind tiles on the CPU.
MaybeFailure Compiler::lowerToHost(Emit last) {
  if (MaybeFailure failure = lower(
          [](PassManager &manager) { mlir::attn::buildHostPipeline(manager); }))
    return failure;
  if (dump.enabled())
    dump.add("llvm.mlir", print(*module));
  llvm::LLVMContext llvmContext;
  auto llvmModule =
      mlir::attn::translateToHost(*module, result.name, llvmContext);
  if (failed(llvmModule))
    return Failure{kFailed, {}};
  llvm::raw_string_ostream stream(result.hostIR);
  (*llvmModule)->print(stream, nullptr);
  keep("host.ll", last == Emit::LLVM, result.hostIR);
  if (last == Emit::LLVM)
    return std::nullopt;
  kernelDescription = mlir::attn::describeHostFunction(result.name);
  return describe();
}

/// The stages that are LLVM's.
MaybeFailure Compiler::emitText(Emit last) {
  auto kernels = module->getOps<gpu::GPUModuleOp>();
  if (kernels.empty())
    return Failure{kFailed, {"expected a kernel, but the passes made none"}};
  gpu::GPUModuleOp kernel = *kernels.begin();
  if (failed(mlir::attn::addLoweredKernel(kernel, kernelDescription)))
    return Failure{kFailed, {}};
  llvm::LLVMContext llvmContext;
  auto llvmModule = mlir::attn::translateToLLVM(kernel, target, llvmContext);
  if (failed(llvmModule))
    return Failure{kFailed, {}};
  if (isWanted(last == Emit::LLVM)) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*llvmModule)->print(stream, nullptr);
    keep("kernel.ll", last == Emit::LLVM, std::move(text));
  }
  if (last == Emit::LLVM)
    return std::nullopt;
  mlir::attn::EmitOptions options;
  options.reduceStrength = problemDescription.schedule.getReduceStrength();
  FailureOr<std::string> ptx =
      mlir::attn::emitPTX(**llvmModule, target, options, kernel);
  if (failed(ptx))
    return Failure{kFailed, {}};
  result.ptx = std::move(*ptx);
  dump.add("kernel.ptx", result.ptx);
  return std::nullopt;
}

MaybeFailure Compiler::overridePTX() {
  auto buffer = llvm::MemoryBuffer::getFile(flags.ptxOverride);
  if (!buffer)
    return Failure{kInvalid,
                   {"--ptx-override: expected to read '" + flags.ptxOverride +
                    "', but got: " + buffer.getError().message()}};
  llvm::StringRef text = (*buffer)->getBuffer();
  if (!text.contains(".entry " + result.name + "("))
    return Failure{kInvalid,
                   {"--ptx-override: expected a kernel named " + result.name +
                    " in '" + flags.ptxOverride + "', but got none"}};
  result.ptx = text.str();
  dump.add("override.ptx", result.ptx);
  return std::nullopt;
}

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A wrong ptxas is the user's to change, bad PTX is ours.
static Failure explainAssembler(llvm::Error error) {
  Failure failure;
  llvm::handleAllErrors(std::move(error), [&](const llvm::StringError &text) {
    failure.messages.push_back(text.getMessage());
    if (text.convertToErrorCode() == std::errc::invalid_argument)
      failure.code = kInvalid;
  });
  return failure;
}

/// With `isRequired`, the result's cubin or an error; otherwise only the dump
/// gains by it, and what is found out is at most a warning.
MaybeFailure Compiler::assembleText(bool isRequired) {
  auto fail = [&](Failure failure) -> MaybeFailure {
    if (isRequired)
      return failure;
    llvm::append_range(result.warnings, failure.messages);
    return std::nullopt;
  };
  mlir::attn::PtxasSearch search{flags.ptxasPath, environment("PTXAS"),
                                 environment("CUDA_HOME")};
  llvm::Expected<std::string> ptxas = mlir::attn::findPtxas(search);
  if (!ptxas)
    return fail({kInvalid, {llvm::toString(ptxas.takeError())}});
  llvm::Expected<mlir::attn::Assembly> assembly =
      mlir::attn::assemble(*ptxas, result.ptx, target);
  if (!assembly)
    return fail(explainAssembler(assembly.takeError()));
  dump.add("ptxas.log", assembly->log);
  if (dump.enabled())
    if (std::string sass = disassemble(assembly->cubin, *ptxas); !sass.empty())
      dump.add("kernel.sass", sass);
  if (std::string reason = mlir::attn::checkPtxasReport(assembly->report);
      !reason.empty())
    return fail({kFailed, {reason}});
  if (isRequired)
    result.cubin = std::move(assembly->cubin);
  return std::nullopt;
}

/// Writes the manifest, for which everything is known now.
MaybeFailure Compiler::describe() {
  nlohmann::json canonical = problem.canonical();
  mlir::attn::ManifestHeader header;
  header.name = result.name;
  header.spec = canonical.dump();
  header.specHash = specHash(canonical);
  header.version = ATTN_VERSION;
  header.fileStem = flags.fileStem.empty() ? result.name : flags.fileStem;
  header.ptx = result.ptx;
  header.cubin = result.cubin;
  FailureOr<std::string> manifest = mlir::attn::writeManifest(
      header, target, problemDescription, kernelDescription, module->getLoc());
  if (failed(manifest))
    return Failure{kFailed, {}};
  result.manifest = std::move(*manifest);
  dump.add("manifest.json", result.manifest);
  return std::nullopt;
}

MaybeFailure Compiler::compileStages(Emit last) {
  if (MaybeFailure failure = lowerModule(last))
    return failure;
  if (last <= Emit::Tiled)
    return std::nullopt;
  if (target.isHost())
    return lowerToHost(last);
  if (MaybeFailure failure = lowerToKernel(last))
    return failure;
  if (last == Emit::Kernel || last == Emit::NVVM)
    return std::nullopt;
  if (MaybeFailure failure = emitText(last))
    return failure;
  if (last == Emit::LLVM)
    return std::nullopt;
  if (!flags.ptxOverride.empty())
    if (MaybeFailure failure = overridePTX())
      return failure;
  if (last == Emit::PTX)
    result.text = result.ptx;
  // A named ptxas is there to be used. A dump alone changes no result.
  bool wantsCubin = last == Emit::Cubin || !flags.ptxasPath.empty();
  if (wantsCubin || dump.enabled())
    if (MaybeFailure failure = assembleText(wantsCubin))
      return failure;
  return describe();
}

MaybeFailure Compiler::compile(Emit last) {
  MaybeFailure failure = compileStages(last);
  if (!dump.errors().empty() && !failure)
    return Failure{kInvalid, dump.errors()};
  return failure;
}

std::string nameKernel(std::string name, const CompileFlags &flags) {
  return flags.style.empty() ? name : name + "_" + flags.style;
}

MaybeFailure compileProblem(const ModuleProblem &problem,
                            const CompileFlags &flags, Emit last,
                            Compiled &result, ConfigurePasses configure) {
  return Compiler(problem, flags, result, configure).compile(last);
}

} // namespace attnc
