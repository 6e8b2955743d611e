#ifndef OPLENS_REPORT_DIFF_COLUMNS_H_
#define OPLENS_REPORT_DIFF_COLUMNS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/diff.h"
#include "report/data/column.h"

namespace oplens::report {

/// A table of a diff as columns of a page: its keys, `class`, then of each figure that is printed
/// KEY_base, KEY_new and KEY_delta; of the first one also KEY_delta_pct, `share_pct` where the
/// table explains the change of the total, KEY_band, `verdict`, and `was` where a row has other
/// keys in the base. Rows without a change come last.
class DiffColumns {
 public:
  /// `total_delta`: the change of the total, in ns. `table` and `cutter` must outlive this object.
  DiffColumns(const prof::DiffTable& table, std::optional<double> total_delta,
              const PathCutter* cutter);

  const std::vector<prof::Field>& fields() const { return fields_; }
  const std::vector<Column>& columns() const { return columns_; }
  size_t rows() const { return rows_; }

 private:
  void DeclareKeys(std::span<const prof::Field> keys);
  /// Of those at [begin, end).
  void DeclareFigures(const prof::DiffTable& table, size_t begin, size_t end);
  void AddFigure(const prof::DiffRow& row, size_t place);
  void AddRow(const prof::DiffTable& table, const prof::DiffRow& row);
  void Declare(prof::Field field);
  void AddText(std::string_view text);
  void AddNumber(const std::optional<double>& value);
  /// A text that lives as long as this object.
  std::string_view Keep(std::string text);

  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<prof::Field> fields_;
  std::vector<Column> columns_;
  const PathCutter* cutter_;
  std::optional<double> total_delta_;
  bool renames_ = false;
  bool shares_ = false;
  size_t next_ = 0;  // The column of the next cell.
  size_t rows_ = 0;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_DIFF_COLUMNS_H_
