//===- AttnTuning.h - Rows of a table of schedules --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from the ops of kernels, since only who chooses a schedule reads it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNTUNING_H
#define ATTN_DIALECT_ATTN_ATTNTUNING_H

#include "dialect/attn/AttnDialect.h"

#define GET_OP_CLASSES
#include "dialect/attn/AttnTuning.h.inc"

#endif // ATTN_DIALECT_ATTN_ATTNTUNING_H
