#ifndef OPLENS_BASE_HELP_OPTIONS_H_
#define OPLENS_BASE_HELP_OPTIONS_H_

#include <optional>
#include <string>

#include "base/program_text.h"

namespace cxxopts {
class ParseResult;
}

namespace oplens {

/// The group of -h, --version and --manual.
inline constexpr char kHelpOptions[] = "Help";

/// Declares -h, --version and --manual, which every program has.
void AddHelpOptions(cxxopts::Options* options);

/// What is printed instead of a result where -h, --version or --manual is given; nullopt: none is.
/// --manual KIND[,PREFIX] is what the build installs: "man", "bash" or "zsh", of the program's name
/// with that prefix. Throws UsageError for another kind.
std::optional<std::string> HelpMessage(const ProgramText& text, const cxxopts::Options& options,
                                       const cxxopts::ParseResult& given);

}  // namespace oplens

#endif  // OPLENS_BASE_HELP_OPTIONS_H_
