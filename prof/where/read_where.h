#ifndef OPLENS_PROF_WHERE_READ_WHERE_H_
#define OPLENS_PROF_WHERE_READ_WHERE_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "prof/table/field.h"
#include "prof/where/condition.h"

namespace oplens::prof {

/// What a condition may name of one kind of rows.
struct WhereScope {
  std::string_view name;  ///< "kernel": kernel.sil is the kernels' though groups have it too.
  std::string_view rows;  ///< "kernels"
  std::vector<Field> fields;
  /// Names that mean this scope's without a prefix although one before it has them as well.
  std::vector<std::string_view> preferred = {};
};

/// Limits of what is read.
inline constexpr size_t kMaxWhereLength = 8192;
inline constexpr size_t kMaxWhereDepth = 64;

/// Reads what --where was given:
///
///   either     = both {"or" both}
///   both       = one {"and" one}
///   one        = "not" one | "(" either ")" | NAME RELATION VALUE
///   RELATION     = != < <= > >= ~ !~
///   VALUE        a word, which ends at a blank or a ")" that it did not open, or a text in ' or "
///
/// A name without a prefix is of the first scope that has it. Answers a condition for each scope,
/// null where none of its names stands in it; a row must fulfil all of them, so what "and" binds at
/// the top may be of several scopes, and nothing else. Throws UsageError, which shows the text and
/// marks the place, for anything else.
std::vector<std::shared_ptr<const Condition>> ReadWhere(std::string_view text,
                                                        std::span<const WhereScope> scopes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_READ_WHERE_H_
