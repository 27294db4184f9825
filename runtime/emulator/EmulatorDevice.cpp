//===- EmulatorDevice.cpp - The emulator as a runtime device --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decode.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/Machine.h"
#include "runtime/emulator/Parser.h"
#include "runtime/emulator/Quick.h"
#include "runtime/emulator/TensorMap.h"

#include <cstring>
#include <mutex>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

/// CUDA C++ Programming Guide, technical specifications per compute capability.
size_t maxSharedBytesPerBlock(int major, int minor) {
  if (major == 8)
    return minor == 0 || minor == 7 ? 166912 : 101376;
  return major == 12 ? 101376 : 232448;
}
constexpr uint32_t maxThreadsPerBlock = 1024;

class EmulatorDeviceImpl;

class EmulatedKernel : public Kernel {
public:
  EmulatedKernel(EmulatorDeviceImpl &device, const ModuleMemory &memory,
                 std::shared_ptr<Program> program)
      : device_(device), memory_(memory), program_(std::move(program)) {}

  Status launch(const LaunchConfig &config,
                const std::vector<void *> &arguments) override;

private:
  Status check(const LaunchConfig &config, size_t arguments) const;

  EmulatorDeviceImpl &device_;
  const ModuleMemory &memory_;
  std::shared_ptr<Program> program_;
};

class EmulatedModule : public Module {
public:
  EmulatedModule(EmulatorDeviceImpl &device) : device_(device) {}
  ~EmulatedModule() override;

  Status load(std::string_view text);
  Expected<Kernel *> kernel(const std::string &entry) override;

private:
  Status placeVariables(const ptx::Module &module);
  Status placeGlobal(const ptx::Variable &variable);

  EmulatorDeviceImpl &device_;
  ModuleMemory memory_;
  SymbolTable symbols_;
  std::vector<DevicePtr> globals_;
  std::map<std::string, std::unique_ptr<EmulatedKernel>> kernels_;
};

class EmulatorDeviceImpl : public EmulatorDevice {
public:
  explicit EmulatorDeviceImpl(const EmulatorOptions &options)
      : options_(options), memory_(options.checks) {
    info_.name = "emulator";
    info_.major = options.major;
    info_.minor = options.minor;
    info_.multiprocessors = std::max(1, options.multiprocessors);
    info_.maxSharedBytes = maxSharedBytesPerBlock(options.major, options.minor);
  }

  const DeviceInfo &info() const override { return info_; }
  Expected<DevicePtr> allocate(size_t bytes) override;
  Status free(DevicePtr pointer) override;
  Status copyToDevice(DevicePtr to, const void *from, size_t bytes) override;
  Status copyToHost(void *to, DevicePtr from, size_t bytes) override;
  Expected<std::unique_ptr<Module>> load(std::string_view image) override;
  Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) override {
    return emulator::encodeTensorMap(desc);
  }
  /// A launch returns when it is done, and reports its own failure.
  Status synchronize() override { return Status::ok(); }

  const Statistics &statistics() const override;
  void resetStatistics() override;

  Status run(const Program &program, const ModuleMemory &module,
             const LaunchConfig &config, std::vector<uint8_t> parameters);
  GlobalMemory &memory() { return memory_; }
  /// Whether programs are to be prepared for running without checks.
  bool isQuick() const { return !options_.checks && !options_.counts; }
  std::recursive_mutex &mutex() { return mutex_; }

private:
  EmulatorOptions options_;
  DeviceInfo info_;
  GlobalMemory memory_;
  mutable Statistics statistics_;
  mutable std::recursive_mutex mutex_;
};

using Lock = std::lock_guard<std::recursive_mutex>;

// Kernel.

std::string triple(const Dim3 &dim) {
  return "(" + std::to_string(dim.x) + "," + std::to_string(dim.y) + "," +
         std::to_string(dim.z) + ")";
}

Status EmulatedKernel::check(const LaunchConfig &config,
                             size_t arguments) const {
  auto refuse = [&](const std::string &what) {
    return Status::invalidArgument("launch of kernel '" + program_->name +
                                   "': " + what);
  };
  if (arguments != program_->parameters.size())
    return refuse("expected " + std::to_string(program_->parameters.size()) +
                  " arguments, but got " + std::to_string(arguments));
  const Dim3 &block = config.block, &grid = config.grid;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (!threads || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      threads > maxThreadsPerBlock)
    return refuse("expected a block of 1 to 1024 threads, but got " +
                  triple(block));
  if (!grid.x || !grid.y || !grid.z || grid.x > INT32_MAX || grid.y > 65535 ||
      grid.z > 65535 ||
      uint64_t(grid.x) * grid.y > UINT32_MAX / uint64_t(grid.z))
    return refuse("expected a grid of at most (2^31-1, 65535, 65535) blocks, "
                  "but got " +
                  triple(grid));
  const uint32_t *required = program_->requiredThreads;
  if (required[0] && (block.x != required[0] || block.y != required[1] ||
                      block.z != required[2]))
    return refuse("expected the block that .reqntid demands, " +
                  triple({required[0], required[1], required[2]}) +
                  ", but got " + triple(block));
  const uint32_t *limit = program_->maxThreads;
  if (limit[0] && threads > uint64_t(limit[0]) * limit[1] * limit[2])
    return refuse("expected at most the threads of .maxntid, " +
                  triple({limit[0], limit[1], limit[2]}) + ", but got " +
                  triple(block));
  uint64_t shared = uint64_t(program_->dynamicSharedOffset) -
                    sharedReservedBytes + config.dynamicSharedBytes;
  size_t most = device_.info().maxSharedBytes;
  if (shared > most)
    return refuse("expected at most " + std::to_string(most) +
                  " bytes of shared memory, but got " + std::to_string(shared));
  const uint32_t *cluster = program_->clusterSize;
  if (cluster[0] * cluster[1] * cluster[2] > 1)
    return Status::unsupported("kernel '" + program_->name +
                               "': the emulator has no clusters");
  return Status::ok();
}

Status EmulatedKernel::launch(const LaunchConfig &config,
                              const std::vector<void *> &arguments) {
  Status status = check(config, arguments.size());
  if (!status.isOk())
    return status;
  std::vector<uint8_t> parameters(program_->parameterBytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = program_->parameters[i];
    if (!arguments[i])
      return Status::invalidArgument("launch of kernel '" + program_->name +
                                     "': argument " + std::to_string(i) +
                                     " is null");
    std::memcpy(parameters.data() + parameter.offset, arguments[i],
                parameter.bytes);
  }
  return device_.run(*program_, memory_, config, std::move(parameters));
}

// Module.

EmulatedModule::~EmulatedModule() {
  Lock lock(device_.mutex());
  for (DevicePtr pointer : globals_)
    (void)device_.free(pointer);
}

Status EmulatedModule::placeGlobal(const ptx::Variable &variable) {
  Expected<DevicePtr> pointer =
      device_.allocate(std::max<uint64_t>(variable.bytes, 1));
  if (!pointer)
    return pointer.status();
  globals_.push_back(*pointer);
  symbols_[variable.name] = {ptx::Space::Global, *pointer};
  // A variable without an initializer is zero.
  std::vector<uint8_t> bytes = variable.initializer;
  bytes.resize(std::max<uint64_t>(variable.bytes, 1));
  return device_.copyToDevice(*pointer, bytes.data(), bytes.size());
}

Status EmulatedModule::placeVariables(const ptx::Module &module) {
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ptx::Space::Global) {
      Status status = placeGlobal(variable);
      if (!status.isOk())
        return status;
    } else if (variable.space == ptx::Space::Const) {
      std::vector<uint8_t> &bytes = memory_.constants;
      // Alignment is relative to the window, whose base is aligned enough.
      while (bytes.size() % variable.alignment)
        bytes.push_back(0);
      symbols_[variable.name] = {ptx::Space::Const, bytes.size()};
      // The hardware's limit.
      if (bytes.size() + variable.bytes > 65536)
        return Status::invalidArgument(
            "ptx: more than 65536 bytes of constants");
      std::vector<uint8_t> content = variable.initializer;
      content.resize(variable.bytes);
      bytes.insert(bytes.end(), content.begin(), content.end());
    }
  }
  return Status::ok();
}

Status EmulatedModule::load(std::string_view text) {
  Expected<ptx::Module> module = ptx::parse(text);
  if (!module)
    return module.status();
  Status status = placeVariables(*module);
  if (!status.isOk())
    return status;
  for (const ptx::Function &function : module->functions) {
    if (!function.isEntry || !function.hasBody)
      continue;
    Expected<std::shared_ptr<Program>> program =
        decode(*module, function, symbols_);
    if (!program)
      return program.status();
    if (device_.isQuick())
      prepareQuick(**program);
    std::string name((*program)->name);
    if (!kernels_
             .emplace(name, std::make_unique<EmulatedKernel>(device_, memory_,
                                                             *program))
             .second)
      return Status::invalidArgument("ptx: entry '" + name +
                                     "' is defined twice");
  }
  return Status::ok();
}

Expected<Kernel *> EmulatedModule::kernel(const std::string &entry) {
  auto it = kernels_.find(entry);
  if (it != kernels_.end())
    return static_cast<Kernel *>(it->second.get());
  std::string known;
  for (const auto &[name, kernel] : kernels_)
    known += (known.empty() ? "" : ", ") + name;
  return Status::invalidArgument("expected an entry of the module (" + known +
                                 "), but got '" + entry + "'");
}

// Device.

Expected<DevicePtr> EmulatorDeviceImpl::allocate(size_t bytes) {
  Lock lock(mutex_);
  return memory_.allocate(bytes);
}

Status EmulatorDeviceImpl::free(DevicePtr pointer) {
  Lock lock(mutex_);
  return memory_.release(pointer);
}

Status EmulatorDeviceImpl::copyToDevice(DevicePtr to, const void *from,
                                        size_t bytes) {
  Lock lock(mutex_);
  if (!bytes)
    return Status::ok();
  Allocation *allocation = memory_.find(to, bytes);
  if (!allocation)
    return Status::invalidArgument("copy of " + std::to_string(bytes) +
                                   " bytes to device address " + hex(to) +
                                   ", which is" + memory_.describe(to, bytes));
  std::memcpy(allocation->at(to), from, bytes);
  if (memory_.hasShadow())
    allocation->markWritten(to, bytes);
  return Status::ok();
}

Status EmulatorDeviceImpl::copyToHost(void *to, DevicePtr from, size_t bytes) {
  Lock lock(mutex_);
  if (!bytes)
    return Status::ok();
  Allocation *allocation = memory_.find(from, bytes);
  if (!allocation)
    return Status::invalidArgument(
        "copy of " + std::to_string(bytes) + " bytes from device address " +
        hex(from) + ", which is" + memory_.describe(from, bytes));
  std::memcpy(to, allocation->at(from), bytes);
  return Status::ok();
}

Expected<std::unique_ptr<Module>>
EmulatorDeviceImpl::load(std::string_view image) {
  // A cubin is an ELF file, a fat binary starts with its own magic.
  if (image.substr(0, 4) == "\x7f"
                            "ELF" ||
      image.substr(0, 4) == std::string_view("\x50\xed\x55\xba", 4))
    return Status::unsupported(
        "the emulator executes PTX text, but got a binary for a GPU");
  // Some programs pass the terminating zero along.
  while (!image.empty() && image.back() == '\0')
    image.remove_suffix(1);
  Lock lock(mutex_);
  auto module = std::make_unique<EmulatedModule>(*this);
  Status status = module->load(image);
  if (!status.isOk())
    return status;
  return std::unique_ptr<Module>(std::move(module));
}

Status EmulatorDeviceImpl::run(const Program &program,
                               const ModuleMemory &module,
                               const LaunchConfig &config,
                               std::vector<uint8_t> parameters) {
  Lock lock(mutex_);
  Launch launch(program, memory_, module, statistics_);
  launch.grid = config.grid;
  launch.threads = config.block;
  launch.dynamicSharedBytes = config.dynamicSharedBytes;
  launch.parameters = std::move(parameters);
  launch.checks = options_.checks;
  launch.counts = options_.checks || options_.counts;
  launch.seed = options_.seed;
  launch.multiprocessors = static_cast<uint32_t>(info_.multiprocessors);
  launch.maxInstructions = options_.maxInstructions;
  return launch.run();
}

const Statistics &EmulatorDeviceImpl::statistics() const {
  Lock lock(mutex_);
  statistics_.allocations.clear();
  for (const auto &[base, allocation] :
       const_cast<GlobalMemory &>(memory_).allocations())
    if (!allocation.freed)
      statistics_.allocations[base] = allocation.traffic;
  return statistics_;
}

void EmulatorDeviceImpl::resetStatistics() {
  Lock lock(mutex_);
  statistics_ = Statistics();
  for (auto &[base, allocation] : memory_.allocations())
    allocation.traffic = Traffic();
}

} // namespace

std::unique_ptr<EmulatorDevice>
attn::runtime::createEmulator(const EmulatorOptions &options) {
  return std::make_unique<EmulatorDeviceImpl>(options);
}
