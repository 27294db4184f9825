//===- Manifest.h - The JSON file beside a kernel ------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a program needs to launch a kernel is in its manifest: which
// tensors and scalars the user passes, which launches follow from them, and
// what each kernel's parameters are made of. This is the parsed form.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_MANIFEST_H
#define ATTN_RUNTIME_MANIFEST_H

#include "runtime/Device.h"
#include "runtime/Formula.h"
#include "runtime/Visibility.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::runtime {

/// More dimensions than this a tensor of a manifest cannot have.
constexpr int kMaxRank = 5;

enum class TensorRole { Input, Output };

/// A tensor that the user passes.
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::Input;
  /// As written, e.g. "bf16"; `element` is how it is stored.
  std::string dtype;
  ElementType element = ElementType::F16;
  /// Names of the dimensions in memory order, e.g. b, s, h, d.
  std::vector<std::string> dims;
  /// One formula a dimension.
  std::vector<Formula> shape;
  /// In bytes, of the base address.
  int64_t alignment = 1;
  /// In bytes, of every stride of a dimension longer than 1 but the last
  /// dimension's, which must be one element.
  int64_t strideAlignment = 1;

  int rank() const { return static_cast<int>(dims.size()); }
  std::optional<int> findDim(std::string_view dim) const;
};

enum class ScalarType { F32, F64, I32 };

/// A scalar that the user may pass.
struct ScalarSpec {
  std::string name;
  ScalarType type = ScalarType::F32;
  int symbol = -1;
  std::optional<Formula> defaultValue;
};

/// How a tensor map follows from a tensor: its dimensions in this order (the
/// fastest first) and the box that one copy moves.
struct TensorMapRecipe {
  std::vector<int> order;
  std::array<uint32_t, kMaxRank> box{};
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
};

enum class ArgumentKind {
  TensorPointer,
  WorkspacePointer,
  Int32,
  Int64,
  Float32,
  Float64,
  TensorMap,
};

/// What one kernel parameter is made of.
struct ArgumentSpec {
  ArgumentKind kind = ArgumentKind::Int32;
  /// For TensorPointer, TensorMap and strides.
  int tensor = -1;
  /// For Int32 and Int64: the stride of this dimension instead of a formula.
  int strideDim = -1;
  /// For numbers, and for WorkspacePointer the offset in bytes.
  std::optional<Formula> value;
  TensorMapRecipe map;
};

struct KernelSpec {
  std::string entry;
  std::vector<ArgumentSpec> arguments;
  std::vector<Formula> grid;
  Dim3 block;
  uint32_t dynamicSharedBytes = 0;
};

struct Manifest {
  std::string name;
  /// Of the canonical spec; of that, the schedule and the compiler.
  std::string specHash, buildHash;
  std::string target;
  int major = 0, minor = 0;
  Symbols symbols;
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
  std::vector<Formula> constraints;
  std::vector<KernelSpec> kernels;
  std::optional<Formula> workspaceBytes;
  bool workspaceZeroed = false;
  /// As far as the mask is a band; a window's bounds are scalars.
  Band mask;
  std::optional<Formula> flops, hbmBytes;
  /// File names beside the manifest; empty if there is none.
  std::string ptxFile, cubinFile;
  /// The SHA-256 of each.
  std::string ptxDigest, cubinDigest;
  /// The whole manifest as it was read, and its spec and schedule alone.
  std::string text, specText, scheduleText;

  /// Known whatever the tensors are: properties of the device.
  std::optional<int> multiprocessorsSymbol;
  /// Visible (query, key) pairs of one head of one batch entry.
  std::optional<int> visiblePairsSymbol;

  std::optional<int> findTensor(std::string_view tensorName) const;
  std::optional<int> findScalar(std::string_view scalarName) const;
};

/// Bytes of one element.
size_t elementSize(ElementType element);

/// Whatever the text says twice has to agree: see ManifestRules.h.
Expected<Manifest> parseManifest(std::string_view text);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_MANIFEST_H
