#ifndef OPLENS_BASE_HELP_OPTIONS_H_
#define OPLENS_BASE_HELP_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace cxxopts {
class ParseResult;
}

namespace oplens {

/// Scripts that complete the options of a program and the words of their values, as installed for
/// the program's name with `prefix` (base/manual.h). Neither runs the program.

/// For bash; bash-completion is not needed, but finds it by its name.
std::string BashCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                           std::string_view prefix);

/// For zsh: a file _NAME in a folder of $fpath.
std::string ZshCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                          std::string_view prefix);

/// The group of -h, --version and --manual.
inline constexpr char kHelpOptions[] = "Help";

/// Declares -h, --version and --manual, which every program has.
void AddHelpOptions(cxxopts::Options* options);

/// What is printed instead of a result where -h, --version or --manual is given; nullopt: none is.
/// --manual KIND[,PREFIX] is what the build installs: "man", "bash" or "zsh", of the program's name
/// with that prefix. Throws UsageError for another kind.
std::optional<std::string> HelpMessage(const ProgramText& text, const cxxopts::Options& options,
                                       const cxxopts::ParseResult& given);

/// The text of an option, which lives as long as `given`; "" where it is not given.
std::string_view GivenText(const cxxopts::ParseResult& given, const std::string& option);
/// The same of one that names a file. Throws UsageError where it is given and empty.
std::string GivenFile(const cxxopts::ParseResult& given, const std::string& option);

}  // namespace oplens

#endif  // OPLENS_BASE_HELP_OPTIONS_H_
