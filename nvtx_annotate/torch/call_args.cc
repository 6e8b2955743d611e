#include "nvtx_annotate/torch/call_args.h"

#include <ATen/core/TensorBase.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "nvtx_annotate/hot.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/framework.h"

namespace oplens::annotate::torch {
namespace {

using CallArgsUse = Parameter::Use;

/// By c10::ScalarType, whose numbers do not change.
constexpr uint8_t kDTypes[] = {
    OPLENS_UINT8,
    OPLENS_INT8,
    OPLENS_INT16,
    OPLENS_INT32,
    OPLENS_INT64,
    OPLENS_FLOAT16,
    OPLENS_FLOAT32,
    OPLENS_FLOAT64,
    OPLENS_COMPLEX32,
    OPLENS_COMPLEX64,
    OPLENS_COMPLEX128,
    OPLENS_BOOL,
    OPLENS_QINT8,
    OPLENS_QUINT8,
    OPLENS_QINT32,
    OPLENS_BFLOAT16,
    OPLENS_QUINT4X2,
    OPLENS_QUINT2X4,
    // Bits1x8 .. Bits16; before 2.1 the first of them was "undefined".
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_FLOAT8_E5M2,
    OPLENS_FLOAT8_E4M3FN,
    OPLENS_FLOAT8_E5M2FNUZ,
    OPLENS_FLOAT8_E4M3FNUZ,
    OPLENS_UINT16,
    OPLENS_UINT32,
    OPLENS_UINT64,
    // UInt1 .. UInt7
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_UINT4,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    // Int1 .. Int7
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_INT4,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_DTYPE_UNKNOWN,
    OPLENS_FLOAT8_E8M0FNU,
    OPLENS_FLOAT4_E2M1FN_X2,
};

uint16_t DTypeOf(int64_t scalar_type) {
  const auto count = static_cast<int64_t>(std::size(kDTypes));
  return scalar_type >= 0 && scalar_type < count ? kDTypes[scalar_type]
                                                 : uint16_t{OPLENS_DTYPE_UNKNOWN};
}

uint16_t DTypeOf(const at::TensorImpl& tensor) {
  caffe2::TypeMeta type = tensor.dtype();
  return type.isScalarType() ? DTypeOf(static_cast<int64_t>(type.toScalarType()))
                             : uint16_t{OPLENS_DTYPE_UNKNOWN};
}

bool IsUndefined(const at::TensorImpl& tensor) {
  return &tensor == static_cast<const at::TensorImpl*>(c10::UndefinedTensorImpl::singleton());
}

const char* Keyword(const std::string& name) { return name.empty() ? nullptr : name.c_str(); }

}  // namespace

bool IsHostNumber(const at::TensorImpl& tensor) {
  // Others have no extents that can be read without running code of the program.
  if (IsUndefined(tensor) || tensor.has_symbolic_sizes_strides() || tensor.is_nested())
    return false;
  return tensor.is_cpu() && tensor.sizes().empty();
}

oplens_arg* CallArgs::Next(const char* name, uint16_t kind) {
  if (size_ == room_) Grow();
  oplens_arg* const arg = &args_[size_++];
  *arg = oplens_arg{};
  arg->name = name;
  arg->kind = kind;
  return arg;
}

void CallArgs::Grow() {
  std::unique_ptr<oplens_arg[]> more(new oplens_arg[2 * room_]);
  std::copy(args_, args_ + size_, more.get());
  many_ = std::move(more);
  args_ = many_.get();
  room_ *= 2;
}

void CallArgs::Fill(const CallForm& form, c10::ArrayRef<const c10::IValue> inputs) {
  // TorchScript's interpreter may pass its whole stack: the operator's inputs are the last ones.
  if (inputs.size() > form.inputs) inputs = inputs.slice(inputs.size() - form.inputs);
  bool positional = true;
  for (const Parameter& parameter : form.parameters) {
    if (positional && parameter.use != CallArgsUse::kPositional) {
      positional = false;
      if (form.drops_none) DropNone();
    }
    if (parameter.input < inputs.size()) Add(parameter, inputs[parameter.input]);
  }
  if (positional && form.drops_none) DropNone();
  if (group_ != nullptr && form.mod == "c10d") AddGroup();
}

void CallArgs::DropNone() {
  while (size_ > 0 && args_[size_ - 1].kind == OPLENS_NONE && args_[size_ - 1].list == 0) --size_;
}

/// Adds the ranks of a collective call, on which its cost depends.
void CallArgs::AddGroup() {
  const std::optional<framework::ProcessGroup> group = framework::GroupOf(*group_);
  if (!group) return;
  Next("rank", OPLENS_INT)->value.integer = group->rank;
  Next("world_size", OPLENS_INT)->value.integer = group->size;
}

void CallArgs::Add(const Parameter& parameter, const c10::IValue& value) {
  const char* const name = Keyword(parameter.name);
  switch (parameter.use) {
    case CallArgsUse::kPositional:
      return AddValue(nullptr, value);
    case CallArgsUse::kKeyword:
      if (!value.isNone()) AddValue(name, value);
      return;
    case CallArgsUse::kDType:
    case CallArgsUse::kDTypeOrInput:
      return AddDType(parameter, value);
    case CallArgsUse::kFloat32Flag:
      if (value.isBool() && value.toBool()) AddText(name, "float32");
      return;
    case CallArgsUse::kFlag:
      if (value.isScalar() || value.isString() || value.isIntList() || value.isDoubleList()) {
        AddValue(name, value);
      }
      return;
  }
}

void CallArgs::AddDType(const Parameter& parameter, const c10::IValue& value) {
  const char* const name = Keyword(parameter.name);
  if (value.isInt()) return AddText(name, markers::DTypeName(DTypeOf(value.toInt())));
  if (!value.isNone()) return AddValue(name, value);
  if (parameter.use == CallArgsUse::kDTypeOrInput && size_ > 0 && args_[0].kind == OPLENS_TENSOR) {
    AddText(name, markers::DTypeName(args_[0].dtype));
  }
}

void CallArgs::AddText(const char* name, const char* text) {
  oplens_arg* const arg = Next(name, OPLENS_STRING);
  arg->value.text = text;
  arg->count = std::strlen(text);
}

void CallArgs::AddOther(const char* name, const char* type) {
  AddText(name, type);
  args_[size_ - 1].kind = OPLENS_OTHER;
}

void CallArgs::AddValue(const char* name, const c10::IValue& value) {
  if (value.isTensor()) return AddTensor(name, *value.unsafeToTensorImpl(), 0);
  if (value.isNone()) {
    Next(name, OPLENS_NONE);
  } else if (value.isInt()) {
    Next(name, OPLENS_INT)->value.integer = value.toInt();
  } else if (value.isDouble()) {
    Next(name, OPLENS_FLOAT)->value.number = value.toDouble();
  } else if (value.isBool()) {
    Next(name, OPLENS_BOOLEAN)->value.integer = value.toBool();
  } else if (value.isList()) {
    AddList(name, value.toListRef());
  } else if (value.isString()) {
    const std::string& text = value.toStringRef();
    AddText(name, text.c_str());
    args_[size_ - 1].count = text.size();
  } else if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    double* const parts = Take(2, floats_, &used_floats_);
    parts[0] = number.real();
    parts[1] = number.imag();
    Next(name, OPLENS_COMPLEX)->value.numbers = parts;
  } else if (framework::IsSymbolic(value)) {
    AddSymbolic(name, value);
  } else {
    if (group_ == nullptr && value.isObject()) group_ = &value;
    AddOther(name, "object");
  }
}

void CallArgs::AddSymbolic(const char* name, const c10::IValue& value) {
  const std::optional<int64_t> known = framework::SymbolicInt(value);
  if (!known) return AddOther(name, value.isSymInt() ? "SymInt" : "SymFloat");
  Next(name, OPLENS_INT)->value.integer = *known;
}

void CallArgs::AddTensor(const char* name, const at::TensorImpl& tensor, uint16_t list) {
  if (IsUndefined(tensor)) {
    Next(name, OPLENS_NONE)->list = list;
    return;
  }
  if (!framework::HasExtents(tensor)) return AddOther(name, "Tensor");
  const c10::IntArrayRef sizes = tensor.sizes();
  oplens_arg* const arg = Next(name, OPLENS_TENSOR);
  arg->dtype = DTypeOf(tensor);
  arg->list = list;
  arg->count = sizes.size();
  arg->value.ints = sizes.data();
  if (list == 0 || !IsLikeLast(*arg)) return;
  --size_;
  ++args_[size_ - 1].more;
}

/// Whether the last argument is an equal member of the same list.
bool CallArgs::IsLikeLast(const oplens_arg& arg) const {
  if (size_ < 2) return false;
  const oplens_arg& last = args_[size_ - 2];
  return last.list == arg.list && last.kind == OPLENS_TENSOR && last.dtype == arg.dtype &&
         last.count == arg.count && last.more < UINT16_MAX &&
         std::equal(arg.value.ints, arg.value.ints + arg.count, last.value.ints);
}

void CallArgs::AddList(const char* name, c10::ArrayRef<c10::IValue> list) {
  const bool tensors = std::any_of(list.begin(), list.end(),
                                   [](const c10::IValue& value) { return value.isTensor(); });
  if (tensors) return AddTensors(name, list);
  const auto all = [&](auto is) { return std::all_of(list.begin(), list.end(), is); };
  if (all([](const c10::IValue& value) { return value.isInt(); })) return AddInts(name, list);
  if (all([](const c10::IValue& value) { return value.isBool(); })) return AddBools(name, list);
  if (all([](const c10::IValue& value) { return value.isInt() || value.isDouble(); })) {
    return AddFloats(name, list);
  }
  if (all([](const c10::IValue& value) { return value.isList(); }) && !list.empty()) {
    // Lists of tensors, for collectives.
    for (const c10::IValue& inner : list) AddList(name, inner.toListRef());
    return;
  }
  AddOther(name, "list");
}

void CallArgs::AddTensors(const char* name, c10::ArrayRef<c10::IValue> list) {
  ++lists_;
  for (const c10::IValue& value : list) {
    if (value.isTensor()) {
      AddTensor(name, *value.unsafeToTensorImpl(), lists_);
    } else {
      Next(name, OPLENS_NONE)->list = lists_;
    }
  }
}

void CallArgs::AddInts(const char* name, c10::ArrayRef<c10::IValue> list) {
  int64_t* const numbers = Take(list.size(), ints_, &used_ints_);
  std::transform(list.begin(), list.end(), numbers,
                 [](const c10::IValue& value) { return value.toInt(); });
  // Sizes, strides and the like are tuples in Python; PyProf requires that.
  oplens_arg* const arg = Next(name, OPLENS_INT_TUPLE);
  arg->count = list.size();
  arg->value.ints = numbers;
}

void CallArgs::AddFloats(const char* name, c10::ArrayRef<c10::IValue> list) {
  double* const numbers = Take(list.size(), floats_, &used_floats_);
  std::transform(list.begin(), list.end(), numbers, [](const c10::IValue& value) {
    return value.isInt() ? static_cast<double>(value.toInt()) : value.toDouble();
  });
  oplens_arg* const arg = Next(name, OPLENS_FLOAT_LIST);
  arg->count = list.size();
  arg->value.numbers = numbers;
}

void CallArgs::AddBools(const char* name, c10::ArrayRef<c10::IValue> list) {
  uint8_t* const flags = Take(list.size(), bools_, &used_bools_);
  std::transform(list.begin(), list.end(), flags,
                 [](const c10::IValue& value) { return value.toBool() ? uint8_t{1} : uint8_t{0}; });
  oplens_arg* const arg = Next(name, OPLENS_BOOL_LIST);
  arg->count = list.size();
  arg->value.bytes = flags;
}

PlainCall::PlainCall(const CallForm& form) : inputs_(form.inputs), drops_none_(form.drops_none) {
  // Calls of c10d have the ranks of their group.
  if (form.mod == "c10d" || form.parameters.size() > markers::PlainArgs::kMaxArgs) return;
  for (const Parameter& parameter : form.parameters) {
    const std::string& name = parameter.name;
    if (name.size() > markers::PlainArgs::kMaxNameBytes || parameter.input > UINT16_MAX) return;
    const bool named = parameter.use != CallArgsUse::kPositional;
    arguments_.push_back({name.data(), static_cast<uint32_t>(named ? name.size() : 0),
                          static_cast<uint16_t>(parameter.input), parameter.use});
    if (!named) {
      if (arguments_.size() != positional_ + 1) return;
      ++positional_;
    }
  }
  most_bytes_ = static_cast<uint32_t>(sizeof(markers::PayloadHead) +
                                      arguments_.size() * markers::PlainArgs::kMaxArgBytes);
}

namespace {

using markers::PlainArgs;

/// Adds a defined tensor; false: it cannot be written, or only Python may know its extents.
inline __attribute__((always_inline)) bool AddPlainTensor(PlainArgs::Name name,
                                                          const at::TensorImpl& tensor,
                                                          PlainArgs* out) {
  if (!framework::HasExtents(tensor) || tensor.is_python_dispatch()) return false;
  const c10::IntArrayRef sizes = tensor.sizes();
  if (sizes.size() > PlainArgs::kMaxDimensions) return false;
  out->Tensor(name, DTypeOf(tensor), sizes.data(), sizes.size());
  return true;
}

/// Writes an integer, number, bool, tuple of integers or defined tensor; returns its end, null for
/// other kinds.
__attribute__((noinline)) OPLENS_HOT unsigned char* WritePlainValue(PlainArgs::Name name,
                                                                    const c10::IValue& value,
                                                                    unsigned char* at) {
  PlainArgs out = PlainArgs::One(at);
  if (value.isInt()) {
    out.Int(name, value.toInt());
  } else if (value.isDouble()) {
    out.Float(name, value.toDouble());
  } else if (value.isBool()) {
    out.Boolean(name, value.toBool());
  } else if (value.isIntList()) {
    const c10::ArrayRef<c10::IValue> list = value.toListRef();
    if (list.size() > PlainArgs::kMaxListItems) return nullptr;
    out.IntTuple(name, list.size());
    for (const c10::IValue& item : list) {
      if (!item.isInt()) return nullptr;
      out.Item(item.toInt());
    }
    out.EndTuple();
  } else {
    const bool writable = value.isTensor() && !IsUndefined(*value.unsafeToTensorImpl()) &&
                          AddPlainTensor(name, *value.unsafeToTensorImpl(), &out);
    if (!writable) return nullptr;
  }
  return out.end();
}

/// Whether a call with this keyword can be written; `omitted`: without it.
bool TakesKeyword(Parameter::Use use, const c10::IValue& value, bool* omitted) {
  *omitted = value.isNone();
  switch (use) {
    case CallArgsUse::kPositional:
    case CallArgsUse::kKeyword:
      return true;
    case CallArgsUse::kDType:
      return value.isNone();
    case CallArgsUse::kFloat32Flag:
      *omitted = true;
      return !(value.isBool() && value.toBool());
    case CallArgsUse::kFlag:
      // Tensors are no flags.
      return !value.isTensor();
    case CallArgsUse::kDTypeOrInput:
      return false;
  }
  return false;
}

}  // namespace

/// Nothing may be thrown through the recorder: what PyTorch throws for odd tensors, it throws again
/// when such a call is described in the other way.
OPLENS_HOT unsigned char* PlainCall::Write(const markers::DirectPayload* payload,
                                           unsigned char* at) try {
  const auto& written = *static_cast<const PlainPayload*>(payload);
  const PlainCall& call = written.call;
  // Set until all is written.
  written.failed = true;
  size_t count = written.inputs.size();
  const c10::IValue* values = written.inputs.data();
  if (count > call.inputs_) {
    // As CallArgs::Fill() does.
    values += count - call.inputs_;
    count = call.inputs_;
  }
  const Argument* argument = call.arguments_.data();
  const Argument* const keywords = argument + call.positional_;
  const Argument* const end = argument + call.arguments_.size();
  PlainArgs args(at);
  for (;; ++argument) {
    if (argument == keywords && call.drops_none_) args.DropNone();
    if (argument == end) break;
    if (argument->input >= count) continue;
    const c10::IValue& value = values[argument->input];
    if (argument->use != CallArgsUse::kPositional) {
      bool omitted = false;
      if (!TakesKeyword(argument->use, value, &omitted)) return nullptr;
      if (omitted) continue;
    } else if (value.isTensor()) {
      // Most arguments.
      const at::TensorImpl& tensor = *value.unsafeToTensorImpl();
      if (IsUndefined(tensor)) {
        args.None();
      } else if (!AddPlainTensor({}, tensor, &args)) {
        return nullptr;
      }
      continue;
    } else if (value.isNone()) {
      args.None();
      continue;
    }
    unsigned char* const after =
        WritePlainValue({argument->name, argument->name_bytes}, value, args.end());
    if (after == nullptr) return nullptr;
    args.Add(after);
  }
  written.failed = false;
  return at + markers::FinishPayload(written.facts, args, at);
} catch (...) {
  return nullptr;
}

}  // namespace oplens::annotate::torch
