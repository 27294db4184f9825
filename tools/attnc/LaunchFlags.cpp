//===- LaunchFlags.cpp - What is wrong with flags of a launch -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that can be said without a kernel. A mistake is one whether the target
// serves the rest or not, so this comes before the question what is served.
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandLine.h"

#include "runtime/OpenDevice.h"

#include <charconv>

namespace attnc {

/// Flags that say something about GPUs.
static void checkHostFlags(const CommandLine &command, Errors &errors) {
  const LaunchFlags &launch = command.launch;
  if (launch.device != "auto" && launch.device != "host")
    errors.push_back("--device: expected auto or host with target host, but "
                     "got '" +
                     launch.device + "'");
  const std::pair<const char *, bool> flags[] = {
      {"--grid-limit", launch.gridLimit != 0},
      {"--emulator-seed", launch.emulatorSeed != 0},
      {"--no-checks", launch.skipChecks},
      {"--ptx-override", !command.compile.ptxOverride.empty()},
      {"--ptxas-path", !command.compile.ptxasPath.empty()}};
  for (auto [flag, isGiven] : flags)
    if (isGiven)
      errors.push_back(std::string(flag) +
                       ": expected a target with kernels, but got 'host'");
}

/// How many lengths "5,0,130" holds; nothing where it is no list of lengths.
static std::optional<size_t> countLengths(const std::string &text) {
  size_t count = 0;
  const char *at = text.data(), *last = at + text.size();
  while (true) {
    int32_t length = -1;
    auto [end, code] = std::from_chars(at, last, length);
    if (code != std::errc() || length < 0)
      return std::nullopt;
    ++count;
    if (end == last)
      return count;
    if (*end != ',')
      return std::nullopt;
    at = end + 1;
  }
}

static void checkLengths(const LaunchFlags &launch, const Spec &spec,
                         Errors &errors) {
  std::vector<size_t> counts;
  const std::pair<const char *, const std::string &> flags[] = {
      {"--seqlens-q", launch.seqlensQ}, {"--seqlens-k", launch.seqlensK}};
  for (const auto &[flag, text] : flags) {
    if (text.empty())
      continue;
    if (spec.layout != Layout::THD)
      errors.push_back(std::string(flag) + ": expected layout thd, but got '" +
                       toString(spec.layout) + "'");
    else if (std::optional<size_t> count = countLengths(text))
      counts.push_back(*count);
    else
      errors.push_back(std::string(flag) +
                       ": expected lengths from 0 to 2147483647 with commas "
                       "between them, but got '" +
                       text + "'");
  }
  if (counts.size() == 2 && counts[0] != counts[1])
    errors.push_back("--seqlens-k: expected " + std::to_string(counts[0]) +
                     " lengths like --seqlens-q, but got " +
                     std::to_string(counts[1]));
}

static void checkAssignments(const LaunchFlags &launch, Errors &errors) {
  const std::pair<const char *, const std::vector<std::string> &> flags[] = {
      {"--in", launch.tensors.in},
      {"--strides", launch.tensors.strides},
      {"--offset", launch.tensors.offset},
      {"--out", launch.outputs}};
  for (const auto &[flag, texts] : flags)
    for (const std::string &text : texts)
      if (size_t equals = text.find('='); equals == 0 ||
                                          equals == std::string::npos ||
                                          equals + 1 == text.size())
        errors.push_back(std::string(flag) +
                         ": expected NAME=VALUE, but got '" + text + "'");
}

void checkLaunchFlags(const CommandLine &command, const Spec &spec,
                      Errors &errors) {
  const LaunchFlags &launch = command.launch;
  if (auto shape = parseShape(launch.tensors.shape); !shape)
    errors.push_back(shape.status().message());
  checkLengths(launch, spec, errors);
  checkAssignments(launch, errors);
  if (command.verb != Verb::Run && command.verb != Verb::Bench)
    return;
  if (spec.isHost())
    checkHostFlags(command, errors);
  else if (auto name = attn::runtime::checkDeviceName(launch.device);
           !name.isOk())
    errors.push_back("--" + name.message());
}

} // namespace attnc
