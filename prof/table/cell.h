#ifndef OPLENS_PROF_TABLE_CELL_H_
#define OPLENS_PROF_TABLE_CELL_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "parse/model/dim3.h"
#include "parse/model/reason.h"

namespace oplens::prof {

struct Cell {
  /// Texts in order, and the number of further ones that the record does not hold.
  struct Texts {
    std::span<const std::string_view> texts;
    int64_t more = 0;
  };
  using Reasons = ReasonSet;
  /// std::monostate: unknown. A list may be empty: printed as unknown if there is no other way.
  std::variant<std::monostate, int64_t, double, std::string_view, std::span<const int64_t>, Texts,
               Dim3, Reasons>
      value;
};

/// Make cells; a missing value or empty text is unknown.
inline Cell Integer(int64_t value) { return {value}; }
inline Cell Integer(const std::optional<int64_t>& value) { return value ? Cell{*value} : Cell{}; }
inline Cell Decimal(const std::optional<double>& value) { return value ? Cell{*value} : Cell{}; }
inline Cell Text(std::string_view value) { return value.empty() ? Cell{} : Cell{value}; }

inline bool IsUnknown(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell.value);
}

/// Ascending order of known cells; callers must put unknown ones last.
bool CellBefore(const Cell& a, const Cell& b);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_CELL_H_
