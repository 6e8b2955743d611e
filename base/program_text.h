#ifndef OPLENS_BASE_PROGRAM_TEXT_H_
#define OPLENS_BASE_PROGRAM_TEXT_H_

#include <string>
#include <vector>

namespace cxxopts {
class Options;
}

namespace oplens {

/// A word that can be typed or shown, and its meaning.
struct WordText {
  std::string word;
  std::string text = {};
  std::string unit = {};  ///< Of the column's values; "" for none.
};

/// A group of words: columns, views, kinds.
struct WordList {
  std::string title;                      ///< "Columns of -c"; "": for completion only.
  std::vector<std::string> options = {};  ///< The options with these values: "c", "view".
  bool several = false;                   ///< A value may be a comma-separated list.
  std::vector<WordText> words = {};
};

/// An example command line.
struct ExampleText {
  std::string command;
  std::string text;
};

/// The texts about a program besides its options, for help, manual page and completion. Single-line
/// texts have no full stop at the end; paragraphs have no line breaks.
struct ProgramText {
  std::string name;
  std::string summary;                   ///< One line.
  std::vector<std::string> synopsis;     ///< What follows the name, one form per line.
  std::vector<std::string> groups;       ///< Groups of options, in display order.
  std::vector<std::string> description;  ///< Paragraphs.
  std::vector<ExampleText> examples;
  std::vector<WordList> lists = {};
  std::vector<WordText> exit_codes = {};
  std::vector<WordText> environment = {};
  std::vector<WordText> files = {};
  std::vector<std::string> see_also = {};
  /// Words that may replace the first file; those in see_also run that program.
  std::vector<WordText> first_words = {};
  std::vector<std::string> left_out = {};  ///< Declared options that help omits.
  std::string implied = {};   ///< Implied option: texts of others lose "With --IMPLIED: ".
  bool runs_command = false;  ///< A command, not files, follows the options.
};

/// Group of options that help does not show: alternative names, positional arguments.
inline constexpr char kHiddenOptions[] = "hidden";

struct OptionText {
  std::string short_name;  ///< "o", or "".
  std::string long_name;   ///< "output", or "".
  std::string argument;    ///< "FILE", "on|off"; "": no argument.
  std::string text;        ///< Includes the default.

  /// "-o" and "--output", those that exist, the short one first.
  std::vector<std::string> Names() const;
  /// The words of an argument such as "on|off"; empty for others.
  std::vector<std::string> ArgumentWords() const;
  /// Whether the argument is a file or folder, judging by its word.
  bool TakesFile() const;
  bool Is(const std::string& name) const;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionText> options;
};

/// The options that help shows: the groups of `text` first, then all others except hidden ones.
std::vector<OptionGroup> ShownOptions(const ProgramText& text, const cxxopts::Options& options);

/// The words that an option's value can have, from its lists or its argument. Sets `*several` to
/// whether a value may name several.
std::vector<WordText> ValueWords(const ProgramText& text, const OptionText& option, bool* several);

}  // namespace oplens

#endif  // OPLENS_BASE_PROGRAM_TEXT_H_
