//===- OutputFiles.cpp - Files that are whole or not there ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/OutputFiles.h"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace attnc {

using attn::runtime::Status;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Which file a name means
//===----------------------------------------------------------------------===//

/// Devices and pipes, which are written to, never replaced.
static bool isSpecial(const fs::path &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) &&
         !fs::is_directory(status);
}

/// The path without links, as far as it exists.
static fs::path resolve(const fs::path &path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : resolved;
}

/// Whether both names lead to one regular file, be it by links of either kind,
/// or would once it is written.
static bool isSameFile(const fs::path &a, const fs::path &b) {
  if (isSpecial(a) || isSpecial(b))
    return false;
  std::error_code error;
  return fs::equivalent(a, b, error) || resolve(a) == resolve(b);
}

/// The nearest folder above `path` that is there.
static fs::path existingParent(const fs::path &path) {
  std::error_code error;
  fs::path folder = fs::absolute(path, error).parent_path();
  while (!fs::exists(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

/// A new file in `folder`, with the rights that the user's mask leaves; -1 and
/// errno where there cannot be one. The name is short: a long one of the user's
/// has no room for more.
static int createTemporary(const fs::path &folder, fs::path &path) {
  static unsigned count = 0;
  int descriptor = -1;
  do {
    path = folder / (".attnc-" + std::to_string(getpid()) + "-" +
                     std::to_string(count++) + ".tmp");
    descriptor =
        open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

/// Writes and closes; 0 or the errno.
static int writeAll(int descriptor, const std::string &content) {
  FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (!file)
    return errno;
  errno = 0;
  bool isOk =
      std::fwrite(content.data(), 1, content.size(), file) == content.size();
  int code = isOk ? 0 : errno;
  // Some devices tell of a full disk only here.
  if (std::fclose(file) != 0 && code == 0)
    code = errno;
  return code;
}

namespace {

/// The files of one write. What was not committed is taken back.
class Transaction {
public:
  ~Transaction();

  /// Both return 0 or the errno.
  int add(const OutputFile &file);
  int commit(size_t &failed);

private:
  struct Entry {
    fs::path target, temporary;
    /// What was there before; empty where nothing was.
    fs::path backup;
    bool isPlaced = false;
  };

  void makeFolders(const fs::path &folder, std::error_code &error);

  std::vector<Entry> entries_;
  std::vector<fs::path> newFolders_;
  bool isCommitted_ = false;
};

} // namespace

Transaction::~Transaction() {
  std::error_code ignored;
  for (const Entry &entry : entries_) {
    if (!isCommitted_ && entry.isPlaced && entry.backup.empty())
      fs::remove(entry.target, ignored);
    if (!isCommitted_ && !entry.backup.empty())
      fs::rename(entry.backup, entry.target, ignored);
    fs::remove(entry.temporary, ignored);
    if (!entry.backup.empty())
      fs::remove(entry.backup, ignored);
  }
  if (!isCommitted_)
    for (size_t i = newFolders_.size(); i-- > 0;)
      fs::remove(newFolders_[i], ignored);
}

/// Creates a folder and those above it, and remembers which were not there.
void Transaction::makeFolders(const fs::path &folder, std::error_code &error) {
  std::vector<fs::path> missing;
  for (fs::path at = folder; at.has_relative_path() && !fs::exists(at, error);
       at = at.parent_path())
    missing.push_back(at);
  error.clear();
  for (size_t i = missing.size(); i-- > 0;) {
    if (fs::create_directory(missing[i], error))
      newFolders_.push_back(missing[i]);
    if (error)
      return;
  }
}

int Transaction::add(const OutputFile &file) {
  Entry entry;
  entry.target = resolve(file.path);
  std::error_code error;
  if (fs::is_directory(entry.target, error))
    return EISDIR;
  makeFolders(entry.target.parent_path(), error);
  if (error)
    return error.value();
  int descriptor = createTemporary(entry.target.parent_path(), entry.temporary);
  if (descriptor < 0)
    return errno;
  entries_.push_back(entry);
  return writeAll(descriptor, file.content);
}

int Transaction::commit(size_t &failed) {
  for (Entry &entry : entries_) {
    failed = &entry - entries_.data();
    std::error_code error;
    if (fs::is_directory(entry.target, error))
      return EISDIR;
    // With a second name for what is there now, there is a way back.
    if (entries_.size() > 1 && fs::exists(entry.target, error)) {
      fs::path backup = entry.temporary;
      backup += ".old";
      fs::create_hard_link(entry.target, backup, error);
      if (error) // not every file system has links
        fs::rename(entry.target, backup, error);
      if (error)
        return error.value();
      entry.backup = backup;
    }
    fs::rename(entry.temporary, entry.target, error);
    if (error)
      return error.value();
    entry.isPlaced = true;
  }
  isCommitted_ = true;
  return 0;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status cannotWrite(const std::string &what, const std::string &path,
                          int code) {
  return Status::invalidArgument((what.empty() ? "" : what + ": ") +
                                 "expected to write '" + path +
                                 "', but got: " + std::strerror(code));
}

/// Whether a file could be written, short of writing it; 0 or the errno.
static int probe(const fs::path &path) {
  std::error_code error;
  if (fs::is_directory(path, error) || !path.has_filename())
    return EISDIR;
  if (fs::exists(path, error) && access(path.c_str(), W_OK) != 0)
    return errno;
  if (isSpecial(path))
    return 0;
  fs::path target = resolve(path), temporary;
  if (target.filename().native().size() > NAME_MAX)
    return ENAMETOOLONG;
  int descriptor = createTemporary(existingParent(target), temporary);
  if (descriptor < 0)
    return errno;
  close(descriptor);
  fs::remove(temporary, error);
  return 0;
}

static Status checkDistinct(const NamedFile &output, const NamedFile &input) {
  if (!isSameFile(output.path, input.path))
    return Status::ok();
  return Status::invalidArgument(
      output.what + ": expected a file that is no input, but got '" +
      output.path + "', the same as '" + input.path + "' (" + input.what + ")");
}

Status checkInputsKept(const std::vector<NamedFile> &outputs,
                       const std::vector<NamedFile> &inputs) {
  for (const NamedFile &output : outputs)
    for (const NamedFile &input : inputs)
      if (Status status = checkDistinct(output, input); !status.isOk())
        return status;
  return Status::ok();
}

Status checkOutputs(const std::vector<NamedFile> &outputs,
                    const std::vector<NamedFile> &inputs) {
  if (Status status = checkInputsKept(outputs, inputs); !status.isOk())
    return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (isSameFile(outputs[i].path, outputs[j].path))
        return Status::invalidArgument(
            outputs[i].what + ": expected a file for each result, but got '" +
            outputs[j].path + "' and '" + outputs[i].path + "'");
  }
  for (const NamedFile &output : outputs)
    if (int code = probe(output.path))
      return cannotWrite(output.what, output.path, code);
  return Status::ok();
}

/// "07-..." is a name that a dump could take.
static bool isNumbered(const std::string &name) {
  return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '-';
}

Status checkDumpFolder(const std::string &folder,
                       const std::vector<NamedFile> &files) {
  std::vector<fs::path> taken;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (isNumbered(at->path().filename()))
      taken.push_back(at->path());
  for (const NamedFile &file : files) {
    fs::path path = resolve(file.path);
    bool isTaken =
        isNumbered(path.filename()) && path.parent_path() == resolve(folder);
    for (const fs::path &other : taken)
      isTaken |= isSameFile(other, file.path);
    if (isTaken)
      return Status::invalidArgument("--dump-to: expected a folder whose "
                                     "numbered files are no other file of "
                                     "this command, but got '" +
                                     folder + "' with '" + file.path + "'");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static int writeSpecial(const OutputFile &file) {
  return writeAll(open(file.path.c_str(), O_WRONLY | O_CLOEXEC), file.content);
}

Status writeFiles(const std::vector<OutputFile> &files) {
  Transaction transaction;
  std::vector<size_t> regular;
  for (size_t i = 0; i < files.size(); ++i) {
    bool isRegular = !isSpecial(files[i].path);
    if (isRegular)
      regular.push_back(i);
    int code = isRegular ? transaction.add(files[i]) : writeSpecial(files[i]);
    if (code)
      return cannotWrite("", files[i].path, code);
  }
  size_t failed = 0;
  if (int code = transaction.commit(failed))
    return cannotWrite("", files[regular[failed]].path, code);
  return Status::ok();
}

Status finishStandardOutput() {
  errno = 0;
  bool isFlushed = std::fflush(stdout) == 0;
  if (isFlushed && !std::ferror(stdout))
    return Status::ok();
  // Where an earlier piece was lost, the reason is lost too.
  return Status::invalidArgument(
      "expected to write to standard output, but got: " +
      std::string(errno ? std::strerror(errno) : "an error"));
}

Status writeStandardOutput(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return finishStandardOutput();
}

} // namespace attnc
