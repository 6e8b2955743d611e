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
#include "prof/price/priced_kernel.h"
#include "prof/table/cell.h"
#include "prof/table/field.h"

namespace oplens::prof {

using ColumnType = FieldType;

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
  Cell (*get)(const PricedKernel& row);
  Need need = Need::kNothing;  ///< What a profile must tell of a kernel that has a value here.

  static constexpr int kShared = 0;
};

/// The columns of a list such as "idx,kernel,sil" or "all" out of `all`, each once, where it comes
/// first. Throws UsageError, naming the word and the valid ones, for an unknown column or an empty
/// list.
std::vector<const Column*> SelectColumns(std::string_view list, std::span<const Column> all);

/// The cell as text: "" when unknown or empty, integers in decimal, lists joined by the column's
/// separator. The view points into the row, the column or `scratch` and lives as long as these.
std::string_view CellText(const Column& column, const Cell& cell, std::string* scratch);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_COLUMNS_H_
