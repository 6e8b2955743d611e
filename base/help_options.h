#ifndef OPLENS_BASE_HELP_OPTIONS_H_
#define OPLENS_BASE_HELP_OPTIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace cxxopts {
class ParseResult;
}

namespace oplens {

/// Shell scripts that complete a program's options and their values, for the program's installed
/// name with `prefix` (base/manual.h). They do not run the program.

/// For bash; works without bash-completion, which finds it by file name.
std::string BashCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                           std::string_view prefix);

/// For zsh: a file _NAME in a folder of $fpath.
std::string ZshCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                          std::string_view prefix);

inline constexpr char kHelpOptions[] = "Help";

/// Declares -h, --version and --manual, which every program has, in that group.
void AddHelpOptions(cxxopts::Options* options);

/// What to print instead of a result if -h, --version or --manual is given; otherwise nullopt.
/// --manual KIND[,PREFIX] prints the "man", "bash" or "zsh" file that the build installs for the
/// name with that prefix. Throws UsageError for other kinds.
std::optional<std::string> HelpMessage(const ProgramText& text, const cxxopts::Options& options,
                                       const cxxopts::ParseResult& given);

/// Gives what was typed to `read`. Throws UsageError for what cxxopts refuses, with near words for
/// an unknown option ("...: --quiet?") and `hint`.
void ReadCommandLine(cxxopts::Options* declared, int argc, const char* const* argv,
                     std::string_view hint,
                     const std::function<void(const cxxopts::ParseResult& given)>& read);

/// The value of an option, valid as long as `given`; "" if it is not given.
std::string_view GivenText(const cxxopts::ParseResult& given, const std::string& option);
/// The value of an option that names a file. Throws UsageError if it is given but empty.
std::string GivenFile(const cxxopts::ParseResult& given, const std::string& option);

}  // namespace oplens

#endif  // OPLENS_BASE_HELP_OPTIONS_H_
