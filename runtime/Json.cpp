//===- Json.cpp - Reading JSON without exceptions -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"

#include "runtime/Sha256.h"

#include <set>
#include <vector>

namespace attn::runtime {

static constexpr size_t kMaxNesting = 64;

namespace {
/// Watches the parse for what the library accepts and we do not.
struct Watcher {
  std::vector<std::set<std::string>> keys;
  std::string complaint;

  bool operator()(int depth, Json::parse_event_t event, Json &value) {
    using Event = Json::parse_event_t;
    switch (event) {
    case Event::object_start:
      keys.emplace_back();
      break;
    case Event::object_end:
      keys.pop_back();
      break;
    case Event::key:
      if (!keys.back().insert(value.get<std::string>()).second)
        complain("expected each key once, but got '" +
                 value.get<std::string>() + "' twice");
      break;
    default:
      break;
    }
    if (depth > static_cast<int>(kMaxNesting))
      complain("expected at most " + std::to_string(kMaxNesting) +
               " levels of nesting");
    return true;
  }

  void complain(std::string what) {
    if (complaint.empty())
      complaint = std::move(what);
  }
};
} // namespace

/// "line 3, column 7" for the place `offset` characters into `text`.
static std::string describePlace(std::string_view text, size_t offset) {
  size_t line = 1, column = 1;
  for (char c : text.substr(0, offset)) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

Expected<Json> parseJson(std::string_view text, const std::string &what) {
  Watcher watcher;
  try {
    Json value =
        Json::parse(text.begin(), text.end(),
                    [&](int depth, Json::parse_event_t event, Json &parsed) {
                      return watcher(depth, event, parsed);
                    });
    if (!watcher.complaint.empty())
      return Status::invalidArgument(what + ": " + watcher.complaint);
    return value;
  } catch (const nlohmann::json::parse_error &e) {
    size_t offset = e.byte > 0 ? e.byte - 1 : 0;
    return Status::invalidArgument(what +
                                   ": expected valid JSON, but got a "
                                   "syntax error at " +
                                   describePlace(text, offset));
  } catch (const nlohmann::json::out_of_range &) {
    return Status::invalidArgument(
        what + ": expected finite numbers, but got one too large for a double");
  } catch (const nlohmann::json::exception &e) {
    return Status::invalidArgument(what + ": " + e.what());
  }
}

std::string hashJson(const Json &value) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  // nlohmann::json, unlike Json, sorts its keys.
  std::string text = nlohmann::json(value).dump(-1, ' ', false, kReplace);
  return sha256(text).substr(0, 16);
}

} // namespace attn::runtime
