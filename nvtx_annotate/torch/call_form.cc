#include "nvtx_annotate/torch/call_form.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "nvtx_annotate/vocabulary/torch_schema.h"

namespace oplens::annotate::torch {
namespace {

using CallFormUse = Parameter::Use;

bool CallFormStartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool CallFormEndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Arguments about memory placement or method, not about what is computed.
bool IsPlacement(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "layout",       "device",        "pin_memory",  "memory_format", "generator",
      "non_blocking", "copy",          "implicit",    "benchmark",     "deterministic",
      "allow_tf32",   "cudnn_enabled", "cudnn_enable"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Frequent operators that launch nothing: allocations, views, properties.
bool IsMinor(std::string_view op) {
  constexpr std::string_view kNames[] = {"_conj",
                                         "_has_compatible_shallow_copy_type",
                                         "_neg_view",
                                         "_reshape_alias",
                                         "_unsafe_view",
                                         "alias",
                                         "as_strided",
                                         "as_strided_",
                                         "chunk",
                                         "detach",
                                         "detach_",
                                         "diagonal",
                                         "expand",
                                         "expand_as",
                                         "is_same_size",
                                         "lift_fresh",
                                         "movedim",
                                         "narrow",
                                         "permute",
                                         "resolve_conj",
                                         "resolve_neg",
                                         "result_type",
                                         "select",
                                         "set_",
                                         "slice",
                                         "split",
                                         "split_with_sizes",
                                         "squeeze",
                                         "squeeze_",
                                         "t",
                                         "t_",
                                         "transpose",
                                         "transpose_",
                                         "unbind",
                                         "unfold",
                                         "unsqueeze",
                                         "unsqueeze_",
                                         "view",
                                         "view_as",
                                         "view_as_complex",
                                         "view_as_real"};
  return CallFormStartsWith(op, "empty") || CallFormStartsWith(op, "new_empty") ||
         std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

/// For operators without a row in the table: as in the schema.
void AddBySchema(const SchemaArgument& argument, size_t input, std::vector<Parameter>* out) {
  if (IsPlacement(argument.name)) return;
  if (argument.dtype || argument.name == "dtype") {
    out->push_back({CallFormUse::kDType, input, argument.name});
  } else if (argument.keyword_only) {
    out->push_back({CallFormUse::kKeyword, input, argument.name});
  } else {
    out->push_back({CallFormUse::kPositional, input, ""});
  }
}

/// Arguments dropped by the table: tensors only concern memory, but flags affect what is computed.
void AddFlag(const SchemaArgument& argument, size_t input, std::vector<Parameter>* out) {
  if (argument.output || IsPlacement(argument.name)) return;
  out->push_back({argument.dtype ? CallFormUse::kDType : CallFormUse::kFlag, input, argument.name});
}

/// `word`: of TorchSchema::parameters.
void AddByWord(std::string_view word, const SchemaArgument& argument, size_t input,
               std::vector<Parameter>* out) {
  while (CallFormEndsWith(word, "!")) word.remove_suffix(1);
  // The table distinguishes overloads only by argument count: div(.., *, out) and div(.., *,
  // rounding_mode).
  if (word == "out" && !argument.output) return AddBySchema(argument, input, out);
  if (word == "-") return AddFlag(argument, input, out);
  if (word == "dtype") {
    out->push_back({CallFormUse::kDType, input, "dtype"});
  } else if (word == "dtype~") {
    out->push_back({CallFormUse::kDTypeOrInput, input, "dtype"});
  } else if (word == "half_to_float") {
    out->push_back({CallFormUse::kFloat32Flag, input, "dtype"});
  } else if (word == "_" || word == "@" || CallFormStartsWith(word, "shape~")) {
    out->push_back({CallFormUse::kPositional, input, ""});
  } else {
    out->push_back({CallFormUse::kKeyword, input, std::string(word)});
  }
}

void AddByWords(std::string_view words, const std::vector<SchemaArgument>& arguments,
                std::vector<Parameter>* out) {
  for (size_t input = 0; input < arguments.size(); ++input) {
    const size_t blank = std::min(words.find(' '), words.size());
    // Arguments beyond the last word are dropped.
    AddByWord(words.empty() ? "-" : words.substr(0, blank), arguments[input], input, out);
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
}

/// The operator has (weight, indices, ..), the function (input, weight, ..).
void SwapEmbedding(CallForm* form) {
  auto& parameters = form->parameters;
  if (form->op != "embedding" || parameters.size() < 2) return;
  std::swap(parameters[0], parameters[1]);
  for (size_t i = 0; i < 2; ++i)
    parameters[i] = {CallFormUse::kPositional, parameters[i].input, ""};
}

}  // namespace

CallForm FormOfOperator(std::string_view name, std::string_view overload,
                        const std::vector<SchemaArgument>& arguments) {
  CallForm form;
  form.aten = name;
  if (!overload.empty()) form.aten.append(".").append(overload);
  const size_t scope = name.find("::");
  form.mod = scope == name.npos ? "" : name.substr(0, scope);
  const std::string_view op = scope == name.npos ? name : name.substr(scope + 2);
  const bool is_aten = form.mod == "aten";
  const TorchSchema* const schema = is_aten ? FindTorchSchema(op, arguments.size()) : nullptr;
  form.op = op;
  form.inputs = arguments.size();
  form.minor = is_aten && IsMinor(op);
  if (schema != nullptr) {
    form.mod = schema->mod;
    if (!schema->op.empty()) form.op = schema->op;
  }
  // In-place operators are methods; names with a leading '_' are not public.
  const bool is_private =
      CallFormStartsWith(op, "_") && (schema == nullptr || !CallFormStartsWith(op, "__"));
  if (is_aten && CallFormEndsWith(op, "_") && !is_private) form.mod = "Tensor";
  if (schema != nullptr && !schema->parameters.empty()) {
    AddByWords(schema->parameters, arguments, &form.parameters);
  } else {
    for (size_t i = 0; i < arguments.size(); ++i) AddBySchema(arguments[i], i, &form.parameters);
  }
  std::stable_partition(form.parameters.begin(), form.parameters.end(),
                        [](const Parameter& p) { return p.use == CallFormUse::kPositional; });
  SwapEmbedding(&form);
  form.drops_none =
      std::all_of(form.parameters.begin(), form.parameters.end(), [](const Parameter& p) {
        return p.use == CallFormUse::kPositional || p.use == CallFormUse::kFlag;
      });
  return form;
}

CallForm FormOfFunction(std::string_view name, size_t inputs) {
  CallForm form;
  form.mod = "autograd";
  form.op = name;
  form.inputs = inputs;
  for (size_t i = 0; i < inputs; ++i) form.parameters.push_back({CallFormUse::kPositional, i, ""});
  form.drops_none = true;
  return form;
}

}  // namespace oplens::annotate::torch
