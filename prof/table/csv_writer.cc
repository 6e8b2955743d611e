#include <utility>

#include "base/utf8.h"
#include "prof/table/writer.h"

namespace oplens::prof {
namespace {

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const size_t quote = text.find('"');
    if (quote == std::string_view::npos) break;
    AppendUtf8(text.substr(0, quote + 1), Utf8Hidden::kNothing, out);
    out->push_back('"');
    text.remove_prefix(quote + 1);
  }
  AppendUtf8(text, Utf8Hidden::kNothing, out);
  out->push_back('"');
}

class CsvWriter : public RowWriter {
 public:
  explicit CsvWriter(Columns columns) : columns_(std::move(columns)) {}

  void AppendHeader(std::string* out) override {
    for (const Column* column : columns_) {
      AppendQuoted(column->header, out);
      out->push_back(',');
    }
    out->back() = '\n';
  }

  void AppendRow(const PricedKernel& row, std::string* out) override {
    for (const Column* column : columns_) {
      AppendQuoted(CellText(*column, column->get(row), &scratch_), out);
      out->push_back(',');
    }
    out->back() = '\n';
  }

 private:
  Columns columns_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeCsvWriter(Columns columns) {
  return std::make_unique<CsvWriter>(std::move(columns));
}

}  // namespace oplens::prof
