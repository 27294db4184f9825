//===- DescribeKernel.cpp - What the manifest takes from the IR -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Manifest.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// Keys that f32 accumulators take the values of. A matrix product adds some
/// keys at a time to them; from 2^26 equal weights on, such a part is less than
/// half a unit of their last place, and they grow no more.
static constexpr int64_t kMaxKeys = int64_t(1) << 26;

/// The name of a dim in a manifest, and the size that it has.
static std::pair<StringRef, std::string>
nameDim(AttentionOp op, AttentionOp::Dim dim, bool isKeySide) {
  switch (dim) {
  case AttentionOp::Batch:
    return {"b", "batch"};
  case AttentionOp::Head:
    return {"h", isKeySide ? "num_kv_heads" : "num_qo_heads"};
  case AttentionOp::Row:
    return {"s", "seqlen_q"};
  case AttentionOp::Key:
    return {"s", "seqlen_k"};
  case AttentionOp::HeadDimQK:
    return {"d", std::to_string(op.getHeadDimQK())};
  default:
    return {"d", std::to_string(op.getHeadDimVO())};
  }
}

/// The name of a tensor in specs, manifests and every other interface.
static StringRef nameTensor(AttentionOp::Tensor tensor) {
  switch (tensor) {
  case AttentionOp::Query:
    return "q";
  case AttentionOp::KeyTensor:
    return "k";
  case AttentionOp::ValueTensor:
    return "v";
  case AttentionOp::Output:
    return "o";
  case AttentionOp::Lse:
    return "lse";
  case AttentionOp::Bias:
    return "bias";
  }
  llvm_unreachable("no other tensor has a map");
}

static TensorDescription describeTensor(AttentionOp op,
                                        AttentionOp::Tensor role) {
  TensorDescription tensor;
  tensor.name = nameTensor(role).str();
  tensor.isOutput = role == AttentionOp::Output || role == AttentionOp::Lse;
  tensor.elementType = getElementTypeOrSelf(op.getTensor(role).getType());
  bool isKeySide =
      role == AttentionOp::KeyTensor || role == AttentionOp::ValueTensor;
  for (AffineExpr expr : op.getMap(role).getResults())
    for (unsigned dim = 0; dim < AttentionOp::NumDims; ++dim)
      if (expr.isFunctionOfDim(dim)) {
        auto [dimName, size] =
            nameDim(op, static_cast<AttentionOp::Dim>(dim), isKeySide);
        tensor.dims.push_back(dimName.str());
        tensor.shape.push_back(size);
      }
  return tensor;
}

/// A size that a type pins holds at every launch.
static void describePins(Value value, const TensorDescription &tensor,
                         std::vector<std::string> &constraints) {
  auto type = cast<ShapedType>(value.getType());
  for (auto [size, formula] : llvm::zip_equal(type.getShape(), tensor.shape)) {
    std::string constraint = formula + " == " + std::to_string(size);
    if (!ShapedType::isDynamic(size) && std::to_string(size) != formula &&
        !llvm::is_contained(constraints, constraint))
      constraints.push_back(constraint);
  }
}

CostFormulas mlir::attn::describeCost(AttentionOp op) {
  std::string dims = std::to_string(op.getHeadDimQK() + op.getHeadDimVO());
  std::string bytes = std::to_string(
      getElementTypeOrSelf(op.getQuery()).getIntOrFloatBitWidth() / 8);
  std::string lseBytes =
      std::to_string(op.getScale().getType().getIntOrFloatBitWidth() / 8);
  CostFormulas cost;
  cost.flops = "2 * batch * num_qo_heads * visible_pairs * " + dims;
  cost.hbmBytes = bytes + " * batch * " + dims +
                  " * (seqlen_q * num_qo_heads + seqlen_k * num_kv_heads)";
  if (op.getLse())
    cost.hbmBytes += " + " + lseBytes + " * batch * num_qo_heads * seqlen_q";
  return cost;
}

/// The scalars of the op by the names of their fields in a spec.
static std::vector<ScalarDescription> describeScalars(AttentionOp op) {
  std::vector<ScalarDescription> scalars;
  auto add = [&](StringRef name, Value value, std::string defaultValue = "") {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return;
    // An operand of a mask: what is beyond both lengths means the same as the
    // longer one, and would overflow in the kernel.
    std::string passed =
        value.getType().isIndex()
            ? ("min(" + name + ", max(seqlen_q, seqlen_k))").str()
            : name.str();
    scalars.push_back({name.str(), value.getType(), argument.getArgNumber(),
                       std::move(defaultValue), std::move(passed)});
  };
  add("softmax_scale", op.getScale(),
      "rsqrt(" + std::to_string(op.getHeadDimQK()) + ")");
  if (op.getSoftcap())
    add("softcap", op.getSoftcap());
  if (BandMaskInterface mask = op.getMaskAttr())
    for (auto [name, value] :
         llvm::zip_equal(mask.getOperandNames(op.getMaskOperands().size()),
                         op.getMaskOperands()))
      add(name, value);
  return scalars;
}

ProblemDescription mlir::attn::describeProblem(AttentionOp op) {
  ProblemDescription problem;
  for (AttentionOp::Tensor tensor : op.getTensors()) {
    problem.tensors.push_back(describeTensor(op, tensor));
    describePins(op.getTensor(tensor), problem.tensors.back(),
                 problem.constraints);
  }
  problem.scalars = describeScalars(op);
  problem.constraints.insert(
      problem.constraints.begin(),
      "num_qo_heads == " + std::to_string(op.getGroupSize()) +
          " * num_kv_heads");
  if (op.getScale().getType().isF32())
    problem.constraints.push_back("seqlen_k <= " + std::to_string(kMaxKeys));
  problem.cost = describeCost(op);
  problem.schedule = op.getScheduleAttr();
  problem.tiles = "ceildiv(seqlen_q, " +
                  std::to_string(problem.schedule.getRows()) +
                  ") * num_qo_heads * batch";
  return problem;
}

KernelDescription mlir::attn::describeHostFunction(StringRef entry) {
  KernelDescription description;
  description.entry = entry.str();
  description.block = {1, 1, 1};
  return description;
}

KernelDescription mlir::attn::describeKernel(gpu::GPUFuncOp kernel) {
  KernelDescription description;
  description.entry = kernel.getName().str();
  for (BlockArgument argument : kernel.getArguments()) {
    if (kernel.getWorkgroupAttributions().end() !=
        llvm::find(kernel.getWorkgroupAttributions(), argument))
      continue;
    description.arguments.push_back(argument.getType());
    auto mapOf = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                      attn_gpu::kMapOfAttr);
    description.mapOf.push_back(mapOf ? std::optional<unsigned>(mapOf.getInt())
                                      : std::nullopt);
    auto formula = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       attn_gpu::kFormulaAttr);
    description.formulas.push_back(formula ? formula.str() : "");
  }
  if (auto block = kernel.getKnownBlockSize())
    description.block.assign(block->begin(), block->end());
  return description;
}

LogicalResult mlir::attn::addLoweredKernel(gpu::GPUModuleOp module,
                                           KernelDescription &description) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.getName() != description.entry)
      continue;
    auto bytes =
        function->getAttrOfType<IntegerAttr>(attn_gpu::kSharedBytesAttr);
    if (!bytes)
      return function.emitOpError()
             << "expected attribute " << attn_gpu::kSharedBytesAttr;
    description.sharedBytes = bytes.getInt();
    return success();
  }
  return module.emitError() << "expected a kernel named " << description.entry;
}
