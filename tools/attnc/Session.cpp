//===- Session.cpp - The MLIR side of one command -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Session.h"

#include "tools/attnc/Frontend.h"

#include "codegen/ToNVVM/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace attnc {

std::optional<int>
Session::parseMLIRFlags(const std::vector<std::string> &flags) {
  if (flags.empty())
    return std::nullopt;
  // Some options name passes.
  mlir::attn::registerUpstreamPasses();
  mlir::attn::registerAttnPasses();
  mlir::attn::registerPipelines();
  attn_gpu::registerAttnToNVVMPasses();
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
  // Of a wrong value LLVM has already said why.
  if (text.empty())
    return reportErrors({"--mlir-: expected values that options of MLIR take, "
                         "but got others, as said above"},
                        kInvalid);
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

Session::Session(const std::vector<std::string> &dialectPlugins) {
  DialectRegistry registry;
  registerDialects(registry);
  for (const std::string &path : dialectPlugins)
    if (auto plugin = DialectPlugin::load(path))
      plugin->registerDialectRegistryCallbacks(registry);
    else
      pluginErrors.push_back("--load-dialect-plugin: " +
                             llvm::toString(plugin.takeError()));
  // One kernel is too little work for threads to pay.
  mlirContext =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  handler = std::make_unique<ScopedDiagnosticHandler>(mlirContext.get(),
                                                      printDiagnostic);
}

void Session::configure(PassManager &manager) {
  // Without MLIR flags there is nothing to apply, and this says so by failing.
  (void)applyPassManagerCLOptions(manager);
  applyDefaultTimingPassManagerCLOptions(manager);
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

std::optional<int> loadProblem(Session &session, const CommandLine &command,
                               ModuleProblem &problem) {
  Errors errors = session.errors();
  ProblemInput input;
  input.name = command.input;
  input.isModule = isModuleFile(command.input);
  input.flags = command.specFlags;
  input.style = command.compile.style;
  input.check = [&](const Spec &spec, Errors &errors) {
    checkLaunchFlags(command, spec, errors);
  };
  if (errors.empty() && !command.input.empty())
    input.file = readInput(command.input, errors);
  if (!command.dialectPlugins.empty() && !input.isModule)
    errors.push_back("--load-dialect-plugin: expected a module (.mlir, "
                     ".mlirbc), but got a spec");
  if (!errors.empty())
    return reportErrors(errors, kInvalid);
  input.schedules = command.compile.schedules;
  if (MaybeFailure failure =
          buildProblem(session.context(), std::move(input), problem))
    return reportFailure(*failure);
  return std::nullopt;
}

} // namespace attnc
