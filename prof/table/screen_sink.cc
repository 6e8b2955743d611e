#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/table/display_width.h"
#include "prof/table/fitted_text.h"
#include "prof/table/layout.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostNamed = 6;      // Dropped columns named in the sentence.
constexpr size_t kLeastColumns = 10;  // Minimum assumed for a terminal.
// Of lines without a limit:
constexpr size_t kWindow = 1000;
constexpr size_t kMostStored = size_t{1} << 20;  // Bytes.

/// Texts shrink to this before columns are dropped.
size_t LeastText(size_t columns) { return std::clamp<size_t>(columns / 8, 6, 10); }
/// The same for names, which must tell kernels apart.
size_t LeastName(size_t columns) { return std::clamp<size_t>(columns * 3 / 10, 12, 24); }

constexpr std::string_view kHeader = "\x1b[1m";  // Bold.
constexpr std::string_view kAside = "\x1b[2m";   // Faint.
constexpr std::string_view kPlain = "\x1b[0m";

/// The few columns with their own colour.
struct Tint {
  std::string_view key;
  std::string_view colour;
};
constexpr Tint kTints[] = {
    {"op", "\x1b[36m"}, {"loss", "\x1b[33m"}, {"mend", "\x1b[33m"}, {"reason", "\x1b[33m"}};

/// Appends a sentence, broken at blanks into lines of at most `width` columns if possible.
void AppendWrapped(std::string_view sentence, size_t width, std::string* out) {
  size_t at = 0;
  while (!sentence.empty()) {
    const size_t blank = sentence.find(' ');
    const std::string_view word = sentence.substr(0, blank);
    if (at > 0 && at + 1 + word.size() > width) {
      out->push_back('\n');
      at = 0;
    }
    if (at > 0) out->push_back(' ');
    out->append(word);
    at += word.size() + (at > 0 ? 1 : 0);
    sentence.remove_prefix(std::min(sentence.size(), word.size() + 1));
  }
}

/// What a table may take.
struct ScreenLimits {
  size_t columns = 0;    ///< Of a line; 0: no limit.
  size_t name = 0;       ///< Columns of a name,
  size_t sentence = 0;   ///< and of a sentence.
  size_t most_rows = 0;  ///< 0: no limit.
  size_t window = 0;     ///< Rows that decide the widths; 0: all, which are stored.
};

class ScreenSink : public Sink {
 public:
  ScreenSink(Output* output, const ScreenLimits& limits, bool colours)
      : output_(output), limits_(limits), colours_(colours) {}

  void Begin(std::string_view, std::vector<Field> fields) override {
    fields_ = std::move(fields);
    for (const Field& field : fields_)
      rooms_.push_back({0, DisplayWidth(field.header), field.rank});
  }

  void Row(std::span<const Cell> cells) override {
    if (limits_.most_rows > 0 && rows_.size() == limits_.most_rows) {
      ++rows_left_out_;
      return;
    }
    if (!widths_.empty()) {
      KeepTexts(cells, &next_);
      AppendRow(next_, "");
      output_->FlushIfLarge();
      return;
    }
    stored_bytes_ += KeepTexts(cells, &rows_.emplace_back());
    const std::vector<std::string>& row = rows_.back();
    for (size_t i = 0; i < row.size(); ++i) {
      rooms_[i].wish = std::max(rooms_[i].wish, DisplayWidth(row[i]));
    }
    if (limits_.window == 0) return;
    if (rows_.size() == limits_.window || stored_bytes_ > kMostStored) LayOutStored(true);
  }

  void End() override {
    if (widths_.empty()) LayOutStored(false);
    SayWhatIsLeftOut();
    output_->FlushIfLarge();
  }

  void Words(std::string_view text) override { output_->buffer()->append(text); }
  bool TakesDocuments() const override { return true; }
  void Document(std::string_view text) override { output_->buffer()->append(text); }

 private:
  /// The texts of the cells, without control characters and no wider than they may be. Returns
  /// their bytes.
  size_t KeepTexts(std::span<const Cell> cells, std::vector<std::string>* row) {
    row->resize(cells.size());
    size_t bytes = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string& text = (*row)[i];
      text.clear();
      AppendReadable(fields_[i], cells[i], limits_.name, limits_.sentence, &text);
      bytes += text.size();
    }
    return bytes;
  }

  /// Decides the widths and prints what is stored. `goes_on`: more rows follow.
  void LayOutStored(bool goes_on) {
    for (size_t i = 0; i < fields_.size(); ++i) {
      ColumnWidths& room = rooms_[i];
      const bool number = IsNumber(fields_[i]);
      // Numbers may have more digits further down.
      if (goes_on && number) {
        room.wish = std::max(room.wish, static_cast<size_t>(fields_[i].width));
      }
      const size_t floor = fields_[i].type == FieldType::kName ? LeastName(limits_.columns)
                                                               : LeastText(limits_.columns);
      room.least = number ? room.wish : std::min(room.wish, floor);
    }
    if (limits_.columns > 0) {
      widths_ = LayOut(rooms_, limits_.columns);
    } else {
      for (const ColumnWidths& room : rooms_) widths_.push_back(room.wish);
    }
    std::vector<std::string> headers;
    for (const Field& field : fields_) headers.emplace_back(field.header);
    AppendRow(headers, colours_ ? kHeader : "");
    for (const std::vector<std::string>& row : rows_) AppendRow(row, "");
    if (goes_on) rows_.clear();
  }

  std::string_view ColourOf(const Field& field) const {
    if (!colours_) return {};
    for (const Tint& tint : kTints) {
      if (tint.key == field.key) return tint.colour;
    }
    return {};
  }

  /// `colour`: of the whole row; "": per column.
  void AppendRow(const std::vector<std::string>& texts, std::string_view colour) {
    std::string* const out = output_->buffer();
    size_t blanks = 0;  // Pending blanks; none are written at the end of a line.
    for (size_t i = 0; i < texts.size(); ++i) {
      if (widths_[i] == 0) continue;
      cut_.clear();
      const bool right = IsNumber(fields_[i]);
      // Numbers are never cut, even if wider than the line; nothing is in lines without a limit.
      const bool whole = right || limits_.columns == 0;
      const size_t width = whole ? std::max(widths_[i], DisplayWidth(texts[i])) : widths_[i];
      const size_t fill = width - AppendCut(texts[i], width, CutOf(fields_[i], texts[i]), &cut_);
      out->append(blanks + (right ? fill : 0), ' ');
      const std::string_view tint = colour.empty() ? ColourOf(fields_[i]) : colour;
      out->append(tint).append(cut_).append(tint.empty() ? std::string_view() : kPlain);
      blanks = 1 + (right ? 0 : fill);
    }
    out->push_back('\n');
  }

  void SayWhatIsLeftOut() {
    if (rows_left_out_ > 0) {
      Say(fmt::format("{} more row{}: --top N shows N, -w 200 | less -S or -o FILE all",
                      rows_left_out_, rows_left_out_ == 1 ? "" : "s"));
    }
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (widths_[i] == 0) keys.push_back(fields_[i].key);
    }
    if (keys.empty()) return;
    const size_t named = std::min(keys.size(), kMostNamed);
    Say(fmt::format("{} column{} for a wider line: {}{}; -c chooses, -w 200 | less -S shows more",
                    keys.size(), keys.size() == 1 ? "" : "s",
                    fmt::join(std::span(keys).first(named), ", "),
                    named < keys.size() ? ", ..." : ""));
  }

  void Say(std::string_view sentence) {
    std::string* const out = output_->buffer();
    if (colours_) out->append(kAside);
    AppendWrapped(sentence, limits_.columns, out);
    if (colours_) out->append(kPlain);
    out->push_back('\n');
  }

  Output* output_;
  ScreenLimits limits_;
  bool colours_;
  std::vector<Field> fields_;
  std::vector<ColumnWidths> rooms_;
  std::vector<size_t> widths_;  // Empty until they are decided.
  std::vector<std::vector<std::string>> rows_;
  size_t stored_bytes_ = 0;
  std::vector<std::string> next_;
  size_t rows_left_out_ = 0;
  std::string cut_;
};

}  // namespace

std::unique_ptr<Sink> MakeScreenSink(Output* output, const Screen& screen) {
  const size_t columns = std::max(screen.columns, kLeastColumns);
  return std::make_unique<ScreenSink>(
      output,
      ScreenLimits{
          .columns = columns, .name = columns, .sentence = columns, .most_rows = screen.most_rows},
      screen.colours);
}

std::unique_ptr<Sink> MakeAlignedSink(Output* output) {
  return std::make_unique<ScreenSink>(
      output,
      ScreenLimits{.name = kMostReadableName, .sentence = kMostReadableSentence, .window = kWindow},
      false);
}

}  // namespace oplens::prof
