#include "nvtx_annotate/torch/pyprof_ranges.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/torch/pyprof_form.h"

namespace oplens::annotate::torch {
namespace {

using PyprofRangesInputs = c10::ArrayRef<const c10::IValue>;

bool NameStartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string PyprofRangesNameOf(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Byte:
      return "uint8";
    case c10::ScalarType::Char:
      return "int8";
    case c10::ScalarType::Short:
      return "int16";
    case c10::ScalarType::Int:
      return "int32";
    case c10::ScalarType::Long:
      return "int64";
    case c10::ScalarType::Half:
      return "float16";
    case c10::ScalarType::Float:
      return "float32";
    case c10::ScalarType::Double:
      return "float64";
    case c10::ScalarType::ComplexFloat:
      return "complex64";
    case c10::ScalarType::ComplexDouble:
      return "complex128";
    default:
      break;
  }
  std::string name = c10::toString(type);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

PyprofValue Other() {
  PyprofValue value;
  value.kind = PyprofValue::Kind::kOther;
  return value;
}

PyprofValue ValueOf(const at::TensorImpl& tensor) {
  if (&tensor == static_cast<const at::TensorImpl*>(c10::UndefinedTensorImpl::singleton())) {
    return {};
  }
  // Their extents cannot be read without running code of the program.
  if (tensor.has_symbolic_sizes_strides() || tensor.is_nested()) return Other();
  caffe2::TypeMeta type = tensor.dtype();
  if (!type.isScalarType()) return Other();
  // Python numbers wrapped in tensors by the framework, in host memory.
  if (tensor.is_wrapped_number() && tensor.dim() == 0 && tensor.is_cpu() && tensor.has_storage() &&
      tensor.data() != nullptr) {
    switch (type.toScalarType()) {
      case c10::ScalarType::Double:
        return PyprofValue::Float(*static_cast<const double*>(tensor.data()));
      case c10::ScalarType::Long:
        return PyprofValue::Int(*static_cast<const int64_t*>(tensor.data()));
      case c10::ScalarType::Bool:
        return PyprofValue::Bool(*static_cast<const bool*>(tensor.data()));
      default:
        return Other();
    }
  }
  const c10::IntArrayRef sizes = tensor.sizes();
  return PyprofValue::Tensor({sizes.begin(), sizes.end()}, PyprofRangesNameOf(type.toScalarType()));
}

PyprofValue ValueOfList(c10::ArrayRef<c10::IValue> list) {
  const auto all = [list](auto is) { return std::all_of(list.begin(), list.end(), is); };
  PyprofValue value;
  if (all([](const c10::IValue& item) { return item.isInt(); })) {
    value.kind = PyprofValue::Kind::kInts;
    for (const c10::IValue& item : list) value.ints.push_back(item.toInt());
  } else if (all([](const c10::IValue& item) { return item.isBool(); })) {
    value.kind = PyprofValue::Kind::kBools;
    for (const c10::IValue& item : list) value.ints.push_back(item.toBool() ? 1 : 0);
  } else if (all([](const c10::IValue& item) { return item.isInt() || item.isDouble(); })) {
    value.kind = PyprofValue::Kind::kFloats;
    for (const c10::IValue& item : list) {
      value.numbers.push_back(item.isInt() ? static_cast<double>(item.toInt()) : item.toDouble());
    }
  } else if (all([](const c10::IValue& item) { return item.isTensor() || item.isNone(); })) {
    value.kind = PyprofValue::Kind::kTensors;
    for (const c10::IValue& item : list) {
      if (!item.isTensor()) continue;
      PyprofValue tensor = ValueOf(*item.unsafeToTensorImpl());
      for (PyprofTensor& only : tensor.tensors) value.tensors.push_back(std::move(only));
    }
  } else {
    return Other();
  }
  return value;
}

PyprofValue ValueOf(const c10::IValue& value, std::string_view name) {
  if (value.isTensor()) return ValueOf(*value.unsafeToTensorImpl());
  if (value.isNone()) return {};
  if (value.isInt()) {
    if (name != "dtype") return PyprofValue::Int(value.toInt());
    return PyprofValue::DType(PyprofRangesNameOf(static_cast<c10::ScalarType>(value.toInt())));
  }
  if (value.isDouble()) return PyprofValue::Float(value.toDouble());
  if (value.isBool()) return PyprofValue::Bool(value.toBool());
  if (value.isString()) return PyprofValue::Text(value.toStringRef());
  if (value.isList()) return ValueOfList(value.toListRef());
  return Other();
}

/// The form of an operator, with its argument names.
struct KnownPyprofForm {
  std::string name;
  std::vector<std::string> arguments;
  PyprofForm form;
};

/// Null for a function that is not an operator. Per thread, by the address of the name, which the
/// framework never frees.
const KnownPyprofForm* FindPyprofForm(const at::RecordFunction& function) {
  static thread_local std::unordered_map<const void*, std::unique_ptr<const KnownPyprofForm>> forms;
  std::unique_ptr<const KnownPyprofForm>& known = forms[function.name()];
  if (known != nullptr && known->name == function.name()) return known.get();
  const auto schema = function.operator_schema();
  if (!schema.has_value()) return nullptr;
  std::vector<std::string> arguments;
  std::vector<PyprofParameter> parameters;
  for (const c10::Argument& argument : schema->arguments()) {
    const auto& fallback = argument.default_value();
    arguments.push_back(argument.name());
    parameters.push_back(
        {argument.name(), argument.kwarg_only(), fallback.has_value(),
         fallback.has_value() ? ValueOf(*fallback, argument.name()) : PyprofValue()});
  }
  known = std::make_unique<const KnownPyprofForm>(
      KnownPyprofForm{schema->name(), std::move(arguments),
                      PyprofForm(schema->name(), schema->overload_name(), std::move(parameters))});
  return known.get();
}

/// Whether a call may create a backward node.
bool IsDifferentiable(PyprofRangesInputs inputs) {
  const auto has_gradient = [](const c10::IValue& value) {
    return value.isTensor() && value.unsafeToTensorImpl()->requires_grad();
  };
  return at::GradMode::is_enabled() &&
         std::any_of(inputs.begin(), inputs.end(), [&](const c10::IValue& value) {
           if (!value.isList()) return has_gradient(value);
           const auto list = value.toListRef();
           return std::any_of(list.begin(), list.end(), has_gradient);
         });
}

uint64_t BeginPyprofText(const std::string& text) {
  const char* const begun = text.c_str();
  return BeginTexts(&begun, 1);
}

std::string CallText(const KnownPyprofForm& known, PyprofRangesInputs inputs, bool backward) {
  // TorchScript's interpreter may pass its whole stack: the operator's inputs are the last ones.
  const size_t count = known.form.inputs();
  if (inputs.size() > count) inputs = inputs.slice(inputs.size() - count);
  std::vector<PyprofValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(ValueOf(inputs[i], known.arguments[i]));
  }
  return known.form.Text(values, backward);
}

PyprofRange PyprofRangesOnOperator(const at::RecordFunction& function, const KnownPyprofForm& known,
                                   const Surroundings& around) {
  if (known.form.hidden()) return {};
  const bool inside_op = around.place == Place::kOp;
  const int64_t seq = function.seqNr();
  const bool numbered =
      seq >= 0 && seq != around.seq && known.form.numbered() && IsDifferentiable(function.inputs());
  // Inside a node of PyTorch, only what Python calls: a forward op that runs again.
  const bool again = seq >= 0 && !around.recorded;
  const bool whole = !inside_op && (around.place != Place::kNode || again);
  Surroundings inside = around;
  inside.place = Place::kOp;
  if (numbered) inside.seq = seq;
  std::string sequence;
  if (numbered) sequence = PyprofSequence(function.name(), seq, false);
  if (!whole) return {inside_op && numbered ? BeginPyprofText(sequence) : 0, inside};
  const std::string call = CallText(known, function.inputs(), inside.seq >= 0);
  const char* const texts[] = {call.c_str(), sequence.c_str()};
  return {BeginTexts(texts, numbered ? 2 : 1), inside};
}

/// A user's torch.autograd.Function, or the engine's work for a node.
PyprofRange OnOther(const at::RecordFunction& function, const Surroundings& around) {
  Surroundings inside = around;
  if (NameStartsWith(function.name(), "autograd::engine::evaluate_function")) {
    inside.place = Place::kEvaluate;
    return {BeginPyprofText(PyprofLabel(function.name())), inside};
  }
  const int64_t seq = function.seqNr();
  if (seq < 0 || !IsDifferentiable(function.inputs())) return {0, inside};
  inside.seq = seq;
  return {BeginPyprofText(PyprofSequence(function.name(), seq, false)), inside};
}

PyprofRange PyprofRangesOnNode(const at::RecordFunction& function, const Surroundings& around) {
  const std::string_view name = function.name();
  Surroundings inside = around;
  inside.place = Place::kEvaluate;
  const std::string_view accumulate = "AccumulateGrad";
  if (name.size() >= accumulate.size() &&
      name.substr(name.size() - accumulate.size()) == accumulate) {
    // It has the maximum number, for its place in the queue.
    return {BeginPyprofText(PyprofLabel(name)), inside};
  }
  inside.seq = function.seqNr();
  inside.recorded = at::GradMode::is_enabled();
  inside.place = IsPythonNode(name) ? Place::kOutside : Place::kNode;
  if (inside.seq < 0) return {BeginPyprofText(PyprofLabel(name)), inside};
  return {BeginPyprofText(PyprofSequence(function.name(), inside.seq, true)), inside};
}

}  // namespace

PyprofRange BeginPyprof(const at::RecordFunction& function, const Surroundings& around) {
  switch (function.scope()) {
    case at::RecordScope::FUNCTION: {
      const KnownPyprofForm* const known = FindPyprofForm(function);
      return known != nullptr ? PyprofRangesOnOperator(function, *known, around)
                              : OnOther(function, around);
    }
    case at::RecordScope::BACKWARD_FUNCTION:
      return PyprofRangesOnNode(function, around);
    default:
      // It may end on another thread at any time.
      if (function.isAsync()) return {};
      return {BeginPyprofText(PyprofLabel(function.name())), around};
  }
}

}  // namespace oplens::annotate::torch
