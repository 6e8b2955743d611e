#include "base/help_options.h"

#include <algorithm>

#include "base/completion.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_text.h"
#include "base/manual.h"

namespace oplens {
namespace {

std::string Manual(const ProgramText& text, const std::vector<OptionGroup>& options,
                   const std::string& value) {
  const size_t comma = std::min(value.find(','), value.size());
  const std::string kind = value.substr(0, comma);
  const std::string prefix = comma < value.size() ? value.substr(comma + 1) : "";
  if (kind == "man") return ManualPage(text, options, prefix, OPLENS_VERSION);
  if (kind == "bash") return BashCompletion(text, options, prefix);
  if (kind == "zsh") return ZshCompletion(text, options, prefix);
  throw UsageError("--manual: there is no '" + kind + "'; give man, bash or zsh");
}

}  // namespace

void AddHelpOptions(cxxopts::Options* options) {
  options->add_options(kHelpOptions)("h,help", "Print this text")("version", "Print the version")(
      "manual", "Print the manual page, or the completion for a shell",
      cxxopts::value<std::string>(), "man|bash|zsh");
}

std::optional<std::string> HelpMessage(const ProgramText& text, const cxxopts::Options& options,
                                       const cxxopts::ParseResult& given) {
  if (given.count("help") > 0) {
    return HelpText(text, ShownOptions(text, options), HelpColumns());
  }
  if (given.count("version") > 0) return text.name + " (oplens) " + OPLENS_VERSION + "\n";
  if (given.count("manual") > 0) {
    return Manual(text, ShownOptions(text, options), given["manual"].as<std::string>());
  }
  return std::nullopt;
}

}  // namespace oplens
