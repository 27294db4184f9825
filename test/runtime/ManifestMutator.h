//===- ManifestMutator.h - What the manifest fuzzer starts from -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_MANIFESTMUTATOR_H
#define ATTN_TEST_RUNTIME_MANIFESTMUTATOR_H

#include <string>

/// Of a kernel that can be launched.
const std::string &validManifest();

#endif // ATTN_TEST_RUNTIME_MANIFESTMUTATOR_H
