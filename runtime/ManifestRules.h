//===- ManifestRules.h - What a manifest's parts say of each other -*- C++ -*-//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A manifest may be put together from two, or changed by hand, and a kernel
// that is launched by a wrong one reads past its tensors. So whatever it says
// twice has to agree.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_MANIFESTRULES_H
#define ATTN_RUNTIME_MANIFESTRULES_H

#include "runtime/Json.h"
#include "runtime/Manifest.h"

namespace attn::runtime {

/// Applies the rules to a manifest whose parts are fine one by one. `root` is
/// what `manifest` was read from.
Status checkManifestRules(const Json &root, const Manifest &manifest);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_MANIFESTRULES_H
