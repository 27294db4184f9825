//===- HostSchedule.h - Schedules of style host -----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_HOSTSCHEDULE_H
#define ATTN_PASSES_HOSTSCHEDULE_H

#include "dialect/attn/AttnDialect.h"

#include <string>

namespace mlir::attn {

/// `checkSchedule` for schedules of style host.
std::string checkHostSchedule(ScheduleAttr schedule);

} // namespace mlir::attn

#endif // ATTN_PASSES_HOSTSCHEDULE_H
