//===- Session.cpp - The MLIR side of one command -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Session.h"

#include "tools/attnc/SpecRegions.h"
#include "tools/attnc/SpecSupport.h"

#include "codegen/Emit/EmitPTX.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace attnc {

std::optional<int>
Session::parseMLIRFlags(const std::vector<std::string> &flags) {
  if (flags.empty())
    return std::nullopt;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  std::vector<const char *> arguments = {"attnc"};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "",
                                        &stream))
    return std::nullopt;
  // "attnc: Unknown command line argument '--mlir-x'.  Try: ..." and more.
  llvm::StringRef first = llvm::StringRef(text).split('\n').first;
  first.consume_front("attnc: ");
  return reportErrors({"--mlir-: expected an option of MLIR, but got: " +
                       first.split(".  Try").first.str()},
                      kInvalid);
}

/// "file:line:column: " where the location has a file.
static void printPlace(llvm::raw_ostream &stream, Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
           << place.getColumn() << ": ";
}

static const char *getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    // Something that a pass is for and did not do.
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("unknown severity");
}

static LogicalResult printDiagnostic(Diagnostic &diagnostic) {
  auto print = [](Diagnostic &part) {
    printPlace(llvm::errs(), part.getLocation());
    llvm::errs() << getSeverityName(part.getSeverity()) << ": " << part << "\n";
  };
  print(diagnostic);
  // Passes remark on a kernel, and MLIR adds all of it as a note.
  if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
    return success();
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
  return success();
}

Session::Session() {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  mlir::attn::AttnDialect, attn_gpu::AttnGPUDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  mlir::attn::registerEmitDialects(registry);
  // One kernel is too little work for threads to pay.
  mlirContext =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  handler = std::make_unique<ScopedDiagnosticHandler>(mlirContext.get(),
                                                      printDiagnostic);
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

static bool isModuleFile(llvm::StringRef path) {
  return path.ends_with(".mlir") || path.ends_with(".mlirbc");
}

/// Reads a whole input file; `-` is standard input.
static std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path,
                                                     Errors &errors) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (buffer)
    return std::move(*buffer);
  errors.push_back("expected to read '" + path +
                   "', but got: " + buffer.getError().message());
  return nullptr;
}

/// Takes a module's problem over into `values`.
static std::optional<int>
readModuleFile(Session &session, std::unique_ptr<llvm::MemoryBuffer> buffer,
               ModuleProblem &problem, Errors &unsupported) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  ParserConfig config(&session.context());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module)
    return kInvalid;
  Errors errors;
  problem = readModule(*module, errors, unsupported);
  if (!errors.empty())
    return reportErrors(errors, kInvalid);
  return std::nullopt;
}

/// A style that nothing would heed.
static void checkStyle(const std::string &style, const ModuleProblem &problem,
                       Errors &errors) {
  if (style.empty())
    return;
  if (problem.spec.isHost()) {
    errors.push_back("--style: expected a target with kernels, but got 'host'");
    return;
  }
  if (!problem.schedule)
    return;
  std::string own = stringifyStyle(problem.schedule.getStyle()).str();
  if (own != style)
    errors.push_back("--style: expected " + own +
                     ", as the input's schedule says, but got '" + style + "'");
}

std::optional<int> loadProblem(Session &session, const CommandLine &command,
                               ModuleProblem &problem) {
  Errors errors, unsupported;
  SpecValues values;
  if (!command.input.empty()) {
    auto buffer = readInput(command.input, errors);
    if (!buffer)
      return reportErrors(errors, kInvalid);
    if (isModuleFile(command.input)) {
      if (auto code =
              readModuleFile(session, std::move(buffer), problem, unsupported))
        return code;
      values.readSpec(problem.spec);
    } else {
      values.readJSON(buffer->getBuffer(), command.input, errors);
    }
  }
  for (const auto &[field, text] : command.specFlags)
    values.readFlag(*field, text, errors);
  // A flag may stand in for what the file lacks, so missing fields come last.
  if (!errors.empty())
    return reportErrors(errors, kInvalid);
  // On the command line the version is clear: it is this program's.
  if (command.input.empty())
    values.readFlag(*findField("version"), "1", errors);
  problem.spec = values.resolve(errors);
  if (errors.empty())
    checkRegions(session.context(), problem.spec, errors);
  // A schedule for another target would be another kernel than asked for.
  if (problem.schedule && problem.schedule.getTarget() != problem.spec.target)
    errors.push_back("schedule: expected target " + problem.spec.target +
                     ", but got " + problem.schedule.getTarget().str());
  checkStyle(command.compile.style, problem, errors);
  if (errors.empty())
    checkLaunchFlags(command, problem.spec, errors);
  if (!errors.empty())
    return reportErrors(errors, kInvalid);
  for (std::string &reason : listUnsupported(problem.spec))
    unsupported.push_back(std::move(reason));
  if (!unsupported.empty())
    return reportErrors(unsupported, kUnsupported);
  return std::nullopt;
}

} // namespace attnc
