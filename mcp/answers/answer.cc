#include "mcp/answers/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "mcp/answers/tokens.h"
#include "prof/table/display_width.h"
#include "prof/table/fitted_text.h"

namespace oplens::mcp {
namespace {

using AnswerJson = nlohmann::ordered_json;

/// Six digits, which is more than any clock or counter is good for.
double Rounded(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  std::array<char, 40> text{};
  const auto end = fmt::format_to_n(text.data(), text.size(), "{:.6g}", value).out;
  double rounded = value;
  std::from_chars(text.data(), end, rounded);
  return rounded;
}

AnswerJson NumberOf(double value) {
  if (!std::isfinite(value)) return nullptr;
  // Whole numbers are counts, bytes and ns.
  constexpr double kMillion = 1e6;
  const bool is_whole = value == std::floor(value) || std::fabs(value) >= kMillion;
  const double rounded = is_whole ? std::round(value) : Rounded(value);
  if (rounded == std::floor(rounded) && std::fabs(rounded) < 1e15) {
    return static_cast<int64_t>(rounded);
  }
  return rounded;
}

/// A cell as a number, a text or null.
AnswerJson CellOf(const prof::Field& field, const prof::Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell.value)) return *integer;
  if (const auto* decimal = std::get_if<double>(&cell.value)) return NumberOf(*decimal);
  std::string scratch;
  const std::string_view text = prof::CellText(field, cell, &scratch);
  if (text.empty()) return nullptr;
  // Names of C++ have blanks too.
  const bool sentence = std::ranges::count(text, ' ') > 1 && field.key != "kernel" &&
                        text.find("::") == std::string_view::npos;
  std::string cut;
  if (sentence) {
    prof::AppendCut(SafeText(text, SIZE_MAX), kSentenceColumns, prof::Cut::kRight, &cut);
    return cut;
  }
  prof::AppendCut(SafeText(text, SIZE_MAX), kNameColumns, prof::CutOf(field, text), &cut);
  return cut;
}

void AppendCell(const AnswerJson& cell, std::string* out) {
  if (cell.is_null()) {
    out->push_back('-');
  } else if (cell.is_string()) {
    // The column ends at a bar.
    for (const char c : cell.get_ref<const std::string&>()) out->push_back(c == '|' ? '/' : c);
  } else {
    out->append(cell.dump());
  }
}

std::string AnswerDump(const AnswerJson& value) {
  return value.dump(-1, ' ', false, AnswerJson::error_handler_t::replace);
}

/// An answer with the first rows and notes of another.
class Shaper {
 public:
  Shaper(const Answer& answer, const AnswerRows& rows) : answer_(answer), rows_(rows) {}

  /// How many rows follow the first `shown`.
  size_t Missing(size_t shown) const {
    return rows_.all() - std::min(rows_.all(), rows_.skip() + shown);
  }

  std::string Text(size_t shown, size_t notes) const {
    std::string text = answer_.title + "\n";
    if (!rows_.columns().empty() && shown > 0) {
      text += fmt::format("{}\n", fmt::join(rows_.columns(), "|"));
      for (size_t i = 0; i < shown; ++i) {
        const std::vector<AnswerJson>& row = rows_.rows()[i];
        for (size_t k = 0; k < row.size(); ++k) {
          if (k > 0) text.push_back('|');
          AppendCell(row[k], &text);
        }
        text.push_back('\n');
      }
    }
    if (const size_t missing = Missing(shown); missing > 0) {
      text += fmt::format("{} more rows (skip={})", missing, rows_.skip() + shown);
      const AnswerJson sums = rows_.SumsFrom(shown);
      if (!sums.empty()) {
        text += ", in sum:";
        for (const auto& [column, sum] : sums.items())
          text += fmt::format(" {}={}", column, sum.dump());
      }
      text.push_back('\n');
    }
    for (size_t i = 0; i < notes; ++i) text += fmt::format("Note: {}\n", answer_.notes[i]);
    const Source& evidence = answer_.evidence;
    text += fmt::format("{}{}{}: {}", evidence.basis, evidence.share.empty() ? "" : ", of ",
                        evidence.share, evidence.command);
    if (!evidence.hash.empty()) text += fmt::format(" ({})", evidence.hash);
    text.push_back('\n');
    if (!answer_.next.tool.empty()) {
      text += fmt::format("Next: {} {} {}\n", answer_.next.tool, AnswerDump(answer_.next.arguments),
                          answer_.next.why);
    }
    return text;
  }

  AnswerJson Structured(size_t shown, size_t notes) const {
    AnswerJson object;
    object["title"] = answer_.title;
    object["columns"] = rows_.columns();
    AnswerJson& table = object["rows"] = AnswerJson::array();
    for (size_t i = 0; i < shown; ++i) table.push_back(rows_.rows()[i]);
    if (const size_t missing = Missing(shown); missing > 0) {
      AnswerJson more = {{"rows", missing}, {"skip", rows_.skip() + shown}};
      AnswerJson sums = rows_.SumsFrom(shown);
      if (!sums.empty()) more["sums"] = std::move(sums);
      object["more"] = std::move(more);
    }
    AnswerJson& said = object["notes"] = AnswerJson::array();
    for (size_t i = 0; i < notes; ++i) said.push_back(answer_.notes[i]);
    const Source& evidence = answer_.evidence;
    AnswerJson& from = object["evidence"] = AnswerJson::object();
    from["command"] = evidence.command;
    from["file"] = evidence.file;
    if (!evidence.hash.empty()) from["hash"] = evidence.hash;
    from["basis"] = evidence.basis;
    if (!evidence.share.empty()) from["share"] = evidence.share;
    if (!answer_.next.tool.empty()) {
      object["next"] = {{"tool", answer_.next.tool},
                        {"arguments", answer_.next.arguments},
                        {"why", answer_.next.why}};
    }
    return object;
  }

  bool Fits(size_t shown, size_t notes, size_t max_tokens) const {
    return TokensOf(Text(shown, notes)) <= max_tokens &&
           TokensOf(AnswerDump(Structured(shown, notes))) <= max_tokens;
  }

 private:
  const Answer& answer_;
  const AnswerRows& rows_;
};

void AppendEscaped(std::string_view character, std::string* out) {
  // A code point of at most 0xFFFF.
  const auto byte = [&](size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
  };
  const unsigned code = character.size() == 1 ? byte(0)
                        : character.size() == 2
                            ? (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F)
                            : (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  *out += fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string SafeText(std::string_view text, size_t width) {
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kNothing, &valid);
  std::string safe;
  std::string shown;
  for (size_t i = 0; i < valid.size();) {
    const size_t length = std::max<size_t>(Utf8Length(valid, i), 1);
    const std::string_view character = std::string_view(valid).substr(i, length);
    shown.clear();
    AppendUtf8(character, Utf8Hidden::kControls, &shown);
    if (shown == character) {
      safe += character;
    } else {
      AppendEscaped(character, &safe);
    }
    i += length;
  }
  if (width == SIZE_MAX) return safe;
  std::string cut;
  prof::AppendCut(safe, width, prof::Cut::kMiddle, &cut);
  return cut;
}

void AnswerRows::Begin(std::vector<prof::Field> fields) {
  fields_ = std::move(fields);
  for (const prof::Field& field : fields_) {
    columns_.emplace_back(field.key);
    adds_up_.push_back(field.fold == prof::Fold::kSum);
  }
  beyond_.assign(columns_.size(), 0);
}

void AnswerRows::BeginPlain(std::vector<std::string> columns) {
  columns_ = std::move(columns);
  adds_up_.assign(columns_.size(), false);
  beyond_.assign(columns_.size(), 0);
}

void AnswerRows::Add(std::span<const prof::Cell> cells) {
  if (Wants()) {
    std::vector<AnswerJson> row;
    for (size_t i = 0; i < cells.size(); ++i) row.push_back(CellOf(fields_[i], cells[i]));
    rows_.push_back(std::move(row));
  } else if (all_ >= skip_) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!adds_up_[i]) continue;
      if (const auto* integer = std::get_if<int64_t>(&cells[i].value)) {
        beyond_[i] += static_cast<double>(*integer);
      } else if (const auto* decimal = std::get_if<double>(&cells[i].value)) {
        beyond_[i] += *decimal;
      }
    }
  }
  ++all_;
}

void AnswerRows::Add(std::vector<AnswerJson> cells) {
  if (Wants()) rows_.push_back(std::move(cells));
  ++all_;
}

std::optional<size_t> AnswerRows::ColumnOf(std::string_view key) const {
  const auto found = std::ranges::find(columns_, key);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

nlohmann::ordered_json AnswerRows::SumsFrom(size_t row) const {
  AnswerJson sums = AnswerJson::object();
  for (size_t k = 0; k < columns_.size(); ++k) {
    if (!adds_up_[k]) continue;
    double sum = beyond_[k];
    bool known = sum != 0;
    for (size_t i = row; i < rows_.size(); ++i) {
      const AnswerJson& cell = rows_[i][k];
      if (!cell.is_number()) continue;
      known = true;
      sum += cell.get<double>();
    }
    if (known) sums[columns_[k]] = NumberOf(sum);
  }
  return sums;
}

void AnswerRows::DropColumn(size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  columns_.erase(columns_.begin() + at);
  adds_up_.erase(adds_up_.begin() + at);
  beyond_.erase(beyond_.begin() + at);
  for (std::vector<AnswerJson>& row : rows_) row.erase(row.begin() + at);
}

std::vector<std::string> AnswerRows::DropUnknown() {
  std::vector<std::string> dropped;
  if (rows_.empty() || all_ > skip_ + rows_.size()) return dropped;
  for (size_t k = columns_.size(); k-- > 0;) {
    const bool known = std::ranges::any_of(
        rows_, [&](const std::vector<AnswerJson>& row) { return !row[k].is_null(); });
    if (known || columns_.size() == 1) continue;
    dropped.insert(dropped.begin(), columns_[k]);
    DropColumn(k);
  }
  return dropped;
}

AnswerJson RoundedCell(const AnswerJson& number) {
  return number.is_number_float() ? NumberOf(number.get<double>()) : number;
}

BoundedAnswer Bound(const Answer& answer, const AnswerRows& rows, size_t max_tokens) {
  const Shaper shaper(answer, rows);
  // One row beside a note is worth more than two notes.
  const size_t least = std::min<size_t>(rows.rows().size(), 1);
  size_t notes = answer.notes.size();
  while (notes > 0 && !shaper.Fits(least, notes, max_tokens)) --notes;
  size_t shown = 0;
  size_t too_many = rows.rows().size() + 1;
  while (too_many - shown > 1) {
    const size_t middle = shown + (too_many - shown) / 2;
    (shaper.Fits(middle, notes, max_tokens) ? shown : too_many) = middle;
  }
  return {shaper.Text(shown, notes), shaper.Structured(shown, notes)};
}

}  // namespace oplens::mcp
