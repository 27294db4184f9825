//===- Compile.cpp - From a problem to a kernel, stage by stage -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Compile.h"

#include "tools/attnc/Dump.h"
#include "tools/attnc/SpecCanonical.h"

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
  Compiler(Session &session, const ModuleProblem &problem,
           const CompileFlags &flags, Compiled &result)
      : session(session), problem(problem), flags(flags), dump(flags.dumpTo),
        target(*mlir::attn::lookupTarget(problem.spec.target)), result(result) {
  }

  int compile(Emit last);

private:
  /// A stage's text is wanted for the dump or because it is the last.
  bool isWanted(bool isLast) const { return isLast || dump.enabled(); }
  void keep(const char *fileName, bool isLast, std::string text);
  template <typename Build>
  int lower(Build build);
  int lowerModule(Emit last);
  int lowerToKernel(Emit last);
  int lowerToHost(Emit last);
  int emitText(Emit last);
  int overridePTX();
  int assembleText(bool isRequired);
  int describe();

  Session &session;
  const ModuleProblem &problem;
  const CompileFlags &flags;
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
int Compiler::lower(Build build) {
  PassManager manager(&session.context());
  // Without MLIR flags there is nothing to apply, and this says so by failing.
  (void)applyPassManagerCLOptions(manager);
  applyDefaultTimingPassManagerCLOptions(manager);
  build(manager);
  return succeeded(manager.run(*module)) ? kOk : kFailed;
}

/// The stages that are MLIR.
int Compiler::lowerModule(Emit last) {
  module = buildModule(session.context(), problem.spec, problem.schedule);
  mlir::attn::AttentionOp op;
  module->walk([&](mlir::attn::AttentionOp found) { op = found; });
  auto function = op->getParentOfType<func::FuncOp>();
  result.name = nameKernel(function.getName().str(), flags);
  function.setName(result.name);
  if (isWanted(last == Emit::Attn))
    keep("attn.mlir", last == Emit::Attn, print(*module));
  if (last == Emit::Attn)
    return kOk;

  // No schedule that fits is a limit of the target, not a failure.
  mlir::attn::PipelineOptions options;
  options.target = problem.spec.target;
  options.style = flags.style;
  if (lower([&](PassManager &manager) {
        mlir::attn::buildSchedulePipeline(manager, options);
      }) != kOk)
    return kUnsupported;
  problemDescription = mlir::attn::describeProblem(op);
  result.style = problemDescription.schedule.getStyle();

  if (int code = lower(
          [](PassManager &manager) { mlir::attn::buildTilePipeline(manager); }))
    return code;
  if (isWanted(last == Emit::Tiled))
    keep("tiled.mlir", last == Emit::Tiled, print(*module));
  return kOk;
}

/// The stages of a kernel that are MLIR.
int Compiler::lowerToKernel(Emit last) {
  if (int code = lower([](PassManager &manager) {
        mlir::attn::buildKernelPipeline(manager);
      }))
    return code;
  if (isWanted(last == Emit::Kernel))
    keep("kernel.mlir", last == Emit::Kernel, print(*module));
  if (last == Emit::Kernel)
    return kOk;
  module->walk([&](gpu::GPUFuncOp kernel) {
    kernelDescription = mlir::attn::describeKernel(kernel);
  });

  if (int code = lower([](PassManager &manager) {
        manager.addNestedPass<gpu::GPUModuleOp>(
            attn_gpu::createConvertAttnToNVVMPass());
      }))
    return code;
  if (isWanted(last == Emit::NVVM))
    keep("nvvm.mlir", last == Emit::NVVM, print(*module));
  return kOk;
}

/// All stages behind tiles on the CPU.
int Compiler::lowerToHost(Emit last) {
  if (int code = lower(
          [](PassManager &manager) { mlir::attn::buildHostPipeline(manager); }))
    return code;
  if (dump.enabled())
    dump.add("llvm.mlir", print(*module));
  llvm::LLVMContext llvmContext;
  auto llvmModule =
      mlir::attn::translateToHost(*module, result.name, llvmContext);
  if (failed(llvmModule))
    return kFailed;
  llvm::raw_string_ostream stream(result.hostIR);
  (*llvmModule)->print(stream, nullptr);
  keep("host.ll", last == Emit::LLVM, result.hostIR);
  if (last == Emit::LLVM)
    return kOk;
  kernelDescription = mlir::attn::describeHostFunction(result.name);
  return describe();
}

/// The stages that are LLVM's.
int Compiler::emitText(Emit last) {
  auto kernels = module->getOps<gpu::GPUModuleOp>();
  if (kernels.empty())
    return reportErrors({"expected a kernel, but the passes made none"},
                        kFailed);
  gpu::GPUModuleOp kernel = *kernels.begin();
  if (failed(mlir::attn::addLoweredKernel(kernel, kernelDescription)))
    return kFailed;
  llvm::LLVMContext llvmContext;
  auto llvmModule = mlir::attn::translateToLLVM(kernel, target, llvmContext);
  if (failed(llvmModule))
    return kFailed;
  if (isWanted(last == Emit::LLVM)) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*llvmModule)->print(stream, nullptr);
    keep("kernel.ll", last == Emit::LLVM, std::move(text));
  }
  if (last == Emit::LLVM)
    return kOk;
  FailureOr<std::string> ptx =
      mlir::attn::emitPTX(**llvmModule, target, kernel);
  if (failed(ptx))
    return kFailed;
  result.ptx = std::move(*ptx);
  dump.add("kernel.ptx", result.ptx);
  return kOk;
}

int Compiler::overridePTX() {
  auto buffer = llvm::MemoryBuffer::getFile(flags.ptxOverride);
  if (!buffer)
    return reportErrors({"--ptx-override: expected to read '" +
                         flags.ptxOverride +
                         "', but got: " + buffer.getError().message()},
                        kInvalid);
  llvm::StringRef text = (*buffer)->getBuffer();
  if (!text.contains(".entry " + result.name + "("))
    return reportErrors({"--ptx-override: expected a kernel named " +
                         result.name + " in '" + flags.ptxOverride +
                         "', but got none"},
                        kInvalid);
  result.ptx = text.str();
  dump.add("override.ptx", result.ptx);
  return kOk;
}

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A wrong ptxas is the user's to change, bad PTX is ours.
static std::pair<std::string, int> explainAssembler(llvm::Error error) {
  int code = kFailed;
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::StringError &text) {
    message = text.getMessage();
    if (text.convertToErrorCode() == std::errc::invalid_argument)
      code = kInvalid;
  });
  return {message, code};
}

/// With `isRequired`, the result's cubin or an error; otherwise only the dump
/// gains by it, and what is found out is at most a warning.
int Compiler::assembleText(bool isRequired) {
  auto fail = [&](const std::string &reason, int code) {
    if (isRequired)
      return reportErrors({reason}, code);
    llvm::errs() << "warning: " << reason << "\n";
    return static_cast<int>(kOk);
  };
  mlir::attn::PtxasSearch search{flags.ptxasPath, environment("PTXAS"),
                                 environment("CUDA_HOME")};
  llvm::Expected<std::string> ptxas = mlir::attn::findPtxas(search);
  if (!ptxas)
    return fail(llvm::toString(ptxas.takeError()), kInvalid);
  llvm::Expected<mlir::attn::Assembly> assembly =
      mlir::attn::assemble(*ptxas, result.ptx, target);
  if (!assembly) {
    auto [reason, code] = explainAssembler(assembly.takeError());
    return fail(reason, code);
  }
  dump.add("ptxas.log", assembly->log);
  if (dump.enabled())
    if (std::string sass = disassemble(assembly->cubin, *ptxas); !sass.empty())
      dump.add("kernel.sass", sass);
  if (std::string reason = mlir::attn::checkPtxasReport(assembly->report);
      !reason.empty())
    return fail(reason, kFailed);
  if (isRequired)
    result.cubin = std::move(assembly->cubin);
  return kOk;
}

/// Writes the manifest, for which everything is known now.
int Compiler::describe() {
  nlohmann::json canonical = canonicalSpec(problem.spec);
  mlir::attn::ManifestHeader header;
  header.name = result.name;
  header.spec = canonical.dump();
  header.specHash = specHash(canonical);
  header.version = ATTN_VERSION;
  header.fileStem = flags.fileStem.empty() ? result.name : flags.fileStem;
  header.hasCubin = !result.cubin.empty();
  FailureOr<std::string> manifest = mlir::attn::writeManifest(
      header, target, problemDescription, kernelDescription, module->getLoc());
  if (failed(manifest))
    return kFailed;
  result.manifest = std::move(*manifest);
  dump.add("manifest.json", result.manifest);
  return kOk;
}

int Compiler::compile(Emit last) {
  if (int code = lowerModule(last))
    return code;
  if (last <= Emit::Tiled)
    return dump.failed() ? kInvalid : kOk;
  if (target.isHost()) {
    int code = lowerToHost(last);
    return code ? code : dump.failed() ? kInvalid : kOk;
  }
  if (int code = lowerToKernel(last))
    return code;
  if (last == Emit::Kernel || last == Emit::NVVM)
    return dump.failed() ? kInvalid : kOk;
  if (int code = emitText(last))
    return code;
  if (last == Emit::LLVM)
    return dump.failed() ? kInvalid : kOk;
  if (!flags.ptxOverride.empty())
    if (int code = overridePTX())
      return code;
  if (last == Emit::PTX)
    result.text = result.ptx;
  // A named ptxas is there to be used. A dump alone changes no result.
  bool wantsCubin = last == Emit::Cubin || !flags.ptxasPath.empty();
  if (wantsCubin || dump.enabled())
    if (int code = assembleText(wantsCubin))
      return code;
  if (int code = describe())
    return code;
  return dump.failed() ? kInvalid : kOk;
}

std::string nameKernel(std::string name, const CompileFlags &flags) {
  return flags.style.empty() ? name : name + "_" + flags.style;
}

int compileProblem(Session &session, const ModuleProblem &problem,
                   const CompileFlags &flags, Emit last, Compiled &result) {
  return Compiler(session, problem, flags, result).compile(last);
}

} // namespace attnc
