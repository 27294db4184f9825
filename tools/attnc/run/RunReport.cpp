//===- RunReport.cpp - What a run found out, for people and programs ------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"
#include "tools/attnc/run/Run.h"
#include "tools/attnc/run/Text.h"

#include <cmath>

namespace attnc {

using attn::runtime::Json;

static std::string printPlace(const Sample &sample) {
  std::string text = format("b=%lld h=%lld row=%lld", (long long)sample.at[0],
                            (long long)sample.at[1], (long long)sample.at[2]);
  if (sample.at[3] >= 0)
    text += format(" column=%lld", (long long)sample.at[3]);
  return text + format(": %.9g, expected %.9g", sample.got, sample.expected);
}

static std::string printO(const Comparison &c) {
  std::string text = format(
      "o:       max abs error %.3g (%.3g of the largest element), relative "
      "error %.3g (2-norm), NaN count %lld\n"
      "         bar: ",
      c.maxAbsError, c.maxRelError(), c.relativeNorm(), (long long)c.nanCount);
  text +=
      c.oBar() > 2 * c.plainMaxAbsError
          ? format("%.3g + one rounding\n", c.oBar())
          : format("twice %.3g (plain computation in the input dtype) + one "
                   "rounding\n",
                   c.plainMaxAbsError);
  if (c.worst.error >= 0 || c.maxAbsError > 0)
    text += "         worst at " + printPlace(c.worst) + "\n";
  if (c.firstMismatch)
    text += format("         %lld NaN or infinite elements differ, first at ",
                   (long long)c.specialMismatches) +
            printPlace(*c.firstMismatch) + "\n";
  return text;
}

static std::string printLse(const Comparison &c) {
  std::string text = format("lse:     error %.3g, bar ", c.lseError);
  text +=
      c.lseBar() > c.lseTolerance
          ? format("twice %.3g (the same computed plainly)\n", c.plainLseError)
          : format("%.0e\n", c.lseBar());
  if (c.lseError > 0)
    text += "         worst at " + printPlace(c.worstLse) + "\n";
  if (c.firstLseMismatch)
    text += format("         %lld NaN or infinite elements differ, first at ",
                   (long long)c.lseMismatches) +
            printPlace(*c.firstLseMismatch) + "\n";
  return text;
}

/// Why it failed; empty if it did not.
static std::string printFailure(const RunResult &result) {
  const Comparison &c = result.comparison;
  std::string text;
  auto add = [&](const std::string &reason) {
    text += (text.empty() ? "" : "; ") + reason;
  };
  if (c.specialMismatches > 0)
    add("o has NaN or infinity where it should not, or not where it should");
  else if (!c.isOWithinBar())
    add(format("o is off by up to %.3g, but the bar is %.3g + one rounding",
               c.maxAbsError, c.oBar()));
  if (c.lseMismatches > 0)
    add("lse has NaN or infinity where it should not, or not where it should");
  else if (!c.isLseWithinBar())
    add(format("lse is off by %.3g, but the bar is %.3g", c.lseError,
               c.lseBar()));
  if (result.unstableRun)
    add(format("run %lld differs from run 0", (long long)*result.unstableRun));
  return text;
}

static std::string printStatistics(const RunResult &result) {
  if (result.statistics.empty())
    return "stats:   none: only the emulator counts\n";
  std::string text =
      format("time:    %.4f s (%.4f s of processors) in the emulator, checks "
             "%s\n",
             result.seconds, result.cpuSeconds, result.checks ? "on" : "off");
  text += "stats:   " + result.statistics + "\n";
  for (const TensorTraffic &t : result.traffic)
    text += format("traffic: %s of %llu bytes: %llu read, %llu written\n",
                   t.name.c_str(), (unsigned long long)t.tensorBytes,
                   (unsigned long long)t.readBytes,
                   (unsigned long long)t.writtenBytes);
  return text;
}

std::string printText(const RunResult &result, bool withStatistics) {
  const Comparison &c = result.comparison;
  std::string text =
      "device:  " + result.deviceKind + ", " + result.deviceName + "\n";
  if (!result.deviceNote.empty())
    text += "         (" + result.deviceNote + ")\n";
  text += "kernel:  " + result.kernelName + "\n";
  text += "problem: " + printProblem(result.problem) + "\n";
  text += format("rows:    %lld of %lld compared%s\n", (long long)c.rowsChecked,
                 (long long)c.rowsTotal,
                 c.rowsChecked < c.rowsTotal ? " (sampled)" : "");
  text += printO(c);
  if (c.hasLse)
    text += printLse(c);
  if (result.runs > 1)
    text += format("runs:    %lld, %s\n", (long long)result.runs,
                   result.unstableRun ? "not the same bits" : "the same bits");
  if (withStatistics)
    text += printStatistics(result);
  std::string failure = printFailure(result);
  return text + "result:  " + (failure.empty() ? "pass" : "FAIL: " + failure) +
         "\n";
}

/// JSON has no NaN and no infinity.
static Json number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static Json toJson(const Sample &sample) {
  Json json = {
      {"batch", sample.at[0]}, {"head", sample.at[1]}, {"row", sample.at[2]}};
  if (sample.at[3] >= 0)
    json["column"] = sample.at[3];
  json["got"] = number(sample.got);
  json["expected"] = number(sample.expected);
  return json;
}

std::string printJson(const RunResult &result, bool withStatistics) {
  const Comparison &c = result.comparison;
  const Problem &p = result.problem;
  Json o = {{"max_abs_error", c.maxAbsError},
            {"max_rel_error", c.maxRelError()},
            {"relative_norm", c.relativeNorm()},
            {"plain_max_abs_error", c.plainMaxAbsError},
            {"bar", c.oBar()},
            {"nan_count", c.nanCount},
            {"special_mismatches", c.specialMismatches},
            {"within_bar", c.isOWithinBar()}};
  if (c.rowsChecked > 0)
    o["worst"] = toJson(c.worst);
  if (c.firstMismatch)
    o["first_mismatch"] = toJson(*c.firstMismatch);
  Json root = {{"device", result.deviceKind},
               {"device_name", result.deviceName},
               {"device_note", result.deviceNote},
               {"kernel", result.kernelName},
               {"problem",
                {{"batch", p.batch},
                 {"seqlen_q", p.queries},
                 {"seqlen_k", p.keys},
                 {"num_qo_heads", p.qoHeads},
                 {"num_kv_heads", p.kvHeads},
                 {"head_dim_qk", p.headDimQk},
                 {"head_dim_vo", p.headDimVo},
                 {"dtype", p.dtype}}},
               {"rows_checked", c.rowsChecked},
               {"rows_total", c.rowsTotal},
               {"o", o}};
  if (c.hasLse) {
    root["lse"] = {{"max_error", c.lseError},
                   {"bar", c.lseBar()},
                   {"special_mismatches", c.lseMismatches},
                   {"within_bar", c.isLseWithinBar()}};
    if (c.firstLseMismatch)
      root["lse"]["first_mismatch"] = toJson(*c.firstLseMismatch);
  }
  if (result.deviceKind == "emulator")
    root["emulator"] = {{"checks", result.checks},
                        {"seconds", result.seconds},
                        {"cpu_seconds", result.cpuSeconds}};
  root["runs"] = result.runs;
  root["bitwise_stable"] = !result.unstableRun;
  if (withStatistics && !result.statistics.empty()) {
    auto statistics = attn::runtime::parseJson(result.statistics, "stats");
    if (statistics)
      root["stats"] = *statistics;
    for (const TensorTraffic &t : result.traffic)
      root["traffic"][t.name] = {{"tensor_bytes", t.tensorBytes},
                                 {"read_bytes", t.readBytes},
                                 {"written_bytes", t.writtenBytes}};
  }
  root["passed"] = result.isPassed();
  if (std::string failure = printFailure(result); !failure.empty())
    root["failure"] = failure;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace attnc
