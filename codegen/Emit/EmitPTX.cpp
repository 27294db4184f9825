//===- EmitPTX.cpp - From a module of NVVM ops to PTX text ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/EmitPTX.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace mlir;
using namespace mlir::attn;

void mlir::attn::registerEmitDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// Brings up the backend, once a process.
static void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

namespace {

/// One of LLVM's own switches, set while it lives. A switch that this LLVM does
/// not have, or that the user of the process has set, is left alone.
class Switch {
public:
  Switch(StringRef name, bool value) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto it = options.find(name);
    if (it == options.end() || it->second->getNumOccurrences() != 0)
      return;
    option = static_cast<llvm::cl::opt<bool> *>(it->second);
    before = *option;
    *option = value;
  }
  ~Switch() {
    if (option)
      *option = before;
  }
  Switch(const Switch &) = delete;

private:
  llvm::cl::opt<bool> *option = nullptr;
  bool before = false;
};

/// What the backend knows as switches of the process only, for one emission at
/// a time.
class BackendSwitches {
public:
  BackendSwitches(const TargetInfo &target, const EmitOptions &options)
      : lock(getMutex()), noPairs("nvptx-no-f32x2", !target.packedF32),
        noReduction("disable-lsr", !options.reduceStrength) {}

private:
  static std::mutex &getMutex() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock;
  /// Where nothing computes with pairs of f32 in one 64-bit register, they cost
  /// moves around every wgmma, whose accumulators are single registers.
  Switch noPairs;
  /// Every variable that a loop counts instead of computing it is one register
  /// less, where none are to spare: with mma.sync ptxas then spills, and a key
  /// loop of wgmma at head dim 256 was 7 % slower by one counter.
  Switch noReduction;
};

} // namespace

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const TargetInfo &target, std::string &error) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.name, features, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Clean-up only. Our IR arrives scheduled: whatever a general pipeline would
/// move (loop rotation, unrolling, vectorisation, hoisting) either breaks the
/// order of asynchronous matmuls or lengthens live ranges to the point where
/// ptxas spills, and costs more time than all of the backend.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);

  llvm::FunctionPassManager pipeline;
  pipeline.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  pipeline.addPass(llvm::EarlyCSEPass());
  pipeline.addPass(llvm::InstCombinePass());
  pipeline.addPass(llvm::SimplifyCFGPass());
  pipeline.addPass(llvm::EarlyCSEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      pipeline.run(function, functions);
}

/// A surviving call makes ptxas run every wgmma of the function one by one.
static LogicalResult checkNoCalls(llvm::Module &module, Operation *anchor) {
  for (llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      return anchor->emitError()
             << "expected no calls in a kernel, but got one of "
             << StringRef(function.getName());
  return success();
}

FailureOr<std::unique_ptr<llvm::Module>>
mlir::attn::translateToLLVM(gpu::GPUModuleOp module, const TargetInfo &target,
                            llvm::LLVMContext &context) {
  initializeBackend();
  BackendSwitches switches(target, EmitOptions());
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, error);
  if (!machine)
    return module.emitError()
           << "expected an NVPTX backend, but got: " << error;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  optimize(*llvmModule, *machine);
  if (failed(checkNoCalls(*llvmModule, module)))
    return failure();
  return llvmModule;
}

FailureOr<std::string> mlir::attn::emitPTX(llvm::Module &module,
                                           const TargetInfo &target,
                                           const EmitOptions &options,
                                           Operation *anchor) {
  initializeBackend();
  BackendSwitches switches(target, options);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, error);
  if (!machine)
    return anchor->emitError()
           << "expected an NVPTX backend, but got: " << error;

  std::string backendErrors;
  module.getContext().setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *text) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(text));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &backendErrors);

  SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  // True means that this machine cannot write the kind of file.
  bool refused = machine->addPassesToEmitFile(
      passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
      /*DisableVerify=*/false);
  if (!refused)
    passes.run(module);
  module.getContext().setDiagnosticHandlerCallBack(nullptr);
  if (refused || !backendErrors.empty())
    return anchor->emitError() << "the PTX backend failed: " << backendErrors;
  return std::string(ptx);
}
