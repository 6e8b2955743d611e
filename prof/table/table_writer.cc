#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append_format.h"
#include "base/error.h"
#include "base/utf8.h"
#include "prof/table/writer.h"

namespace oplens::prof {
namespace {

constexpr int kLeastSharedWidth = 6;  // Of the columns that share what is left.
constexpr int kMaxWidth = 10000;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Cuts UTF-8 text down to `width` characters; how many characters are left.
size_t CutTo(size_t width, size_t begin, std::string* text) {
  size_t taken = 0;
  for (size_t i = begin; i < text->size(); ++i) {
    if (IsContinuation((*text)[i])) continue;
    if (taken == width) {
      text->resize(i);
      break;
    }
    ++taken;
  }
  return taken;
}

/// Appends `text` cut or filled up to `width` characters. Control characters become '_', so that no
/// kernel name can move the cursor.
void AppendLeft(std::string_view text, size_t width, std::string* out) {
  const size_t begin = out->size();
  // No character takes more than 4 bytes; a sequence that is cut is not within the width.
  AppendUtf8(text.substr(0, 4 * (width + 1)), Utf8Hidden::kControls, out);
  const size_t taken = CutTo(width, begin, out);
  out->append(width - taken, ' ');
}

void AppendRight(std::string_view digits, size_t width, std::string* out) {
  if (digits.size() < width) out->append(width - digits.size(), ' ');
  out->append(digits);
}

/// The width of each column. The shared ones part what the others and the separators leave.
std::vector<size_t> Widths(const Columns& columns, int total) {
  if (total > kMaxWidth) {
    throw UsageError(fmt::format("-w {} is too wide: the most is -w {}", total, kMaxWidth));
  }
  int fixed = static_cast<int>(columns.size()) - 1;
  int shared = 0;
  for (const Column* column : columns) {
    fixed += column->width;
    if (column->width == Column::kShared) ++shared;
  }
  const int least = fixed + shared * kLeastSharedWidth;
  if (total < least) {
    std::string keys;
    for (const Column* column : columns) AppendFormat(&keys, ",{}", column->key);
    throw UsageError(fmt::format("-w {} is too narrow: the columns {} need at least -w {}", total,
                                 keys.substr(1), least));
  }
  const int part = shared == 0 ? 0 : (total - fixed) / shared;
  std::vector<size_t> widths;
  for (const Column* column : columns) {
    const int width = column->width == Column::kShared ? part : column->width;
    widths.push_back(static_cast<size_t>(width));
  }
  return widths;
}

class TableWriter : public RowWriter {
 public:
  TableWriter(Columns columns, int width)
      : columns_(std::move(columns)), widths_(Widths(columns_, width)) {}

  void AppendHeader(std::string* out) override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      AppendLeft(columns_[i]->header, widths_[i], out);
      out->push_back(' ');
    }
    EndLine(out);
  }

  void AppendRow(const PricedKernel& row, std::string* out) override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = *columns_[i];
      std::string_view text = Text(column, column.get(row));
      if (text.empty()) text = "-";
      if (column.type == ColumnType::kInteger || column.type == ColumnType::kDecimal) {
        AppendRight(text, widths_[i], out);
      } else {
        AppendLeft(text, widths_[i], out);
      }
      out->push_back(' ');
    }
    EndLine(out);
  }

 private:
  std::string_view Text(const Column& column, const Cell& cell) {
    const auto* list = std::get_if<Cell::Texts>(&cell.value);
    if (column.type == ColumnType::kFileList && list != nullptr && !list->texts.empty()) {
      const std::string_view last = list->texts.back();
      return last.substr(last.rfind('/') + 1);  // npos + 1 is 0.
    }
    return CellText(column, cell, &scratch_);
  }

  static void EndLine(std::string* out) {
    out->erase(out->find_last_not_of(' ') + 1);
    out->push_back('\n');
  }

  Columns columns_;
  std::vector<size_t> widths_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<RowWriter> MakeTableWriter(Columns columns, int width) {
  return std::make_unique<TableWriter>(std::move(columns), width);
}

}  // namespace oplens::prof
