//===- Placement.cpp - A tensor in device memory --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Placement.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attnc {

using attn::runtime::Device;
using attn::runtime::DevicePtr;
using attn::runtime::elementSize;
using attn::runtime::Expected;
using attn::runtime::Status;
using attn::runtime::TensorSpec;
using attn::runtime::TensorView;

// All ones: a NaN in every floating-point format, and no NaN that a kernel
// would compute.
static constexpr uint8_t kPoison = 0xff;
static constexpr uint64_t kGuardBytes = 4096;
static constexpr uint64_t kSmallBytes = uint64_t(256) << 20;

Placement &Placement::operator=(Placement &&other) {
  std::swap(device_, other.device_);
  std::swap(name_, other.name_);
  std::swap(view_, other.view_);
  std::swap(elementBytes_, other.elementBytes_);
  std::swap(allocation_, other.allocation_);
  std::swap(bytes_, other.bytes_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  std::swap(runLength_, other.runLength_);
  std::swap(outerDims_, other.outerDims_);
  std::swap(runs_, other.runs_);
  std::swap(gaps_, other.gaps_);
  std::swap(hasSharedElements_, other.hasSharedElements_);
  view_.name = name_;
  other.view_.name = other.name_;
  return *this;
}

Placement::~Placement() {
  if (allocation_)
    (void)device_->free(allocation_);
}

TensorView Placement::preview(const TensorSpec &spec,
                              const std::vector<int64_t> &sizes,
                              const PlacementOptions &options) {
  TensorView view;
  view.name = spec.name;
  view.rank = spec.rank();
  int64_t stride = 1;
  for (int d = view.rank - 1; d >= 0; --d) {
    view.sizes[d] = sizes[d];
    view.strides[d] = options.strides.empty() ? stride : options.strides[d];
    // An empty tensor's strides mean nothing; a product of 0 would. One that
    // overflows is refused with the extent.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[d], 1), &stride))
      stride = std::numeric_limits<int64_t>::max();
  }
  if (!view.isEmpty())
    view.data = kGuardBytes + options.offset * elementSize(spec.element);
  return view;
}

/// Where in the allocation the tensor begins and ends.
Status Placement::computeExtent(const PlacementOptions &options) {
  int64_t last = 0;
  bool overflow = options.offset < 0;
  for (int d = 0; d < view_.rank; ++d) {
    int64_t reach = 0;
    overflow |= view_.strides[d] < 0 && view_.sizes[d] > 1;
    overflow |= __builtin_mul_overflow(
        view_.sizes[d] - 1, view_.sizes[d] > 1 ? view_.strides[d] : 0, &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  uint64_t guard = options.hasGuards ? kGuardBytes : 0;
  overflow |=
      __builtin_mul_overflow(uint64_t(options.offset), elementBytes_, &begin_);
  overflow |= __builtin_add_overflow(begin_, guard, &begin_);
  overflow |= __builtin_mul_overflow(uint64_t(last) + 1, elementBytes_, &end_);
  overflow |= __builtin_add_overflow(end_, begin_, &end_);
  overflow |= __builtin_add_overflow(end_, guard, &bytes_);
  if (overflow)
    return Status::invalidArgument(name_ + ": expected an offset and strides "
                                           "of at least 0 within 64-bit "
                                           "addresses, but got others");
  return Status::ok();
}

bool Placement::isSmall() const { return bytes_ <= kSmallBytes; }

template <typename Body>
Status Placement::forEachRun(Body &&body) const {
  std::array<int64_t, attn::runtime::kMaxRank> at{};
  int64_t index = 0;
  while (true) {
    int64_t element = 0;
    for (int d = 0; d < outerDims_; ++d)
      if (view_.sizes[d] > 1)
        element += at[d] * view_.strides[d];
    Status status = body(begin_ + element * elementBytes_, index);
    if (!status.isOk())
      return status;
    index += runLength_;
    int d = outerDims_ - 1;
    while (d >= 0 && ++at[d] == view_.sizes[d])
      at[d--] = 0;
    if (d < 0)
      return Status::ok();
  }
}

void Placement::findRuns() {
  runLength_ = 1;
  outerDims_ = view_.rank;
  while (outerDims_ > 0) {
    int d = outerDims_ - 1;
    if (view_.sizes[d] != 1 && view_.strides[d] != runLength_)
      break;
    runLength_ *= view_.sizes[d];
    --outerDims_;
  }
  uint64_t runBytes = runLength_ * elementBytes_;
  (void)forEachRun([&](uint64_t at, int64_t) {
    runs_.push_back({at, at + runBytes});
    return Status::ok();
  });
  std::sort(
      runs_.begin(), runs_.end(),
      [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
}

void Placement::findGaps() {
  uint64_t done = 0;
  auto add = [&](uint64_t begin, uint64_t end) {
    if (begin >= end)
      return;
    if (isSmall() || end - begin <= 2 * kGuardBytes) {
      gaps_.push_back({begin, end});
      return;
    }
    gaps_.push_back({begin, begin + kGuardBytes});
    gaps_.push_back({end - kGuardBytes, end});
  };
  for (const Interval &run : runs_) {
    hasSharedElements_ |= run.begin < done;
    add(done, run.begin);
    done = std::max(done, run.end);
  }
  add(done, bytes_);
}

Expected<Placement> Placement::create(Device &device, const TensorSpec &spec,
                                      const std::vector<int64_t> &sizes,
                                      const PlacementOptions &options) {
  Placement placement;
  placement.device_ = &device;
  placement.name_ = spec.name;
  placement.elementBytes_ = elementSize(spec.element);
  placement.view_ = preview(spec, sizes, options);
  placement.view_.name = placement.name_;
  if (placement.view_.isEmpty())
    return placement; // nothing to place; its pointer is null
  if (Status status = placement.computeExtent(options); !status.isOk())
    return status;
  placement.findRuns();
  placement.findGaps();
  Expected<DevicePtr> allocation = device.allocate(placement.bytes_);
  if (!allocation)
    return Status::launchFailed(spec.name + ": " +
                                allocation.status().message());
  placement.allocation_ = *allocation;
  placement.view_.data = *allocation + placement.begin_;
  return placement;
}

Status Placement::fill(const Interval &interval) {
  return device_->fill(allocation_ + interval.begin, kPoison,
                       interval.end - interval.begin, nullptr);
}

Status Placement::poison() {
  if (!allocation_)
    return Status::ok();
  if (isSmall())
    return fill({0, bytes_});
  for (const auto *list : {&gaps_, &runs_})
    for (const Interval &interval : *list)
      if (Status status = fill(interval); !status.isOk())
        return status;
  return Status::ok();
}

Status Placement::scatter(const HostTensor &from) {
  if (!allocation_)
    return Status::ok();
  uint64_t runBytes = runLength_ * elementBytes_;
  if (isSmall()) {
    std::vector<uint8_t> image(bytes_, kPoison);
    (void)forEachRun([&](uint64_t at, int64_t index) {
      std::memcpy(image.data() + at, from.data.data() + index * elementBytes_,
                  runBytes);
      return Status::ok();
    });
    return device_->copyToDevice(allocation_, image.data(), bytes_);
  }
  for (const Interval &gap : gaps_)
    if (Status status = fill(gap); !status.isOk())
      return status;
  return forEachRun([&](uint64_t at, int64_t index) {
    return device_->copyToDevice(
        allocation_ + at, from.data.data() + index * elementBytes_, runBytes);
  });
}

Status Placement::gather(HostTensor &to) const {
  if (!allocation_)
    return Status::ok();
  uint64_t runBytes = runLength_ * elementBytes_;
  if (!isSmall())
    return forEachRun([&](uint64_t at, int64_t index) {
      return device_->copyToHost(to.data.data() + index * elementBytes_,
                                 allocation_ + at, runBytes);
    });
  std::vector<uint8_t> image(bytes_);
  Status status = device_->copyToHost(image.data(), allocation_, bytes_);
  if (!status.isOk())
    return status;
  return forEachRun([&](uint64_t at, int64_t index) {
    std::memcpy(to.data.data() + index * elementBytes_, image.data() + at,
                runBytes);
    return Status::ok();
  });
}

Expected<std::optional<int64_t>> Placement::findDamage() const {
  if (!allocation_)
    return std::optional<int64_t>();
  std::vector<uint8_t> image;
  if (isSmall()) {
    image.resize(bytes_);
    if (Status status = device_->copyToHost(image.data(), allocation_, bytes_);
        !status.isOk())
      return status;
  }
  for (const Interval &gap : gaps_) {
    uint64_t size = gap.end - gap.begin;
    const uint8_t *bytes = nullptr;
    std::vector<uint8_t> copy;
    if (isSmall()) {
      bytes = image.data() + gap.begin;
    } else {
      copy.resize(size);
      if (Status status =
              device_->copyToHost(copy.data(), allocation_ + gap.begin, size);
          !status.isOk())
        return status;
      bytes = copy.data();
    }
    const uint8_t *damage = std::find_if(
        bytes, bytes + size, [](uint8_t byte) { return byte != kPoison; });
    if (damage != bytes + size)
      return std::optional<int64_t>(static_cast<int64_t>(gap.begin) -
                                    static_cast<int64_t>(begin_) +
                                    (damage - bytes));
  }
  return std::optional<int64_t>();
}

} // namespace attnc
