//===- Wgmma.cpp - Warpgroup matrix instructions --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four warps of a warpgroup meet; the last to come computes for all. The
// result is in the registers at once, but they count as in flight until the
// group is waited for, so that a program cannot tell the difference without a
// fault.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Descriptor.h"
#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Flow.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"
#include "runtime/emulator/Sync.h"
#include "runtime/emulator/WgmmaTiles.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

constexpr unsigned rowsM = 64;
constexpr unsigned depthK = 16;
constexpr unsigned maxN = 256;
constexpr unsigned elementBytes = 2;

/// Of one wgmma.mma_async, by Inst::extra.
struct Shape {
  unsigned n = 0;
  /// F16 or BF16, of A and B.
  Type type = Type::F16;
  bool aInRegisters = false;
  bool transposeA = false, transposeB = false;
  float scaleA = 1, scaleB = 1;

  unsigned accumulators() const { return n / 2; }
  unsigned aOperands() const { return aInRegisters ? 4 : 1; }
};

const Shape &shapeOf(const Inst &inst) {
  return *static_cast<const Shape *>(inst.extra.get());
}

float toFloat(Type type, uint16_t bits) {
  return type == Type::BF16 ? bf16ToFloat(bits) : halfToFloat(bits);
}

/// A and B as floats, in the order that multiply() reads: for each warp and
/// half of its rows the value of each lane, and for each pair of columns the
/// values of 4 lanes twice.
struct Tiles {
  alignas(64) float a[4][2][depthK][warpLanes];
  alignas(64) float b[maxN / 8][2][depthK][8];
};

/// acc[lane] += a[k][lane] * b[k][lane % 8] over the depth.
ATTN_MULTIVERSION
void multiply(const float (*a)[warpLanes], const float (*b)[8], float *acc) {
  float sum[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    sum[lane] = acc[lane];
  for (unsigned k = 0; k < depthK; ++k)
    for (unsigned q = 0; q < warpLanes; q += 8)
      for (unsigned lane = 0; lane < 8; ++lane)
        sum[q + lane] += a[k][q + lane] * b[k][lane];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    acc[lane] = canonical(sum[lane]);
}

class Executor {
public:
  Executor(Context &context, const Inst &inst)
      : context_(context), inst_(inst), shape_(shapeOf(inst)),
        first_(context.warp.index / warpgroupWarps * warpgroupWarps) {}

  Step run();

private:
  Warp &warp(unsigned i) { return context_.block.warps[first_ + i]; }
  const Operand &accumulator(unsigned i) { return inst_.operands[i]; }
  const Operand &aOperand(unsigned i) {
    return inst_.operands[shape_.accumulators() + i];
  }
  const Operand &bOperand() {
    return inst_.operands[shape_.accumulators() + shape_.aOperands()];
  }
  const Operand &scaleOperand() {
    return inst_.operands[shape_.accumulators() + shape_.aOperands() + 1];
  }

  bool sameForAll(const Operand &operand, uint64_t &value, const char *what);
  bool readScale(bool &accumulate);
  bool checkRegisters(Warp &warp, bool accumulates);
  bool checkDescriptor(const MatrixDescriptor &descriptor, const char *name);
  bool checkMatrix(const MatrixDescriptor &descriptor, unsigned extent,
                   bool transposed, SharedChecker *checker);
  bool gatherA();
  bool gatherB();
  template <typename Store>
  void gather(const MatrixDescriptor &descriptor, unsigned extent,
              bool transposed, Store store);
  void gatherRegistersA();
  void compute(bool accumulate);
  void count();
  bool computeQuickly(bool accumulate);
  void markInFlight(Warp &warp);
  bool checkShared();

  Context &context_;
  const Inst &inst_;
  const Shape &shape_;
  unsigned first_;
  uint64_t aBits_ = 0, bBits_ = 0;
  static thread_local Tiles tiles_;
};

thread_local Tiles Executor::tiles_;

/// A descriptor must be the same in all 128 lanes.
bool Executor::sameForAll(const Operand &operand, uint64_t &value,
                          const char *what) {
  for (unsigned i = 0; i < warpgroupWarps; ++i) {
    Context other{context_.launch, context_.block, warp(i), context_.fragment,
                  UINT32_MAX};
    uint64_t here = 0;
    if (!other.uniform(inst_, operand, here, what))
      return false;
    if (i && here != value) {
      other.fault(inst_, -1,
                  std::string("expected the same ") + what +
                      " in all warps of the warpgroup, but got " + hex(here) +
                      " and " + hex(value));
      return false;
    }
    value = here;
  }
  return true;
}

bool Executor::readScale(bool &accumulate) {
  const Operand &operand = scaleOperand();
  if (operand.kind == Operand::Constant) {
    accumulate = context_.source(operand)[0] != 0;
    return true;
  }
  for (unsigned i = 0; i < warpgroupWarps; ++i) {
    uint32_t bits = warp(i).predicates[operand.slot];
    if (operand.negated)
      bits = ~bits;
    bool value = bits != 0;
    if ((bits && bits != UINT32_MAX) || (i && value != accumulate)) {
      context_.fault(inst_, -1,
                     "expected the same scale-d in the whole warpgroup");
      return false;
    }
    accumulate = value;
  }
  return true;
}

/// Registers that ordinary instructions touched need a fence first; registers
/// of a wgmma in flight may only be accumulators of one of the same shape, or
/// A registers that both read.
bool Executor::checkRegisters(Warp &warp, bool accumulates) {
  (void)accumulates;
  const Program &program = context_.launch.program;
  Context other{context_.launch, context_.block, warp, context_.fragment,
                UINT32_MAX};
  for (size_t i = 0; i < inst_.tracked.size(); ++i) {
    uint16_t index = inst_.tracked[i];
    bool isAccumulator = i < shape_.accumulators();
    const InFlight &owner = warp.inFlight[index];
    if (owner.group > warp.wgmmaRetired) {
      const Inst &earlier = program.insts[owner.inst];
      const Shape &was = shapeOf(earlier);
      if (owner.isAccumulator == isAccumulator &&
          (!isAccumulator || was.n == shape_.n))
        continue;
      other.fault(inst_, -1,
                  std::string(isAccumulator ? "an accumulator" : "an A") +
                      " register belongs to the wgmma of ptx line " +
                      std::to_string(earlier.line) +
                      ", which is in flight with another shape or role");
      return false;
    }
    if (warp.touched[index / 64] >> (index % 64) & 1) {
      other.fault(inst_, -1,
                  std::string("missing wgmma.fence: ") +
                      (isAccumulator ? "an accumulator" : "an A") +
                      " register was touched by other instructions since the "
                      "last fence");
      return false;
    }
  }
  return true;
}

bool Executor::checkDescriptor(const MatrixDescriptor &descriptor,
                               const char *name) {
  if (descriptor.baseOffset) {
    context_.fault(
        inst_, -1,
        std::string("unsupported base offset in the descriptor of ") + name);
    return false;
  }
  // The pattern of 8 rows is anchored at multiples of its size.
  uint32_t width = descriptor.width();
  if (width && descriptor.start % (8 * width) >= width) {
    context_.fault(inst_, -1,
                   std::string("misaligned descriptor of ") + name +
                       ": expected a start within the first row of a "
                       "multiple of " +
                       std::to_string(8 * width) + ", but got " +
                       hex(descriptor.start));
    return false;
  }
  return true;
}

/// Calls store(mn, k, bits) for every element.
template <typename Store>
void Executor::gather(const MatrixDescriptor &descriptor, unsigned extent,
                      bool transposed, Store store) {
  const uint8_t *shared = context_.block.shared.data();
  constexpr unsigned per = 16 / elementBytes;
  unsigned rows = transposed ? depthK : extent;
  unsigned chunks = (transposed ? extent : depthK) / per;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      uint32_t address = transposed
                             ? descriptor.chunkAddress(chunk, row, true)
                             : descriptor.chunkAddress(row, chunk, false);
      uint16_t elements[per];
      std::memcpy(elements, shared + address, 16);
      for (unsigned e = 0; e < per; ++e) {
        unsigned along = chunk * per + e;
        if (transposed)
          store(along, row, elements[e]);
        else
          store(row, along, elements[e]);
      }
    }
}

/// Bounds, and with a checker races and never-written bytes.
bool Executor::checkMatrix(const MatrixDescriptor &descriptor, unsigned extent,
                           bool transposed, SharedChecker *checker) {
  constexpr unsigned per = 16 / elementBytes;
  unsigned rows = transposed ? depthK : extent;
  unsigned chunks = (transposed ? extent : depthK) / per;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      uint32_t address = transposed
                             ? descriptor.chunkAddress(chunk, row, true)
                             : descriptor.chunkAddress(row, chunk, false);
      if (!sharedInBounds(context_, inst_, -1, address, 16, "read by wgmma") ||
          (checker && !checker->apply(address, 16)))
        return false;
    }
  return true;
}

bool Executor::checkShared() {
  MatrixDescriptor a(aBits_), b(bBits_);
  Knowledge known;
  SharedAccess access{
      static_cast<uint16_t>(context_.block.wgmmaAgent(context_.warp.index)),
      context_.warp.wgmmaGroup, Access::Async, &known, "wgmma"};
  if (!context_.checks())
    return (shape_.aInRegisters ||
            checkMatrix(a, rowsM, shape_.transposeA, nullptr)) &&
           checkMatrix(b, shape_.n, shape_.transposeB, nullptr);
  // All four warps read: what one of them does not know is not ordered.
  known = warp(0).known;
  for (unsigned i = 1; i < warpgroupWarps; ++i)
    known.meet(warp(i).known);
  SharedChecker checker(context_, inst_, access);
  return (shape_.aInRegisters ||
          checkMatrix(a, rowsM, shape_.transposeA, &checker)) &&
         checkMatrix(b, shape_.n, shape_.transposeB, &checker);
}

bool Executor::gatherA() {
  if (shape_.aInRegisters) {
    gatherRegistersA();
    return true;
  }
  gather(MatrixDescriptor(aBits_), rowsM, shape_.transposeA,
         [&](unsigned m, unsigned k, uint16_t bits) {
           float value = toFloat(shape_.type, bits) * shape_.scaleA;
           float *lanes = tiles_.a[m / 16][m / 8 % 2][k];
           for (unsigned i = 0; i < 4; ++i)
             lanes[m % 8 * 4 + i] = value;
         });
  return true;
}

/// Register r of a lane holds row lane / 4 + 8 * (r % 2), columns
/// 2 * (lane % 4) + 8 * (r / 2) and the next.
void Executor::gatherRegistersA() {
  for (unsigned w = 0; w < warpgroupWarps; ++w)
    for (unsigned r = 0; r < 4; ++r) {
      const uint32_t *lanes = warp(w).registers.data() + aOperand(r).slot;
      for (unsigned lane = 0; lane < warpLanes; ++lane)
        for (unsigned c = 0; c < 2; ++c) {
          unsigned k = 2 * (lane % 4) + 8 * (r / 2) + c;
          float value =
              toFloat(shape_.type,
                      static_cast<uint16_t>(lanes[lane] >> (16 * c))) *
              shape_.scaleA;
          float *to = tiles_.a[w][r % 2][k] + lane / 4 * 4;
          for (unsigned i = 0; i < 4; ++i)
            to[i] = value;
        }
    }
}

bool Executor::gatherB() {
  gather(MatrixDescriptor(bBits_), shape_.n, shape_.transposeB,
         [&](unsigned n, unsigned k, uint16_t bits) {
           float value = toFloat(shape_.type, bits) * shape_.scaleB;
           float *lanes = tiles_.b[n / 8][n % 2][k];
           lanes[n % 8 / 2] = lanes[n % 8 / 2 + 4] = value;
         });
  return true;
}

/// Accumulator 4j + 2i + c of a lane is row lane / 4 + 8i of its warp's 16,
/// column 8j + 2 (lane % 4) + c.
void Executor::compute(bool accumulate) {
  for (unsigned w = 0; w < warpgroupWarps; ++w)
    for (unsigned r = 0; r < shape_.accumulators(); ++r) {
      uint32_t *lanes = warp(w).registers.data() + accumulator(r).slot;
      float acc[warpLanes] = {};
      if (accumulate)
        std::memcpy(acc, lanes, sizeof acc);
      multiply(tiles_.a[w][r / 2 % 2], tiles_.b[r / 4][r % 2], acc);
      std::memcpy(lanes, acc, sizeof acc);
    }
}

void Executor::count() {
  Statistics &statistics = context_.launch.statistics;
  statistics.matrixMultiplyAdds += uint64_t(rowsM) * shape_.n * depthK;
  statistics.shared.readBytes +=
      uint64_t(shape_.n + (shape_.aInRegisters ? 0 : rowsM)) * depthK *
      elementBytes;
}

/// The same without checks, several times as fast; false if an operand is out
/// of bounds.
bool Executor::computeQuickly(bool accumulate) {
  static thread_local WgmmaTiles tiles;
  Block &block = context_.block;
  WgmmaTiles::Shared shared{block.shared.data(), sharedReservedBytes,
                            block.sharedBytes};
  if (!tiles.readB(shared, MatrixDescriptor(bBits_), shape_.n,
                   shape_.transposeB, shape_.type, shape_.scaleB) ||
      (!shape_.aInRegisters &&
       !tiles.readA(shared, MatrixDescriptor(aBits_), shape_.transposeA,
                    shape_.type, shape_.scaleA)))
    return false;
  for (unsigned w = 0; w < warpgroupWarps; ++w) {
    uint32_t *registers = warp(w).registers.data();
    if (shape_.aInRegisters)
      tiles.readA(w,
                  {registers + aOperand(0).slot, registers + aOperand(1).slot,
                   registers + aOperand(2).slot, registers + aOperand(3).slot},
                  shape_.type, shape_.scaleA);
    uint32_t *accumulators[maxN / 2];
    for (unsigned r = 0; r < shape_.accumulators(); ++r)
      accumulators[r] = registers + accumulator(r).slot;
    tiles.multiply(w, shape_.n, accumulators, accumulate);
  }
  return true;
}

void Executor::markInFlight(Warp &warp) {
  for (size_t i = 0; i < inst_.tracked.size(); ++i)
    warp.inFlight[inst_.tracked[i]] = {
        warp.wgmmaGroup, context_.instIndex(inst_), i < shape_.accumulators()};
}

Step Executor::run() {
  bool accumulate = true;
  if (!readScale(accumulate) || !sameForAll(bOperand(), bBits_, "B descriptor"))
    return Step::Fault;
  if (!shape_.aInRegisters && !sameForAll(aOperand(0), aBits_, "A descriptor"))
    return Step::Fault;
  if (!checkDescriptor(MatrixDescriptor(bBits_), "B") ||
      (!shape_.aInRegisters && !checkDescriptor(MatrixDescriptor(aBits_), "A")))
    return Step::Fault;
  if (context_.checks())
    for (unsigned i = 0; i < warpgroupWarps; ++i)
      if (!checkRegisters(warp(i), accumulate))
        return Step::Fault;
  if (context_.checks() || !computeQuickly(accumulate)) {
    if (!checkShared() || !gatherA() || !gatherB())
      return Step::Fault;
    compute(accumulate);
  }
  count();
  for (unsigned i = 0; i < warpgroupWarps; ++i) {
    warp(i).wgmmaIssued = warp(i).wgmmaGroup;
    if (context_.checks())
      markInFlight(warp(i));
  }
  return Step::Next;
}

/// The warpgroup's warps meet; the last one runs the instruction.
Step mmaAsync(Context &context, const Inst &inst) {
  Block &block = context.block;
  if (!context.converged(inst))
    return Step::Fault;
  unsigned index = context.warp.index / warpgroupWarps;
  unsigned place = context.warp.index % warpgroupWarps;
  if (!context.allLanes() || (index + 1) * warpgroupWarps > block.warps.size())
    return context.fault(inst, -1, "wgmma needs a warpgroup of 128 threads");
  Warpgroup &group = block.warpgroups[index];
  uint32_t pc = context.instIndex(inst);
  if (group.arrived && group.pc != pc)
    return context.fault(
        inst, -1,
        "the warps of a warpgroup execute different wgmmas: another waits at "
        "ptx line " +
            std::to_string(context.launch.program.insts[group.pc].line));
  group.pc = pc;
  group.arrived |= 1u << place;
  group.fragments[place] = context.fragment;
  if (group.arrived != 15) {
    sleep(context, Wait::Warpgroup, index);
    return Step::Wait;
  }
  group.arrived = 0;
  if (Executor(context, inst).run() == Step::Fault)
    return Step::Fault;
  for (unsigned i = 0; i < warpgroupWarps; ++i)
    if (i != place)
      block.wake(block.warps[index * warpgroupWarps + i], *group.fragments[i],
                 true);
  return Step::Next;
}

Step fenceRegisters(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  std::fill(context.warp.touched.begin(), context.warp.touched.end(), 0);
  return Step::Next;
}

Step commitGroup(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  context.noteSync(inst);
  ++context.warp.wgmmaGroup;
  return Step::Next;
}

Step waitGroup(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  context.noteSync(inst);
  Warp &warp = context.warp;
  int64_t limit = int64_t(warp.wgmmaGroup) - 1 - inst.immediate;
  if (limit <= int64_t(warp.wgmmaRetired))
    return Step::Next;
  warp.wgmmaRetired = static_cast<uint32_t>(limit);
  if (context.checks()) {
    Knowledge over;
    over.seen.raise(context.block.wgmmaAgent(warp.index), warp.wgmmaRetired);
    learn(warp, context.mask, over);
  }
  return Step::Next;
}

// Decoding.

/// `m64n128k16`
bool parseShape(std::string_view text, unsigned &n, unsigned &k) {
  if (text.substr(0, 4) != "m64n")
    return false;
  size_t position = 4;
  auto digits = [&](unsigned &value) {
    value = 0;
    size_t begin = position;
    while (position < text.size() && position - begin < 4 &&
           text[position] >= '0' && text[position] <= '9')
      value = value * 10 + static_cast<unsigned>(text[position++] - '0');
    return position > begin;
  };
  if (!digits(n) || position >= text.size() || text[position++] != 'k' ||
      !digits(k))
    return false;
  return position == text.size();
}

bool takeSign(Decoder &d, float &scale) {
  int64_t value = 0;
  if (!d.immediate(value, -1, 1))
    return false;
  scale = static_cast<float>(value);
  return value != 0 || d.fail("expected a scale of 1 or -1, but got 0");
}

bool takeFlag(Decoder &d, bool &flag) {
  int64_t value = 0;
  if (!d.immediate(value, 0, 1))
    return false;
  flag = value != 0;
  return true;
}

bool decodeMmaOperands(Decoder &d, Inst &inst, Shape &shape) {
  if (!d.destinations(Type::F32, shape.accumulators(), false))
    return false;
  const ptx::Operand *a = d.peekOperand();
  shape.aInRegisters = a && a->kind == ptx::Operand::Vector;
  Type packed = shape.type == Type::F16 ? Type::F16x2 : Type::BF16x2;
  if (shape.aInRegisters ? !d.sources(packed, 4) : !d.source(Type::U64))
    return false;
  const ptx::Operand *scaleD =
      d.remaining() > 1
          ? &d.ast().operands[d.ast().operands.size() - d.remaining() + 1]
          : nullptr;
  bool isNumber = scaleD && scaleD->kind == ptx::Operand::Integer;
  if (!d.source(Type::U64) ||
      !(isNumber ? d.source(Type::S32) : d.predicateSource()) ||
      !d.checkImmediate(inst.operands.size() - 1, 0, 1))
    return false;
  // With a scale-d that is known only later they may or may not be read.
  const Operand &scale = inst.operands.back();
  bool reads = scale.kind == Operand::Constant && scale.constant[0] != 0;
  for (unsigned i = 0; i < shape.accumulators(); ++i)
    inst.operands[i].isRead = reads;
  if (!takeSign(d, shape.scaleA) || !takeSign(d, shape.scaleB))
    return false;
  if (!shape.aInRegisters && !takeFlag(d, shape.transposeA))
    return false;
  return takeFlag(d, shape.transposeB);
}

bool decodeMma(Decoder &d, Inst &inst) {
  if (!d.need("sync") || !d.need("aligned"))
    return false;
  auto shape = std::make_shared<Shape>();
  unsigned k = 0;
  std::string text(d.peek());
  if (!parseShape(d.nextModifier(), shape->n, k) || k != depthK ||
      shape->n % 8 || shape->n < 8 || shape->n > maxN)
    return d.fail("unsupported shape '." + text + "' of 'wgmma'");
  Type accumulator = Type::None, second = Type::None;
  if (!d.needType(accumulator, {Type::F32}) ||
      !d.needType(shape->type, {Type::F16, Type::BF16}) ||
      !d.needType(second, {shape->type}))
    return false;
  inst.flags |= TracksRegisters;
  inst.execute = mmaAsync;
  if (!decodeMmaOperands(d, inst, *shape))
    return false;
  inst.extra = shape;
  return true;
}

bool decodeWgmma(Decoder &d, Inst &inst) {
  if (!d.needArchitecture("sm_90a"))
    return false;
  int operation =
      d.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (operation == 0)
    return decodeMma(d, inst);
  if (operation < 0)
    return d.fail("unknown operation '." + std::string(d.peek()) +
                  "' of 'wgmma'");
  static constexpr Execute executes[] = {nullptr, fenceRegisters, commitGroup,
                                         waitGroup};
  inst.cls = InstClass::Barrier;
  inst.execute = executes[operation];
  if (!d.need("sync") || !d.need("aligned"))
    return false;
  return operation != 3 || d.immediate(inst.immediate, 0, 7);
}

constexpr Opcode table[] = {
    {"wgmma", InstClass::Matrix, decodeWgmma},
};

} // namespace

OpcodeTable attn::runtime::emulator::wgmmaOpcodes() { return makeTable(table); }
