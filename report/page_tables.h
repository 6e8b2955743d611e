#ifndef OPLENS_REPORT_PAGE_TABLES_H_
#define OPLENS_REPORT_PAGE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "prof/table/sink.h"
#include "prof/views/view_plan.h"
#include "report/data/column.h"

namespace oplens::report {

/// What a table of a page is of its view.
enum class TableKind : uint8_t {
  kPlain,     ///< Its rows as they are.
  kByStep,    ///< The same by step and rank.
  kGrouping,  ///< By another key.
};

/// The tables that a page asks of the views, and what they are.
struct TablePlans {
  struct Of {
    size_t view = 0;  ///< Place in prof::Views().
    TableKind kind = TableKind::kPlain;
    /// Without all of its rows it is not kept: a sum over it would be wrong, or it streams rows.
    bool whole = false;
  };
  std::vector<prof::ViewPlan> plans;
  std::vector<Of> tables;  ///< Of each of `plans`.
};

/// All views, each plain; by step and rank, or the one of the two that it knows; and by each of its
/// other keys. `limit_bytes`: of the page.
TablePlans PlanTables(size_t limit_bytes = SIZE_MAX);

/// A table as the page has it.
struct PageTable {
  std::vector<prof::Field> fields;
  std::vector<Column> columns;
  /// Its chunk, where that takes the place of the columns: a table that is kept whole or not at all
  /// is packed once all rows came.
  std::string packed;
  size_t rows = 0;      ///< That are kept: the first ones.
  size_t left_out = 0;  ///< That came after them.
};

/// Keeps the rows of views as columns, until a table has grown too large for any page.
class PageTables : public prof::Destination {
 public:
  /// `plans` and `cutter` must outlive this object. `limit_bytes`: of the page. A table that takes
  /// more in memory has no further rows, or none if it is to be whole; neither has such a one with
  /// more rows than its plan has use for.
  PageTables(const TablePlans& plans, size_t limit_bytes, const PathCutter* cutter)
      : plans_(plans), limit_bytes_(limit_bytes), cutter_(*cutter) {}

  /// In the order of the plans.
  std::unique_ptr<prof::Sink> NewTable() override;
  void Commit() override {}

  /// In the order of the plans.
  std::deque<PageTable>& tables() { return tables_; }

 private:
  class TableSink;

  const TablePlans& plans_;
  size_t limit_bytes_;
  const PathCutter& cutter_;
  std::deque<PageTable> tables_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_TABLES_H_
