//===- OpenDevice.cpp - Devices by name -----------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/OpenDevice.h"

#include "runtime/CudaDevice.h"

#include <charconv>
#include <optional>

namespace attn::runtime {

std::string OpenedDevice::statistics() const {
  return emulator ? emulator->statistics().json() : "";
}

void OpenedDevice::resetStatistics() const {
  if (emulator)
    emulator->resetStatistics();
}

static Expected<OpenedDevice> openCuda(std::optional<int> ordinal) {
  Expected<std::unique_ptr<Device>> device = createCudaDevice(ordinal);
  if (!device)
    return device.status();
  return OpenedDevice{std::move(*device), "cuda", "", nullptr};
}

static OpenedDevice openEmulator(const EmulatorOptions &options) {
  std::unique_ptr<EmulatorDevice> device = createEmulator(options);
  EmulatorDevice *emulator = device.get();
  return OpenedDevice{std::move(device), "emulator", "", emulator};
}

/// N of "cuda:N".
static std::optional<int> parseOrdinal(const std::string &name) {
  if (name.rfind("cuda:", 0) != 0)
    return std::nullopt;
  int ordinal = -1;
  const char *last = name.data() + name.size();
  auto [end, error] = std::from_chars(name.data() + 5, last, ordinal);
  bool isNumber = error == std::errc() && end == last && ordinal >= 0;
  return isNumber ? std::optional<int>(ordinal) : std::nullopt;
}

Status checkDeviceName(const std::string &name) {
  if (name == "auto" || name == "emulator" || name == "cuda" ||
      parseOrdinal(name))
    return Status::ok();
  return Status::invalidArgument("device: expected auto, cuda, cuda:N or "
                                 "emulator, but got '" +
                                 name + "'");
}

Expected<OpenedDevice> openDevice(const std::string &name,
                                  const EmulatorOptions &options) {
  if (name == "emulator")
    return openEmulator(options);
  if (name == "cuda")
    return openCuda(std::nullopt);
  if (std::optional<int> ordinal = parseOrdinal(name))
    return openCuda(*ordinal);
  if (Status status = checkDeviceName(name); !status.isOk())
    return status;
  Expected<OpenedDevice> cuda = openCuda(std::nullopt);
  if (cuda)
    return cuda;
  OpenedDevice emulator = openEmulator(options);
  emulator.note = cuda.status().message();
  return emulator;
}

} // namespace attn::runtime
