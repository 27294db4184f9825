//===- BenchReport.cpp - What a benchmark found out -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"
#include "tools/attnc/run/Bench.h"
#include "tools/attnc/run/Text.h"

namespace attnc {

using attn::runtime::Json;

static constexpr const char *kNoTime =
    "the emulator counts what a kernel does; its own time is no measure of "
    "speed";

std::string printText(const BenchResult &r) {
  std::string text = "device:  " + r.deviceKind + ", " + r.deviceName + "\n";
  if (!r.deviceNote.empty())
    text += "         (" + r.deviceNote + ")\n";
  text += "kernel:  " + r.kernelName + "\n";
  text += "problem: " + printProblem(r.problem) + "\n";
  text += format("work:    %.6g GFLOP over visible pairs, at least %.6g MB of "
                 "HBM traffic\n",
                 r.flops / 1e9, r.hbmBytes / 1e6);
  if (r.runs == 0) {
    text += std::string("time:    none: ") + kNoTime + "\n";
    return text + "counts:  " + r.statistics + "\n";
  }
  text += format("time:    %.2f us (median of %lld, cold L2; %.2f to %.2f)\n",
                 r.medianSeconds * 1e6, (long long)r.runs, r.minSeconds * 1e6,
                 r.maxSeconds * 1e6);
  text += r.tflops() < 1 ? format("speed:   %.2f GFLOP/s", r.tflops() * 1e3)
                         : format("speed:   %.1f TFLOP/s", r.tflops());
  if (r.ceilingTflops > 0)
    text += format(", %.3f of the ceiling, %.1f TFLOP/s (%s)\n",
                   r.tflops() / r.ceilingTflops, r.ceilingTflops,
                   r.ceilingNote.c_str());
  else
    text += format("; ceiling unknown: %s; give --ceiling-tflops\n",
                   r.ceilingNote.c_str());
  text += format("traffic: %.1f GB/s, %.3f of the %.1f GB/s of a copy\n",
                 r.bytesPerSecond() / 1e9,
                 r.bytesPerSecond() / r.copyBytesPerSecond,
                 r.copyBytesPerSecond / 1e9);
  if (r.extraBytes)
    text += format("memory:  %llu bytes beyond the tensors\n",
                   (unsigned long long)*r.extraBytes);
  return text;
}

/// All numbers of a timed run, by name.
static Json measurements(const BenchResult &r) {
  Json json = {{"runs", r.runs},
               {"median_us", r.medianSeconds * 1e6},
               {"min_us", r.minSeconds * 1e6},
               {"max_us", r.maxSeconds * 1e6},
               {"tflops", r.tflops()},
               {"gb_per_s", r.bytesPerSecond() / 1e9},
               {"copy_gb_per_s", r.copyBytesPerSecond / 1e9},
               {"fraction_of_copy", r.bytesPerSecond() / r.copyBytesPerSecond}};
  if (r.ceilingTflops > 0) {
    json["ceiling_tflops"] = r.ceilingTflops;
    json["ceiling"] = r.ceilingNote;
    json["fraction_of_ceiling"] = r.tflops() / r.ceilingTflops;
  }
  return json;
}

static Json toJson(const BenchResult &r) {
  const Problem &p = r.problem;
  Json json = {{"device", r.deviceKind},     {"device_name", r.deviceName},
               {"kernel", r.kernelName},     {"dtype", p.dtype},
               {"batch", p.batch},           {"seqlen_q", p.queries},
               {"seqlen_k", p.keys},         {"num_qo_heads", p.qoHeads},
               {"num_kv_heads", p.kvHeads},  {"head_dim_qk", p.headDimQk},
               {"head_dim_vo", p.headDimVo}, {"flops", r.flops},
               {"hbm_bytes", r.hbmBytes},    {"extra_bytes", nullptr}};
  if (r.extraBytes)
    json["extra_bytes"] = *r.extraBytes;
  if (r.runs > 0)
    json.update(measurements(r));
  return json;
}

std::string printJson(const BenchResult &r) {
  Json json = toJson(r);
  if (!r.deviceNote.empty())
    json["device_note"] = r.deviceNote;
  if (r.runs == 0) {
    json["note"] = kNoTime;
    if (auto counts = attn::runtime::parseJson(r.statistics, "counts"))
      json["counts"] = *counts;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string printCsv(const BenchResult &r) {
  std::string names, values;
  Json json = toJson(r);
  for (const auto &item : json.items()) {
    std::string value = item.value().is_string()
                            ? item.value().get<std::string>()
                            : item.value().dump();
    // Only a device's name could hold a comma.
    for (char &c : value)
      if (c == ',' || c == '"' || c == '\n')
        c = ' ';
    names += (names.empty() ? "" : ",") + item.key();
    values += (values.empty() ? "" : ",") + value;
  }
  return names + "\n" + values + "\n";
}

} // namespace attnc
