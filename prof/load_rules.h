#ifndef OPLENS_PROF_LOAD_RULES_H_
#define OPLENS_PROF_LOAD_RULES_H_

#include <string>

#include "ops/rules/rules.h"

namespace oplens::prof {

/// Reads a file of rules (docs/rules.md). Throws UsageError with one line: a file that cannot be
/// read, is larger than ops::kMaxRulesBytes, or is wrong, with the line and the column.
ops::Rules LoadRules(const std::string& path);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_LOAD_RULES_H_
