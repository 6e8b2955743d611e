#ifndef OPLENS_BASE_MANUAL_H_
#define OPLENS_BASE_MANUAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"

namespace oplens {

/// The man page (section 1) of a program, in man(7) macros. `prefix`: of the installed names
/// (OPLENS_PREFIX); `version`: of the project.
std::string ManualPage(const ProgramText& text, const std::vector<OptionGroup>& options,
                       std::string_view prefix, std::string_view version);

/// The installed name of a program: with the prefix, except `oplens` itself.
std::string InstalledName(std::string_view name, std::string_view prefix);

}  // namespace oplens

#endif  // OPLENS_BASE_MANUAL_H_
