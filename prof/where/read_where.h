#ifndef OPLENS_PROF_WHERE_READ_WHERE_H_
#define OPLENS_PROF_WHERE_READ_WHERE_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "prof/table/field.h"
#include "prof/where/condition.h"

namespace oplens::prof {

/// The fields that a condition may name for one kind of rows.
struct WhereScope {
  std::string_view name;  ///< "kernel": kernel.sil is the kernels' even if groups have it too.
  std::string_view rows;  ///< "kernels"
  std::vector<Field> fields;
  /// Names that mean this scope without a prefix, although an earlier scope has them too.
  std::vector<std::string_view> preferred = {};
};

inline constexpr size_t kMaxWhereLength = 8192;
inline constexpr size_t kMaxWhereDepth = 64;

/// Parses the argument of --where:
///
///   either     = both {"or" both}
///   both       = one {"and" one}
///   one        = "not" one | "(" either ")" | NAME RELATION VALUE
///   RELATION     = != < <= > >= ~ !~
///   VALUE        a word, up to a blank or a ")" that it did not open, or a text in ' or "
///
/// A name without a prefix is of the first scope that has it. Returns a condition per scope, null
/// if the text names none of its fields; a row must satisfy all of them, so only operands of a
/// top-level "and" may be of different scopes. Throws UsageError, which shows the text and marks
/// the place, for anything else.
std::vector<std::shared_ptr<const Condition>> ReadWhere(std::string_view text,
                                                        std::span<const WhereScope> scopes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_READ_WHERE_H_
