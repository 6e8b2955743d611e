#ifndef OPLENS_BASE_PROGRAM_TEXT_H_
#define OPLENS_BASE_PROGRAM_TEXT_H_

#include <string>
#include <vector>

namespace cxxopts {
class Options;
}

namespace oplens {

/// A word that can be typed or met, and what it means.
struct WordText {
  std::string word;
  std::string text = {};
  std::string unit = {};  ///< Of what a column holds; "" for none.
};

/// Words that belong together: columns, views, kinds.
struct WordList {
  std::string title;                      ///< "Columns of -c"; "": completed, and listed nowhere.
  std::vector<std::string> options = {};  ///< Whose values these are: "c", "view".
  bool several = false;                   ///< A value may name several, separated by commas.
  std::vector<WordText> words = {};
};

/// A command line worth typing.
struct ExampleText {
  std::string command;
  std::string text;  ///< What it does.
};

/// What is said of a program beside its options: in its help, its manual page, its completion. One
/// line has no full stop at its end; paragraphs have no line breaks.
struct ProgramText {
  std::string name;
  std::string summary;                   ///< One line.
  std::vector<std::string> synopsis;     ///< What follows the name, one form a line.
  std::vector<std::string> groups;       ///< Of options, in the order in which they are shown.
  std::vector<std::string> description;  ///< Paragraphs.
  std::vector<ExampleText> examples;
  std::vector<WordList> lists = {};
  std::vector<WordText> exit_codes = {};
  std::vector<WordText> environment = {};
  std::vector<WordText> files = {};
  std::vector<std::string> see_also = {};  ///< Names of other programs of oplens.
  /// Words that may stand in the place of the first file; those of see_also run that program.
  std::vector<WordText> first_words = {};
  std::vector<std::string> left_out = {};  ///< Options that are declared and not shown.
  std::string implied = {};   ///< An option that all go with: "With --IMPLIED: " is left
                              ///< out of their texts.
  bool runs_command = false;  ///< What follows the options is a command, not files.
};

/// The group of options that help does not show: other names, positional arguments.
inline constexpr char kHiddenOptions[] = "hidden";

/// An option as help shows it.
struct OptionText {
  std::string short_name;  ///< "o", or "".
  std::string long_name;   ///< "output", or "".
  std::string argument;    ///< "FILE", "on|off"; "": it takes none.
  std::string text;        ///< With its default.

  /// "-o" or "--output", whichever there are, the short one first.
  std::vector<std::string> Names() const;
  /// The words of an argument such as "on|off"; none of others.
  std::vector<std::string> ArgumentWords() const;
  /// Whether the argument is the name of a file or folder, by its word.
  bool TakesFile() const;
  /// Whether `name`, without dashes, is one of its names.
  bool Is(const std::string& name) const;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionText> options;
};

/// The options that help shows: the groups of `text`, then all others but the hidden ones.
std::vector<OptionGroup> ShownOptions(const ProgramText& text, const cxxopts::Options& options);

/// The words that the values of an option are of: those of its lists, or of its argument. `several`
/// becomes whether a value may name several.
std::vector<WordText> ValueWords(const ProgramText& text, const OptionText& option, bool* several);

}  // namespace oplens

#endif  // OPLENS_BASE_PROGRAM_TEXT_H_
