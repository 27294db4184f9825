//===- Tensors.h - The tensors of one run --------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_TENSORS_H
#define ATTN_TOOLS_ATTNC_RUN_TENSORS_H

#include "tools/attnc/run/Placement.h"
#include "tools/attnc/run/Problem.h"

namespace attnc {

/// What the user says of shapes and tensors, as it stands on the command line.
struct TensorOptions {
  /// "b=2,sq=64,sk=64"; what the spec pins or an input file says may be left
  /// out.
  std::string shape;
  /// "q=q.npy": arrays in the order of the spec's layout.
  std::vector<std::string> in;
  /// "q=B,S,H,D" in elements, in this order whatever the layout; of a tensor
  /// with other dimensions in the order of its own. Or "q=s:64,b:4096" by name,
  /// the others contiguous.
  std::vector<std::string> strides;
  /// "q=N" in elements.
  std::vector<std::string> offset;
  uint64_t seed = 0;
  /// Of a mask that no spec can name.
  FindIntervals findIntervals;
};

/// One of each list for every tensor of the manifest, in its order. An output
/// is all zero on the host.
struct Tensors {
  Problem problem;
  std::vector<HostTensor> host;
  std::vector<PlacementOptions> placement;
};

/// `spec` is a complete, valid spec with the values of this run.
attn::runtime::Expected<Tensors>
prepareTensors(const attn::runtime::Manifest &manifest, const std::string &spec,
               const TensorOptions &options);

/// Splits "name=value" and checks the name.
struct Assignment {
  int tensor;
  std::string value;
};
attn::runtime::Expected<Assignment>
parseAssignment(const attn::runtime::Manifest &manifest, const char *flag,
                const std::string &text);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_TENSORS_H
