#include <utility>

#include "base/utf8.h"
#include "prof/table/writer.h"

namespace oplens::prof {
namespace {

/// Appends a field that a reader can split at blanks.
void AppendField(std::string_view text, std::string* out) {
  AppendUtf8(text.empty() ? "-" : text, Utf8Hidden::kControlsAndBlanks, out);
}

class SpaceWriter : public RowWriter {
 public:
  explicit SpaceWriter(Columns columns) : columns_(std::move(columns)) {}

  void AppendHeader(std::string* out) override {
    for (const Column* column : columns_) {
      AppendField(column->header, out);
      out->push_back(' ');
    }
    out->back() = '\n';
  }

  void AppendRow(const PricedKernel& row, std::string* out) override {
    for (const Column* column : columns_) {
      AppendField(CellText(*column, column->get(row), &scratch_), out);
      out->push_back(' ');
    }
    out->back() = '\n';
  }

 private:
  Columns columns_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeSpaceWriter(Columns columns) {
  return std::make_unique<SpaceWriter>(std::move(columns));
}

}  // namespace oplens::prof
