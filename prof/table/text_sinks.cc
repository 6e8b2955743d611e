#include "prof/table/text_sinks.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/append_format.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "prof/table/json_cell.h"

namespace oplens::prof {
namespace {

void AppendQuoted(std::string_view text, Utf8Hidden hidden, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const size_t quote = text.find('"');
    if (quote == std::string_view::npos) break;
    AppendUtf8(text.substr(0, quote + 1), hidden, out);
    out->push_back('"');
    text.remove_prefix(quote + 1);
  }
  AppendUtf8(text, hidden, out);
  out->push_back('"');
}

class CsvSink : public Sink {
 public:
  CsvSink(Output* output, bool header_keys, Utf8Hidden hidden)
      : output_(output), header_keys_(header_keys), hidden_(hidden) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    fields_ = std::move(fields);
    std::string* out = output_->buffer();
    for (const Field& field : fields_) {
      AppendQuoted(header_keys_ ? field.key : field.header, hidden_, out);
      out->push_back(',');
    }
    out->back() = '\n';
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      AppendQuoted(CellText(fields_[i], cells[i], &scratch_), hidden_, out);
      out->push_back(',');
    }
    out->back() = '\n';
    output_->FlushIfLarge();
  }

 private:
  Output* output_;
  bool header_keys_;
  Utf8Hidden hidden_;
  std::vector<Field> fields_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<Sink> MakeCsvSink(Output* output, bool header_keys, Utf8Hidden hidden) {
  return std::make_unique<CsvSink>(output, header_keys, hidden);
}

namespace {

class JsonSink : public Sink {
 public:
  JsonSink(Output* output, bool names_table) : output_(output), names_table_(names_table) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    begin_ = "{\"schema\":";
    AppendInteger(kJsonSchema, &begin_);
    if (names_table_) {
      begin_ += ",\"view\":";
      AppendJsonString(table, &begin_);
    }
    members_.clear();
    for (const Field& field : fields) members_.push_back({KeyOf(field, ""), KeyOf(field, "Cut")});
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    out->append(begin_);
    for (size_t i = 0; i < cells.size(); ++i) {
      out->append(members_[i].key);
      AppendJsonCell(cells[i], out);
      const auto* list = std::get_if<Cell::Texts>(&cells[i].value);
      if (list == nullptr || list->more <= 0) continue;
      out->append(members_[i].cut_key);
      AppendInteger(list->more, out);
    }
    out->append("}\n");
    output_->FlushIfLarge();
  }

 private:
  /// `,"key":`
  struct Member {
    std::string key;
    std::string cut_key;  // Of the number of texts that were left out.
  };

  static std::string KeyOf(const Field& field, std::string_view suffix) {
    std::string text = ",";
    AppendJsonString(std::string(field.key).append(suffix), &text);
    return text += ':';
  }

  Output* output_;
  bool names_table_;
  std::string begin_;
  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table) {
  return std::make_unique<JsonSink>(output, names_table);
}

namespace {

/// Appends a field without blanks.
void AppendField(std::string_view text, std::string* out) {
  AppendUtf8(text.empty() ? "-" : text, Utf8Hidden::kControlsAndBlanks, out);
}

class SpaceSink : public Sink {
 public:
  explicit SpaceSink(Output* output) : output_(output) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    fields_ = std::move(fields);
    std::string* out = output_->buffer();
    for (const Field& field : fields_) {
      AppendField(field.header, out);
      out->push_back(' ');
    }
    out->back() = '\n';
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      AppendField(CellText(fields_[i], cells[i], &scratch_), out);
      out->push_back(' ');
    }
    out->back() = '\n';
    output_->FlushIfLarge();
  }

  void Words(std::string_view text) override { output_->buffer()->append(text); }

  bool TakesDocuments() const override { return true; }
  void Document(std::string_view text) override {
    output_->buffer()->append(text);
    output_->FlushIfLarge();
  }

 private:
  Output* output_;
  std::vector<Field> fields_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<Sink> MakeSpaceSink(Output* output) { return std::make_unique<SpaceSink>(output); }

}  // namespace oplens::prof
