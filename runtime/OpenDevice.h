//===- OpenDevice.h - Devices by name ------------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_OPENDEVICE_H
#define ATTN_RUNTIME_OPENDEVICE_H

#include "runtime/emulator/Emulator.h"

namespace attn::runtime {

struct OpenedDevice {
  std::shared_ptr<Device> device;
  /// "cuda" or "emulator".
  std::string kind;
  /// For "auto": why it is not the GPU; empty where it is.
  std::string note;
  /// The same device, where it is the emulator.
  EmulatorDevice *emulator = nullptr;

  /// What the emulator counted since the last reset, as JSON; empty for a GPU.
  std::string statistics() const;
  void resetStatistics() const;
};

/// Whether openDevice knows the name.
Status checkDeviceName(const std::string &name);

/// `name` is "auto" (the GPU where there is one, else the emulator), "cuda"
/// (the GPU whose context is current, else the first), "cuda:N" or "emulator".
Expected<OpenedDevice> openDevice(const std::string &name,
                                  const EmulatorOptions &options = {});

} // namespace attn::runtime

#endif // ATTN_RUNTIME_OPENDEVICE_H
