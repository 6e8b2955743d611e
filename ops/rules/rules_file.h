#ifndef OPLENS_OPS_RULES_RULES_FILE_H_
#define OPLENS_OPS_RULES_RULES_FILE_H_

#include <cstddef>
#include <string_view>

#include "ops/rules/rules.h"

namespace oplens::ops {

/// A longer file of rules is refused.
inline constexpr size_t kMaxRulesBytes = size_t{1} << 20;

/// Reads the text of a file of rules, TOML as docs/rules.md has it. `file`: its name, for messages.
/// Throws UsageError with one line, "FILE:LINE:COLUMN: what is wrong; what to do".
Rules ReadRules(std::string_view text, std::string_view file);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_RULES_RULES_FILE_H_
