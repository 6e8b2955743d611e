#include <string>
#include <utility>

#include "prof/table/json_cell.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

using JsonSinkJson = nlohmann::ordered_json;

class JsonSink : public Sink {
 public:
  JsonSink(Output* output, bool names_table) : output_(output), names_table_(names_table) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    table_ = table;
    fields_ = std::move(fields);
  }

  void Row(std::span<const Cell> cells) override {
    JsonSinkJson object;
    object["schema"] = kJsonSchema;
    if (names_table_) object["view"] = table_;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string key(fields_[i].key);
      object[key] = JsonOf(cells[i]);
      const auto* list = std::get_if<Cell::Texts>(&cells[i].value);
      if (list != nullptr && list->more > 0) object[key + "Cut"] = list->more;
    }
    *output_->buffer() += JsonTextOf(object);
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
