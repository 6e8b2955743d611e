#ifndef OPLENS_PROF_VIEWS_VIEW_PLAN_H_
#define OPLENS_PROF_VIEWS_VIEW_PLAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/sink_chain.h"
#include "prof/views/common/view.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

/// A view as requested.
struct ViewPlan {
  const View* view = nullptr;
  ViewOptions options;
  std::vector<size_t> places;     ///< Indices of the printed fields.
  std::optional<RowOrder> order;  ///< --sort, unless the view sorts itself.
  size_t top = 0;                 ///< --top, likewise; 0: all rows.
  /// Rows or fields were requested, so the view's own document is not printed.
  bool rows_requested = false;
  bool says_rules = false;  ///< Adds to each row whose rules it follows.
  std::shared_ptr<const Condition> where =
      nullptr;  ///< Of --where: rows that are shown; null: all.
};

/// The fields of a view, including those that its options add, then kRowKindField if rows may stand
/// for others.
std::vector<Field> FieldsOf(const View& view, const ViewOptions& options);

/// Marks the most important fields: those of --by, then View::important.
void RankFields(const ViewPlan& plan, std::vector<Field>* fields);

/// Text of `--view list`: one line per view.
std::string ListOfViews();

/// A request for a list such as "overview,gpu" or "all". `by`, `sort`, `top` and `columns` go to
/// the views that know their words; `columns`: "" if not given. `in_lines`: for a human reader.
struct ViewRequest {
  std::string_view list = {};
  /// Views by other rules, each replacing ours of the same name; they must outlive the plans. If
  /// there are any, views sort only by words of their own, and all say their rules.
  std::span<const View> instead = {};
  std::string_view by = {};
  std::string_view sort = {};
  std::string_view columns = {};
  size_t top = 0;
  bool in_lines = false;
  bool narrow = false;  // In a terminal: columns of fixed width.
  bool copies = false;
  std::vector<std::string> what_if = {};
  std::shared_ptr<const ModelPlan> model = nullptr;
  std::string_view where = {};
  std::string_view option = "--view";  // The option that `list` is from.
};
/// Conditions of --where on items, applied before a view gets them; null for none.
struct ItemFilters {
  std::unique_ptr<ItemFilter<PricedKernel>> kernels;
  std::unique_ptr<ItemFilter<CopyRow>> copies;
};
/// Plans the views of a request. Throws UsageError, naming the word and the valid ones. `items`:
/// null drops conditions on items.
std::vector<ViewPlan> PlanViews(const ViewRequest& request, ItemFilters* items = nullptr);
/// The one plan of a table without --view (ViewOptions::plain): `list` is "kernels", "copies", or
/// "summary" for groups of either.
std::vector<ViewPlan> PlanRows(const ViewRequest& request, ItemFilters* items);

/// The view with its rows split by rank and step, as far as it takes these words, for comparing
/// runs. nullopt if it takes no steps, or is split by steps already.
std::optional<ViewPlan> WithSteps(const ViewPlan& plan);

bool TakeCalls(std::span<const ViewPlan> plans);

TraceNeeds NeedsOf(std::span<const ViewPlan> plans);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_VIEW_PLAN_H_
