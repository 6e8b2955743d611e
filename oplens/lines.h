#ifndef OPLENS_OPLENS_LINES_H_
#define OPLENS_OPLENS_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen {

enum class Style : uint8_t {
  kPlain,
  kTitle,  ///< Bold, with colours.
  kQuiet,  ///< Dim, with colours.
};

struct Line {
  Style style = Style::kPlain;
  std::string text;
  /// For Markdown, of a row of a table: its cells. Of a title: itself, and what stands above the
  /// cells after the first. Empty: the line is words.
  std::vector<std::string> cells = {};
  bool is_code = false;  ///< The first cell is a name or a command.
};
using Section = std::vector<Line>;

/// Appends `text` wrapped to `columns` characters, in at most `most` lines; the rest is cut. Lines
/// after the first are indented by `indent` blanks.
void AddWrapped(std::string_view text, size_t indent, size_t columns, size_t most, Section* lines);

/// All sections in at most `most` lines, separated by empty lines if these fit.
std::string JoinSections(const std::vector<Section>& sections, size_t most, bool colours);

/// All sections as GitHub's Markdown, in at most `most` lines besides empty ones and the
/// heads of tables: a heading each, tables, and lists of what else is said.
std::string MarkdownOf(const std::vector<Section>& sections, size_t most);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_LINES_H_
