//===- CommandLine.cpp - What a user typed --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandLine.h"

#include "tools/attnc/run/IntegerFlag.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <deque>

namespace attnc {

int reportErrors(const Errors &errors, int code) {
  // More than a person reads.
  constexpr size_t kMost = 20;
  size_t shown = std::min(errors.size(), kMost);
  for (size_t i = 0; i < shown; ++i)
    std::fprintf(stderr, "error: %s\n", errors[i].c_str());
  if (shown < errors.size())
    std::fprintf(stderr, "error: and %zu more\n", errors.size() - shown);
  return code;
}

int reportFailure(const Failure &failure) {
  return reportErrors(failure.messages, failure.code);
}

namespace {

struct VerbInfo {
  Verb verb;
  const char *name;
  const char *summary;
};

constexpr VerbInfo kVerbs[] = {
    {Verb::Compile, "compile", "compile a spec to PTX and a manifest"},
    {Verb::Run, "run", "run a spec and compare it with a float64 reference"},
    {Verb::Bench, "bench", "measure a spec"},
    {Verb::Explain, "explain", "say which schedule is chosen, and why"},
    {Verb::Support, "support", "show what each target supports"},
    {Verb::Schema, "schema", "print the JSON schema of spec files"},
};

const std::vector<std::pair<std::string, Emit>> kEmitNames = {
    {"attn", Emit::Attn},   {"tiled", Emit::Tiled},   {"kernel", Emit::Kernel},
    {"nvvm", Emit::NVVM},   {"llvm", Emit::LLVM},     {"ptx", Emit::PTX},
    {"cubin", Emit::Cubin}, {"bundle", Emit::Bundle},
};

std::vector<std::string> emitNames() {
  std::vector<std::string> names;
  for (const auto &[name, value] : kEmitNames)
    names.push_back(name);
  return names;
}

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// One parse: the flags of each verb, and where their values land.
class Parser {
public:
  explicit Parser(CommandLine &result) : result(result) { addVerbs(); }

  std::optional<int> parse(int argc, char **argv);

private:
  void addVerbs();
  void addSpec(CLI::App &verb);
  void addCompile(CLI::App &verb, bool writes);
  void addLaunch(CLI::App &verb, Verb kind);
  int finish(CLI::App &verb);
  int reportVerb();
  void takeEmit(Errors &errors);
  bool takeExtra(const CLI::App &verb, const std::string &extra,
                 Errors &errors);
  void takeSpecFlags(const CLI::App &verb);

  CommandLine &result;
  CLI::App app{"compiles attention to PTX"};
  std::string emit = "bundle";
  std::vector<std::pair<CLI::App *, VerbInfo>> verbs;
  struct SpecFlag {
    CLI::Option *option;
    const Field *field;
  };
  std::vector<SpecFlag> specFlags;
  /// Flags keep references to these.
  std::deque<std::string> texts;
  std::deque<std::vector<std::string>> lists;
};

} // namespace

void Parser::addVerbs() {
  // What is no verb comes back as an extra, for a message of our own.
  app.require_subcommand(0, 1);
  app.allow_extras();
  app.set_version_flag("--version", ATTN_VERSION);
  for (const VerbInfo &info : kVerbs) {
    CLI::App *verb = app.add_subcommand(info.name, info.summary);
    verb->allow_extras();
    verbs.emplace_back(verb, info);
    if (info.verb == Verb::Support)
      verb->add_flag("--json", result.json, "print JSON");
    if (info.verb == Verb::Support || info.verb == Verb::Schema)
      continue;
    addSpec(*verb);
    addCompile(*verb, info.verb == Verb::Compile);
    if (info.verb != Verb::Compile)
      verb->add_flag("--json", result.json, "print JSON");
    if (info.verb == Verb::Run || info.verb == Verb::Bench)
      addLaunch(*verb, info.verb);
    if (info.verb == Verb::Explain)
      verb->add_option("--shape", result.launch.tensors.shape,
                       "sizes to evaluate costs at, e.g. b=2,sq=1024,sk=1024");
  }
}

void Parser::addSpec(CLI::App &verb) {
  verb.add_option("spec", result.input,
                  "spec file (JSON), or a module with one attn.attention "
                  "(.mlir, .mlirbc); flags override it");
  for (const Field &field : specFields()) {
    std::string names = "--" + field.flag();
    if (field.flag() != field.name)
      names += ",--" + field.name;
    std::string help = field.summary;
    if (!field.choices.empty())
      help += ": " + field.describe();
    if (!field.required)
      help += " (" + field.defaultText + ")";
    CLI::Option *option;
    if (field.type == FieldType::Boolean)
      option = verb.add_flag(names, texts.emplace_back(), help);
    else if (field.type == FieldType::Map)
      option = verb.add_option(names, lists.emplace_back(), help)
                   ->allow_extra_args(false)
                   ->type_name("NAME=TYPE");
    else
      option = verb.add_option(names, texts.emplace_back(), help)
                   ->type_name("VALUE");
    option->group("Spec");
    specFlags.push_back({option, &field});
  }
}

void Parser::addCompile(CLI::App &verb, bool writes) {
  CompileFlags &flags = result.compile;
  if (writes) {
    std::vector<std::string> names = emitNames();
    verb.add_option("--emit", emit, "how far to compile: " + join(names));
    verb.add_option("-o", flags.output,
                    "output file; for a bundle also a directory");
  }
  verb.add_option("--dump-to", flags.dumpTo,
                  "directory for one numbered file per stage");
  verb.add_option("--ptx-override", flags.ptxOverride,
                  "take this PTX instead of the compiler's");
  verb.add_option("--ptxas-path", flags.ptxasPath,
                  "ptxas (else $PTXAS, PATH, $CUDA_HOME/bin)");
  verb.add_option("--style", flags.style,
                  "family of kernels, fa2 or fa3 (the target's best)")
      ->check([](const std::string &style) {
        bool isKnown = style == "fa2" || style == "fa3";
        return isKnown ? ""
                       : "expected one of fa2, fa3, but got '" + style + "'";
      });
  verb.add_option("--schedules", flags.schedules,
                  "table of schedules to choose from (the one built in)");
  verb.add_flag("--allow-fallback", flags.allowFallback,
                "where the device cannot take the tensors in style fa3, run "
                "style fa2 and say so");
  verb.add_option("--load-dialect-plugin", result.dialectPlugins,
                  "shared library with a dialect that the module uses")
      ->allow_extra_args(false);
  verb.footer("Options that begin with --mlir- go to MLIR, for example "
              "--mlir-print-ir-after-all.");
}

void Parser::addLaunch(CLI::App &verb, Verb kind) {
  LaunchFlags &flags = result.launch;
  TensorOptions &tensors = flags.tensors;
  verb.add_option("--shape", tensors.shape, "sizes, e.g. b=2,sq=1024,sk=1024");
  verb.add_option("--seqlens-q", flags.seqlensQ, "query lengths for thd");
  verb.add_option("--seqlens-k", flags.seqlensK, "key lengths for thd");
  auto addList = [&](const char *name, std::vector<std::string> &list,
                     const char *help) {
    verb.add_option(name, list, help)->allow_extra_args(false);
  };
  addList("--in", tensors.in, "an input, e.g. q=q.npy");
  addList("--strides", tensors.strides, "strides in elements, q=B,S,H,D");
  addList("--offset", tensors.offset, "offset in elements, q=N");
  verb.add_option("--seed", tensors.seed, "of random inputs")
      ->check(integerFrom(0, UINT64_MAX));
  verb.add_option("--device", flags.device,
                  "auto, cuda, cuda:N or emulator; for target host auto or "
                  "host (auto)");
  verb.add_option("--grid-limit", flags.gridLimit, "at most this many blocks")
      ->check(integerFrom(1, UINT32_MAX));
  verb.add_option("--runs", flags.runs, "launches")
      ->check(integerFrom(1, INT32_MAX));
  verb.add_option("--timeout", flags.timeout, "seconds until giving up")
      ->check(positiveNumber());
  if (kind == Verb::Bench) {
    verb.add_option("--ceiling-tflops", flags.ceilingTflops,
                    "what a plain matrix product reaches on this machine")
        ->check(positiveNumber());
    verb.add_flag("--csv", result.csv, "print CSV");
    return;
  }
  addList("--out", flags.outputs, "where a result goes, e.g. o=o.npy");
  verb.add_option("--emulator-seed", flags.emulatorSeed,
                  "of the emulator's scheduling; 0 is a fixed order")
      ->check(integerFrom(0, UINT64_MAX));
  verb.add_flag("--no-checks", flags.skipChecks,
                "run the emulator without its checks");
  verb.add_option("--check-rows", flags.checkRows,
                  "compare only this many rows with the reference")
      ->check(integerFrom(1, INT64_MAX));
  verb.add_flag("--stats", flags.stats, "count what the emulator did");
}

/// Sorts out what no option took.
bool Parser::takeExtra(const CLI::App &verb, const std::string &extra,
                       Errors &errors) {
  if (extra.compare(0, 7, "--mlir-") == 0) {
    result.mlirFlags.push_back(extra);
    return true;
  }
  if (extra.compare(0, 1, "-") != 0) {
    errors.push_back("expected one spec file, but got '" + extra + "' too");
    return false;
  }
  std::string name = extra.substr(0, extra.find('='));
  std::vector<std::string> names;
  for (const CLI::Option *option : verb.get_options())
    for (const std::string &longName : option->get_lnames())
      names.push_back("--" + longName);
  errors.push_back(name + ": expected a flag of '" + verb.get_name() +
                   "', but got '" + name + "'" + suggestion(name, names));
  return false;
}

void Parser::takeSpecFlags(const CLI::App &verb) {
  for (const SpecFlag &flag : specFlags) {
    if (verb.get_option_no_throw("--" + flag.field->flag()) != flag.option)
      continue;
    for (const std::string &text : flag.option->results())
      result.specFlags.emplace_back(flag.field, text);
  }
}

void Parser::takeEmit(Errors &errors) {
  for (const auto &[name, value] : kEmitNames)
    if (name == emit) {
      result.compile.emit = value;
      return;
    }
  errors.push_back("--emit: expected one of " + join(emitNames()) +
                   ", but got '" + emit + "'" + suggestion(emit, emitNames()));
}

/// The command line names no verb.
int Parser::reportVerb() {
  std::vector<std::string> names;
  for (const VerbInfo &info : kVerbs)
    names.push_back(info.name);
  std::vector<std::string> extras = app.remaining();
  std::string got = extras.empty() ? "nothing" : "'" + extras.front() + "'";
  return reportErrors(
      {"expected one of " + join(names) + ", but got " + got +
       (extras.empty() ? "" : suggestion(extras.front(), names))},
      kInvalid);
}

int Parser::finish(CLI::App &verb) {
  Errors errors;
  for (const std::string &extra : verb.remaining())
    // A value after an unknown flag is not worth a second message.
    if (!takeExtra(verb, extra, errors))
      break;
  takeSpecFlags(verb);
  takeEmit(errors);
  return errors.empty() ? kOk : reportErrors(errors, kInvalid);
}

/// The library would take what comes after `--head-dim-qk=` for its value.
static Errors checkEmptyValues(int argc, char **argv) {
  Errors errors;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    if (text.compare(0, 2, "--") != 0 || text.compare(0, 7, "--mlir-") == 0 ||
        text.find('=') != text.size() - 1)
      continue;
    std::string flag = text.substr(0, text.size() - 1);
    std::string message = flag + ": expected a value, but got ''";
    for (const Field &field : specFields())
      if (flag == "--" + field.flag() || flag == "--" + field.name)
        if (FieldValue empty = std::string(); auto reason = field.check(empty))
          message = *reason;
    errors.push_back(message);
  }
  return errors;
}

/// `--lse false` would be the flag and a spec file named false.
static Errors checkBooleans(int argc, char **argv) {
  Errors errors;
  for (int i = 1; i + 1 < argc; ++i)
    for (const Field &field : specFields()) {
      std::string flag = argv[i], value = argv[i + 1];
      bool isFlag = field.type == FieldType::Boolean &&
                    (flag == "--" + field.flag() || flag == "--" + field.name);
      if (isFlag && (value == "true" || value == "false"))
        errors.push_back(flag + ": expected '" + flag + "=" + value +
                         "', but got '" + flag + " " + value + "'");
    }
  return errors;
}

std::optional<int> Parser::parse(int argc, char **argv) {
  for (Errors (*check)(int, char **) : {&checkEmptyValues, &checkBooleans})
    if (Errors errors = check(argc, argv); !errors.empty())
      return reportErrors(errors, kInvalid);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    std::string message = error.what();
    if (!message.empty())
      message[0] = static_cast<char>(std::tolower(message[0]));
    return reportErrors({message}, kInvalid);
  }
  for (auto &[verb, info] : verbs) {
    if (!verb->parsed())
      continue;
    result.verb = info.verb;
    if (int code = finish(*verb); code != kOk)
      return code;
    return std::nullopt;
  }
  return reportVerb();
}

std::optional<int> parseCommandLine(int argc, char **argv,
                                    CommandLine &result) {
  return Parser(result).parse(argc, argv);
}

} // namespace attnc
