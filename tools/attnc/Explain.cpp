//===- Explain.cpp - Which kernel, why, and at what cost ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Explain.h"

#include "tools/attnc/Compile.h"
#include "tools/attnc/MaskIntervals.h"
#include "tools/attnc/Session.h"
#include "tools/attnc/run/Text.h"

#include "codegen/Emit/Manifest.h"
#include "passes/ScheduleReasons.h"
#include "passes/SelectSchedule.h"
#include "runtime/Formula.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdio>

using namespace mlir;
using nlohmann::ordered_json;

namespace attnc {

namespace {

/// What is known of costs: formulas, and numbers where the sizes are given.
struct Costs {
  std::string flops, hbmBytes;
  std::optional<double> flopsValue, hbmBytesValue;
};

/// Everything that is printed, as text or as JSON.
struct Explanation {
  std::string name;
  mlir::attn::ScheduleDecision decision;
  mlir::attn::ScheduleQuery query;
  const mlir::attn::TargetInfo *target;
  Costs costs;
};

} // namespace

static std::string print(mlir::attn::ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

static std::optional<double> evaluate(const std::string &text,
                                      const Problem &problem) {
  ::attn::runtime::Symbols symbols;
  auto formula = ::attn::runtime::Formula::parse(text, symbols);
  if (!formula)
    return std::nullopt;
  ::attn::runtime::Environment environment(symbols.size());
  std::map<std::string, int64_t> names = problem.names();
  names["visible_pairs"] = problem.visiblePairs();
  for (const auto &[name, value] : names)
    if (auto symbol = symbols.find(name))
      environment[*symbol] = ::attn::runtime::Value::of(value);
  auto value = formula->evaluate(environment);
  if (!value)
    return std::nullopt;
  return value->asReal();
}

/// Formulas as in the manifest, and their values for the sizes given.
static std::optional<int> addCosts(const CommandLine &command,
                                   const ModuleProblem &given,
                                   mlir::attn::AttentionOp op, Costs &costs) {
  const Spec &spec = given.spec;
  mlir::attn::CostFormulas formulas = mlir::attn::describeCost(op);
  costs.flops = formulas.flops;
  costs.hbmBytes = formulas.hbmBytes;
  bool isPinned = spec.batch && spec.seqlenQ && spec.seqlenK;
  const std::string &shapeText = command.launch.tensors.shape;
  if (shapeText.empty() && !isPinned)
    return std::nullopt;
  auto shape = parseShape(shapeText);
  if (!shape)
    return reportErrors({shape.status().message()}, kInvalid);
  auto problem = makeProblem(given.complete().dump(), *shape,
                             findIntervals(given.getOp()));
  if (!problem)
    return reportErrors({problem.status().message()},
                        static_cast<int>(problem.status().code()));
  costs.flopsValue = evaluate(costs.flops, *problem);
  costs.hbmBytesValue = evaluate(costs.hbmBytes, *problem);
  return std::nullopt;
}

/// A user's own schedule is judged, not replaced.
static mlir::attn::ScheduleDecision
decide(const mlir::attn::ScheduleTable &table,
       const mlir::attn::ScheduleQuery &query, mlir::attn::ScheduleAttr given) {
  if (!given)
    return mlir::attn::selectSchedule(table, query);
  mlir::attn::ScheduleDecision decision;
  std::string refusal = mlir::attn::checkSchedule(given, query);
  if (refusal.empty()) {
    decision.schedule = given;
    decision.reason = "the input names it";
  } else {
    decision.reason = "the schedule that the input names does not fit";
    decision.refusals.push_back({given, refusal});
  }
  return decision;
}

/// FLOP per byte at which the reference machine has as much of both to do.
static double ridge(const mlir::attn::ReferenceMachine &machine) {
  return machine.teraflops * 1e3 / machine.gigabytesPerSecond;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static ordered_json toJSON(const Explanation &explanation) {
  ordered_json root;
  const mlir::attn::ScheduleDecision &decision = explanation.decision;
  root["name"] = explanation.name;
  root["target"] = explanation.target->name.str();
  root["schedule"] = nullptr;
  root["reason"] = decision.reason;
  root["refused"] = ordered_json::array();
  for (const auto &refusal : decision.refusals)
    root["refused"].push_back(
        {{"schedule", print(refusal.schedule)}, {"reason", refusal.reason}});
  if (mlir::attn::ScheduleAttr schedule = decision.schedule) {
    root["schedule"] = print(schedule);
    root["tile"] = {schedule.getRows(), schedule.getKeys()};
    root["shared_memory"] =
        mlir::attn::getSharedBytes(schedule, explanation.query);
    root["shared_memory_limit"] = explanation.target->sharedBytesPerBlock;
    root["registers_estimate"] =
        mlir::attn::estimateRegisters(schedule, explanation.query);
    root["registers"] = std::vector<int64_t>(schedule.getRegisters().begin(),
                                             schedule.getRegisters().end());
    root["decisions"] = ordered_json::array();
    for (const auto &decided :
         mlir::attn::explainSchedule(schedule, explanation.query))
      root["decisions"].push_back({{"field", decided.field},
                                   {"value", decided.value},
                                   {"reason", decided.reason}});
  }
  const Costs &costs = explanation.costs;
  root["flops"] = {{"formula", costs.flops}, {"value", nullptr}};
  root["hbm_bytes"] = {{"formula", costs.hbmBytes}, {"value", nullptr}};
  if (!costs.flopsValue || !costs.hbmBytesValue)
    return root;
  root["flops"]["value"] = *costs.flopsValue;
  root["hbm_bytes"]["value"] = *costs.hbmBytesValue;
  bool hasReference = explanation.target->reference.gigabytesPerSecond > 0;
  if (*costs.hbmBytesValue > 0 && hasReference) {
    double intensity = *costs.flopsValue / *costs.hbmBytesValue;
    root["intensity"] = intensity;
    root["bound"] = intensity >= ridge(explanation.target->reference)
                        ? "compute"
                        : "memory";
    root["bound_machine"] = explanation.target->reference.name.str();
  }
  return root;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printSchedule(const Explanation &explanation) {
  mlir::attn::ScheduleAttr schedule = explanation.decision.schedule;
  std::printf("schedule   %s\n", print(schedule).c_str());
  std::printf("because    %s\n", explanation.decision.reason.c_str());
  std::printf("tile       %lld rows x %lld keys, %lld workers, %lld stages\n",
              (long long)schedule.getRows(), (long long)schedule.getKeys(),
              (long long)schedule.getWorkers(),
              (long long)schedule.getStages());
  if (explanation.target->isHost())
    return;
  std::printf(
      "shared     %lld of %lld bytes\n",
      (long long)mlir::attn::getSharedBytes(schedule, explanation.query),
      (long long)explanation.target->sharedBytesPerBlock);
  if (schedule.getRegisters().size() == 2)
    std::printf(
        "registers  %lld for the producer, %lld for a consumer, which needs "
        "about %lld\n",
        (long long)schedule.getRegisters()[0],
        (long long)schedule.getRegisters()[1],
        (long long)mlir::attn::estimateRegisters(schedule, explanation.query));
}

static void printDecisions(const Explanation &explanation) {
  for (const auto &decided : mlir::attn::explainSchedule(
           explanation.decision.schedule, explanation.query))
    std::printf("decision   %s = %s: %s\n", decided.field.c_str(),
                decided.value.c_str(), decided.reason.c_str());
}

static void print(const std::string &text) { std::fputs(text.c_str(), stdout); }

static void printCosts(const Explanation &explanation) {
  const Costs &costs = explanation.costs;
  std::printf("flops      %s\n", costs.flops.c_str());
  std::printf("hbm bytes  %s\n", costs.hbmBytes.c_str());
  if (!costs.flopsValue || !costs.hbmBytesValue) {
    std::printf("           give --shape b=...,sq=...,sk=... for numbers\n");
    return;
  }
  print(format("           %.4g FLOP, %.4g bytes\n", *costs.flopsValue,
               *costs.hbmBytesValue));
  const mlir::attn::ReferenceMachine &machine = explanation.target->reference;
  if (*costs.hbmBytesValue <= 0 || machine.gigabytesPerSecond == 0)
    return;
  double intensity = *costs.flopsValue / *costs.hbmBytesValue;
  bool isCompute = intensity >= ridge(machine);
  print(format("bound      %s: %.4g FLOP per byte, %s %.4g, where %s has as "
               "much of both\n",
               isCompute ? "compute" : "memory", intensity,
               isCompute ? "above" : "below", ridge(machine),
               machine.name.data()));
}

static void printText(const Explanation &explanation) {
  std::printf("kernel     %s\n", explanation.name.c_str());
  if (explanation.decision.schedule) {
    printSchedule(explanation);
    printDecisions(explanation);
  } else {
    std::printf("schedule   none: %s\n", explanation.decision.reason.c_str());
  }
  for (const auto &refusal : explanation.decision.refusals)
    std::printf("refused    %s\n           %s\n",
                print(refusal.schedule).c_str(), refusal.reason.c_str());
  printCosts(explanation);
}

int runExplain(const CommandLine &command) {
  Session session(command.dialectPlugins);
  ModuleProblem problem;
  if (auto code = loadProblem(session, command, problem))
    return *code;
  mlir::attn::AttentionOp op = problem.getOp();

  Explanation explanation;
  explanation.name = nameKernel(
      op->getParentOfType<func::FuncOp>().getName().str(), command.compile);
  explanation.target = mlir::attn::lookupTarget(problem.spec.target);
  explanation.query = mlir::attn::ScheduleQuery::get(op, problem.spec.target);
  explanation.query.style = mlir::attn::symbolizeStyle(command.compile.style);
  auto table = mlir::attn::ScheduleTable::read(&session.context(),
                                               command.compile.schedules);
  if (failed(table))
    return kInvalid;
  explanation.decision =
      decide(*table, explanation.query, op.getScheduleAttr());
  if (auto code = addCosts(command, problem, op, explanation.costs))
    return *code;
  if (command.json)
    std::printf("%s\n", toJSON(explanation).dump(2).c_str());
  else
    printText(explanation);
  return explanation.decision.schedule
             ? kOk
             : reportErrors({explanation.decision.reason}, kUnsupported);
}

} // namespace attnc
