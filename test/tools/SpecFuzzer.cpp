//===- SpecFuzzer.cpp - The spec front end on arbitrary bytes -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecCanonical.h"
#include "tools/attnc/spec/SpecParser.h"
#include "tools/attnc/spec/SpecSupport.h"

#include <cstdlib>

using namespace attnc;

/// Beyond not crashing: a spec that is accepted has a canonical form, and its
/// complete form reads back to the same spec.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Errors errors;
  SpecValues values;
  values.readJSON({reinterpret_cast<const char *>(data), size}, "spec", errors);
  Spec spec = values.resolve(errors);
  if (!errors.empty())
    return 0;
  listUnsupported(spec);
  kernelName(spec, specHash(canonicalSpec(spec)));

  SpecValues again;
  again.readJSON(completeSpec(spec).dump(), "spec", errors);
  Spec second = again.resolve(errors);
  if (!errors.empty() || completeSpec(second) != completeSpec(spec))
    std::abort();
  return 0;
}
