//===- Support.cpp - What each target supports ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Explain.h"

#include "tools/attnc/Session.h"
#include "tools/attnc/spec/SpecSupport.h"

#include "codegen/Target/TargetInfo.h"
#include "passes/SelectSchedule.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using nlohmann::ordered_json;

namespace attnc {

namespace {

using Settings = std::vector<std::pair<const char *, const char *>>;

/// A feature is what a spec asks for beyond the plainest one.
struct Feature {
  const char *name;
  Settings settings;
};

enum class Answer { Yes, No, Invalid };

struct Cell {
  Answer answer;
  Errors reasons;
};

} // namespace

static const std::vector<Feature> &features() {
  static const std::vector<Feature> all = {
      {"dtype bf16", {}},
      {"dtype f16", {{"dtype", "f16"}}},
      {"dtype e4m3", {{"dtype", "e4m3"}}},
      {"dtype f32", {{"dtype", "f32"}}},
      {"dtype f64", {{"dtype", "f64"}}},
      {"backward", {{"direction", "backward"}}},
      {"head dim 8", {{"head_dim_qk", "8"}}},
      {"head dim 96", {{"head_dim_qk", "96"}}},
      {"head dim 128", {{"head_dim_qk", "128"}}},
      {"head dim 192", {{"head_dim_qk", "192"}}},
      {"head dim 256", {{"head_dim_qk", "256"}}},
      {"head dims 192/128", {{"head_dim_qk", "192"}, {"head_dim_vo", "128"}}},
      {"head dims 576/512", {{"head_dim_qk", "576"}, {"head_dim_vo", "512"}}},
      {"grouped queries", {{"num_qo_heads", "8"}, {"num_kv_heads", "2"}}},
      {"layout bhsd", {{"layout", "bhsd"}}},
      {"layout thd", {{"layout", "thd"}}},
      {"pinned sizes",
       {{"batch", "2"}, {"seqlen_q", "64"}, {"seqlen_k", "64"}}},
      {"softcap", {{"softcap", "30"}}},
      {"causal top_left",
       {{"mask.kind", "causal"}, {"mask.alignment", "top_left"}}},
      {"causal bottom_right",
       {{"mask.kind", "causal"}, {"mask.alignment", "bottom_right"}}},
      {"window",
       {{"mask.kind", "window"},
        {"mask.alignment", "bottom_right"},
        {"mask.window_left", "128"}}},
      {"prefix_lm",
       {{"mask.kind", "prefix_lm"}, {"mask.alignment", "top_left"}}},
      {"mask tensor", {{"mask.kind", "tensor"}}},
      {"bias tensor", {{"bias", "tensor"}}},
      {"bias alibi", {{"bias", "alibi"}}},
      {"score_mod", {{"score_mod", "^bb0"}}},
      {"mask_mod", {{"mask_mod", "^bb0"}}},
      {"sinks", {{"sinks", "true"}}},
      {"paged kv",
       {{"kv.kind", "paged"}, {"kv.page_size", "16"}, {"kv.seqused", "true"}}},
      {"used lengths", {{"kv.seqused", "true"}}},
      {"lse", {{"lse", "true"}}},
      {"descale", {{"dtype", "e4m3"}, {"descale", "head"}}},
      {"splits", {{"num_splits", "4"}}},
  };
  return all;
}

/// The same steps that `compile` takes for this spec.
static Cell decide(Session &session, const mlir::attn::ScheduleTable &table,
                   const std::string &target, const Feature &feature) {
  SpecValues values;
  Errors errors;
  Settings settings = {{"version", "1"},
                       {"num_qo_heads", "4"},
                       {"head_dim_qk", "64"},
                       {"target", target.c_str()}};
  settings.insert(settings.end(), feature.settings.begin(),
                  feature.settings.end());
  for (auto [name, text] : settings)
    values.readFlag(*findField(name), text, errors);
  Spec spec = values.resolve(errors);
  if (!errors.empty())
    return {Answer::Invalid, errors};
  Errors reasons = listUnsupported(spec);
  if (!reasons.empty())
    return {Answer::No, reasons};
  ModuleProblem problem;
  problem.spec = spec;
  buildOp(session.context(), problem);
  mlir::attn::ScheduleDecision decision = mlir::attn::selectSchedule(
      table, mlir::attn::ScheduleQuery::get(problem.getOp(), spec.target));
  if (!decision.schedule)
    return {Answer::No, {decision.reason}};
  return {Answer::Yes, {}};
}

static const char *toString(Answer answer) {
  switch (answer) {
  case Answer::Yes:
    return "yes";
  case Answer::No:
    return "no";
  case Answer::Invalid:
    return "-";
  }
  return "";
}

static void printTable(Session &session,
                       const mlir::attn::ScheduleTable &table) {
  std::printf("%-20s", "");
  for (const auto &target : mlir::attn::getTargets())
    std::printf(" %8s", target.name.data());
  std::printf("\n");
  for (const Feature &feature : features()) {
    std::printf("%-20s", feature.name);
    for (const auto &target : mlir::attn::getTargets())
      std::printf(
          " %8s",
          toString(decide(session, table, target.name.str(), feature).answer));
    std::printf("\n");
  }
  std::printf("yes: served; no: valid, not served; -: not valid there\n");
}

static void printJSON(Session &session,
                      const mlir::attn::ScheduleTable &table) {
  ordered_json root = ordered_json::object();
  for (const auto &target : mlir::attn::getTargets())
    for (const Feature &feature : features()) {
      Cell cell = decide(session, table, target.name.str(), feature);
      root[target.name.str()][feature.name] = {
          {"answer",
           cell.answer == Answer::Invalid ? "invalid" : toString(cell.answer)},
          {"reasons", cell.reasons}};
    }
  std::printf("%s\n", root.dump(2).c_str());
}

int runSupport(const CommandLine &command) {
  Session session;
  auto table = mlir::attn::ScheduleTable::read(&session.context(), "");
  if (mlir::failed(table))
    return kFailed;
  if (command.json)
    printJSON(session, *table);
  else
    printTable(session, *table);
  return kOk;
}

} // namespace attnc
