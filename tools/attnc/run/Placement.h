//===- Placement.h - A tensor in device memory ---------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts a tensor into an allocation with the strides and offset that the user
// asked for. Everything in the allocation that is not the tensor is poison: a
// NaN to whoever reads it, and noticed if anybody writes it.
//
// On the emulator the allocation ends where the tensor ends, because it catches
// every access outside by itself; elsewhere it has guard zones on both sides.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_PLACEMENT_H
#define ATTN_TOOLS_ATTNC_RUN_PLACEMENT_H

#include "runtime/Arguments.h"
#include "tools/attnc/run/HostTensor.h"

#include <optional>

namespace attnc {

struct PlacementOptions {
  /// One a dimension, in elements; empty for contiguous.
  std::vector<int64_t> strides;
  /// Elements between the start of the allocation and the tensor.
  int64_t offset = 0;
  bool hasGuards = false;
};

class Placement {
public:
  Placement() = default;
  Placement(Placement &&other) { *this = std::move(other); }
  Placement &operator=(Placement &&other);
  ~Placement();

  /// The view that create would give, at an address of the same alignment: to
  /// check a launch before anything is allocated.
  static attn::runtime::TensorView
  preview(const attn::runtime::TensorSpec &spec,
          const std::vector<int64_t> &sizes, const PlacementOptions &options);

  static attn::runtime::Expected<Placement>
  create(attn::runtime::Device &device, const attn::runtime::TensorSpec &spec,
         const std::vector<int64_t> &sizes, const PlacementOptions &options);

  /// Poison everywhere.
  attn::runtime::Status poison();
  /// The tensor's elements, and poison in the gaps.
  attn::runtime::Status scatter(const HostTensor &from);
  attn::runtime::Status gather(HostTensor &to) const;
  /// The first byte of poison that is none any more, in bytes from the start
  /// of the tensor; empty if all is well.
  attn::runtime::Expected<std::optional<int64_t>> findDamage() const;

  /// Whether elements share addresses, as those of a broadcast tensor do.
  bool hasSharedElements() const { return hasSharedElements_; }
  const attn::runtime::TensorView &view() const { return view_; }
  attn::runtime::DevicePtr allocation() const { return allocation_; }

private:
  struct Interval {
    uint64_t begin, end;
  };

  attn::runtime::Status computeExtent(const PlacementOptions &options);
  void findRuns();
  void findGaps();
  /// Small enough to hold a copy of the whole allocation.
  bool isSmall() const;
  /// Calls body(bytes from the start of the allocation, host element).
  template <typename Body>
  attn::runtime::Status forEachRun(Body &&body) const;
  attn::runtime::Status fill(const Interval &interval);

  attn::runtime::Device *device_ = nullptr;
  std::string name_;
  attn::runtime::TensorView view_;
  size_t elementBytes_ = 0;
  attn::runtime::DevicePtr allocation_ = 0;
  uint64_t bytes_ = 0;
  /// Where the tensor begins and ends in the allocation, in bytes.
  uint64_t begin_ = 0, end_ = 0;
  /// Elements that lie one after the other in both memories, and the number
  /// of dimensions outside of these.
  int64_t runLength_ = 1;
  int outerDims_ = 0;
  /// Where the runs lie, sorted, and what is between them and around; of long
  /// gaps in a large allocation only the ends.
  std::vector<Interval> runs_, gaps_;
  bool hasSharedElements_ = false;
};

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_PLACEMENT_H
