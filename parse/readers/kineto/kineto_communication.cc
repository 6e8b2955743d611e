#include "parse/readers/kineto/kineto_communication.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/checked.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::string_view kLibraries[] = {"gloo:", "hccl:", "mpi:", "nccl:", "ucc:", "xccl:"};

/// Elements of a tensor or of a list of tensors; nullopt if it is neither, or too large.
std::optional<int64_t> KinetoCommunicationElementsOf(element dims) {
  array extents;
  if (dims.get(extents) != simdjson::SUCCESS) return std::nullopt;
  Checked product = 1;
  Checked sum = 0;
  bool list = false;
  for (const element item : extents) {
    int64_t extent = 0;
    array inner;
    if (TakeInt(item, &extent)) {
      if (extent < 0) return std::nullopt;
      product = product * extent;
    } else if (item.get(inner) == simdjson::SUCCESS) {
      list = true;
      Checked own = 1;
      for (const element one : inner) {
        if (!TakeInt(one, &extent) || extent < 0) return std::nullopt;
        own = own * extent;
      }
      sum = sum + own;
    } else {
      return std::nullopt;
    }
  }
  return (list ? sum : product).Value();
}

struct TextField {
  std::string_view key;
  StringId Communication::*field;
};

struct NumberField {
  std::string_view key;
  int64_t Communication::*field;
};

constexpr TextField kTextFields[] = {
    {"Collective name", &Communication::name},      {"dtype", &Communication::dtype},
    {"Process Group Name", &Communication::group},  {"Process Group ID", &Communication::group},
    {"Process Group Ranks", &Communication::ranks},
};

constexpr NumberField kNumberFields[] = {
    {"In msg nelems", &Communication::input_elements},
    {"Out msg nelems", &Communication::output_elements},
    {"Group size", &Communication::group_size},
    {"Seq", &Communication::sequence},
    {"Src Rank", &Communication::peer},
    {"Dst Rank", &Communication::peer},
};

}  // namespace

bool TakeCommunication(std::string_view key, simdjson::dom::element value, StringPool* strings,
                       Communication* communication) {
  for (const TextField& field : kTextFields) {
    if (field.key != key) continue;
    communication->*field.field = strings->Intern(PrintKineto(value));
    return true;
  }
  for (const NumberField& field : kNumberFields) {
    if (field.key != key) continue;
    TakeInt(value, &(communication->*field.field));
    return true;
  }
  return false;
}

bool IsCollectiveLabel(std::string_view name) {
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

bool TakeLabelInputs(std::string_view name, simdjson::dom::object args, StringPool* strings,
                     Communication* communication) {
  array dims;
  array types;
  if (args["Input Dims"].get(dims) != simdjson::SUCCESS &&
      args["Input dims"].get(dims) != simdjson::SUCCESS) {
    return false;
  }
  if (args["Input type"].get(types) != simdjson::SUCCESS) return false;
  Checked elements = 0;
  std::string_view dtype;
  bool any = false;
  bool one_type = true;
  auto type = types.begin();
  for (const element own : dims) {
    if (!(type != types.end())) break;
    const std::string_view text = TextOf(*type);
    ++type;
    // Non-tensors have no extents: "[]" may also be a tensor with one element.
    if (text.empty() || text == "Scalar" || text == "ScalarList") continue;
    const std::optional<int64_t> count = KinetoCommunicationElementsOf(own);
    if (!count || (text == "TensorList" && own.get_array().value_unsafe().size() == 0)) continue;
    elements = elements + *count;
    one_type = one_type && (!any || text == dtype);
    dtype = text;
    any = true;
  }
  if (!any || !elements.Value()) return false;
  communication->name = strings->Intern(name.substr(name.find(':') + 1));
  communication->input_elements = *elements.Value();
  if (one_type && dtype != "TensorList") communication->dtype = strings->Intern(dtype);
  return true;
}

}  // namespace oplens::parse
