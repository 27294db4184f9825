//===- AttnTileOps.cpp - Attention on tiles: builders, syntax, checks -----===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

using Argument = OpAsmParser::Argument;
using Unresolved = OpAsmParser::UnresolvedOperand;

/// Parses a keyword that names an enumerator.
template <typename Enum>
static ParseResult parseEnumerator(OpAsmParser &parser, Enum &value,
                                   std::optional<Enum> (*symbolize)(StringRef),
                                   StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> parsed = symbolize(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "expected " << what << ", but got '" << keyword << "'";
  value = *parsed;
  return success();
}

//===----------------------------------------------------------------------===//
// TileGridOp
//===----------------------------------------------------------------------===//

void TileGridOp::build(OpBuilder &builder, OperationState &state,
                       ValueRange extents, int64_t workers,
                       ScheduleAttr schedule) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands(extents);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.workers = builder.getI64IntegerAttr(workers);
  properties.schedule = schedule;
  SmallVector<Type> types(4, builder.getIndexType());
  SmallVector<Location> locations(4, state.location);
  builder.createBlock(state.addRegion(), {}, types, locations);
  YieldOp::create(builder, state.location);
}

ParseResult TileGridOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<Argument> arguments;
  SmallVector<Unresolved> extents;
  int64_t workers = 0;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseOperandList(extents, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("workers") || parser.parseLParen() ||
      parser.parseInteger(workers) || parser.parseRParen() ||
      parser.resolveOperands(extents, builder.getIndexType(), state.operands))
    return failure();
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.workers = builder.getI64IntegerAttr(workers);
  if (succeeded(parser.parseOptionalKeyword("schedule")))
    if (parser.parseLParen() || parser.parseAttribute(properties.schedule) ||
        parser.parseRParen())
      return failure();
  for (Argument &argument : arguments)
    argument.type = builder.getIndexType();
  Region *body = state.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, state.location);
  return success();
}

void TileGridOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printOperand(argument); });
  printer << ") in (" << getExtents() << ") workers(" << getWorkers() << ')';
  if (getScheduleAttr())
    printer << " schedule(" << getScheduleAttr() << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getWorkersAttrName(), getScheduleAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult TileGridOp::verify() {
  // tile_grid_c1
  if (getExtents().size() != 3)
    return emitOpError() << "expected extents of batches, heads and tiles, but "
                            "got "
                         << getExtents().size();
  // tile_grid_c2
  if (getBody().getNumArguments() != 4 ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError() << "expected four index arguments: batch, head, tile "
                            "and worker";
  // tile_grid_c3
  ScheduleAttr schedule = getScheduleAttr();
  if (schedule && schedule.getWorkers() != static_cast<int64_t>(getWorkers()))
    return emitOpError() << "expected as many workers as in the schedule, "
                         << schedule.getWorkers() << ", but got "
                         << getWorkers();
  return success();
}

//===----------------------------------------------------------------------===//
// TileLoopOp
//===----------------------------------------------------------------------===//

template <typename AttrT, typename Enum>
static ArrayAttr getEnumArray(Builder &builder, ArrayRef<Enum> values) {
  return builder.getArrayAttr(llvm::map_to_vector(values, [&](Enum value) {
    return Attribute(AttrT::get(builder.getContext(), value));
  }));
}

void TileLoopOp::build(OpBuilder &builder, OperationState &state, LoopAxis axis,
                       int64_t step, Value first, bool descending, Value from,
                       ValueRange ends, ArrayRef<SegmentKind> kinds,
                       ValueRange inits, ArrayRef<CarriedRole> roles) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands({first, from});
  state.addOperands(ends);
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.axis = LoopAxisAttr::get(builder.getContext(), axis);
  properties.step = builder.getI64IntegerAttr(step);
  if (descending)
    properties.descending = builder.getUnitAttr();
  properties.kinds = getEnumArray<SegmentKindAttr>(builder, kinds);
  properties.roles = getEnumArray<CarriedRoleAttr>(builder, roles);
  SmallVector<Type> types(2, builder.getIndexType());
  llvm::append_range(types, inits.getTypes());
  SmallVector<Location> locations(types.size(), state.location);
  builder.createBlock(state.addRegion(), {}, types, locations);
  if (inits.empty())
    YieldOp::create(builder, state.location);
}

/// `segments(partial %a, full %b)`
static ParseResult parseSegments(OpAsmParser &parser, ArrayAttr &kinds,
                                 SmallVectorImpl<Unresolved> &ends) {
  SmallVector<Attribute> parsed;
  auto parseSegment = [&]() -> ParseResult {
    SegmentKind kind;
    if (parseEnumerator<SegmentKind>(parser, kind, symbolizeSegmentKind,
                                     "partial, full or tail") ||
        parser.parseOperand(ends.emplace_back()))
      return failure();
    parsed.push_back(SegmentKindAttr::get(parser.getContext(), kind));
    return success();
  };
  if (parser.parseKeyword("segments") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseSegment))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

/// `carries(sum %l = %l0 : vector<64xf32>, ...)`, or nothing.
static ParseResult parseCarried(OpAsmParser &parser, ArrayAttr &roles,
                                SmallVectorImpl<Unresolved> &inits,
                                SmallVectorImpl<Argument> &arguments,
                                SmallVectorImpl<Type> &types) {
  SmallVector<Attribute> parsed;
  auto parseValue = [&]() -> ParseResult {
    CarriedRole role;
    Argument &argument = arguments.emplace_back();
    if (parseEnumerator<CarriedRole>(
            parser, role, symbolizeCarriedRole,
            "maximum, sum, partial_sum, accumulator or weights") ||
        parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inits.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    argument.type = types.back();
    parsed.push_back(CarriedRoleAttr::get(parser.getContext(), role));
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("carries")))
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                       parseValue))
      return failure();
  roles = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

ParseResult TileLoopOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  Properties &properties = state.getOrAddProperties<Properties>();
  SmallVector<Argument> arguments(2);
  SmallVector<Unresolved> bounds(2), ends, inits;
  SmallVector<Type> types;
  LoopAxis axis;
  int64_t step = 0;
  if (parser.parseLParen() || parser.parseArgument(arguments[0]) ||
      parser.parseComma() || parser.parseArgument(arguments[1]) ||
      parser.parseRParen() || parser.parseKeyword("over") ||
      parseEnumerator<LoopAxis>(parser, axis, symbolizeLoopAxis,
                                "keys or rows") ||
      parser.parseKeyword("step") || parser.parseInteger(step) ||
      parser.parseKeyword("first") || parser.parseLParen() ||
      parser.parseOperand(bounds[0]) || parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("descending")))
    properties.descending = builder.getUnitAttr();
  if (parser.parseKeyword("from") || parser.parseLParen() ||
      parser.parseOperand(bounds[1]) || parser.parseRParen() ||
      parseSegments(parser, properties.kinds, ends) ||
      parseCarried(parser, properties.roles, inits, arguments, types))
    return failure();
  properties.axis = LoopAxisAttr::get(builder.getContext(), axis);
  properties.step = builder.getI64IntegerAttr(step);
  arguments[0].type = arguments[1].type = builder.getIndexType();
  llvm::append_range(bounds, ends);
  Region *body = state.addRegion();
  if (parser.resolveOperands(bounds, builder.getIndexType(), state.operands) ||
      parser.resolveOperands(inits, types, parser.getNameLoc(),
                             state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  state.addTypes(types);
  if (body->empty())
    body->emplaceBlock();
  Block &block = body->front();
  if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder nested(builder.getContext());
    nested.setInsertionPointToEnd(&block);
    YieldOp::create(nested, state.location);
  }
  return success();
}

void TileLoopOp::print(OpAsmPrinter &printer) {
  printer << " (" << getIteration() << ", " << getPosition() << ") over "
          << stringifyLoopAxis(getAxis()) << " step " << getStep() << " first("
          << getFirst() << ')';
  if (getDescending())
    printer << " descending";
  printer << " from(" << getFrom() << ") segments(";
  llvm::interleaveComma(llvm::zip(getSegmentKinds(), getEnds()), printer,
                        [&](auto segment) {
                          printer << stringifySegmentKind(std::get<0>(segment))
                                  << ' ' << std::get<1>(segment);
                        });
  printer << ')';
  if (!getInits().empty()) {
    printer << " carries(";
    llvm::interleaveComma(
        llvm::zip(getCarriedRoles(), getRegionIterArgs(), getInits()), printer,
        [&](auto carried) {
          auto [role, argument, init] = carried;
          printer << stringifyCarriedRole(role) << ' ' << argument << " = "
                  << init << " : " << init.getType();
        });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getAxisAttrName(), getStepAttrName(), getDescendingAttrName(),
       getKindsAttrName(), getRolesAttrName()});
  printer << ' ';
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
}

void TileLoopOp::setEnd(unsigned segment, Value end) {
  getEndsAndInitsMutable().slice(segment, 1).assign(end);
}

SegmentKind TileLoopOp::getKind(unsigned segment) {
  return cast<SegmentKindAttr>(getKinds()[segment]).getValue();
}

SmallVector<SegmentKind> TileLoopOp::getSegmentKinds() {
  return llvm::map_to_vector(getKinds(), [](Attribute kind) {
    return cast<SegmentKindAttr>(kind).getValue();
  });
}

SmallVector<CarriedRole> TileLoopOp::getCarriedRoles() {
  return llvm::map_to_vector(getRoles(), [](Attribute role) {
    return cast<CarriedRoleAttr>(role).getValue();
  });
}

std::optional<unsigned> TileLoopOp::findCarried(CarriedRole role) {
  SmallVector<CarriedRole> roles = getCarriedRoles();
  auto found = llvm::find(roles, role);
  if (found == roles.end())
    return std::nullopt;
  return found - roles.begin();
}

YieldOp TileLoopOp::getYield() {
  return cast<YieldOp>(getBody()->getTerminator());
}

LogicalResult TileLoopOp::verify() {
  // tile_loop_c1
  if (getKinds().empty())
    return emitOpError() << "expected a segment";
  if (getEndsAndInits().size() != getKinds().size() + getRoles().size() ||
      !llvm::all_of(getEnds().getTypes(), llvm::IsaPred<IndexType>))
    return emitOpError() << "expected an index per segment and a value per "
                            "role, but got "
                         << getEndsAndInits().size() << " operands for "
                         << getKinds().size() << " and " << getRoles().size();
  // tile_loop_c2
  if (static_cast<int64_t>(getStep()) <= 0)
    return emitOpError() << "expected a positive step, but got "
                         << static_cast<int64_t>(getStep());
  // tile_loop_c3
  std::optional<int64_t> begin = getConstantIntValue(getFrom());
  for (auto [kind, value] : llvm::zip(getSegmentKinds(), getEnds())) {
    std::optional<int64_t> end = getConstantIntValue(value);
    if (begin && end && *end < *begin)
      return emitOpError() << "expected ends that do not decrease, but got "
                           << *end << " after " << *begin;
    if (begin && end && kind == SegmentKind::Tail && *end > *begin + 1)
      return emitOpError() << "expected at most one iteration of a tail, but "
                              "got "
                           << *end - *begin;
    begin = end;
  }
  // tile_loop_c5
  SmallVector<CarriedRole> roles = getCarriedRoles();
  llvm::sort(roles);
  auto twice = std::adjacent_find(roles.begin(), roles.end());
  if (twice != roles.end())
    return emitOpError() << "expected each role once, but got "
                         << stringifyCarriedRole(*twice) << " twice";
  return success();
}

LogicalResult TileLoopOp::verifyRegions() {
  // tile_loop_c4; that types of carried values match, LoopLikeOpInterface
  // checks.
  Block::BlockArgListType arguments = getBody()->getArguments();
  if (arguments.size() < 2 ||
      !llvm::all_of(arguments.take_front(2), [](BlockArgument argument) {
        return argument.getType().isIndex();
      }))
    return emitOpError() << "expected region arguments to start with two of "
                            "type index";
  Operation *terminator = getBody()->getTerminator();
  if (!isa<YieldOp>(terminator))
    return emitOpError() << "expected attn.yield at the end, but got "
                         << terminator->getName();
  return success();
}

SmallVector<Region *> TileLoopOp::getLoopRegions() { return {&getRegion()}; }

MutableArrayRef<OpOperand> TileLoopOp::getInitsMutable() {
  return (*this)->getOpOperands().drop_front(2 + getNumSegments());
}

Block::BlockArgListType TileLoopOp::getRegionIterArgs() {
  // Asked before the region is verified.
  Block::BlockArgListType arguments = getBody()->getArguments();
  return arguments.drop_front(std::min<size_t>(2, arguments.size()));
}

std::optional<MutableArrayRef<OpOperand>>
TileLoopOp::getYieldedValuesMutable() {
  auto yield = dyn_cast<YieldOp>(getBody()->getTerminator());
  if (!yield)
    return std::nullopt;
  return yield->getOpOperands();
}

std::optional<ResultRange> TileLoopOp::getLoopResults() { return getResults(); }

std::optional<SmallVector<Value>> TileLoopOp::getLoopInductionVars() {
  return SmallVector<Value>{getIteration()};
}

OperandRange TileLoopOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void TileLoopOp::getSuccessorRegions(
    RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  regions.emplace_back(&getRegion(), getRegionIterArgs());
  regions.emplace_back(getOperation(), getResults());
}

//===----------------------------------------------------------------------===//
// BandOp
//===----------------------------------------------------------------------===//

static MaskPosition getPosition(BandOp band, Value row) {
  return {row, band.getBatch(), band.getHead(), band.getSeqlenQ(),
          band.getSeqlenK()};
}

/// `scalar` as a value of `like`'s type.
static Value broadcastLike(OpBuilder &builder, Location loc, Value scalar,
                           Value like) {
  if (scalar.getType() == like.getType())
    return scalar;
  return vector::BroadcastOp::create(builder, loc, like.getType(), scalar);
}

Value BandOp::buildLower(OpBuilder &builder, Value row) {
  BandMaskInterface mask = getMaskAttr();
  if (!mask)
    return {};
  Value bound = mask.lower(builder, getLoc(), ::getPosition(*this, row),
                           getMaskOperands());
  if (!bound)
    return {};
  Value zero = arith::ConstantIndexOp::create(builder, getLoc(), 0);
  return arith::MaxSIOp::create(builder, getLoc(), bound,
                                broadcastLike(builder, getLoc(), zero, row));
}

Value BandOp::buildUpper(OpBuilder &builder, Value row) {
  Value end = broadcastLike(builder, getLoc(), getSeqlenK(), row);
  BandMaskInterface mask = getMaskAttr();
  Value bound = mask ? mask.upper(builder, getLoc(), ::getPosition(*this, row),
                                  getMaskOperands())
                     : Value();
  return bound ? arith::MinSIOp::create(builder, getLoc(), bound, end) : end;
}

LogicalResult BandOp::verify() {
  // band_c1
  if (BandMaskInterface mask = getMaskAttr())
    return mask.verifyOperands([&] { return emitOpError(); },
                               getMaskOperands().getTypes());
  if (!getMaskOperands().empty())
    return emitOpError() << "expected no operands without a mask, but got "
                         << getMaskOperands().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops on tiles
//===----------------------------------------------------------------------===//

Value MaskBandOp::getUnmasked() { return getScores(); }

LogicalResult MaskBandOp::verify() {
  // mask_band_c1
  int64_t rows = getScores().getType().getDimSize(0);
  int64_t bounds = getLower().getType().getDimSize(0);
  if (rows != bounds)
    return emitOpError() << "expected one bound per row of scores, but got "
                         << bounds << " bounds for " << rows << " rows";
  return success();
}

/// Checks that `value` has the rows of `reference`.
static LogicalResult verifyRows(Operation *op, Value value, Value reference) {
  int64_t rows = cast<VectorType>(value.getType()).getDimSize(0);
  int64_t references = cast<VectorType>(reference.getType()).getDimSize(0);
  if (rows != references)
    return op->emitOpError() << "expected one reference per row, but got "
                             << references << " for " << rows << " rows";
  return success();
}

LogicalResult SoftmaxWeightsOp::verify() {
  // softmax_weights_c1
  return verifyRows(*this, getScores(), getReference());
}

LogicalResult RescaleOp::verify() {
  // rescale_c1
  for (Value sum : getSums())
    if (failed(verifyRows(*this, sum, getFrom())))
      return failure();
  return success();
}
