/*===- CApiHeader.c - attn.h compiles as C ---------------------------------===*\
 *
 * Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
\*===----------------------------------------------------------------------===*/

#include "runtime/attn.h"

/* The layout that foreign function interfaces are written against. */
typedef char checkTensor[sizeof(attn_tensor) == 40 ? 1 : -1];
typedef char checkScalar[sizeof(attn_scalar) == 16 ? 1 : -1];
typedef char checkLaunch[sizeof(attn_launch) == 72 ? 1 : -1];
typedef char checkPlan[sizeof(attn_plan) == 32 ? 1 : -1];
