#ifndef OPLENS_BASE_COMPLETION_H_
#define OPLENS_BASE_COMPLETION_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace oplens {

/// Scripts that complete the options of a program and the words of their values, as installed for
/// the program's name with `prefix` (base/manual.h). Neither runs the program.

/// For bash; bash-completion is not needed, but finds it by its name.
std::string BashCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                           std::string_view prefix);

/// For zsh: a file _NAME in a folder of $fpath.
std::string ZshCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                          std::string_view prefix);

}  // namespace oplens

#endif  // OPLENS_BASE_COMPLETION_H_
