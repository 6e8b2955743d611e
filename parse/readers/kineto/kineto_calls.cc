#include "parse/readers/kineto/kineto_calls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "parse/model/sized_call.h"
#include "parse/model/torch_call.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;

/// Appends a list in a form unique to it.
void AppendKey(array list, std::string* key) {
  key->push_back('[');
  for (const element item : list) {
    switch (item.type()) {
      case element_type::INT64: {
        char bytes[1 + sizeof(int64_t)] = {'i'};
        const int64_t value = item.get_int64().value_unsafe();
        std::memcpy(bytes + 1, &value, sizeof value);
        key->append(bytes, sizeof bytes);
        break;
      }
      case element_type::STRING: {
        const std::string_view text = item.get_string().value_unsafe();
        char bytes[1 + sizeof(uint32_t)] = {'s'};
        const auto size = static_cast<uint32_t>(text.size());
        std::memcpy(bytes + 1, &size, sizeof size);
        key->append(bytes, sizeof bytes);
        key->append(text);
        break;
      }
      case element_type::ARRAY:
        AppendKey(item.get_array().value_unsafe(), key);
        break;
      default:
        key->push_back('?');
        break;
    }
  }
  key->push_back(']');
}

/// Whether it is the type of a tensor. Before values of scalars were recorded, the same list held
/// their types, capitalised ("Int", "GenericList").
bool IsTensorType(std::string_view type) {
  return !type.empty() && (IsLower(type[0]) || type.starts_with("c10::"));
}

constexpr std::string_view kTensorList = "TensorList";

/// Takes extents if the list holds nothing else, in particular no lists.
bool TakeShape(array list, std::vector<int64_t>* shape) {
  for (const element item : list) {
    int64_t extent = 0;
    if (item.get(extent) != simdjson::SUCCESS || extent < 0) return false;
    shape->push_back(extent);
  }
  return true;
}

/// Whether it is "[...]" as PyTorch prints a list, or "(...)" as Python prints a tuple.
bool IsListText(std::string_view text) {
  return text.size() >= 2 && ((text.front() == '[' && text.back() == ']') ||
                              (text.front() == '(' && text.back() == ')'));
}

bool ParseItem(std::string_view item, double* value) { return ParseNumber(item, value); }

/// Booleans become 1 and 0.
bool ParseItem(std::string_view item, int64_t* value) {
  if (item != "True" && item != "False") return ParseNumber(item, value);
  *value = item == "True" ? 1 : 0;
  return true;
}

/// Parses "[1, 2]" or "(1, 2)".
template <typename T>
bool ParseList(std::string_view text, std::vector<T>* list) {
  if (!IsListText(text)) return false;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (!ParseItem(item, &list->emplace_back())) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

OpArg MakeScalar(std::string_view value, std::string_view type) {
  OpArg arg;
  // Absent, or of a type that the profiler does not record.
  arg.type = type.empty() ? "object" : std::string(type);
  if (value.empty()) return arg;
  if (ParseNumber(value, &arg.int_value)) {
    arg.kind = OpArg::Kind::kInt;
    arg.type = "int";
  } else if (value == "True" || value == "False") {
    arg.kind = OpArg::Kind::kBool;
    arg.type = "bool";
    arg.int_value = value == "True" ? 1 : 0;
  } else if (ParseNumber(value, &arg.float_value)) {
    arg.kind = OpArg::Kind::kFloat;
    arg.type = "float";
  } else if (value == "None") {
    arg.kind = OpArg::Kind::kNone;
    arg.type = "NoneType";
  } else if (ParseList(value, &arg.int_list)) {
    arg.kind = OpArg::Kind::kIntList;
    arg.type = "list";
  } else {
    arg.int_list.clear();
    if (value.front() == '[') arg.type = "list";
    if (ParseList(value, &arg.float_list)) {
      arg.kind = OpArg::Kind::kFloatList;
      arg.type = "list";
    } else {
      arg.float_list.clear();
    }
  }
  return arg;
}

/// The items of a list, then empty ones.
class Items {
 public:
  Items(bool there, array list) : next_(there ? list.begin() : array::iterator()), there_(there) {
    if (there) end_ = list.end();
  }
  bool Next(element* item) {
    if (!there_ || !(next_ != end_)) return false;
    *item = *next_;
    ++next_;
    return true;
  }

 private:
  array::iterator next_;
  array::iterator end_;
  bool there_;
};

/// Appends a list of tensors, if it is one: [[2, 3], [2, 4]]. Their types are not recorded.
bool AppendTensorList(array list, int32_t number, std::vector<OpArg>* args) {
  std::vector<OpArg> tensors;
  for (const element item : list) {
    array extents;
    std::vector<int64_t> shape;
    if (item.get(extents) != simdjson::SUCCESS || !TakeShape(extents, &shape)) return false;
    tensors.push_back(TorchTensor(std::move(shape), {}));
    tensors.back().list = number;
  }
  std::move(tensors.begin(), tensors.end(), std::back_inserter(*args));
  return list.size() > 0;
}

/// Reduces tensors that repeat elements (expand) to what is stored.
void ApplyStrides(array strides, std::vector<OpArg>* args) {
  auto arg = args->begin();
  for (const element item : strides) {
    if (arg == args->end()) return;
    array list;
    std::vector<int64_t> steps;
    // A list of tensors has one list of strides but several arguments.
    if (arg->list > 0) return;
    if (arg->kind == OpArg::Kind::kTensor && item.get(list) == simdjson::SUCCESS &&
        TakeShape(list, &steps)) {
      arg->shape = StoredExtents(std::move(arg->shape), steps);
    }
    ++arg;
  }
}

void AppendKeyNumber(int64_t number, std::string* key) {
  key->append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Further facts of calls of compiled kernels.
void AppendCompiledKey(const KinetoArguments& arguments, std::string* key) {
  if (arguments.has_strides) AppendKey(arguments.strides, key);
  const CompiledFacts& facts = arguments.compiled;
  for (const std::string_view text : {facts.kwargs, facts.grid}) {
    key->append(text);
    key->push_back('\0');
  }
  AppendKeyNumber(facts.flops, key);
  AppendKeyNumber(facts.bytes, key);
}

}  // namespace

std::vector<OpArg> ReadKinetoArguments(const KinetoArguments& arguments) {
  std::vector<OpArg> args;
  if (!arguments.has_dims) return args;
  Items types(arguments.has_types, arguments.types);
  Items values(arguments.has_values, arguments.values);
  int32_t lists = 0;
  // PyTorch writes no value for a tensor, so that one there belongs to another argument.
  bool aligned = arguments.dims.size() > 0;
  element item;
  for (const element dims : arguments.dims) {
    const std::string_view type = types.Next(&item) ? TextOf(item) : std::string_view();
    const std::string_view value = values.Next(&item) ? TextOf(item) : std::string_view();
    array extents;
    std::vector<int64_t> shape;
    const bool is_list = dims.get(extents) == simdjson::SUCCESS;
    if (is_list && (IsTensorType(type) || extents.size() > 0) && TakeShape(extents, &shape)) {
      args.push_back(TorchTensor(std::move(shape), type == kTensorList ? "" : type));
      aligned &= value.empty();
    } else if (is_list && AppendTensorList(extents, lists + 1, &args)) {
      ++lists;
    } else {
      args.push_back(MakeScalar(value, type));
    }
  }
  while (aligned && values.Next(&item)) {
    const std::string_view value = TextOf(item);
    args.push_back(MakeScalar(value, types.Next(&item) ? TextOf(item) : std::string_view()));
  }
  return args;
}

void TakeCompiledFact(std::string_view key, element value, CompiledFacts* facts) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMostGigabytes = 9.2e9;
  if (key == "kernel_backend") {
    facts->backend = TextOf(value);
  } else if (key == "kernel_kwargs") {
    facts->kwargs = TextOf(value);
  } else if (key == "kernel_file") {
    facts->file = TextOf(value);
  } else if (key == "grid") {
    facts->grid = TextOf(value);
  } else if (key == "kernel_flop") {
    TakeInt(value, &facts->flops);
  } else if (double gigabytes = 0; key == "kernel_num_gb" &&
                                   value.get(gigabytes) == simdjson::SUCCESS && gigabytes >= 0 &&
                                   gigabytes < kMostGigabytes) {
    facts->bytes = std::llround(gigabytes * kGigabyte);
  }
}

OpCall MakeKinetoCall(std::string_view name, const KinetoArguments& arguments) {
  std::vector<OpArg> args = ReadKinetoArguments(arguments);
  if (arguments.IsCompiled(name)) {
    if (arguments.has_strides) ApplyStrides(arguments.strides, &args);
    return MakeCompiledCall(name, std::move(args), arguments.compiled);
  }
  return arguments.untyped() ? MakeUntypedCall(name, std::move(args))
                             : MakeTorchCall(name, std::move(args));
}

StringId KinetoCalls::Intern(std::string_view name, const KinetoArguments& arguments,
                             StringPool* strings) {
  key_.assign(name);
  key_.push_back('\0');
  for (const auto& [there, list] : {std::pair(arguments.has_dims, arguments.dims),
                                    std::pair(arguments.has_types, arguments.types),
                                    std::pair(arguments.has_values, arguments.values)}) {
    if (there) AppendKey(list, &key_);
    key_.push_back('\0');
  }
  if (arguments.compiled.any()) AppendCompiledKey(arguments, &key_);
  const auto found = known_.find(std::string_view(key_));
  if (found != known_.end()) return found->second;
  text_.clear();
  AppendOpCall(MakeKinetoCall(name, arguments), &text_);
  const StringId call = strings->Intern(text_);
  known_.emplace(key_, call);
  return call;
}

}  // namespace oplens::parse
