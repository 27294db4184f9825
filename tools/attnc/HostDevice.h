//===- HostDevice.h - This machine as a device of the runtime - -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs that launch know devices, not how their code comes to be. So code
// for the CPU is an image (the text of LLVM IR) that one more device loads, by
// compiling it in this process. Its memory is this process's. The runtime
// itself links no LLVM, and so does not have this device.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_HOSTDEVICE_H
#define ATTN_TOOLS_ATTNC_HOSTDEVICE_H

#include "runtime/Device.h"

namespace attnc {

std::shared_ptr<attn::runtime::Device> createHostDevice();

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_HOSTDEVICE_H
