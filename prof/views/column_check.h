#ifndef OPLENS_PROF_VIEWS_COLUMN_CHECK_H_
#define OPLENS_PROF_VIEWS_COLUMN_CHECK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "prof/table/columns.h"
#include "prof/table/writer.h"

namespace oplens::prof {

/// Counts for each column the kernels that have a value in it, priced, and of the others the
/// reasons: takes rows as a writer does. Memory does not grow with the rows.
class ColumnCheck : public RowWriter {
 public:
  explicit ColumnCheck(Columns columns) : counts_(columns.size()), columns_(std::move(columns)) {}

  void AppendHeader(std::string*) override {}
  void AppendRow(const PricedKernel& row, std::string*) override;

  /// One line a column for a terminal: its key, how many kernels have a value, and where their
  /// reasons tell why the others have none, the most frequent of these.
  std::string Render() const;

 private:
  struct Count {
    int64_t known = 0;
    std::array<int64_t, kReasonCount> reasons{};  // Of rows without a value.
  };

  std::vector<Count> counts_;
  Columns columns_;
  int64_t rows_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLUMN_CHECK_H_
