#ifndef OPLENS_PROF_GATE_GRAMMAR_H_
#define OPLENS_PROF_GATE_GRAMMAR_H_

#include <cstddef>
#include <string_view>

#include "prof/where/comparison.h"

namespace oplens::prof {

// Words of the expressions of --fail-if, for who reads and who writes them.
inline constexpr std::string_view kTotalWord = "total";
inline constexpr std::string_view kUnknownWord = "unknown";

struct GateSign {
  std::string_view text;
  Relation relation;
};
/// Longer ones first.
inline constexpr GateSign kGateSigns[] = {{">=", Relation::kMoreOrEqual},
                                          {"<=", Relation::kLessOrEqual},
                                          {">", Relation::kMore},
                                          {"<", Relation::kLess}};

/// Where a bare pattern ends that begins at `begin`: at the ")" that it did not open, in no class
/// and behind no backslash; else at the end of the text.
size_t EndOfBarePattern(std::string_view text, size_t begin);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_GRAMMAR_H_
