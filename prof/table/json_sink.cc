#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "prof/table/text_sinks.h"

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

class JsonSink : public Sink {
 public:
  JsonSink(Output* output, bool names_table) : output_(output), names_table_(names_table) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    table_ = table;
    fields_ = std::move(fields);
  }

  void Row(std::span<const Cell> cells) override {
    Json object;
    object["schema"] = kJsonSchema;
    if (names_table_) object["view"] = table_;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string key(fields_[i].key);
      object[key] = std::visit(JsonOf{}, cells[i].value);
      const auto* list = std::get_if<Cell::Texts>(&cells[i].value);
      if (list != nullptr && list->more > 0) object[key + "Cut"] = list->more;
    }
    *output_->buffer() += object.dump(-1, ' ', false, Json::error_handler_t::replace);
    output_->buffer()->push_back('\n');
    output_->FlushIfLarge();
  }

 private:
  Output* output_;
  bool names_table_;
  std::string table_;
  std::vector<Field> fields_;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table) {
  return std::make_unique<JsonSink>(output, names_table);
}

}  // namespace oplens::prof
