#include "python/cost.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "ops/dtype.h"
#include "ops/gpu/gpu.h"
#include "ops/gpu/roofline.h"
#include "ops/op_model.h"
#include "parse/model/reason.h"
#include "parse/model/torch_call.h"
#include "prof/input_options.h"
#include "prof/price/figures.h"

namespace oplens::python {
namespace {

namespace nb = nanobind;

[[noreturn]] void Refuse(const std::string& sentence) {
  const nb::object type = nb::module_::import_("oplens._errors").attr("UsageError");
  const nb::object error = type(sentence.c_str(), "usage", nb::none(), nb::none());
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

OpArg ArgumentOf(nb::handle value) {
  OpArg argument;
  if (value.is_none()) {
    argument.kind = OpArg::Kind::kNone;
    argument.type = "NoneType";
  } else if (nb::isinstance<nb::bool_>(value)) {
    argument.kind = OpArg::Kind::kBool;
    argument.type = "bool";
    argument.int_value = nb::cast<bool>(value) ? 1 : 0;
  } else if (nb::isinstance<nb::int_>(value)) {
    argument.kind = OpArg::Kind::kInt;
    argument.type = "int";
    argument.int_value = nb::cast<int64_t>(value);
  } else if (nb::isinstance<nb::float_>(value)) {
    argument.kind = OpArg::Kind::kFloat;
    argument.type = "float";
    argument.float_value = nb::cast<double>(value);
  } else if (nb::isinstance<nb::str>(value)) {
    argument.kind = OpArg::Kind::kString;
    argument.type = "str";
    argument.text = nb::cast<std::string>(value);
  } else if (nb::isinstance<nb::sequence>(value)) {
    argument.kind = OpArg::Kind::kIntList;
    argument.type = "tuple";
    for (const nb::handle item : value) {
      if (!nb::isinstance<nb::int_>(item)) Refuse("a list among the arguments holds no integer");
      argument.int_list.push_back(nb::cast<int64_t>(item));
    }
  } else {
    Refuse("an argument is no number, text, None or list of integers");
  }
  return argument;
}

template <typename Value>
nb::object OrNone(const std::optional<Value>& value) {
  return value ? nb::cast(*value) : nb::none();
}

struct Sums {
  std::optional<int64_t> flops;
  std::optional<int64_t> matrix_flops;
  std::optional<int64_t> bytes;
};

Sums SumsOf(const ops::PricedOp& op, const std::vector<ops::PartWork>& parts) {
  Checked matrix = 0;
  Checked other = 0;
  Checked bytes = 0;
  for (const ops::PartWork& part : parts) {
    matrix += part.work.mma;
    other += part.work.vec;
    bytes += part.work.bytes;
  }
  Sums sums;
  sums.matrix_flops = matrix.Value();
  if (op.flops_known) sums.flops = (matrix + other).Value();
  if (op.bytes_known) sums.bytes = bytes.Value();
  return sums;
}

/// The least time by both roofs of the GPU, ns; nullopt: unknown.
std::optional<double> RoofNs(const ops::PricedOp& op, const Sums& sums, const ops::Gpu& gpu) {
  double seconds = 0;
  if (!sums.bytes || gpu.dram_bytes_per_s <= 0) return std::nullopt;
  seconds = static_cast<double>(*sums.bytes) / static_cast<double>(gpu.dram_bytes_per_s);
  if (sums.matrix_flops.value_or(0) > 0) {
    if (!op.product) return std::nullopt;
    const double peak = ops::BestPeakOf(gpu, op.product->left, op.product->right);
    if (peak <= 0) return std::nullopt;
    seconds = std::max(seconds, static_cast<double>(*sums.matrix_flops) / peak);
  }
  return seconds * 1e9;
}

void Fill(const ops::PricedOp& op, const std::vector<ops::PartWork>& parts, const ops::Gpu* gpu,
          const std::string& prefix, nb::dict* out) {
  const auto set = [&](const char* key, const nb::object& value) {
    (*out)[(prefix + key).c_str()] = value;
  };
  const Sums sums = parts.empty() ? Sums{} : SumsOf(op, parts);
  set("flops", OrNone(sums.flops));
  set("flops_mma", OrNone(sums.matrix_flops));
  set("bytes", OrNone(sums.bytes));
  set("roof_ns", OrNone(gpu == nullptr ? std::nullopt : RoofNs(op, sums, *gpu)));
}

}  // namespace

nb::dict PriceOp(const std::string& op, const std::vector<std::vector<int64_t>>& shapes,
                 const std::vector<std::string>& dtypes, const nb::list& arguments,
                 const std::optional<std::string>& gpu) {
  if (dtypes.size() > 1 && dtypes.size() != shapes.size()) {
    Refuse("give one dtype for all tensors, or one for each shape");
  }
  std::vector<OpArg> all;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string_view word = "float32";
    if (!dtypes.empty()) word = dtypes.size() == 1 ? dtypes.front() : dtypes[i];
    if (!ops::ParseDType(word)) Refuse("there is no dtype '" + std::string(word) + "'");
    for (const int64_t extent : shapes[i]) {
      if (extent < 0) Refuse("a shape has a negative extent");
    }
    OpArg tensor;
    tensor.kind = OpArg::Kind::kTensor;
    tensor.type = "tensor";
    tensor.shape = shapes[i];
    tensor.dtype = word;
    all.push_back(std::move(tensor));
  }
  for (const nb::handle argument : arguments) all.push_back(ArgumentOf(argument));
  std::optional<ops::Gpu> found;
  try {
    if (gpu) found = prof::ReadGpu(*gpu);
  } catch (const UsageError& error) {
    Refuse(error.what());
  }
  const OpCall call = MakeTorchCall(op.find(':') == op.npos ? "aten::" + op : op, std::move(all));
  const ops::PriceResult result = ops::PriceCall(call);
  if (!result.price) {
    Refuse(op + " has no cost: " + std::string(ReasonSentence(result.reason)) + " [" +
           std::string(ReasonWord(result.reason)) + "]");
  }
  const ops::PricedOp& priced = *result.price;
  nb::dict cost;
  cost["op"] = call.op;
  cost["params"] = priced.params;
  Fill(priced, priced.forward, found ? &*found : nullptr, "", &cost);
  Fill(priced, priced.backward, found ? &*found : nullptr, "backward_", &cost);
  cost["flops_bounded"] = priced.flops_bounded;
  cost["gpu"] = found ? nb::cast(found->name) : nb::none();
  return cost;
}

}  // namespace oplens::python
