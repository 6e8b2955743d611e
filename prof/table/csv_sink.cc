#include <utility>

#include "base/utf8.h"
#include "prof/table/text_sinks.h"

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

}  // namespace oplens::prof
