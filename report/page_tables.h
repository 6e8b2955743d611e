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

/// How a page's table relates to its view.
enum class TableKind : uint8_t {
  kPlain,     ///< The view's own rows.
  kByStep,    ///< Grouped by step and rank.
  kGrouping,  ///< Grouped by another key.
};

/// The tables that a page requests from the views.
struct TablePlans {
  struct Of {
    size_t view = 0;  ///< Index in prof::Views().
    TableKind kind = TableKind::kPlain;
    /// Keep it only with all rows: a sum over part of them would be wrong, or its rows are
    /// streamed.
    bool whole = false;
  };
  std::vector<prof::ViewPlan> plans;
  std::vector<Of> tables;  ///< Parallel to `plans`.
};

/// Each view's plain table, its table by step and rank (or by the one of the two that it supports),
/// and one by each of its other keys. `limit_bytes`: of the page. `several`: whether there are
/// several inputs, which views that compare ranks are for.
TablePlans PlanTables(size_t limit_bytes = SIZE_MAX,
                      std::shared_ptr<const prof::ModelPlan> model = nullptr, bool several = true);

/// A table for the page.
struct PageTable {
  std::vector<prof::Field> fields;
  std::vector<Column> columns;
  /// The packed chunk, which replaces the columns: `whole` tables are packed once complete.
  std::string packed;
  size_t rows = 0;      ///< Kept rows, the first ones.
  size_t left_out = 0;  ///< Later rows, not kept.
};

/// Keeps the rows of views as columns, until a table is too large for any page.
class PageTables : public prof::Destination {
 public:
  /// `plans` and `cutter` must outlive this object. `limit_bytes`: of the page. A table that
  /// exceeds it in memory, or the `most_rows` of its plan, keeps no further rows; a `whole` one
  /// keeps none.
  PageTables(const TablePlans& plans, size_t limit_bytes, const PathCutter* cutter)
      : plans_(plans), limit_bytes_(limit_bytes), cutter_(*cutter) {}

  /// Must be called in the order of the plans.
  std::unique_ptr<prof::Sink> NewTable() override;
  bool tables_apart() const override { return true; }
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
