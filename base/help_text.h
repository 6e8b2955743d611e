#ifndef OPLENS_BASE_HELP_TEXT_H_
#define OPLENS_BASE_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace oplens {

/// The widest that help is, in characters.
inline constexpr size_t kHelpColumns = 100;

/// How wide help on standard output is: kHelpColumns, less where a terminal is narrower.
size_t HelpColumns();

/// The help of -h: what the program does, examples, its options by groups, its lists; each line at
/// most `columns` characters, unless a word is longer.
std::string HelpText(const ProgramText& text, const std::vector<OptionGroup>& options,
                     size_t columns);

/// Appends the words of a list below its title: a line a word with its unit and meaning, aligned;
/// words without a meaning one behind the other.
void AppendWordList(const WordList& list, size_t columns, std::string* help);

/// Appends `text` broken at blanks into lines of at most `columns` characters. The first goes on
/// where `help` stands, the others begin with `indent` blanks. Ends the last line.
void AppendWrapped(std::string_view text, size_t indent, size_t columns, std::string* help);

}  // namespace oplens

#endif  // OPLENS_BASE_HELP_TEXT_H_
