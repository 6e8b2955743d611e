#include "prof/table/json_cell.h"

#include <string>
#include <variant>

namespace oplens::prof {
namespace {

using JsonCellJson = nlohmann::ordered_json;

JsonCellJson Array(std::span<const std::string_view> texts) {
  JsonCellJson array = JsonCellJson::array();
  for (std::string_view text : texts) array.emplace_back(std::string(text));
  return array;
}

/// A cell as JSON; one function per kind of value.
struct CellAsJson {
  JsonCellJson operator()(std::monostate) const { return nullptr; }
  JsonCellJson operator()(int64_t value) const { return value; }
  JsonCellJson operator()(double value) const { return value; }
  JsonCellJson operator()(std::string_view text) const { return std::string(text); }
  JsonCellJson operator()(std::span<const int64_t> values) const {
    JsonCellJson array = JsonCellJson::array();
    for (int64_t value : values) array.push_back(value);
    return array;
  }
  JsonCellJson operator()(const Cell::Texts& list) const { return Array(list.texts); }
  JsonCellJson operator()(const Dim3& extent) const {
    return JsonCellJson::array({extent.x, extent.y, extent.z});
  }
  JsonCellJson operator()(ReasonSet reasons) const {
    JsonCellJson array = JsonCellJson::array();
    reasons.ForEach([&](Reason reason) { array.push_back(std::string(ReasonWord(reason))); });
    return array;
  }
};

}  // namespace

JsonCellJson JsonOf(const Cell& cell) { return std::visit(CellAsJson{}, cell.value); }

std::string JsonTextOf(const JsonCellJson& value) {
  return value.dump(-1, ' ', false, JsonCellJson::error_handler_t::replace);
}

}  // namespace oplens::prof
