#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "prof/table/fitted_text.h"
#include "prof/table/layout.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

constexpr size_t kLeastSharedWidth = 6;  // Of columns that share the rest.
constexpr size_t kLeastText = 8;         // Of texts before columns are dropped.
constexpr int kLeastLine = 10;
constexpr int kMaxWidth = 10000;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Cuts UTF-8 text to `width` characters; returns how many are left.
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

/// Appends `text` cut or padded to `width` characters. Control characters become '_', so that no
/// kernel name can move the cursor.
void AppendWidthSinkLeft(std::string_view text, size_t width, std::string* out) {
  const size_t begin = out->size();
  // A character has at most 4 bytes; a sequence cut here lies beyond the width.
  AppendUtf8(text.substr(0, 4 * (width + 1)), Utf8Hidden::kControls, out);
  const size_t taken = CutTo(width, begin, out);
  out->append(width - taken, ' ');
}

/// The same, except that of layers and paths the end is kept.
void AppendWidthSinkText(const Field& field, std::string_view text, size_t width,
                         std::string* out) {
  if (field.type == FieldType::kFileList || CutOf(field, text) != Cut::kLeft) {
    AppendWidthSinkLeft(text, width, out);
    return;
  }
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kControls, &valid);
  out->append(width - std::min(width, AppendCut(valid, width, Cut::kLeft, out)), ' ');
}

void AppendWidthSinkRight(std::string_view digits, size_t width, std::string* out) {
  if (digits.size() < width) out->append(width - digits.size(), ' ');
  out->append(digits);
}

/// The requirements of a column that may have to shrink.
ColumnWidths WidthsOf(const Field& field, size_t total) {
  const bool shared = field.width == Field::kShared;
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kDecimal;
  const auto width = static_cast<size_t>(field.width);
  if (shared) return {kLeastText, total, field.rank};
  return {number ? width : std::min(width, kLeastText), width, field.rank};
}

/// The smallest width at which nothing is dropped.
size_t LeastWidth(std::span<const Field> fields) {
  size_t least = fields.size() - 1;
  for (const Field& field : fields) {
    least += field.width == Field::kShared ? kLeastSharedWidth : static_cast<size_t>(field.width);
  }
  return least;
}

/// The width of each column, 0 if dropped. Shared columns divide what others and separators leave.
std::vector<size_t> WidthSinkWidths(std::span<const Field> fields, size_t total) {
  std::vector<size_t> widths;
  if (total < LeastWidth(fields)) {
    std::vector<ColumnWidths> rooms;
    for (const Field& field : fields) rooms.push_back(WidthsOf(field, total));
    return LayOut(rooms, total);
  }
  size_t fixed = fields.size() - 1;
  size_t shared = 0;
  for (const Field& field : fields) {
    fixed += static_cast<size_t>(field.width);
    if (field.width == Field::kShared) ++shared;
  }
  const size_t part = shared == 0 ? 0 : (total - fixed) / shared;
  for (const Field& field : fields) {
    widths.push_back(field.width == Field::kShared ? part : static_cast<size_t>(field.width));
  }
  return widths;
}

class WidthSink : public Sink {
 public:
  WidthSink(Output* output, int width, std::vector<std::string>* notes)
      : output_(output), width_(width), notes_(notes) {}

  void Words(std::string_view text) override { output_->buffer()->append(text); }

  void Begin(std::string_view, std::vector<Field> fields) override {
    RefuseWidth(width_);
    widths_ = WidthSinkWidths(fields, static_cast<size_t>(width_));
    fields_ = std::move(fields);
    if (notes_ != nullptr) NoteWhatIsLeftOut();
    std::string* out = output_->buffer();
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (widths_[i] == 0) continue;
      AppendWidthSinkLeft(fields_[i].header, widths_[i], out);
      out->push_back(' ');
    }
    EndLine(out);
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (widths_[i] == 0) continue;
      const Field& field = fields_[i];
      std::string_view text = TextOf(field, cells[i]);
      if (text.empty()) text = "-";
      if (field.type == FieldType::kInteger || field.type == FieldType::kDecimal) {
        AppendWidthSinkRight(text, widths_[i], out);
      } else {
        AppendWidthSinkText(field, text, widths_[i], out);
      }
      out->push_back(' ');
    }
    EndLine(out);
    output_->FlushIfLarge();
  }

 private:
  std::string_view TextOf(const Field& field, const Cell& cell) {
    const auto* list = std::get_if<Cell::Texts>(&cell.value);
    if (field.type == FieldType::kFileList && list != nullptr && !list->texts.empty()) {
      const std::string_view last = list->texts.back();
      return last.substr(last.rfind('/') + 1);  // npos + 1 is 0.
    }
    return CellText(field, cell, &scratch_);
  }

  void NoteWhatIsLeftOut() {
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (widths_[i] == 0) keys.push_back(fields_[i].key);
    }
    if (keys.empty()) return;
    notes_->push_back(
        fmt::format("-w {} has no room for the columns {}: choose with -c, or give -w {}", width_,
                    fmt::join(keys, ","), LeastWidth(fields_)));
  }

  static void EndLine(std::string* out) {
    out->erase(out->find_last_not_of(' ') + 1);
    out->push_back('\n');
  }

  Output* output_;
  int width_;
  std::vector<std::string>* notes_;
  std::vector<Field> fields_;
  std::vector<size_t> widths_;
  std::string scratch_;
};

}  // namespace

void RefuseWidth(int width) {
  if (width < kLeastLine) {
    throw UsageError(fmt::format("-w {} is too narrow: the least is -w {}", width, kLeastLine));
  }
  if (width > kMaxWidth) {
    throw UsageError(fmt::format("-w {} is too wide: the most is -w {}", width, kMaxWidth));
  }
}

std::unique_ptr<Sink> MakeWidthSink(Output* output, int width, std::vector<std::string>* notes) {
  return std::make_unique<WidthSink>(output, width, notes);
}

}  // namespace oplens::prof
