#ifndef OPLENS_PROF_TABLE_COLUMNS_H_
#define OPLENS_PROF_TABLE_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parse/model/need.h"
#include "prof/price/row.h"

namespace oplens::prof {

/// The value of one column of one row.
struct Cell {
  /// Texts in order, and how many more there were that the record does not hold.
  struct Texts {
    std::span<const std::string_view> texts;
    int64_t more = 0;
  };
  /// A set of reason words.
  using Reasons = ReasonSet;
  /// std::monostate: unknown. A list may be empty: nothing there, which is printed as unknown where
  /// there is no other way to show it.
  std::variant<std::monostate, int64_t, double, std::string_view, std::span<const int64_t>, Texts,
               Dim3, Reasons>
      value;
};

enum class ColumnType : uint8_t {
  kInteger,  ///< Right-justified.
  kDecimal,  ///< Right-justified, three decimals.
  kText,     ///< Left-justified.
  kName,     ///< Text whose blanks are written as '_' everywhere but in JSON, as PyProf does.
  kIntegerList,
  kTextList,
  kFileList,  ///< Paths; columnated output shows the file name of the last one only.
  kExtent,    ///< x,y,z
};

/// A column of a table.
struct Column {
  std::string_view key;  ///< What -c takes, and the JSON key.
  std::string_view header;
  std::string_view unit;  ///< "" for names and ids.
  ColumnType type;
  int width;  ///< Of columnated output; kShared: takes an equal part of what is left.
  std::string_view separator;  ///< Between the items of a list.
  std::string_view unknown;  ///< Word for an unknown value where the writer's own must not be used.
  std::string_view help;     ///< One line for -h.
  Cell (*get)(const Row& row);
  Need need = Need::kNothing;  ///< What a profile must tell of a kernel that has a value here.

  static constexpr int kShared = 0;
};

/// Cells of values; a missing value, an empty text is unknown.
inline Cell Integer(int64_t value) { return {value}; }
inline Cell Integer(const std::optional<int64_t>& value) { return value ? Cell{*value} : Cell{}; }
inline Cell Decimal(const std::optional<double>& value) { return value ? Cell{*value} : Cell{}; }
inline Cell Text(std::string_view value) { return value.empty() ? Cell{} : Cell{value}; }

/// The columns of a list such as "idx,kernel,sil" or "all" out of `all`, each once, where it comes
/// first. Throws UsageError, naming the word and the valid ones, for an unknown column or an empty
/// list.
std::vector<const Column*> SelectColumns(std::string_view list, std::span<const Column> all);

/// The cell as text: "" when unknown or empty, integers in decimal, lists joined by the column's
/// separator. The view points into the row, the column or `scratch` and lives as long as these.
std::string_view CellText(const Column& column, const Cell& cell, std::string* scratch);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_COLUMNS_H_
