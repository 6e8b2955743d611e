#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "prof/table/writer.h"

namespace oplens::prof {
namespace {

using Json = nlohmann::ordered_json;

Json Array(std::span<const std::string_view> texts) {
  Json array = Json::array();
  for (std::string_view text : texts) array.emplace_back(std::string(text));
  return array;
}

/// A cell as JSON, one function a kind of value.
struct JsonOf {
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

class JsonWriter : public RowWriter {
 public:
  explicit JsonWriter(Columns columns) : columns_(std::move(columns)) {}

  void AppendHeader(std::string*) override {}

  void AppendRow(const PricedKernel& row, std::string* out) override {
    Json object;
    object["schema"] = kJsonSchema;
    for (const Column* column : columns_) {
      const std::string key(column->key);
      const Cell cell = column->get(row);
      object[key] = std::visit(JsonOf{}, cell.value);
      const auto* list = std::get_if<Cell::Texts>(&cell.value);
      if (list != nullptr && list->more > 0) object[key + "Cut"] = list->more;
    }
    *out += object.dump(-1, ' ', false, Json::error_handler_t::replace);
    out->push_back('\n');
  }

 private:
  Columns columns_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeJsonWriter(Columns columns) {
  return std::make_unique<JsonWriter>(std::move(columns));
}

}  // namespace oplens::prof
