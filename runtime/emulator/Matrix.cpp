//===- Matrix.cpp - mma.sync, ldmatrix, stmatrix --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"
#include "runtime/emulator/Traffic.h"
#include "runtime/emulator/WgmmaTiles.h"

using namespace attn::runtime::emulator;

namespace {

constexpr unsigned rowBytes = 16;

/// The shared address of the row that `lane` names, checked.
bool rowAddress(Context &context, const Inst &inst, const uint64_t *addresses,
                unsigned lane, uint64_t &address) {
  uint64_t offset = 0;
  address = addresses[lane];
  if (inst.space == ptx::Space::None) {
    if (genericSpace(address, offset) != ptx::Space::Shared) {
      context.fault(inst, static_cast<int>(lane),
                    "expected a shared address, but got " + hex(address));
      return false;
    }
    address = offset;
  }
  if (address % rowBytes) {
    context.fault(inst, static_cast<int>(lane),
                  "misaligned matrix row: expected a multiple of 16, but got " +
                      hex(address));
    return false;
  }
  return sharedInBounds(context, inst, static_cast<int>(lane), address,
                        rowBytes, "matrix row");
}

/// Checks and counts the rows of all matrices; `rows` gets their addresses.
bool prepareRows(Context &context, const Inst &inst, const Operand &operand,
                 bool isStore, uint64_t (&rows)[warpLanes]) {
  if (!context.converged(inst))
    return false;
  if (!context.allLanes()) {
    context.fault(inst, -1, "a matrix instruction needs all 32 lanes");
    return false;
  }
  uint64_t addresses[warpLanes];
  context.addresses(operand, addresses);
  unsigned count = inst.count * 8u;
  for (unsigned lane = 0; lane < count; ++lane)
    if (!rowAddress(context, inst, addresses, lane, rows[lane]))
      return false;
  // The 8 rows of a matrix are served together.
  uint32_t lanes = count == warpLanes ? UINT32_MAX : (1u << count) - 1;
  countShared(context, inst, lanes, rows, rowBytes,
              isStore ? AccessKind::Write : AccessKind::Read);
  if (!context.checks())
    return true;
  Warp &warp = context.warp;
  SharedAccess access{static_cast<uint16_t>(warp.index),
                      warp.epoch,
                      static_cast<uint8_t>(isStore ? Access::Write : 0),
                      &warp.known,
                      isStore ? "stmatrix" : "ldmatrix",
                      isStore ? Access::matrixStore : Access::matrixLoad};
  SharedChecker checker(context, inst, access);
  for (unsigned lane = 0; lane < count; ++lane)
    if (!checker.apply(rows[lane], rowBytes))
      return false;
  return true;
}

/// Of an 8x8 matrix lane l holds elements (l / 4, 2 (l % 4)) and the next, or
/// with .trans those of the transpose. Inst::flags is .trans.
Step ldmatrix(Context &context, const Inst &inst) {
  uint64_t rows[warpLanes] = {};
  if (!prepareRows(context, inst, inst.operands[inst.count], false, rows))
    return Step::Fault;
  const uint8_t *shared = context.block.shared.data();
  for (unsigned i = 0; i < inst.count; ++i) {
    uint32_t result[warpLanes];
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      uint16_t pair[2];
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = lane / 4, column = lane % 4 * 2 + e;
        if (inst.flags)
          std::swap(row, column);
        std::memcpy(&pair[e], shared + rows[8 * i + row] + 2 * column, 2);
      }
      result[lane] = pair[0] | uint32_t(pair[1]) << 16;
    }
    storeLanes(context, inst.operands[i], result);
  }
  return Step::Next;
}

Step stmatrix(Context &context, const Inst &inst) {
  uint64_t rows[warpLanes] = {};
  if (!prepareRows(context, inst, inst.operands[0], true, rows))
    return Step::Fault;
  uint8_t *shared = context.block.shared.data();
  context.launch.noteProgress();
  for (unsigned i = 0; i < inst.count; ++i) {
    const uint32_t *source = context.source(inst.operands[1 + i]);
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = lane / 4, column = lane % 4 * 2 + e;
        if (inst.flags)
          std::swap(row, column);
        uint16_t bits = static_cast<uint16_t>(source[lane] >> (16 * e));
        std::memcpy(shared + rows[8 * i + row] + 2 * column, &bits, 2);
      }
  }
  return Step::Next;
}

bool decodeMatrixAccess(Decoder &d, Inst &inst, bool isStore) {
  if (!d.needTarget(isStore ? 90 : 75) || !d.need("sync") ||
      !d.need("aligned") || !d.need("m8n8"))
    return false;
  int count = d.takeOneOf({"x1", "x2", "x4"});
  if (count < 0)
    return d.fail("expected .x1, .x2 or .x4 in '" +
                  std::string(d.ast().opcode) + "'");
  inst.count = static_cast<uint8_t>(1 << count);
  inst.flags = d.take("trans");
  if (d.takeOneOf({"shared", "shared::cta"}) >= 0)
    inst.space = ptx::Space::Shared;
  if (!d.need("b16"))
    return false;
  inst.execute = isStore ? stmatrix : ldmatrix;
  return isStore
             ? d.address() && d.needVector() && d.sources(Type::B32, inst.count)
             : d.needVector() && d.destinations(Type::B32, inst.count) &&
                   d.address();
}

bool decodeLdmatrix(Decoder &d, Inst &inst) {
  return decodeMatrixAccess(d, inst, false);
}
bool decodeStmatrix(Decoder &d, Inst &inst) {
  return decodeMatrixAccess(d, inst, true);
}

// mma.sync.m16n8k8 and m16n8k16 on 16-bit floats. Inst::count is k, type the
// type of A and B, type2 that of the accumulators.

float toFloat(Type type, uint32_t bits) {
  return type == Type::BF16 ? bf16ToFloat(static_cast<uint16_t>(bits))
                            : halfToFloat(static_cast<uint16_t>(bits));
}

constexpr unsigned rowsM = 16, columnsN = 8;

struct Fragments {
  float a[rowsM][16];
  float b[16][columnsN];
};

/// A's register r of a lane: row lane / 4 + 8 (r % 2), columns
/// 2 (lane % 4) + 8 (r / 2) and the next; B's: column lane / 4, rows
/// 2 (lane % 4) + 8 r and the next.
void gatherFragments(Context &context, const Inst &inst, size_t a, size_t b,
                     Fragments &out) {
  unsigned k = inst.count;
  for (unsigned r = 0; r < k / 4; ++r) {
    const uint32_t *lanes = context.source(inst.operands[a + r]);
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      for (unsigned e = 0; e < 2; ++e)
        out.a[lane / 4 + 8 * (r % 2)][2 * (lane % 4) + 8 * (r / 2) + e] =
            toFloat(inst.type, lanes[lane] >> (16 * e));
  }
  for (unsigned r = 0; r < k / 8; ++r) {
    const uint32_t *lanes = context.source(inst.operands[b + r]);
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      for (unsigned e = 0; e < 2; ++e)
        out.b[2 * (lane % 4) + 8 * r + e][lane / 4] =
            toFloat(inst.type, lanes[lane] >> (16 * e));
  }
}

ATTN_MULTIVERSION
void multiplyFragments(const Fragments &in, unsigned k, float (*c)[columnsN]) {
  for (unsigned m = 0; m < rowsM; ++m)
    for (unsigned i = 0; i < k; ++i)
      for (unsigned n = 0; n < columnsN; ++n)
        c[m][n] += in.a[m][i] * in.b[i][n];
}

/// Accumulator 2i + e of a lane: row lane / 4 + 8i, column 2 (lane % 4) + e;
/// with f16 accumulators register i holds the pair.
float &accumulator(float (&c)[rowsM][columnsN], unsigned lane, unsigned i,
                   unsigned e) {
  return c[lane / 4 + 8 * i][2 * (lane % 4) + e];
}

/// An mma.m16n8k16 with f32 accumulators, without checks.
void multiplyQuickly(Context &context, const Inst &inst) {
  static thread_local WgmmaTiles tiles;
  const std::vector<Operand> &o = inst.operands;
  tiles.readA(0,
              {context.source(o[4]), context.source(o[5]), context.source(o[6]),
               context.source(o[7])},
              inst.type, 1);
  tiles.readB({context.source(o[8]), context.source(o[9])}, inst.type);
  uint32_t sums[4][warpLanes];
  uint32_t *accumulators[4];
  for (unsigned i = 0; i < 4; ++i) {
    std::memcpy(sums[i], context.source(o[10 + i]), sizeof sums[i]);
    accumulators[i] = sums[i];
  }
  tiles.multiply(0, 8, accumulators, true);
  for (unsigned i = 0; i < 4; ++i)
    storeLanes(context, o[i], sums[i]);
}

Step mma(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  if (!context.allLanes())
    return context.fault(inst, -1, "a matrix instruction needs all 32 lanes");
  bool wide = inst.type2 == Type::F32;
  context.launch.statistics.matrixMultiplyAdds +=
      uint64_t(rowsM) * columnsN * inst.count;
  if (!context.checks() && wide && inst.count == 16) {
    multiplyQuickly(context, inst);
    return Step::Next;
  }
  size_t results = wide ? 4 : 2;
  size_t a = results, b = a + inst.count / 4, c = b + inst.count / 8;
  Fragments in;
  gatherFragments(context, inst, a, b, in);
  float sum[rowsM][columnsN];
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned e = 0; e < 2; ++e)
      for (unsigned lane = 0; lane < warpLanes; ++lane) {
        const uint32_t *lanes =
            context.source(inst.operands[c + (wide ? 2 * i + e : i)]);
        accumulator(sum, lane, i, e) =
            wide ? bitsFloat(lanes[lane])
                 : toFloat(Type::F16, lanes[lane] >> (16 * e));
      }
  multiplyFragments(in, inst.count, sum);
  for (size_t r = 0; r < results; ++r) {
    uint32_t lanes[warpLanes];
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      unsigned i = static_cast<unsigned>(r);
      lanes[lane] =
          wide ? floatBits(canonical(accumulator(sum, lane, i / 2, i % 2)))
               : floatToHalf(accumulator(sum, lane, i, 0)) |
                     uint32_t(floatToHalf(accumulator(sum, lane, i, 1))) << 16;
    }
    storeLanes(context, inst.operands[r], lanes);
  }
  return Step::Next;
}

bool decodeMma(Decoder &d, Inst &inst) {
  if (!d.needTarget(80) || !d.need("sync") || !d.need("aligned"))
    return false;
  int shape = d.takeOneOf({"m16n8k16", "m16n8k8"});
  if (shape < 0)
    return d.fail("unsupported shape '." + std::string(d.peek()) +
                  "' of 'mma'");
  inst.count = shape == 0 ? 16 : 8;
  Type second = Type::None, third = Type::None;
  if (!d.need("row") || !d.need("col") ||
      !d.needType(inst.type2, {Type::F32, Type::F16}) ||
      !d.needType(inst.type, {Type::F16, Type::BF16}) ||
      !d.needType(second, {inst.type}) || !d.needType(third, {inst.type2}))
    return false;
  bool wide = inst.type2 == Type::F32;
  if (!wide && inst.type == Type::BF16)
    return d.fail("expected .f32 accumulators of a .bf16 'mma'");
  inst.execute = mma;
  Type type = wide ? Type::F32 : Type::F16x2;
  Type packed = inst.type == Type::F16 ? Type::F16x2 : Type::BF16x2;
  unsigned count = wide ? 4 : 2;
  return d.destinations(type, count) && d.sources(packed, inst.count / 4) &&
         d.needVector() && d.sources(packed, inst.count / 8) &&
         d.sources(type, count);
}

/// movmatrix transposes an 8x8 matrix among the lanes.
Step movmatrix(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    result[lane] = 0;
    for (unsigned e = 0; e < 2; ++e) {
      unsigned row = lane % 4 * 2 + e, column = lane / 4;
      uint32_t word = a[row * 4 + column / 2];
      result[lane] |= (word >> (16 * (column % 2)) & 0xffff) << (16 * e);
    }
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeMovmatrix(Decoder &d, Inst &inst) {
  inst.execute = movmatrix;
  return d.need("sync") && d.need("aligned") && d.need("m8n8") &&
         d.need("trans") && d.need("b16") && d.destination(Type::B32) &&
         d.peekOperand() && d.peekOperand()->kind == ptx::Operand::Name &&
         d.source(Type::B32);
}

constexpr Opcode table[] = {
    {"mma", InstClass::Matrix, decodeMma},
    {"ldmatrix", InstClass::MatrixLoad, decodeLdmatrix},
    {"stmatrix", InstClass::MatrixLoad, decodeStmatrix},
    {"movmatrix", InstClass::MatrixLoad, decodeMovmatrix},
};

} // namespace

OpcodeTable attn::runtime::emulator::matrixOpcodes() {
  return makeTable(table);
}
