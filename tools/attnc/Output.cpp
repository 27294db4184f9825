//===- Output.cpp - Files that are whole or not there ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Output.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace attnc {

namespace {

/// The temporary files of one write; discards what was not kept.
class Transaction {
public:
  ~Transaction() {
    for (llvm::sys::fs::TempFile &file : files)
      llvm::consumeError(file.discard());
  }

  llvm::Error add(const OutputFile &output);
  llvm::Error commit();

private:
  std::vector<llvm::sys::fs::TempFile> files;
  std::vector<std::string> paths;
};

} // namespace

llvm::Error Transaction::add(const OutputFile &output) {
  llvm::StringRef parent = llvm::sys::path::parent_path(output.path);
  if (!parent.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(parent))
      return llvm::errorCodeToError(error);
  if (llvm::sys::fs::is_directory(output.path))
    return llvm::errorCodeToError(
        std::make_error_code(std::errc::is_a_directory));
  auto file = llvm::sys::fs::TempFile::create(output.path + ".%%%%%%.tmp",
                                              llvm::sys::fs::all_read |
                                                  llvm::sys::fs::owner_write);
  if (!file)
    return file.takeError();
  files.push_back(std::move(*file));
  paths.push_back(output.path);
  llvm::raw_fd_ostream stream(files.back().FD, /*shouldClose=*/false);
  stream << output.content;
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    return llvm::errorCodeToError(error);
  }
  return llvm::Error::success();
}

llvm::Error Transaction::commit() {
  for (size_t i = 0; i < files.size(); ++i) {
    llvm::Error error = files[i].keep(paths[i]);
    if (!error)
      continue;
    for (size_t done = 0; done < i; ++done)
      llvm::sys::fs::remove(paths[done]);
    return error;
  }
  files.clear();
  return llvm::Error::success();
}

static std::string describe(const std::string &path, llvm::Error error) {
  return "expected to write '" + path +
         "', but got: " + llvm::toString(std::move(error));
}

/// Devices and pipes are written to, never replaced.
static bool isSpecial(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (path == "-")
    return true;
  return !llvm::sys::fs::status(path, status) &&
         !llvm::sys::fs::is_regular_file(status) &&
         !llvm::sys::fs::is_directory(status);
}

static llvm::Error writeSpecial(const OutputFile &file) {
  std::error_code error;
  llvm::raw_fd_ostream stream(file.path, error);
  if (!error) {
    stream << file.content;
    stream.flush();
    error = stream.error();
    stream.clear_error();
  }
  return llvm::errorCodeToError(error);
}

std::optional<std::string> writeFiles(const std::vector<OutputFile> &files) {
  Transaction transaction;
  std::vector<bool> special;
  for (const OutputFile &file : files) {
    special.push_back(isSpecial(file.path));
    if (special.back())
      continue;
    if (llvm::Error error = transaction.add(file))
      return describe(file.path, std::move(error));
  }
  if (llvm::Error error = transaction.commit())
    return describe(files.front().path, std::move(error));
  for (size_t i = 0; i < files.size(); ++i)
    if (special[i])
      if (llvm::Error error = writeSpecial(files[i]))
        return describe(files[i].path, std::move(error));
  return std::nullopt;
}

} // namespace attnc
