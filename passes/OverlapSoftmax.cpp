//===- OverlapSoftmax.cpp - attn-overlap-softmax --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a loop over key tiles is cut in four parts: the QK product with
// what it needs, the PV product (receive, start, wait, release), what *follows*
// from the accumulator (its rescaling), and the rest, which is the softmax. The
// products are known by what they are: PV adds to the value that the loop
// carries as its accumulator, and QK gives the scores of the softmax weights
// that PV reads. KeyLoopPipeline.cpp puts the parts together.
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoopPipeline.h"
#include "passes/Passes.h"
#include "passes/Rematerialize.h"
#include "passes/TileLoops.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNOVERLAPSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// What is in the way of a rewrite, or nothing.
using Obstacle = std::optional<StringRef>;

/// Ops of `block` that `root` is computed from, and `root`.
static llvm::SetVector<Operation *> getSlice(Operation *root, Block *block) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [=](Operation *op) { return op->getBlock() == block; };
  llvm::SetVector<Operation *> slice;
  (void)getBackwardSlice(root, &slice, options);
  return slice;
}

/// Whether `op`, or an op inside it, has an operand in `values`.
static bool usesAny(Operation *op, const llvm::DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(),
                            [&](Value v) { return values.contains(v); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The only op of type `OpTy` in `ops`, or null.
template <typename OpTy>
static OpTy findOnly(const llvm::SetVector<Operation *> &ops) {
  OpTy found;
  for (Operation *op : ops) {
    auto candidate = dyn_cast<OpTy>(op);
    if (candidate && found)
      return {};
    if (candidate)
      found = candidate;
  }
  return found;
}

/// Finds what moves with a product; null members where something is missing.
static Product findProduct(attn_gpu::MMAAsyncOp start) {
  Product product;
  product.start = start;
  if (start.getResult().hasOneUse())
    product.wait = dyn_cast<attn_gpu::MMAWaitOp>(*start->user_begin());
  product.receive = start.getB().getDefiningOp<attn_gpu::ReceiveOp>();
  if (!product.receive || product.receive->getBlock() != start->getBlock())
    return product;
  for (Operation *user : product.receive.getChannel().getUsers()) {
    if (user->getBlock() != start->getBlock())
      continue;
    auto release = dyn_cast<attn_gpu::ReleaseOp>(user);
    if (release && release.getSlot() == product.receive.getSlot())
      product.release = release;
    auto load = dyn_cast<attn_gpu::CooperativeLoadOp>(user);
    if (load && load.getSlot() == product.receive.getSlot())
      product.load = load;
  }
  return product;
}

/// Finds the two products, and the weights between them.
static Obstacle matchProducts(Iteration &iteration) {
  TileLoopOp loop = iteration.loop;
  Block *body = loop.getBody();
  std::optional<unsigned> accumulator =
      loop.findCarried(CarriedRole::Accumulator);
  if (!accumulator)
    return "expected an accumulator";
  iteration.accumulator = *accumulator;
  auto wait = loop.getYield()
                  .getOperand(*accumulator)
                  .getDefiningOp<attn_gpu::MMAWaitOp>();
  auto pv = wait ? wait.getValue().getDefiningOp<attn_gpu::MMAAsyncOp>()
                 : attn_gpu::MMAAsyncOp();
  if (!pv || pv->getBlock() != body || !pv.getAccumulator())
    return "expected the accumulator to be what a PV product adds to";
  iteration.rounding = pv.getA().getDefiningOp();
  if (!iteration.rounding || iteration.rounding->getBlock() != body ||
      !isMemoryEffectFree(iteration.rounding) || !pv.getA().hasOneUse())
    return "expected weights that only the PV product reads";
  auto weights = findOnly<SoftmaxWeightsOp>(getSlice(iteration.rounding, body));
  if (!weights)
    return "expected the PV product to read softmax weights";
  Operation *scores = weights.getScores().getDefiningOp();
  auto qk = scores ? findOnly<attn_gpu::MMAAsyncOp>(getSlice(scores, body))
                   : attn_gpu::MMAAsyncOp();
  if (!qk)
    return "expected the scores to come from one QK product";
  iteration.qk = findProduct(qk);
  iteration.pv = findProduct(pv);
  for (const Product &product : {iteration.qk, iteration.pv})
    if (!product.wait || !product.receive || !product.release)
      return "expected each product to read a tile from a channel, to be "
             "waited for, and its slot to be released";
  if (iteration.qk.receive == iteration.pv.receive)
    return "expected a tile for each product";
  if (llvm::range_size(body->getOps<attn_gpu::MMAAsyncOp>()) != 2)
    return "expected no products other than QK and PV";
  return std::nullopt;
}

/// Assigns every op of the body to a part.
static Obstacle cut(Iteration &iteration) {
  Block *body = iteration.loop.getBody();
  Product &qk = iteration.qk, &pv = iteration.pv;
  llvm::DenseSet<Operation *> products = {
      qk.start, qk.wait, qk.release, pv.load,           pv.receive,
      pv.start, pv.wait, pv.release, iteration.rounding};
  llvm::SetVector<Operation *> beforeQK = getSlice(qk.start, body);
  beforeQK.insert_range(getSlice(qk.release, body));
  if (qk.load)
    beforeQK.insert_range(getSlice(qk.load, body));
  llvm::DenseSet<Value> followers = {
      iteration.loop.getRegionIterArgs()[iteration.accumulator]};
  for (Operation &op : body->without_terminator()) {
    bool follows = usesAny(&op, followers);
    if (follows && (beforeQK.contains(&op) || &op == iteration.rounding))
      return "expected weights that do not depend on the accumulator";
    if (products.contains(&op))
      continue;
    if (beforeQK.contains(&op)) {
      iteration.beforeQK.push_back(&op);
    } else if (follows) {
      iteration.following.push_back(&op);
      followers.insert(op.result_begin(), op.result_end());
    } else {
      iteration.softmax.push_back(&op);
    }
  }
  if (!followers.contains(pv.start.getAccumulator()))
    return "expected the PV product to add to the carried accumulator";
  return std::nullopt;
}

/// Whether the parts depend on each other only as the pipeline has it.
static Obstacle checkParts(Iteration &iteration) {
  Product &qk = iteration.qk, &pv = iteration.pv;
  Block *body = iteration.loop.getBody();
  if (!pv.wait.getResult().hasOneUse())
    return "expected the result of the PV product to be carried alone";
  bool hasOtherCopies = llvm::any_of(*body, [&](Operation &op) {
    return isa<attn_gpu::TMALoadOp>(op) ||
           (isa<attn_gpu::CooperativeLoadOp>(op) && &op != qk.load &&
            &op != pv.load);
  });
  if (hasOtherCopies)
    return "expected no copies but those of the products' tiles by the threads";
  IRMapping ofIteration;
  ofIteration.map(iteration.loop.getIteration(), iteration.loop.getIteration());
  if (!canRematerialize(pv.receive.getSlot(), body, ofIteration))
    return "expected slots that follow from the iteration";
  ofIteration.map(iteration.loop.getPosition(), iteration.loop.getPosition());
  if (pv.load && !llvm::all_of(pv.load->getOperands(), [&](Value operand) {
        return canRematerialize(operand, body, ofIteration);
      }))
    return "expected copies that follow from the iteration";
  std::optional<int64_t> from = getConstantIntValue(iteration.loop.getFrom());
  std::optional<int64_t> end = getConstantIntValue(iteration.loop.getEnd());
  if (from && end && *from >= *end)
    return "expected an iteration";
  return std::nullopt;
}

static Obstacle matchIteration(Iteration &iteration) {
  if (Obstacle obstacle = matchProducts(iteration))
    return obstacle;
  if (Obstacle obstacle = cut(iteration))
    return obstacle;
  return checkParts(iteration);
}

namespace {

struct AttnOverlapSoftmax
    : attn::impl::AttnOverlapSoftmaxPassBase<AttnOverlapSoftmax> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || !schedule.getOverlap())
      return;
    SmallVector<TileLoopOp> loops;
    kernel.walk([&](TileLoopOp loop) {
      // Others only receive and release.
      if (!loop.getBody()->getOps<attn_gpu::MMAAsyncOp>().empty())
        loops.push_back(loop);
    });
    if (loops.empty())
      kernel.emitRemark(
          "not overlapped: expected a loop over tiles with products");
    for (TileLoopOp loop : loops) {
      Iteration iteration;
      iteration.loop = loop;
      if (Obstacle obstacle = matchIteration(iteration))
        loop.emitRemark("not overlapped: ") << *obstacle;
      else
        // Where threads copy, the prologue has the first copies, which
        // attn-prefetch-copies moves ahead.
        pipelineKeyLoop(iteration,
                        iteration.pv.load || !sharesCode(loop, schedule));
    }
  }
};

} // namespace
