#include <utility>

#include "base/utf8.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

/// Appends a field that a reader can split at blanks.
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
