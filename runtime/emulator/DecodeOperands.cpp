//===- DecodeOperands.cpp - Operands become slots -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decode.h"

#include <algorithm>
#include <cstring>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

struct SpecialEntry {
  const char *name;
  Special index;
};

constexpr SpecialEntry specialTable[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NWarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NSmId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%dynamic_smem_size", Special::DynamicSmemSize},
    {"%total_smem_size", Special::TotalSmemSize},
    // Without clusters a block is its own cluster, of rank 0 of 1.
    {"%clusterid.x", Special::CtaidX},
    {"%clusterid.y", Special::CtaidY},
    {"%clusterid.z", Special::CtaidZ},
    {"%nclusterid.x", Special::NctaidX},
    {"%nclusterid.y", Special::NctaidY},
    {"%nclusterid.z", Special::NctaidZ},
    {"%cluster_ctaid.x", Special::Zero},
    {"%cluster_ctaid.y", Special::Zero},
    {"%cluster_ctaid.z", Special::Zero},
    {"%cluster_ctarank", Special::Zero},
    {"%cluster_nctaid.x", Special::One},
    {"%cluster_nctaid.y", Special::One},
    {"%cluster_nctaid.z", Special::One},
    {"%cluster_nctarank", Special::One},
};

} // namespace

const uint32_t *Decoder::constant(uint64_t bits, unsigned bytes) {
  const uint32_t *&entry = constants_[{bits, bytes == 8}];
  if (!entry) {
    std::array<uint32_t, 64> &lanes = program_->constants.emplace_back();
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (bytes == 8) {
        lanes[2 * lane] = static_cast<uint32_t>(bits);
        lanes[2 * lane + 1] = static_cast<uint32_t>(bits >> 32);
      } else {
        lanes[lane] = lanes[lane + 32] = static_cast<uint32_t>(bits);
      }
    }
    entry = lanes.data();
  }
  return entry;
}

bool Decoder::resolveRegister(std::string_view name, RegisterInfo &info) {
  size_t digits = name.find_last_not_of("0123456789") + 1;
  uint64_t index = 0;
  bool numbered = digits < name.size() && name.size() - digits < 9;
  if (numbered)
    for (char c : name.substr(digits))
      index = index * 10 + static_cast<uint64_t>(c - '0');
  std::string_view prefix = name.substr(0, digits);
  for (uint32_t scope = ast_ ? ast_->scope : 0;;
       scope = function_.scopes[scope]) {
    const auto &registers = scopes_[scope].registers;
    if (auto it = registers.find(name);
        it != registers.end() && !it->second.count) {
      info = it->second;
      return true;
    }
    if (auto it = registers.find(prefix);
        numbered && it != registers.end() && index < it->second.count) {
      info = it->second;
      unsigned words = info.type == Type::Pred     ? 1
                       : typeBytes(info.type) == 8 ? 64
                                                   : 32;
      info.slot += static_cast<uint32_t>(index) * words;
      return true;
    }
    if (scope == 0)
      return false;
  }
}

bool Decoder::resolveSymbol(std::string_view name, Symbol &symbol) {
  for (uint32_t scope = ast_->scope;; scope = function_.scopes[scope]) {
    auto it = scopes_[scope].variables.find(name);
    if (it != scopes_[scope].variables.end()) {
      symbol = it->second;
      return true;
    }
    if (scope == 0)
      break;
  }
  auto it = symbols_.find(name);
  if (it == symbols_.end())
    return false;
  symbol = it->second;
  return true;
}

bool Decoder::resolveLabel(std::string_view name, uint32_t &target) {
  for (uint32_t scope = ast_->scope;; scope = function_.scopes[scope]) {
    auto it = scopes_[scope].labels.find(name);
    if (it != scopes_[scope].labels.end()) {
      target = it->second;
      return true;
    }
    if (scope == 0)
      return fail("undefined label " + quote(name));
  }
}

/// The bits of an immediate as `type`; false if it cannot be one. Floats of 16
/// bits have none, and bits of a float may stand for bits.
static bool immediateBits(const ptx::Operand &operand, Type type,
                          uint64_t &bits) {
  unsigned bytes = typeBytes(type);
  bool isReal = type == Type::F32 || type == Type::F64;
  switch (operand.kind) {
  case ptx::Operand::Integer:
    bits = bytes >= 8 ? operand.integer
                      : operand.integer & ((uint64_t(1) << (8 * bytes)) - 1);
    return !isFloat(type);
  case ptx::Operand::Single:
    bits = operand.integer;
    if (type == Type::F64) {
      uint32_t word = static_cast<uint32_t>(operand.integer);
      float narrow = 0;
      std::memcpy(&narrow, &word, sizeof narrow);
      double real = narrow;
      std::memcpy(&bits, &real, sizeof bits);
    }
    return isReal || type == Type::B32;
  case ptx::Operand::Real:
    if (bytes == 8) {
      std::memcpy(&bits, &operand.real, sizeof bits);
    } else {
      float narrow = static_cast<float>(operand.real);
      uint32_t word = 0;
      std::memcpy(&word, &narrow, sizeof word);
      bits = word;
    }
    return isReal;
  default:
    return false;
  }
}

/// Whether a register may be an operand of a type, sizes apart: bits are
/// anything, packed and 16-bit floats have no registers of their own.
static bool typesAgree(Type declared, Type type) {
  if (type == Type::F16x2 || type == Type::BF16x2 || type == Type::BF16)
    return isBits(declared);
  return isBits(declared) || isBits(type) || isFloat(declared) == isFloat(type);
}

bool Decoder::isSourceOf(
    std::initializer_list<std::string_view> opcodes) const {
  return std::find(opcodes.begin(), opcodes.end(), ast_->opcode) !=
         opcodes.end();
}

/// `_` in place of a result: as an element of a vector or pair, and where an
/// instruction is executed for something else.
bool Decoder::resolveSink(Type type, bool isElement) {
  if (isElement)
    return true;
  bool allowed = type != Type::Pred &&
                 (isSourceOf({"atom"}) || ast_->opcode == "mbarrier");
  return allowed ||
         fail("expected a result of " + quote(ast_->opcode) + ", but got '_'");
}

/// A special register or the address of a variable.
bool Decoder::resolveName(const ptx::Operand &operand, Operand &result,
                          Type type) {
  unsigned bytes = typeBytes(type);
  for (const SpecialEntry &entry : specialTable)
    if (operand.name == entry.name) {
      if (bytes != 4)
        return fail("expected a 32-bit read of " + quote(operand.name));
      bool isFloatCvt = ast_->opcode == "cvt" && isFloat(inst_->type);
      if (!isSourceOf({"mov", "cvt"}) || isFloat(type) || isFloatCvt)
        return fail("expected a register, but got " + quote(operand.name));
      result.kind = Operand::Register;
      result.bytes = 4;
      result.slot = static_cast<uint32_t>(entry.index) * 32;
      return true;
    }
  Symbol symbol;
  bool isWarpSize = operand.name == "WARP_SZ";
  if (!isWarpSize && !resolveSymbol(operand.name, symbol))
    return fail("undefined name " + quote(operand.name));
  bool isNear = symbol.space != ptx::Space::Global;
  if (!isWarpSize && (!isSourceOf({"mov", "cvta"}) || isFloat(type) ||
                      (bytes != 8 && (!isNear || isSourceOf({"cvta"})))))
    return fail("expected a register, but got the variable " +
                quote(operand.name));
  result.kind = Operand::Constant;
  result.bytes = bytes == 8 ? 8 : 4;
  result.constant = constant(isWarpSize ? 32 : symbol.address, bytes);
  return bytes >= 4 || isWarpSize ||
         fail("expected a 32 or 64-bit read of an address");
}

bool Decoder::resolve(const ptx::Operand &operand, Operand &result, Type type,
                      bool wider, bool isDestination, bool isElement) {
  unsigned bytes = typeBytes(type);
  result.isWritten = isDestination;
  result.isRead = !isDestination;
  result.negated = operand.negated;
  if (operand.negated && (isDestination || type != Type::Pred))
    return fail("unexpected '!' on " + quote(operand.name));
  if (operand.kind == ptx::Operand::Name) {
    if (operand.name == "_") {
      if (!isDestination)
        return fail("expected a source operand, but got '_'");
      result.kind = Operand::Sink;
      result.isWritten = false;
      return resolveSink(type, isElement);
    }
    RegisterInfo info;
    if (resolveRegister(operand.name, info))
      return useRegister(operand, info, result, type, wider);
    if (isDestination || type == Type::Pred)
      return fail("undefined register " + quote(operand.name));
    return resolveName(operand, result, type);
  }
  if (type == Type::Pred && !isDestination &&
      operand.kind == ptx::Operand::Integer) {
    result.kind = Operand::Constant;
    result.constant = constant(operand.integer ? UINT32_MAX : 0, 4);
    return true;
  }
  uint64_t bits = 0;
  if (isDestination || type == Type::Pred ||
      !immediateBits(operand, type, bits))
    return fail(std::string("expected ") +
                (isDestination ? "a register" : "an operand") + " of type '." +
                typeName(type) + "' as operand " +
                std::to_string(operand_ + 1) + " of " + quote(ast_->opcode));
  result.kind = Operand::Constant;
  result.bytes = bytes == 8 ? 8 : 4;
  result.constant = constant(bits, bytes);
  return true;
}

bool Decoder::useRegister(const ptx::Operand &operand, const RegisterInfo &info,
                          Operand &result, Type type, bool wider) {
  bool sameKind = (info.type == Type::Pred) == (type == Type::Pred);
  if (!sameKind || (type != Type::Pred && !typesAgree(info.type, type)))
    return fail("expected a register of type '." + std::string(typeName(type)) +
                "', but got " + quote(operand.name) + " of type '." +
                typeName(info.type) + "'");
  if (type == Type::Pred) {
    result.kind = Operand::Predicate;
    result.slot = info.slot;
    return true;
  }
  unsigned width = typeBytes(info.type), bytes = typeBytes(type);
  // A float of another width is no place for one.
  wider &= !isFloat(type) || !isFloat(info.type);
  if (wider ? width < bytes : width != bytes)
    return fail("expected a register of " + std::to_string(8 * bytes) +
                " bits, but got " + quote(operand.name) + " of " +
                std::to_string(8 * width));
  result.kind = Operand::Register;
  result.slot = info.slot;
  result.bytes = width == 8 ? 8 : 4;
  result.declaredBytes = static_cast<uint8_t>(width);
  return true;
}

/// Where the operand count is short, say so once.
#define ATTN_NEED_OPERAND(name)                                                \
  const ptx::Operand *name = peekOperand();                                    \
  if (!name)                                                                   \
    return fail("too few operands of " + quote(ast_->opcode));

bool Decoder::destination(Type type, bool wider) {
  ATTN_NEED_OPERAND(operand);
  Operand result;
  if (!resolve(*operand, result, type, wider, true))
    return false;
  inst_->operands.push_back(result);
  ++operand_;
  return true;
}

bool Decoder::source(Type type, bool wider) {
  ATTN_NEED_OPERAND(operand);
  Operand result;
  if (!resolve(*operand, result, type, wider, false))
    return false;
  inst_->operands.push_back(result);
  ++operand_;
  return true;
}

bool Decoder::predicateDestination() { return destination(Type::Pred); }
bool Decoder::predicateSource() { return source(Type::Pred); }

bool Decoder::predicateOrSource(Type type) {
  ATTN_NEED_OPERAND(operand);
  RegisterInfo info;
  bool isPredicate = operand->kind == ptx::Operand::Name &&
                     resolveRegister(operand->name, info) &&
                     info.type == Type::Pred;
  return source(isPredicate ? Type::Pred : type);
}

bool Decoder::isRegister(const ptx::Operand &operand) {
  RegisterInfo info;
  return operand.kind == ptx::Operand::Name &&
         resolveRegister(operand.name, info);
}

bool Decoder::isVariableOf(const ptx::Operand &operand, ptx::Space space) {
  Symbol symbol;
  return operand.kind == ptx::Operand::Name &&
         resolveSymbol(operand.name, symbol) && symbol.space == space;
}

bool Decoder::needPair() {
  const ptx::Operand *operand = peekOperand();
  return (operand && operand->kind == ptx::Operand::Pair &&
          operand->elements[1].name != "_") ||
         fail("expected a predicate as the second result of " +
              quote(ast_->opcode));
}

/// `d|p` or `d`: pushes d and p.
bool Decoder::pair(Type type) {
  ATTN_NEED_OPERAND(operand);
  Operand first, second;
  if (operand->kind == ptx::Operand::Pair) {
    if (!resolve(operand->elements[0], first, type, false, true, true) ||
        !resolve(operand->elements[1], second, Type::Pred, false, true, true))
      return false;
  } else if (!resolve(*operand, first, type, false, true)) {
    return false;
  }
  inst_->operands.push_back(first);
  inst_->operands.push_back(second);
  ++operand_;
  return true;
}

bool Decoder::destinations(Type type, unsigned count, bool wider) {
  return vectorOperand(type, count, wider, /*isDestination=*/true);
}

bool Decoder::sources(Type type, unsigned count, bool wider) {
  return vectorOperand(type, count, wider, /*isDestination=*/false);
}

bool Decoder::vectorOperand(Type type, unsigned count, bool wider,
                            bool isDestination) {
  ATTN_NEED_OPERAND(operand);
  if (operand->kind != ptx::Operand::Vector) {
    if (count != 1)
      return fail("expected a vector of " + std::to_string(count) +
                  " operands");
    return isDestination ? destination(type, wider) : source(type, wider);
  }
  if (operand->elements.size() != count)
    return fail("expected a vector of " + std::to_string(count) +
                " operands, but got " +
                std::to_string(operand->elements.size()));
  for (const ptx::Operand &element : operand->elements) {
    Operand result;
    if (!resolve(element, result, type, wider, isDestination, true))
      return false;
    inst_->operands.push_back(result);
  }
  ++operand_;
  return true;
}

bool Decoder::needVector() {
  const ptx::Operand *operand = peekOperand();
  return !operand || operand->kind == ptx::Operand::Vector ||
         fail("expected a vector as operand " + std::to_string(operand_ + 1) +
              " of " + quote(ast_->opcode));
}

static const char *spaceName(ptx::Space space) {
  static constexpr const char *names[] = {"none",  "global", "shared",
                                          "local", "const",  "param"};
  return names[static_cast<unsigned>(space)];
}

bool Decoder::resolveAddress(const ptx::Operand &operand, Operand &result,
                             ptx::Space space) {
  if (operand.kind != ptx::Operand::Address)
    return fail("expected an address as operand " +
                std::to_string(operand_ + 1) + " of " + quote(ast_->opcode));
  const ptx::Operand &base = operand.elements[0];
  result.kind = Operand::Address;
  result.offset = operand.offset;
  result.isRead = true;
  if (base.kind == ptx::Operand::Integer) {
    if (space != ptx::Space::Local)
      return fail("expected a register or a name as the base of an address");
    result.bytes = 8;
    result.constant = constant(base.integer, 8);
    return true;
  }
  if (base.kind != ptx::Operand::Name)
    return fail("expected a register or a name as the base of an address");
  RegisterInfo info;
  if (resolveRegister(base.name, info)) {
    unsigned width = typeBytes(info.type);
    if (info.type == Type::Pred || width < 4 || isFloat(info.type))
      return fail("expected a 32 or 64-bit register as the base of an address");
    bool isNear = space != ptx::Space::None && space != ptx::Space::Global;
    if (width != 8 && !isNear)
      return fail("expected a 64-bit register as the base of an address, but "
                  "got " +
                  quote(base.name));
    result.bytes = width == 8 ? 8 : 4;
    result.slot = info.slot;
    return true;
  }
  Symbol symbol;
  if (!resolveSymbol(base.name, symbol))
    return fail("undefined name " + quote(base.name));
  bool sameSpace = space == ptx::Space::None ? symbol.space != ptx::Space::Param
                                             : symbol.space == space;
  if (!sameSpace)
    return fail("expected an address of space '." +
                std::string(spaceName(space)) + "', but got " +
                quote(base.name) + " of '." + spaceName(symbol.space) + "'");
  result.bytes = 8;
  result.constant = constant(symbol.address, 8);
  return true;
}

bool Decoder::address() { return address(inst_->space); }

bool Decoder::address(ptx::Space space) {
  ATTN_NEED_OPERAND(operand);
  Operand result;
  if (!resolveAddress(*operand, result, space))
    return false;
  if (operand->elements.size() != 1)
    return fail("expected one address in the brackets");
  inst_->operands.push_back(result);
  ++operand_;
  return true;
}

bool Decoder::tensorAddress(unsigned coordinates) {
  ATTN_NEED_OPERAND(operand);
  Operand result;
  // A tensor map has a generic address.
  if (!resolveAddress(*operand, result, ptx::Space::None))
    return false;
  if (operand->elements.size() != 2 ||
      operand->elements[1].kind != ptx::Operand::Vector ||
      operand->elements[1].elements.size() != coordinates)
    return fail("expected an address and " + std::to_string(coordinates) +
                " coordinates");
  inst_->operands.push_back(result);
  for (const ptx::Operand &element : operand->elements[1].elements) {
    Operand coordinate;
    if (!resolve(element, coordinate, Type::S32, false, false))
      return false;
    inst_->operands.push_back(coordinate);
  }
  ++operand_;
  return true;
}

bool Decoder::skipOperand() {
  ATTN_NEED_OPERAND(operand);
  ++operand_;
  return operand != nullptr;
}

bool Decoder::policy() {
  ATTN_NEED_OPERAND(operand);
  Operand ignored;
  ++operand_;
  return operand->kind == ptx::Operand::Name
             ? resolve(*operand, ignored, Type::U64, false, false)
             : fail("expected a register as the cache policy");
}

bool Decoder::checkImmediate(size_t index, int64_t low, int64_t high,
                             int64_t multiple) {
  const Operand &operand = inst_->operands[index];
  if (operand.kind != Operand::Constant)
    return true;
  int64_t value = static_cast<int32_t>(operand.constant[0]);
  if (value >= low && value <= high && value % multiple == 0)
    return true;
  return fail("expected " +
              (multiple > 1 ? "a multiple of " + std::to_string(multiple)
                            : std::string("an immediate")) +
              " from " + std::to_string(low) + " to " + std::to_string(high) +
              ", but got " + std::to_string(value));
}

bool Decoder::isHalfRegister(size_t index) const {
  return inst_->operands[index].declaredBytes <= 2;
}

bool Decoder::immediate(int64_t &value, int64_t low, int64_t high) {
  ATTN_NEED_OPERAND(operand);
  if (operand->kind != ptx::Operand::Integer)
    return fail("expected an immediate as operand " +
                std::to_string(operand_ + 1) + " of " + quote(ast_->opcode));
  value = static_cast<int64_t>(operand->integer);
  if (value < low || value > high)
    return fail("expected an immediate from " + std::to_string(low) + " to " +
                std::to_string(high) + ", but got " + std::to_string(value));
  ++operand_;
  return true;
}

bool Decoder::label(uint32_t &target) {
  ATTN_NEED_OPERAND(operand);
  if (operand->kind != ptx::Operand::Name)
    return fail("expected a label");
  ++operand_;
  return resolveLabel(operand->name, target);
}

bool Decoder::labels(std::vector<uint32_t> &targets) {
  ATTN_NEED_OPERAND(operand);
  if (operand->kind != ptx::Operand::Name)
    return fail("expected the name of a .branchtargets list");
  for (uint32_t scope = ast_->scope;; scope = function_.scopes[scope]) {
    auto it = scopes_[scope].targets.find(operand->name);
    // The list comes first.
    if (it != scopes_[scope].targets.end() && it->second->index <= index_) {
      for (std::string_view name : it->second->labels) {
        uint32_t target = 0;
        if (!resolveLabel(name, target))
          return false;
        targets.push_back(target);
      }
      ++operand_;
      return true;
    }
    if (scope == 0)
      return fail("undefined name " + quote(operand->name));
  }
}
