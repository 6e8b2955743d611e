#include "prof/table/json_cell.h"

#include <string>
#include <variant>

namespace oplens::prof {
namespace {

using Json = nlohmann::ordered_json;

Json Array(std::span<const std::string_view> texts) {
  Json array = Json::array();
  for (std::string_view text : texts) array.emplace_back(std::string(text));
  return array;
}

/// A cell as JSON, one function a kind of value.
struct CellAsJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(std::string_view text) const { return std::string(text); }
  Json operator()(std::span<const int64_t> values) const {
    Json array = Json::array();
    for (int64_t value : values) array.push_back(value);
    return array;
  }
  Json operator()(const Cell::Texts& list) const { return Array(list.texts); }
  Json operator()(const Dim3& extent) const { return Json::array({extent.x, extent.y, extent.z}); }
  Json operator()(ReasonSet reasons) const {
    Json array = Json::array();
    reasons.ForEach([&](Reason reason) { array.push_back(std::string(ReasonWord(reason))); });
    return array;
  }
};

}  // namespace

Json JsonOf(const Cell& cell) { return std::visit(CellAsJson{}, cell.value); }

std::string JsonTextOf(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace oplens::prof
