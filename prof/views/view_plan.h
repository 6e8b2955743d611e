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

/// A view as it is asked for.
struct ViewPlan {
  const View* view = nullptr;
  ViewOptions options;
  std::vector<size_t> places;     ///< Of the fields that are printed.
  std::optional<RowOrder> order;  ///< Of --sort, where the view does not sort itself.
  size_t top = 0;                 ///< The same of --top; 0: all rows.
  /// Something asks for rows or fields of it: a document that is ours gives way to them.
  bool rows_asked = false;
  bool says_rules = false;  ///< Each row says by whose rules it is.
  std::shared_ptr<const Condition> where =
      nullptr;  ///< Of --where: rows that are shown; null: all.
};

/// The fields of a view, with those that its options add; behind them, of rows that may stand for
/// others, kRowKindField.
std::vector<Field> FieldsOf(const View& view, const ViewOptions& options);

/// Says which of its fields matter most: what was asked for with --by, then View::important.
void RankFields(const ViewPlan& plan, std::vector<Field>* fields);

/// What --view takes, one line a view, for `--view list`.
std::string ListOfViews();

/// The plan of a list such as "overview,gpu" or "all", with what is asked of each. `by`, `sort`,
/// `top` and `columns` go to the views that know their words; `columns` "" is not given.
/// `in_lines`: for a reader, not for a program. Throws UsageError, naming the word and the valid
/// ones.
struct ViewRequest {
  std::string_view list = {};
  /// Views by other rules, each in the place of ours of that name; they outlive the plans. Where
  /// there are any, no view sorts its rows itself but by words of its own, and all say their rules.
  std::span<const View> instead = {};
  std::string_view by = {};
  std::string_view sort = {};
  std::string_view columns = {};
  size_t top = 0;
  bool in_lines = false;
  bool narrow = false;  // In a terminal: columns of fixed width.
  bool copies = false;
  std::vector<std::string> what_if = {};
  std::string_view where = {};
  std::string_view option = "--view";  // That `list` is of.
};
/// What --where asks of items before a view gets them; null for nothing.
struct ItemFilters {
  std::unique_ptr<ItemFilter<PricedKernel>> kernels;
  std::unique_ptr<ItemFilter<CopyRow>> copies;
};
/// `items`: null drops what is asked of these.
std::vector<ViewPlan> PlanViews(const ViewRequest& request, ItemFilters* items = nullptr);
/// The one plan of a table without --view (ViewOptions::plain): `list` is "kernels", "copies", or
/// "summary" for groups of either.
std::vector<ViewPlan> PlanRows(const ViewRequest& request, ItemFilters* items);

/// The same view with its rows by rank and step apart, as far as it takes these words: what two
/// runs are compared by. nullopt where it does not take steps, or is asked for them already.
std::optional<ViewPlan> WithSteps(const ViewPlan& plan);

/// Whether one of these takes the calls of collectives.
bool TakeCalls(std::span<const ViewPlan> plans);

/// The parts of traces that these need.
TraceNeeds NeedsOf(std::span<const ViewPlan> plans);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_VIEW_PLAN_H_
