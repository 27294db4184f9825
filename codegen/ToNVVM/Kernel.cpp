//===- Kernel.cpp - What the patterns know about a kernel -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Kernel.h"

#include "codegen/Target/TargetInfo.h"
#include "codegen/ToNVVM/KernelAbi.h"
#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn_gpu;

static constexpr llvm::StringLiteral kSharedName = "attn_shared";

Value mlir::attn_gpu::createI32(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(),
                                  b.getI32IntegerAttr(value));
}

Value mlir::attn_gpu::createI64(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI64Type(),
                                  b.getI64IntegerAttr(value));
}

Value mlir::attn_gpu::emitAnd(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return LLVM::AndOp::create(b, x, y);
}

Value mlir::attn_gpu::toSharedPointer(ImplicitLocOpBuilder &b, Value address) {
  auto type = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::IntToPtrOp::create(b, type, address);
}

SharedLayout mlir::attn_gpu::getSharedLayout(PanelsAttr layout,
                                             Type elementType) {
  return {layout.getRows(), layout.getSwizzle(),
          elementType.getIntOrFloatBitWidth() / 8};
}

int64_t mlir::attn_gpu::getSlotBytes(ChannelType type) {
  return getSharedLayout(type.getLayout(), type.getElementType())
      .tileBytes(type.getShape()[1]);
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Tiles first, since they are what must be aligned; all barriers after them.
static void placeChannels(gpu::GPUFuncOp function, Kernel &kernel) {
  int64_t offset = 0;
  SmallVector<ChannelOp> channels(function.getBody().getOps<ChannelOp>());
  for (ChannelOp channel : channels) {
    offset = llvm::alignTo(offset, kTileAlignment);
    kernel.channels[channel].tiles = offset;
    offset += channel.getChannel().getType().getStages() *
              getSlotBytes(channel.getChannel().getType());
  }
  for (ChannelOp channel : channels) {
    kernel.channels[channel].barriers = offset;
    // One that tells full and one that tells empty per slot.
    offset += 2 * kBarrierBytes * channel.getChannel().getType().getStages();
  }
  kernel.sharedBytes = offset;
}

static LogicalResult verifyBlock(gpu::GPUFuncOp function, Kernel &kernel) {
  std::optional<ArrayRef<int32_t>> block = function.getKnownBlockSize();
  if (!block)
    return function.emitOpError() << "expected the attribute known_block_size";
  int64_t threads = block->front();
  kernel.numThreads = threads;
  if ((*block)[1] != 1 || (*block)[2] != 1)
    return function.emitOpError()
           << "expected a one-dimensional block, but got " << (*block)[0] << "x"
           << (*block)[1] << "x" << (*block)[2];
  for (auto specialize : function.getBody().getOps<SpecializeOp>()) {
    int64_t expected =
        (1 + specialize.getNumConsumers()) * kWarpsPerWarpgroup * kWarpSize;
    if (threads != expected)
      return specialize.emitOpError() << "expected a block of " << expected
                                      << " threads, but got " << threads;
    if (kernel.warpsPerWorker != kWarpsPerWarpgroup)
      return specialize.emitOpError()
             << "expected workers of " << kWarpsPerWarpgroup
             << " warps, but got " << kernel.warpsPerWorker;
  }
  return success();
}

FailureOr<Kernel> mlir::attn_gpu::analyzeKernel(gpu::GPUFuncOp function) {
  Kernel kernel;
  auto warps = function->getAttrOfType<IntegerAttr>(kWarpsPerWorkerAttr);
  if (!warps || !llvm::isPowerOf2_64(warps.getInt()))
    return function.emitOpError()
           << "expected the attribute " << kWarpsPerWorkerAttr
           << " to be a power of 2";
  kernel.warpsPerWorker = warps.getInt();
  kernel.isSpecialized = !function.getBody().getOps<SpecializeOp>().empty();
  if (auto schedule =
          function->getAttrOfType<attn::ScheduleAttr>(attn::kScheduleAttr)) {
    const attn::TargetInfo *target = attn::lookupTarget(schedule.getTarget());
    // mbarrier.try_wait came with the copy engine.
    kernel.hasTryWait = !target || target->tma;
    kernel.keptDescriptors = schedule.getNumKeptDescriptors();
    kernel.productColumns = schedule.getProductColumns();
    kernel.spillsIndices = schedule.getSpillIndices();
  }
  function.walk([&](TMALoadOp) { kernel.usesCopyEngine = true; });
  placeChannels(function, kernel);
  if (failed(verifyBlock(function, kernel)))
    return failure();
  WalkResult result = function.walk([&](SpecializeOp op) {
    if (op->getParentOp() == function)
      return WalkResult::advance();
    op.emitOpError() << "expected to be at the top level of a kernel";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  return kernel;
}

//===----------------------------------------------------------------------===//
// Prologue
//===----------------------------------------------------------------------===//

/// The array that all dynamic shared memory of the block lies in. External: as
/// a definition of our own, LLVM would make it a function's local variable and,
/// not seeing what the copy engine writes, drop what reads it.
static LLVM::GlobalOp getSharedArray(gpu::GPUFuncOp function) {
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(kSharedName))
    return global;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  return LLVM::GlobalOp::create(
      b, function.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
      kSharedName, /*value=*/Attribute(), kTileAlignment,
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}

static bool isFilledByThreads(ChannelOp channel) {
  return llvm::any_of(channel.getChannel().getUsers(),
                      llvm::IsaPred<CooperativeLoadOp>);
}

static void initializeBarriers(ImplicitLocOpBuilder &b, const Kernel &kernel) {
  auto initialize = [&](int64_t offset, int64_t count) {
    Value address =
        LLVM::AddOp::create(b, kernel.sharedBase, createI32(b, offset));
    NVVM::MBarrierInitOp::create(b, toSharedPointer(b, address),
                                 createI32(b, count), /*predicate=*/Value());
  };
  for (auto [op, place] : kernel.channels) {
    auto channel = cast<ChannelOp>(op);
    int64_t stages = channel.getChannel().getType().getStages();
    for (int64_t stage = 0; stage < stages; ++stage) {
      // The copy engine's copy announces its bytes by one arrival, others by
      // one per thread; a worker arrives once per warp, each after its own
      // wait.
      initialize(place.barriers + stage * kBarrierBytes,
                 isFilledByThreads(channel) ? kernel.numThreads : 1);
      initialize(place.barriers + (stages + stage) * kBarrierBytes,
                 channel.getConsumers() * kernel.warpsPerWorker);
    }
  }
  if (!kernel.usesCopyEngine)
    return;
  // To other threads and to the copy engine, which looks at barriers through
  // its own proxy.
  NVVM::FenceMbarrierInitOp::create(b);
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

static void buildThreadPosition(ImplicitLocOpBuilder &b, Kernel &kernel) {
  auto divide = [&](Value value, int64_t divisor) -> Value {
    return LLVM::LShrOp::create(b, value, createI32(b, llvm::Log2_64(divisor)));
  };
  auto modulo = [&](Value value, int64_t divisor) -> Value {
    return LLVM::AndOp::create(b, value, createI32(b, divisor - 1));
  };
  auto isZero = [&](Value value) -> Value {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, value,
                                createI32(b, 0));
  };
  kernel.thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  kernel.isThread0 = isZero(kernel.thread);
  Value lane = modulo(kernel.thread, kWarpSize);
  kernel.isLane0 = isZero(lane);
  Value warp = modulo(divide(kernel.thread, kWarpSize), kernel.warpsPerWorker);
  Value warpRow = LLVM::MulOp::create(b, warp, createI32(b, 16));
  kernel.firstRow = LLVM::AddOp::create(b, warpRow, divide(lane, 4));
  kernel.firstColumn = LLVM::MulOp::create(b, modulo(lane, 4), createI32(b, 2));
  Value warpgroup = divide(kernel.thread, kWarpSize * kWarpsPerWarpgroup);
  kernel.warpgroup = NVVM::ShflOp::create(
      b, b.getI32Type(), createI32(b, -1), warpgroup, createI32(b, 0),
      createI32(b, kWarpSize - 1), NVVM::ShflKind::idx, UnitAttr());
}

void mlir::attn_gpu::buildPrologue(gpu::GPUFuncOp function, Kernel &kernel) {
  auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                              &function.getBody().front());
  buildThreadPosition(b, kernel);
  if (kernel.channels.empty())
    return;
  Value shared = LLVM::AddressOfOp::create(b, getSharedArray(function));
  kernel.sharedBase = LLVM::PtrToIntOp::create(b, b.getI32Type(), shared);
  auto ifOp = scf::IfOp::create(b, kernel.isThread0);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    initializeBarriers(b, kernel);
  }
  NVVM::BarrierOp::create(b);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ThreadTypeConverter::ThreadTypeConverter(const Kernel &kernel)
    : warpsPerWorker(kernel.warpsPerWorker) {
  addConversion([](Type type) -> std::optional<Type> {
    if (LLVM::isCompatibleType(type) && !isa<VectorType>(type))
      return type;
    return std::nullopt;
  });
  addConversion([](IndexType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  addConversion([](TileType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  addConversion([](ChannelType type, SmallVectorImpl<Type> &result) {
    result.append(2, IntegerType::get(type.getContext(), 32));
    return success();
  });
  auto convertArgument = [](Type type, SmallVectorImpl<Type> &result) {
    SmallVector<KernelParameter> parameters;
    if (failed(appendKernelParameters(/*argument=*/0, type, parameters)))
      return failure();
    for (const KernelParameter &parameter : parameters)
      result.push_back(parameter.type);
    return success();
  };
  addConversion([=](MemRefType type, SmallVectorImpl<Type> &result) {
    return convertArgument(type, result);
  });
  addConversion([=](TensorMapType type, SmallVectorImpl<Type> &result) {
    return convertArgument(type, result);
  });
  auto convertVector =
      [this](VectorType type,
             SmallVectorImpl<Type> &result) -> std::optional<LogicalResult> {
    std::optional<FragmentLayout> layout = getLayout(type);
    // Column numbers on their way into the shape cast that says that they are
    // columns: until then a thread holds none of them.
    if (!layout && type.getRank() == 1 && type.getElementType().isIndex())
      return success();
    if (!layout)
      return failure();
    result.append(layout->getNumRegisters(), getRegisterType(type, *layout));
    return success();
  };
  addConversion(convertVector);
  addConversion([=](InflightType type, SmallVectorImpl<Type> &result) {
    return convertVector(type.getVectorType(), result);
  });
}

Type ThreadTypeConverter::getRegisterType(VectorType type,
                                          const FragmentLayout &layout) const {
  if (layout.isPacked() || type.getElementType().isIndex())
    return IntegerType::get(type.getContext(), 32);
  return type.getElementType();
}
