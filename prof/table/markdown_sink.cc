#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/ascii.h"
#include "base/markdown.h"
#include "prof/table/fitted_text.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

/// Whether a text is in the running font: a sentence, or a word such as "mm". Others are code.
bool IsWords(const Field& field, std::string_view text) {
  const Cut cut = CutOf(field, text);
  if (field.type != FieldType::kText || cut == Cut::kLeft) return false;
  if (text.front() == '(') return true;  // "(12 more)"
  if (text.find(' ') != std::string_view::npos) return cut == Cut::kRight;
  return std::all_of(text.begin(), text.end(), IsNameCharacter) && !text.starts_with('_');
}

class MarkdownSink : public Sink {
 public:
  MarkdownSink(Output* output, size_t most_rows, bool first)
      : output_(output), most_rows_(most_rows), follows_(!first) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    fields_ = std::move(fields);
    std::string* const out = output_->buffer();
    Separate();
    for (const Field& field : fields_) {
      out->append("| ");
      AppendMarkdownText(field.header, out);
      out->push_back(' ');
    }
    out->append("|\n");
    for (const Field& field : fields_) out->append(IsNumber(field) ? "| ---: " : "| :--- ");
    out->append("|\n");
  }

  void Row(std::span<const Cell> cells) override {
    if (most_rows_ > 0 && rows_++ >= most_rows_) return;
    std::string* const out = output_->buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      out->append("| ");
      AppendCell(fields_[i], cells[i], out);
      out->push_back(' ');
    }
    out->append("|\n");
    output_->FlushIfLarge();
  }

  void End() override {
    if (most_rows_ == 0 || rows_ <= most_rows_) return;
    const size_t more = rows_ - most_rows_;
    AppendFormat(output_->buffer(), "\n{} more row{}: `--top N` shows N, `--csv` all\n", more,
                 more == 1 ? "" : "s");
  }

  void Words(std::string_view text) override {
    const size_t first = text.find_first_not_of('\n');
    if (first == std::string_view::npos) return;
    text.remove_prefix(first);
    Separate();
    AppendMarkdownBlock(text, output_->buffer());
  }

 private:
  /// An empty line ends a table.
  void Separate() {
    if (follows_) output_->buffer()->push_back('\n');
    follows_ = true;
  }

  void AppendCell(const Field& field, const Cell& cell, std::string* out) {
    text_.clear();
    AppendReadable(field, cell, kMostReadableName, kMostReadableSentence, &text_);
    if (IsNumber(field) || text_ == "-") {
      out->append(text_);
    } else if (IsWords(field, text_)) {
      AppendMarkdownText(text_, out);
    } else {
      AppendMarkdownCode(text_, out);
    }
  }

  Output* output_;
  size_t most_rows_;
  size_t rows_ = 0;
  bool follows_;  // There are lines before.
  std::vector<Field> fields_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Sink> MakeMarkdownSink(Output* output, size_t most_rows, bool first) {
  return std::make_unique<MarkdownSink>(output, most_rows, first);
}

}  // namespace oplens::prof
