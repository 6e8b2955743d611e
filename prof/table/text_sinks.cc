#include "prof/table/text_sinks.h"

#include <algorithm>
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

/// Whether spreadsheets take a cell that begins so for a formula. The wide forms are those of
/// Chinese and Japanese keyboards. One character alone computes nothing: "-" is unknown.
bool BeginsFormula(std::string_view text) {
  constexpr std::string_view kFirst[] = {"=",  "+",      "-",      "@",      "\t",    "\r",
                                         "\n", "\uFF0B", "\uFF0D", "\uFF1D", "\uFF20"};
  return text.size() > 1 && std::ranges::any_of(kFirst, [&](std::string_view first) {
           return text.starts_with(first);
         });
}

/// The length of the control character at `i`, other than tabs and line ends; 0: it is none.
size_t ControlLength(std::string_view text, size_t i) {
  const auto at = [&](size_t place) { return static_cast<unsigned char>(text[place]); };
  if (at(i) < 0x20) return at(i) == '\t' || at(i) == '\n' || at(i) == '\r' ? 0 : 1;
  if (at(i) == 0x7F) return 1;
  // U+0080 to U+009F.
  const bool wide = at(i) == 0xC2 && i + 1 < text.size() && at(i + 1) >= 0x80 && at(i + 1) < 0xA0;
  return wide ? 2 : 0;
}

/// A text that no spreadsheet computes and no terminal obeys: an apostrophe before a formula, as
/// OWASP advises, and '_' for control characters. May return `text` itself.
std::string_view Harmless(std::string_view text, std::string* made) {
  bool controls = false;
  for (size_t i = 0; i < text.size() && !controls; ++i) controls = ControlLength(text, i) > 0;
  const bool formula = BeginsFormula(text);
  if (!controls && !formula) return text;
  made->assign(formula ? "'" : "");
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t length = ControlLength(text, i);
    made->push_back(length > 0 ? '_' : text[i]);
    if (length > 1) ++i;
  }
  return *made;
}

/// Whether a cell's text comes from an input.
bool IsOfInput(const Cell& cell) {
  return std::holds_alternative<std::string_view>(cell.value) ||
         std::holds_alternative<Cell::Texts>(cell.value);
}

class CsvSink : public Sink {
 public:
  CsvSink(Output* output, const CsvForm& form) : output_(output), form_(form) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    fields_ = std::move(fields);
    std::string* out = output_->buffer();
    for (const Field& field : fields_) {
      AppendQuoted(form_.header_keys ? field.key : field.header, form_.hidden, out);
      out->push_back(',');
    }
    out->back() = '\n';
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string_view text = CellText(fields_[i], cells[i], &scratch_);
      if (!form_.exact && IsOfInput(cells[i])) text = Harmless(text, &harmless_);
      AppendQuoted(text, form_.hidden, out);
      out->push_back(',');
    }
    out->back() = '\n';
    output_->FlushIfLarge();
  }

 private:
  Output* output_;
  CsvForm form_;
  std::vector<Field> fields_;
  std::string scratch_;
  std::string harmless_;
};

}  // namespace

std::unique_ptr<Sink> MakeCsvSink(Output* output, const CsvForm& form) {
  return std::make_unique<CsvSink>(output, form);
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
    for (const Field& field : fields) {
      const std::string key = KeyOf(field, "");
      std::string empty = key;
      AppendJsonCell({}, &empty);
      members_.push_back({key, std::move(empty), KeyOf(field, "Cut")});
    }
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    out->append(begin_);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (std::holds_alternative<std::monostate>(cells[i].value)) {
        out->append(members_[i].empty);
        continue;
      }
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
    std::string empty;    // With the value of an empty cell.
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
