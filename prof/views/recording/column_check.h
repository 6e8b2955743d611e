#ifndef OPLENS_PROF_VIEWS_RECORDING_COLUMN_CHECK_H_
#define OPLENS_PROF_VIEWS_RECORDING_COLUMN_CHECK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "prof/price/kernel_sink.h"
#include "prof/table/columns.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// Counts for each column the kernels with a priced value, and the reasons of the others. Memory
/// does not grow with the kernels.
class ColumnCheck : public KernelSink {
 public:
  explicit ColumnCheck(Columns<PricedKernel> columns)
      : counts_(columns.size()), columns_(std::move(columns)) {}

  void Add(const PricedKernel& kernel) override;

  /// One line per column for a terminal: its key, how many kernels have a value, and why the others
  /// have none, if known, most frequent reason first.
  std::string Render() const;

  /// The same as a table.
  void Emit(Sink* sink) const;

 private:
  /// The reasons of the kernels without a value of a column: "12 no-range, 3 ..."; "" if none.
  std::string WhyNot(size_t column) const;

  struct Count {
    int64_t known = 0;
    std::array<int64_t, kReasonCount> reasons{};  // Of rows without a value.
  };

  std::vector<Count> counts_;
  Columns<PricedKernel> columns_;
  int64_t rows_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RECORDING_COLUMN_CHECK_H_
