//===- Assemble.cpp - From PTX to a cubin, by ptxas -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Assemble.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <unistd.h>

using namespace mlir::attn;
using llvm::StringRef;

/// The user's ptxas is at fault, or what was given to it.
static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(
      std::make_error_code(std::errc::invalid_argument), message);
}

/// The PTX is at fault.
static llvm::Error failKernel(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> mlir::attn::findPtxas(const PtxasSearch &search) {
  // A program named outright must be that one: falling through to another
  // version would hide the mistake.
  const std::pair<StringRef, StringRef> named[] = {
      {"--ptxas-path", search.path}, {"$PTXAS", search.environment}};
  for (auto [origin, path] : named) {
    if (path.empty())
      continue;
    auto found = llvm::sys::findProgramByName(path);
    if (found && llvm::sys::fs::can_execute(*found))
      return *found;
    return fail(llvm::Twine("expected ") + origin +
                " to name a program, but got '" + path + "'");
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (!search.cudaHome.empty()) {
    llvm::SmallString<128> path(search.cudaHome);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  return fail("expected ptxas in --ptxas-path, $PTXAS, PATH or "
              "$CUDA_HOME/bin, but found none; it comes with the CUDA toolkit, "
              "and only cubins need it");
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

/// The number before or after the words that `pattern` spells, 0 without.
static int64_t matchNumber(StringRef text, StringRef pattern) {
  llvm::SmallVector<StringRef> groups;
  int64_t value = 0;
  if (llvm::Regex(pattern).match(text, &groups))
    groups[1].getAsInteger(10, value);
  return value;
}

PtxasReport mlir::attn::parsePtxasLog(StringRef log) {
  PtxasReport report;
  llvm::Regex code("C7[0-9][0-9][0-9]");
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (code.match(line))
      report.warnings += (line.trim() + "\n").str();
    report.registers = std::max(report.registers,
                                matchNumber(line, "Used ([0-9]+) registers"));
    report.stackBytes = std::max(
        report.stackBytes, matchNumber(line, "([0-9]+) bytes stack frame"));
    report.spillBytes += matchNumber(line, "([0-9]+) bytes spill stores") +
                         matchNumber(line, "([0-9]+) bytes spill loads");
  }
  return report;
}

std::string mlir::attn::checkPtxasReport(const PtxasReport &report) {
  if (!report.warnings.empty())
    return "expected no serialised instructions, but got from ptxas: " +
           StringRef(report.warnings).rtrim().str();
  if (report.spillBytes > 0)
    return "expected no spilled registers, but got " +
           std::to_string(report.spillBytes) + " bytes from ptxas";
  if (report.stackBytes > 0)
    return "expected no stack frame, but got " +
           std::to_string(report.stackBytes) + " bytes from ptxas";
  return {};
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

namespace {

/// Three files that vanish with the object, also on a signal.
class Scratch {
public:
  llvm::Error create() {
    for (auto [file, suffix] :
         {std::pair(&ptx, "ptx"), std::pair(&cubin, "cubin"),
          std::pair(&log, "log")}) {
      if (std::error_code error =
              llvm::sys::fs::createTemporaryFile("attnc", suffix, *file))
        return fail("expected to write a temporary file, but got: " +
                    error.message());
      removers[count++].setFile(*file);
    }
    return llvm::Error::success();
  }

  llvm::SmallString<128> ptx, cubin, log;

private:
  llvm::FileRemover removers[3];
  unsigned count = 0;
};

} // namespace

static llvm::Expected<std::string> readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail("expected to read " + path +
                ", but got: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

static llvm::Error writeFile(StringRef path, StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << content;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return fail("expected to write " + path + ", but got: " + error.message());
  return llvm::Error::success();
}

/// Says why ptxas failed, in terms of what the user can change.
static llvm::Error explainFailure(StringRef ptxas, StringRef log,
                                  StringRef runError,
                                  const TargetInfo &target) {
  llvm::SmallVector<StringRef> groups;
  llvm::Regex version("Unsupported \\.version ([0-9.]+); current version is "
                      "'([0-9.]+)'");
  if (version.match(log, &groups))
    return fail("expected a ptxas that knows PTX ISA " + groups[1] +
                ", but got " + ptxas + ", which knows " + groups[2]);
  if (log.contains("gpu-name") && log.contains(target.name))
    return fail("expected a ptxas that knows " + target.name + ", but got " +
                ptxas);
  if (!log.contains("ptxas"))
    return fail("expected " + ptxas + " to be ptxas, but it " +
                (runError.empty() ? "failed otherwise" : runError) +
                (log.empty() ? "" : ": ") + log.trim().take_front(200));
  return failKernel(ptxas + " failed: " + log.trim());
}

/// The environment with huge pages for what the C library allocates: a tenth
/// of ptxas' time goes to the faults of 10,000 small ones. Other C libraries
/// than glibc ignore it, and a user's own tunables come last and win.
static std::vector<std::string> getEnvironment() {
  constexpr llvm::StringLiteral name = "GLIBC_TUNABLES=";
  std::string tunables =
      (name + "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864").str();
  std::vector<std::string> result;
  for (char **entry = environ; *entry; ++entry) {
    StringRef variable(*entry);
    if (!variable.consume_front(name))
      result.push_back(*entry);
    else if (!variable.empty())
      tunables += (":" + variable).str();
  }
  result.push_back(std::move(tunables));
  return result;
}

llvm::Expected<Assembly> mlir::attn::assemble(StringRef ptxas, StringRef ptx,
                                              const TargetInfo &target) {
  Scratch scratch;
  if (llvm::Error error = scratch.create())
    return error;
  if (llvm::Error error = writeFile(scratch.ptx, ptx))
    return error;

  std::string arch = ("-arch=" + target.name).str();
  const StringRef arguments[] = {ptxas,       arch, "-v",
                                 scratch.ptx, "-o", scratch.cubin};
  const std::optional<StringRef> redirects[] = {
      StringRef(""), StringRef(scratch.log), StringRef(scratch.log)};
  std::vector<std::string> environment = getEnvironment();
  std::vector<StringRef> variables(environment.begin(), environment.end());
  std::string runError;
  int code =
      llvm::sys::ExecuteAndWait(ptxas, arguments, llvm::ArrayRef(variables),
                                redirects, /*SecondsToWait=*/0,
                                /*MemoryLimit=*/0, &runError);
  llvm::Expected<std::string> log = readFile(scratch.log);
  if (!log)
    return log.takeError();
  if (code != 0)
    return explainFailure(ptxas, *log, runError, target);
  llvm::Expected<std::string> cubin = readFile(scratch.cubin);
  if (!cubin)
    return cubin.takeError();
  if (!StringRef(*cubin).starts_with("\x7f"
                                     "ELF"))
    return fail("expected " + ptxas +
                " to be ptxas, but it succeeded without writing a cubin");
  return Assembly{std::move(*cubin), parsePtxasLog(*log), std::move(*log)};
}
