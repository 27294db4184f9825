//===- Status.h - How the runtime reports failure ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing in the runtime throws or aborts: a call returns a Status, and a
// message names the call, the value, the limit and, where a driver said
// something, the driver's own words.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_STATUS_H
#define ATTN_RUNTIME_STATUS_H

#include <string>
#include <utility>
#include <variant>

namespace attn::runtime {

/// The values are the exit codes of `attnc` and the codes of the C API.
enum class StatusCode {
  Ok = 0,
  /// A launch failed, or a kernel was caught doing something illegal.
  LaunchFailed = 1,
  /// A spec, shape, tensor or argument is wrong; found before any launch.
  InvalidArgument = 2,
  /// Everything is valid, but this device or kernel cannot do it.
  Unsupported = 3,
};

class [[nodiscard]] Status {
public:
  static Status ok() { return Status(StatusCode::Ok, {}); }
  static Status launchFailed(std::string message) {
    return Status(StatusCode::LaunchFailed, std::move(message));
  }
  static Status invalidArgument(std::string message) {
    return Status(StatusCode::InvalidArgument, std::move(message));
  }
  static Status unsupported(std::string message) {
    return Status(StatusCode::Unsupported, std::move(message));
  }

  bool isOk() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  StatusCode code_;
  std::string message_;
};

/// A value, or the reason there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : storage_(std::move(value)) {}
  Expected(Status status) : storage_(std::move(status)) {}

  explicit operator bool() const { return std::holds_alternative<T>(storage_); }
  T &operator*() { return std::get<T>(storage_); }
  const T &operator*() const { return std::get<T>(storage_); }
  T *operator->() { return &std::get<T>(storage_); }
  const T *operator->() const { return &std::get<T>(storage_); }
  /// Only where there is no value.
  const Status &status() const { return std::get<Status>(storage_); }

private:
  std::variant<T, Status> storage_;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_STATUS_H
