//===- Frontend.cpp - From what a user wrote to a problem -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Frontend.h"

#include "tools/attnc/spec/SpecRegions.h"
#include "tools/attnc/spec/SpecSupport.h"

#include "codegen/Emit/EmitPTX.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "passes/ScheduleTable.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace attnc {

void registerDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  mlir::attn::AttnDialect, attn_gpu::AttnGPUDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  mlir::attn::registerEmitDialects(registry);
}

namespace {

/// One problem on its way.
class ProblemReader {
public:
  ProblemReader(MLIRContext &context, ProblemInput input,
                ModuleProblem &problem)
      : context(context), input(std::move(input)), problem(problem) {}

  MaybeFailure read();

private:
  MaybeFailure readModule();
  MaybeFailure readSpec();
  MaybeFailure readValues();
  void readFlags();
  bool hasFlag(StringRef name) const;
  void checkAgainstOp();
  void checkPinnedHeads(const char *name, std::optional<int64_t> pinned,
                        int64_t got);
  void checkSchedule();

  MLIRContext &context;
  ProblemInput input;
  ModuleProblem &problem;

  OwningOpRef<ModuleOp> module;
  OpReading reading;
  SpecValues values;
  Errors errors, unsupported;
};

} // namespace

/// What a field means only at launch, or to the choice of a kernel, an op does
/// not say.
static bool isSetBesideOp(const Field &field) {
  return field.name == "target" || field.name == "softmax_scale" ||
         field.name == "softcap" || field.name == "mask.window_left" ||
         field.name == "mask.window_right" || field.name == "num_qo_heads" ||
         field.name == "num_kv_heads" || field.name == "deterministic";
}

bool ProblemReader::hasFlag(StringRef name) const {
  return llvm::any_of(
      input.flags, [&](const auto &flag) { return flag.first->name == name; });
}

void ProblemReader::readFlags() {
  for (const auto &[field, text] : input.flags)
    values.readFlag(*field, text, errors);
}

void ProblemReader::checkPinnedHeads(const char *name,
                                     std::optional<int64_t> pinned,
                                     int64_t got) {
  if (pinned && *pinned != got)
    errors.push_back(std::string(name) + ": expected " +
                     std::to_string(*pinned) +
                     ", as the op's types say, but got " + std::to_string(got));
}

/// A flag that says otherwise than the op would be another problem.
void ProblemReader::checkAgainstOp() {
  for (const Field &field : specFields()) {
    FieldValue own = field.get(reading.spec), got = field.get(problem.spec);
    if (own != got && !isSetBesideOp(field))
      errors.push_back(field.name + ": expected " +
                       (isGiven(own) ? printValue(own) : "no value") +
                       ", as the module's op says, but got " + printValue(got));
  }
  const Spec &spec = problem.spec;
  checkPinnedHeads("num_qo_heads", reading.pinnedQOHeads, spec.numQOHeads);
  checkPinnedHeads("num_kv_heads", reading.pinnedKVHeads, spec.numKVHeads);
  int64_t group = reading.op.getGroupSize();
  if (errors.empty() && spec.groupSize() != group)
    errors.push_back("num_qo_heads: expected " + std::to_string(group) +
                     " times num_kv_heads, but got " +
                     std::to_string(spec.numQOHeads) + " and " +
                     std::to_string(spec.numKVHeads));
}

/// A schedule for another target, or of another style, would be another kernel
/// than asked for; a style that nothing heeds would be ignored.
void ProblemReader::checkSchedule() {
  mlir::attn::ScheduleAttr schedule;
  if (reading.op)
    schedule = reading.op.getScheduleAttr();
  if (schedule && schedule.getTarget() != problem.spec.target)
    errors.push_back("schedule: expected target " + problem.spec.target +
                     ", but got " + schedule.getTarget().str());
  // A table that nothing would heed.
  if (schedule && !input.schedules.empty())
    errors.push_back("--schedules: expected an input without a schedule, but "
                     "got one, which wins");
  const std::string &style = input.style;
  if (style.empty())
    return;
  if (problem.isHost()) {
    errors.push_back("--style: expected a target with kernels, but got 'host'");
    return;
  }
  if (!schedule)
    return;
  std::string own = stringifyStyle(schedule.getStyle()).str();
  if (own != style)
    errors.push_back("--style: expected " + own +
                     ", as the input's schedule says, but got '" + style + "'");
}

/// The op and what it says.
MaybeFailure ProblemReader::readModule() {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input.file), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return Failure{kInvalid, {}};
  reading = readOp(*module, errors, unsupported);
  if (!errors.empty())
    return Failure{kInvalid, errors};
  values.readSpec(reading.spec, errors);
  readFlags();
  // Of two counts that nothing pins, one gives the other.
  int64_t group = reading.op.getGroupSize(), heads;
  auto derive = [&](const char *from, const char *to, auto scale) {
    const auto *given = std::get_if<int64_t>(&values.get(from));
    if (given && !reading.pinnedKVHeads && hasFlag(from) && !hasFlag(to) &&
        scale(*given))
      values.readFlag(*findField(to), std::to_string(heads), errors);
  };
  derive("num_qo_heads", "num_kv_heads", [&](int64_t given) {
    heads = given / group;
    return given % group == 0;
  });
  derive("num_kv_heads", "num_qo_heads", [&](int64_t given) {
    return !llvm::MulOverflow(given, group, heads);
  });
  return std::nullopt;
}

MaybeFailure ProblemReader::readSpec() {
  if (input.file)
    values.readJSON(input.file->getBuffer(), input.name, errors);
  readFlags();
  // On the command line the version is clear: it is this program's.
  if (!input.file)
    values.readFlag(*findField("version"), "1", errors);
  return std::nullopt;
}

MaybeFailure ProblemReader::read() {
  if (MaybeFailure failure = input.isModule ? readModule() : readSpec())
    return failure;
  // A flag may stand in for what a file lacks, so missing fields come last.
  if (!errors.empty())
    return Failure{kInvalid, errors};
  problem.spec = values.resolve(errors);
  if (errors.empty())
    checkRegions(context, problem.spec, errors);
  if (errors.empty() && reading.op)
    checkAgainstOp();
  checkSchedule();
  LogicalResult table = success();
  if (!input.schedules.empty())
    table = mlir::attn::ScheduleTable::read(&context, input.schedules);
  if (failed(table))
    return Failure{kInvalid, errors};
  if (errors.empty() && input.check)
    input.check(problem.spec, errors);
  if (!errors.empty())
    return Failure{kInvalid, errors};
  llvm::append_range(unsupported, listUnsupported(problem.spec));
  if (!unsupported.empty())
    return Failure{kUnsupported, unsupported};
  problem.mask = reading.mask;
  if (reading.op)
    adoptOp(reading.op, problem);
  else
    buildOp(context, problem);
  return std::nullopt;
}

MaybeFailure buildProblem(MLIRContext &context, ProblemInput input,
                          ModuleProblem &problem) {
  return ProblemReader(context, std::move(input), problem).read();
}

} // namespace attnc
