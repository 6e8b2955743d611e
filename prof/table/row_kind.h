#ifndef OPLENS_PROF_TABLE_ROW_KIND_H_
#define OPLENS_PROF_TABLE_ROW_KIND_H_

#include <cstdint>
#include <string_view>

#include "prof/table/field.h"

namespace oplens::prof {

/// What a row of a table stands for.
enum class RowKind : uint8_t {
  kRow,     ///< A row of the table's own kind.
  kRest,    ///< "(N more)": the rows beyond --top.
  kOther,   ///< "(other)": groups beyond their maximum number.
  kReplay,  ///< "(graph replay)": spans of graphs, no kernels.
  kTotal,   ///< A sum or mean of other rows.
};

inline std::string_view RowKindWord(RowKind kind) {
  constexpr std::string_view kWords[] = {"row", "rest", "other", "replay", "total"};
  return kWords[static_cast<size_t>(kind)];
}

/// The row's kind for scripts; printed on request.
inline constexpr Field kRowKindField = {
    "row_kind",
    "RowKind",
    "",
    FieldType::kText,
    7,
    "what the row is: row, rest (N more), other, replay (of a graph) or total; not in 'all'",
    Fold::kNone,
    {},
    {},
    {},
    {},
    true};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ROW_KIND_H_
