//===- OverlapSoftmax.cpp - attn-overlap-softmax --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration is cut in four parts: the *scores* with what they need, the
// *values* (receive, product, wait, release), what *follows* from the
// accumulator (its rescaling), and the rest, which is the softmax. All loops of
// a chain are cut alike, so one goes on where the one before stopped.
// KeyLoopPipeline.cpp puts the parts together.
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoopPipeline.h"
#include "passes/KeyLoops.h"
#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNOVERLAPSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static std::optional<Product> matchProduct(attn_gpu::MMAAsyncOp start) {
  Product product;
  product.start = start;
  product.receive = start.getB().getDefiningOp<attn_gpu::ReceiveOp>();
  if (!product.receive || product.receive->getBlock() != start->getBlock() ||
      !start.getResult().hasOneUse())
    return std::nullopt;
  product.wait = dyn_cast<attn_gpu::MMAWaitOp>(*start->user_begin());
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
  if (!product.wait || !product.release)
    return std::nullopt;
  return product;
}

/// Ops of `block` that `roots` are computed from.
static llvm::SetVector<Operation *> getSlice(ArrayRef<Operation *> roots,
                                             Block *block) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Operation *> worklist(roots);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == block && slice.insert(def))
        worklist.push_back(def);
    }
  }
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

/// Finds the two products and the weights between them.
static bool matchProducts(Iteration &iteration) {
  auto starts =
      llvm::to_vector(iteration.loop.getBody()->getOps<attn_gpu::MMAAsyncOp>());
  if (starts.size() != 2 || starts[0].getAccumulator() ||
      !starts[1].getAccumulator())
    return false;
  std::optional<Product> scores = matchProduct(starts[0]);
  std::optional<Product> values = matchProduct(starts[1]);
  iteration.weights = starts[1].getA().getDefiningOp<arith::TruncFOp>();
  if (!scores || !values || !iteration.weights ||
      scores->receive == values->receive)
    return false;
  iteration.scores = *scores;
  iteration.values = *values;
  for (auto [number, yielded] :
       llvm::enumerate(iteration.loop.getYieldedValues())) {
    if (yielded == values->wait.getResult()) {
      iteration.accumulator = number;
      return true;
    }
  }
  return false;
}

/// Assigns every op of the body to a part.
static void cut(Iteration &iteration) {
  Block *body = iteration.loop.getBody();
  Product &scores = iteration.scores, &values = iteration.values;
  SmallVector<Operation *> ofScores = {scores.start, scores.release};
  SmallVector<Operation *> ofValues = {values.receive, values.release};
  if (scores.load)
    ofScores.push_back(scores.load);
  if (values.load)
    ofValues.push_back(values.load);
  auto beforeScores = getSlice(ofScores, body);
  auto beforeValues = getSlice(ofValues, body);
  if (scores.load)
    beforeScores.insert(scores.load);
  llvm::DenseSet<Operation *> products = {
      scores.start, scores.wait,    scores.release,
      values.load,  values.receive, values.start,
      values.wait,  values.release, iteration.weights};
  llvm::DenseSet<Value> followers = {
      iteration.loop.getRegionIterArg(iteration.accumulator)};
  for (Operation &op : body->without_terminator()) {
    if (products.contains(&op))
      continue;
    if (beforeScores.contains(&op))
      iteration.beforeScores.push_back(&op);
    if (beforeValues.contains(&op))
      iteration.beforeValues.push_back(&op);
    if (beforeScores.contains(&op))
      continue;
    if (usesAny(&op, followers)) {
      iteration.following.push_back(&op);
      followers.insert(op.result_begin(), op.result_end());
    } else {
      // With what the values need as well, since they belong to another visit.
      iteration.softmax.push_back(&op);
    }
  }
}

/// Whether the parts depend on each other only as the pipeline has it.
static bool canPipeline(Iteration &iteration) {
  scf::ForOp loop = iteration.loop;
  if (!iteration.values.wait.getResult().hasOneUse() ||
      !iteration.weights->hasOneUse() ||
      !loop.getBody()->getOps<attn_gpu::TMALoadOp>().empty() ||
      !llvm::all_of(loop.getBody()->getOps<attn_gpu::CooperativeLoadOp>(),
                    [&](attn_gpu::CooperativeLoadOp load) {
                      return load == iteration.scores.load ||
                             load == iteration.values.load;
                    }))
    return false;
  // The values of a visit are found from its number alone, and its scores
  // without the accumulator, which is still being written.
  llvm::DenseSet<Value> carried(loop.getRegionIterArgs().begin(),
                                loop.getRegionIterArgs().end());
  llvm::DenseSet<Value> accumulator = {
      loop.getRegionIterArg(iteration.accumulator)};
  return llvm::all_of(iteration.beforeValues,
                      [&](Operation *op) {
                        return isMemoryEffectFree(op) && !usesAny(op, carried);
                      }) &&
         llvm::none_of(iteration.beforeScores,
                       [&](Operation *op) { return usesAny(op, accumulator); });
}

static std::optional<Iteration> matchIteration(scf::ForOp loop) {
  Iteration iteration;
  iteration.loop = loop;
  if (loop.getUnsignedCmp() || !matchPattern(loop.getStep(), m_One()) ||
      !matchProducts(iteration))
    return std::nullopt;
  cut(iteration);
  if (!canPipeline(iteration))
    return std::nullopt;
  return iteration;
}

static std::vector<Chain> collectChains(Operation *root) {
  std::vector<Chain> chains;
  root->walk([&](scf::ForOp loop) {
    std::optional<Iteration> iteration = matchIteration(loop);
    if (!iteration)
      return;
    if (chains.empty() || !continues(chains.back().back().loop, loop))
      chains.emplace_back();
    chains.back().push_back(*iteration);
  });
  return chains;
}

/// Whether the first visit has code of its own. It is all of its loop where
/// that runs once; and where threads copy, it must, for `attn-prefetch-copies`
/// looks for copies that every visit makes.
static bool isPeeled(const Iteration &first, ScheduleAttr schedule) {
  scf::ForOp loop = first.loop;
  Type accumulator = loop.getResult(first.accumulator).getType();
  return first.values.load || runsAtMostOnce(loop) ||
         cast<VectorType>(accumulator).getDimSize(1) <
             schedule.getSharedLoopColumns();
}

namespace {

struct AttnOverlapSoftmax
    : attn::impl::AttnOverlapSoftmaxPassBase<AttnOverlapSoftmax> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || !schedule.getOverlap())
      return;
    std::vector<Chain> chains = collectChains(kernel);
    if (chains.empty())
      kernel.emitRemark("not overlapped: expected loops of two matmuls with "
                        "tiles from channels");
    for (const Chain &chain : chains)
      pipelineKeyLoops(chain, isPeeled(chain.front(), schedule));
  }
};

} // namespace
