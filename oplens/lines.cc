#include "oplens/lines.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/ascii.h"
#include "base/markdown.h"
#include "oplens/text.h"

namespace oplens::screen {
namespace {

std::string_view EscapeOf(Style style) {
  switch (style) {
    case Style::kTitle:
      return "\x1b[1m";
    case Style::kQuiet:
      return "\x1b[2m";
    case Style::kPlain:
      break;
  }
  return {};
}

/// Whether a column that begins with this cell is of numbers.
bool IsFigure(std::string_view cell) {
  return !cell.empty() && (IsDigit(cell.front()) || cell.front() == '<' || cell == "-");
}

/// A section in Markdown.
class MarkdownSection {
 public:
  /// `left`: lines that may still be written.
  MarkdownSection(size_t* left, std::string* out) : left_(*left), out_(*out) {}

  void Add(const Line& line) {
    const bool title = line.style == Style::kTitle;
    if (title && first_) {
      AddLine("### ", line.cells.empty() ? line.text : line.cells.front());
      header_ = line.cells;
    } else if (!line.cells.empty()) {
      AddRow(line);
    } else if (in_table_) {
      after_.push_back(line.text);
    } else {
      AddWords(line.text, title ? "**" : "");
    }
    first_ = false;
  }

  void End() {
    if (in_table_ && !after_.empty()) out_.push_back('\n');
    for (const std::string& text : after_) AddWords(text, "");
  }

 private:
  bool Takes() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  void AddLine(std::string_view mark, std::string_view text) {
    if (!Takes()) return;
    out_.append(mark);
    AppendMarkdownText(text, &out_);
    out_.append("\n\n");
  }

  void AddWords(std::string_view text, std::string_view bold) {
    if (!Takes()) return;
    if (!bold.empty()) EndList();
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    out_.append(bold.empty() ? "- " : bold);
    AppendMarkdownText(text, &out_);
    out_.append(bold).append(bold.empty() ? "\n" : "\n\n");
  }

  void EndList() {
    if (!out_.ends_with("\n\n")) out_.push_back('\n');
  }

  void AddCells(std::span<const std::string> cells, bool is_code) {
    for (size_t i = 0; i < cells.size(); ++i) {
      out_.append("| ");
      if (i == 0 && is_code) {
        AppendMarkdownCode(cells[i], &out_);
      } else if (cells[i] == "-") {
        out_.push_back('-');
      } else {
        AppendMarkdownText(cells[i], &out_);
      }
      out_.push_back(' ');
    }
    out_.append("|\n");
  }

  void AddRow(const Line& line) {
    if (!Takes()) return;
    if (!in_table_) {
      EndList();
      header_.resize(line.cells.size());
      header_.front().clear();
      AddCells(header_, false);
      out_.append("| :--- ");
      for (size_t i = 1; i < header_.size(); ++i) {
        out_.append(IsFigure(line.cells[i]) ? "| ---: " : "| :--- ");
      }
      out_.append("|\n");
      in_table_ = true;
    }
    AddCells(line.cells, line.is_code);
  }

  size_t& left_;
  std::string& out_;
  std::vector<std::string> header_;
  std::vector<std::string> after_;  // Words among the rows of the table.
  bool first_ = true;
  bool in_table_ = false;
};

}  // namespace

void AddWrapped(std::string_view text, size_t indent, size_t columns, size_t most, Section* lines) {
  std::vector<std::string> texts = Wrap(text, indent, columns);
  if (texts.size() > most && most > 0) {
    // Mark the cut.
    texts[most - 1] = CutRight(texts[most - 1] + " " + texts[most].substr(indent), columns);
    if (!texts[most - 1].ends_with("...")) {
      texts[most - 1] = CutRight(texts[most - 1] + " ...", columns);
    }
    texts.resize(most);
  }
  for (std::string& line : texts) lines->push_back({Style::kPlain, std::move(line)});
}

std::string JoinSections(const std::vector<Section>& sections, size_t most, bool colours) {
  size_t count = 0;
  for (const Section& section : sections) count += section.size();
  const bool spaced = count + sections.size() <= most + 1;
  constexpr std::string_view kPlainAgain = "\x1b[0m";
  std::string text;
  size_t left = most;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i > 0 && spaced) text.push_back('\n');
    for (const Line& line : sections[i]) {
      if (left == 0) return text;
      if (!spaced) --left;
      const std::string_view escape = colours ? EscapeOf(line.style) : std::string_view();
      text.append(escape).append(line.text);
      if (!escape.empty()) text.append(kPlainAgain);
      text.push_back('\n');
    }
  }
  return text;
}

std::string MarkdownOf(const std::vector<Section>& sections, size_t most) {
  std::string text;
  size_t left = most;
  for (const Section& section : sections) {
    if (left == 0) break;
    if (!text.empty() && !text.ends_with("\n\n")) text.push_back('\n');
    MarkdownSection markdown(&left, &text);
    for (const Line& line : section) markdown.Add(line);
    markdown.End();
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace oplens::screen
