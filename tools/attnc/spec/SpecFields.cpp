//===- SpecFields.cpp - The table of spec fields --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecFields.h"

#include "codegen/Target/TargetNames.h"
#include "dialect/attn/Limits.h"

#include <limits>

namespace attnc {

using mlir::attn::kHeadDimStep;
using mlir::attn::kMaxHeadDim;
static constexpr int64_t kMaxSize = mlir::attn::kMaxExtent;

//===----------------------------------------------------------------------===//
// Names of enum values
//===----------------------------------------------------------------------===//

using Names = std::vector<const char *>;

template <typename E>
static const Names &namesOf();

#define ATTNC_NAMES(E, ...)                                                    \
  template <>                                                                  \
  const Names &namesOf<E>() {                                                  \
    static const Names names = {__VA_ARGS__};                                  \
    return names;                                                              \
  }                                                                            \
  const char *toString(E value) {                                              \
    return namesOf<E>()[static_cast<size_t>(value)];                           \
  }

ATTNC_NAMES(Direction, "forward", "backward")
ATTNC_NAMES(DType, "bf16", "f16", "e4m3", "f32", "f64")
ATTNC_NAMES(Layout, "bshd", "bhsd", "thd")
ATTNC_NAMES(MaskKind, "none", "causal", "window", "prefix_lm", "tensor")
ATTNC_NAMES(Alignment, "top_left", "bottom_right")
ATTNC_NAMES(Bias, "none", "tensor", "alibi")
ATTNC_NAMES(KVKind, "contiguous", "paged")
ATTNC_NAMES(Descale, "tensor", "head")

#undef ATTNC_NAMES

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

/// A member that may be optional, seen as a FieldValue of type V.
template <typename V, typename T>
FieldValue toValue(const T &member) {
  return V(member);
}
template <typename V, typename T>
FieldValue toValue(const std::optional<T> &member) {
  return member ? FieldValue(V(*member)) : FieldValue();
}

/// Builds one row.
class Row {
public:
  Row(const char *name, FieldType type, Baked baked) {
    field.name = name;
    field.type = type;
    field.baked = baked;
  }

  template <typename V, typename T>
  Row &member(T Spec::*member) {
    field.get = [member](const Spec &spec) { return toValue<V>(spec.*member); };
    field.set = [member](Spec &spec, const FieldValue &value) {
      spec.*member = std::get<V>(value);
    };
    return *this;
  }
  Row &range(int64_t minimum, int64_t maximum, int64_t step = 1) {
    field.minimum = minimum;
    field.maximum = maximum;
    field.step = step;
    return *this;
  }
  Row &extra(int64_t value) {
    field.extra.push_back(value);
    return *this;
  }
  Row &choices(std::vector<std::string> names) {
    field.choices = std::move(names);
    return *this;
  }
  Row &orElse(const char *text) {
    field.defaultText = text;
    return *this;
  }
  Row &required() {
    field.required = true;
    return *this;
  }
  Row &help(const char *text) {
    field.summary = text;
    return *this;
  }
  operator Field() const { return field; }

  Field field;
};

Row boolean(const char *name, bool Spec::*member) {
  return Row(name, FieldType::Boolean, Baked::Static)
      .member<bool>(member)
      .orElse("false");
}

/// A bound of a window; other masks have none.
Row windowBound(const char *name, int64_t Spec::*member) {
  Row row(name, FieldType::Integer, Baked::Presence);
  row.member<int64_t>(member).range(-1, kMaxSize).orElse("-1");
  row.field.get = [member](const Spec &spec) -> FieldValue {
    return spec.maskKind == MaskKind::Window ? FieldValue(spec.*member)
                                             : FieldValue();
  };
  return row;
}

template <typename T>
Row integer(const char *name, T Spec::*member, Baked baked) {
  return Row(name, FieldType::Integer, baked).member<int64_t>(member);
}

Row number(const char *name, std::optional<double> Spec::*member, Baked baked) {
  return Row(name, FieldType::Number, baked).member<double>(member);
}

Row text(const char *name, std::optional<std::string> Spec::*member) {
  return Row(name, FieldType::Text, Baked::Static).member<std::string>(member);
}

template <typename E, typename T>
Row choice(const char *name, T Spec::*member) {
  Row row(name, FieldType::Choice, Baked::Static);
  row.choices({namesOf<E>().begin(), namesOf<E>().end()});
  row.field.get = [member](const Spec &spec) -> FieldValue {
    std::optional<E> value = spec.*member;
    return value ? FieldValue(std::string(toString(*value))) : FieldValue();
  };
  row.field.set = [member](Spec &spec, const FieldValue &value) {
    const auto &name = std::get<std::string>(value);
    for (size_t i = 0; i < namesOf<E>().size(); ++i)
      if (name == namesOf<E>()[i])
        spec.*member = static_cast<E>(i);
  };
  return row;
}

Row target() {
  return Row("target", FieldType::Choice, Baked::Static)
      .member<std::string>(&Spec::target)
      .choices({std::begin(mlir::attn::kTargetNames),
                std::end(mlir::attn::kTargetNames)})
      .orElse("sm_90a");
}

Row splits() {
  Row row("num_splits", FieldType::IntegerOrChoice, Baked::SplitClass);
  row.choices({"auto"}).range(1, kMaxSize).orElse("1");
  row.field.get = [](const Spec &spec) -> FieldValue {
    return spec.numSplits ? FieldValue(*spec.numSplits)
                          : FieldValue(std::string("auto"));
  };
  row.field.set = [](Spec &spec, const FieldValue &value) {
    spec.numSplits.reset();
    if (const auto *count = std::get_if<int64_t>(&value))
      spec.numSplits = *count;
  };
  return row;
}

Row captures() {
  Row row("captures", FieldType::Map, Baked::Static);
  row.orElse("none");
  row.field.get = [](const Spec &spec) -> FieldValue {
    return spec.captures.empty() ? FieldValue() : FieldValue(spec.captures);
  };
  row.field.set = [](Spec &spec, const FieldValue &value) {
    spec.captures = std::get<TextMap>(value);
  };
  return row;
}

std::vector<Field> problemFields() {
  return {
      integer("version", &Spec::version, Baked::Static)
          .range(1, 1)
          .required()
          .help("version of this format"),
      choice<Direction>("direction", &Spec::direction)
          .orElse("forward")
          .help("forward: O and LSE; backward: the gradients of Q, K and V"),
      target().help("the GPU, or the host's CPU, to compile for"),
      choice<DType>("dtype", &Spec::dtype)
          .orElse("bf16")
          .help("element type of Q, K and V; f32 and f64 on host only"),
      choice<DType>("dtype_kv", &Spec::dtypeKV)
          .orElse("dtype")
          .help("element type of K and V"),
      choice<DType>("dtype_o", &Spec::dtypeO)
          .orElse("dtype, bf16 for e4m3")
          .help("element type of O"),
      integer("num_qo_heads", &Spec::numQOHeads, Baked::Group)
          .range(1, kMaxSize)
          .required()
          .help("heads of Q and O"),
      integer("num_kv_heads", &Spec::numKVHeads, Baked::Group)
          .range(1, kMaxSize)
          .orElse("num_qo_heads")
          .help("heads of K and V; divides num_qo_heads"),
      integer("head_dim_qk", &Spec::headDimQK, Baked::Static)
          .range(kHeadDimStep, kMaxHeadDim, kHeadDimStep)
          .extra(mlir::attn::kLatentHeadDimQK)
          .required()
          .help("columns of Q and K; 576 with head_dim_vo 512 only"),
      integer("head_dim_vo", &Spec::headDimVO, Baked::Static)
          .range(kHeadDimStep, kMaxHeadDim, kHeadDimStep)
          .extra(mlir::attn::kLatentHeadDimVO)
          .orElse("head_dim_qk")
          .help("columns of V and O"),
      choice<Layout>("layout", &Spec::layout)
          .orElse("bshd")
          .help("order of dimensions; thd packs sequences of any lengths"),
      integer("batch", &Spec::batch, Baked::Pinned)
          .range(0, kMaxSize)
          .orElse("given at launch")
          .help("number of sequences"),
      integer("seqlen_q", &Spec::seqlenQ, Baked::Pinned)
          .range(0, kMaxSize)
          .orElse("given at launch")
          .help("queries of a sequence"),
      integer("seqlen_k", &Spec::seqlenK, Baked::Pinned)
          .range(0, kMaxSize)
          .orElse("given at launch")
          .help("keys of a sequence"),
  };
}

std::vector<Field> scoreFields() {
  return {
      number("softmax_scale", &Spec::softmaxScale, Baked::Dynamic)
          .orElse("1/sqrt(head_dim_qk)")
          .help("factor on the scores"),
      number("softcap", &Spec::softcap, Baked::Presence)
          .orElse("off")
          .help("scores become softcap * tanh(score / softcap)"),
      choice<MaskKind>("mask.kind", &Spec::maskKind)
          .orElse("none")
          .help("which keys a query sees"),
      boolean("mask.tensor", &Spec::maskTensor)
          .help("a boolean tensor hides more keys"),
      choice<Alignment>("mask.alignment", &Spec::maskAlignment)
          .orElse("required where lengths may differ")
          .help("the corner that the diagonal of a mask runs through"),
      windowBound("mask.window_left", &Spec::windowLeft)
          .help("keys before the diagonal, inclusive; -1 is unbounded"),
      windowBound("mask.window_right", &Spec::windowRight)
          .help("keys after the diagonal, inclusive; -1 is unbounded"),
      choice<Bias>("bias", &Spec::bias)
          .orElse("none")
          .help("what is added to the scores"),
      choice<DType>("bias_dtype", &Spec::biasDType)
          .orElse("f32")
          .help("element type of the bias tensor, f32 or dtype"),
      text("score_mod", &Spec::scoreMod)
          .orElse("none")
          .help("MLIR region that maps a score to a score"),
      text("mask_mod", &Spec::maskMod)
          .orElse("none")
          .help("MLIR region that says whether a query sees a key"),
      captures().help("tensors the regions read: names to MLIR types"),
      boolean("sinks", &Spec::sinks)
          .help("one more logit per head joins the denominator"),
  };
}

std::vector<Field> memoryFields() {
  return {
      choice<KVKind>("kv.kind", &Spec::kvKind)
          .orElse("contiguous")
          .help("paged: K and V are pools of pages behind a page table"),
      integer("kv.page_size", &Spec::kvPageSize, Baked::Static)
          .range(1, kMaxSize)
          .orElse("required with kv.kind paged")
          .help("keys of a page"),
      boolean("kv.seqused", &Spec::kvSeqused)
          .help("a tensor says how many keys of each sequence exist"),
      boolean("lse", &Spec::lse)
          .help("also write the logarithm of each row's sum"),
      choice<Descale>("descale", &Spec::descale)
          .orElse("none")
          .help("factors of e4m3 inputs, per tensor or per kv head"),
      splits().help("blocks that share the keys of one query tile"),
      Row("deterministic", FieldType::Boolean, Baked::Static)
          .member<bool>(&Spec::deterministic)
          .orElse("true")
          .help("the same bits in every run"),
  };
}

} // namespace

const std::vector<Field> &specFields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> all = problemFields();
    for (auto *part : {&scoreFields, &memoryFields})
      for (Field &field : part())
        all.push_back(std::move(field));
    return all;
  }();
  return fields;
}

const Field *findField(std::string_view name) {
  for (const Field &field : specFields())
    if (field.name == name)
      return &field;
  return nullptr;
}

} // namespace attnc
