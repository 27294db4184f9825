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
/// Of one object. Adding a key takes as long as there are keys.
static constexpr size_t kMaxKeys = 1000;

namespace {
/// Watches the parse for what the library accepts and we do not.
struct Watcher {
  std::vector<std::set<std::string>> keys;
  /// The key at work in each object that is open.
  std::vector<std::string> path;
  std::string complaint;

  bool operator()(int depth, Json::parse_event_t event, Json &value) {
    using Event = Json::parse_event_t;
    switch (event) {
    case Event::object_start:
      keys.emplace_back();
      path.emplace_back();
      break;
    case Event::object_end:
      keys.pop_back();
      path.pop_back();
      break;
    case Event::key:
      path.back() = value.get<std::string>();
      if (!keys.back().insert(path.back()).second)
        complain("expected each key once, but got '" + path.back() + "' twice");
      if (keys.back().size() > kMaxKeys)
        complain("expected at most " + std::to_string(kMaxKeys) +
                 " keys in an object");
      break;
    default:
      break;
    }
    if (depth > static_cast<int>(kMaxNesting))
      complain("expected at most " + std::to_string(kMaxNesting) +
               " levels of nesting");
    // What follows a complaint is of no use, and not kept.
    return complaint.empty();
  }

  void complain(std::string what) {
    if (complaint.empty())
      complaint = std::move(what);
  }

  /// "mask.window_left: ", or nothing outside of all objects.
  std::string place() const {
    std::string text;
    for (const std::string &key : path)
      text += (text.empty() ? "" : ".") + key;
    return text.empty() ? text : text + ": ";
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

/// The number in "... number overflow parsing '1e999'".
static std::string quotedPart(const std::string &message) {
  size_t begin = message.find('\''), end = message.rfind('\'');
  return begin < end ? message.substr(begin + 1, end - begin - 1) : message;
}

static Status syntaxError(std::string_view text, size_t offset,
                          const std::string &what) {
  return Status::invalidArgument(what +
                                 ": expected valid JSON, but got a syntax "
                                 "error at " +
                                 describePlace(text, offset));
}

Expected<Json> parseJson(std::string_view text, const std::string &what) {
  // The library takes it for the end.
  if (size_t nul = text.find('\0'); nul != std::string_view::npos)
    return syntaxError(text, nul, what);
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
    return syntaxError(text, e.byte > 0 ? e.byte - 1 : 0, what);
  } catch (const nlohmann::json::out_of_range &e) {
    return Status::invalidArgument(what + ": " + watcher.place() +
                                   "expected a finite number, but got " +
                                   quotedPart(e.what()));
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
