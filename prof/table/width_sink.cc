#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append_format.h"
#include "base/error.h"
#include "base/utf8.h"
#include "prof/table/text_sinks.h"

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
std::vector<size_t> Widths(std::span<const Field> fields, int total) {
  if (total > kMaxWidth) {
    throw UsageError(fmt::format("-w {} is too wide: the most is -w {}", total, kMaxWidth));
  }
  int fixed = static_cast<int>(fields.size()) - 1;
  int shared = 0;
  for (const Field& field : fields) {
    fixed += field.width;
    if (field.width == Field::kShared) ++shared;
  }
  const int least = fixed + shared * kLeastSharedWidth;
  if (total < least) {
    std::string keys;
    for (const Field& field : fields) AppendFormat(&keys, ",{}", field.key);
    throw UsageError(fmt::format("-w {} is too narrow: the columns {} need at least -w {}", total,
                                 keys.substr(1), least));
  }
  const int part = shared == 0 ? 0 : (total - fixed) / shared;
  std::vector<size_t> widths;
  for (const Field& field : fields) {
    const int width = field.width == Field::kShared ? part : field.width;
    widths.push_back(static_cast<size_t>(width));
  }
  return widths;
}

class WidthSink : public Sink {
 public:
  WidthSink(Output* output, int width) : output_(output), width_(width) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    widths_ = Widths(fields, width_);
    fields_ = std::move(fields);
    std::string* out = output_->buffer();
    for (size_t i = 0; i < fields_.size(); ++i) {
      AppendLeft(fields_[i].header, widths_[i], out);
      out->push_back(' ');
    }
    EndLine(out);
  }

  void Row(std::span<const Cell> cells) override {
    std::string* out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      const Field& field = fields_[i];
      std::string_view text = TextOf(field, cells[i]);
      if (text.empty()) text = "-";
      if (field.type == FieldType::kInteger || field.type == FieldType::kDecimal) {
        AppendRight(text, widths_[i], out);
      } else {
        AppendLeft(text, widths_[i], out);
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

  static void EndLine(std::string* out) {
    out->erase(out->find_last_not_of(' ') + 1);
    out->push_back('\n');
  }

  Output* output_;
  int width_;
  std::vector<Field> fields_;
  std::vector<size_t> widths_;
  std::string scratch_;
};

}  // namespace

void RefuseWidth(std::span<const Field> fields, int width) { Widths(fields, width); }

std::unique_ptr<Sink> MakeWidthSink(Output* output, int width) {
  return std::make_unique<WidthSink>(output, width);
}

}  // namespace oplens::prof
