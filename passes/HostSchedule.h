//===- HostSchedule.h - Schedules of style host -----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_HOSTSCHEDULE_H
#define ATTN_PASSES_HOSTSCHEDULE_H

#include "passes/SelectSchedule.h"

namespace mlir::attn {

/// The schedule for the CPU, which fits every problem.
ScheduleDecision selectHostSchedule(MLIRContext *context,
                                    const ScheduleQuery &query);

/// `checkSchedule` for schedules of style host.
std::string checkHostSchedule(ScheduleAttr schedule);

} // namespace mlir::attn

#endif // ATTN_PASSES_HOSTSCHEDULE_H
