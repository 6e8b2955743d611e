#ifndef OPLENS_BASE_HELP_TEXT_H_
#define OPLENS_BASE_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace oplens {

/// The maximum width of help, in characters.
inline constexpr size_t kHelpColumns = 100;

/// The width of help on standard output: kHelpColumns, or that of a narrower terminal.
size_t HelpColumns();

/// The text of -h: what the program does, examples, options by group, lists. Lines have at most
/// `columns` characters, unless one word is longer.
std::string HelpText(const ProgramText& text, const std::vector<OptionGroup>& options,
                     size_t columns);

/// Appends the words of a list, below its title: one aligned line per word with unit and meaning;
/// words without a meaning share lines.
void AppendWordList(const WordList& list, size_t columns, std::string* help);

/// Appends `text`, wrapped at blanks to `columns` characters. The first line continues the last
/// line of `help`, later lines are indented by `indent` blanks. Ends the last line.
void AppendWrapped(std::string_view text, size_t indent, size_t columns, std::string* help);

}  // namespace oplens

#endif  // OPLENS_BASE_HELP_TEXT_H_
