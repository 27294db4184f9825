//===- EmitHost.cpp - LLVM IR for the machine at hand ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Host/EmitHost.h"
#include "codegen/Host/HostCode.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::attn;

/// void packed(ptr args) { entry(*args[0], *args[1], ...) }
static void addPacked(llvm::Function &entry) {
  llvm::Module &module = *entry.getParent();
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer}, /*isVarArg=*/false);
  auto *packed =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                             getPackedName(entry.getName().str()), module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", packed));
  std::vector<llvm::Value *> arguments;
  for (llvm::Argument &argument : entry.args()) {
    llvm::Value *place = builder.CreateConstInBoundsGEP1_64(
        pointer, packed->getArg(0), argument.getArgNo());
    arguments.push_back(builder.CreateLoad(argument.getType(),
                                           builder.CreateLoad(pointer, place)));
  }
  builder.CreateCall(&entry, arguments);
  builder.CreateRetVoid();
}

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
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

FailureOr<std::unique_ptr<llvm::Module>>
mlir::attn::translateToHost(ModuleOp module, StringRef entry,
                            llvm::LLVMContext &context) {
  initializeHostBackend();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  auto machine = builder ? builder->createTargetMachine()
                         : llvm::Expected<std::unique_ptr<llvm::TargetMachine>>(
                               builder.takeError());
  if (!machine)
    return module.emitError()
           << "expected a backend for this machine, but got: "
           << llvm::toString(machine.takeError());
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, entry);
  llvm::Function *function =
      llvmModule ? llvmModule->getFunction(entry) : nullptr;
  if (!function)
    return module.emitError() << "expected a function named " << entry;
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  addPacked(*function);
  optimize(*llvmModule, **machine);
  return llvmModule;
}
