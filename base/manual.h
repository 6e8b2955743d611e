#ifndef OPLENS_BASE_MANUAL_H_
#define OPLENS_BASE_MANUAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace oplens {

/// The manual page (section 1) of a program in troff, with the macros of man(7). `prefix` is that
/// of the installed names (OPLENS_PREFIX), `version` the project's.
std::string ManualPage(const ProgramText& text, const std::vector<OptionGroup>& options,
                       std::string_view prefix, std::string_view version);

/// The name under which a program is installed: with the prefix, but for `oplens` itself.
std::string InstalledName(std::string_view name, std::string_view prefix);

}  // namespace oplens

#endif  // OPLENS_BASE_MANUAL_H_
