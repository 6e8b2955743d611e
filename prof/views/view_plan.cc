#include "prof/views/view_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/row_kind.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/kernels/group_key.h"
#include "prof/views/kernels/summary_columns.h"
#include "prof/views/views.h"
#include "prof/where/read_where.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {
namespace {

/// The conditions of --where on kernels or copies, and on their groups.
template <typename Item>
struct Where {
  std::unique_ptr<ItemFilter<Item>> items;  ///< Applied before grouping; null for none.
  std::shared_ptr<const Condition> groups;  ///< On rows of groups; null for none.
};

template <typename Item>
Where<Item> ReadKernelWhereFile(std::string_view text, std::string_view name, std::string_view rows,
                                Columns<Item> columns, std::vector<Field> groups) {
  std::vector<WhereScope> scopes;
  scopes.push_back({name, rows, FieldsOf(columns)});
  if (!groups.empty()) scopes.push_back({"group", "groups", std::move(groups), {"share"}});
  const auto conditions = ReadWhere(text, scopes);
  Where<Item> where;
  if (conditions[0] != nullptr) {
    where.items = std::make_unique<ItemFilter<Item>>(std::move(columns), conditions[0]);
  }
  if (conditions.size() > 1) where.groups = conditions[1];
  return where;
}

/// Reads a condition on kernels: on their columns and what they can be grouped by. `groups`: fields
/// of the groups' rows; empty if kernels are the rows. A name that both have means the kernel's,
/// except "share"; kernel.NAME and group.NAME are explicit. Throws UsageError.
Where<PricedKernel> ReadKernelWhere(std::string_view text, std::vector<Field> groups) {
  return ReadKernelWhereFile(text, "kernel", "kernels", NamedKernelColumns(), std::move(groups));
}

/// As ReadKernelWhere, for copies and memsets.
Where<CopyRow> ReadCopyWhere(std::string_view text, std::vector<Field> groups) {
  Columns<CopyRow> columns;
  for (const Column<CopyRow>& column : CopyColumns()) columns.push_back(&column);
  return ReadKernelWhereFile(text, "copy", "copies", std::move(columns), std::move(groups));
}

/// The views of `prof --by` for kernels and for copies.
const View& GroupedRows(bool copies) {
  static const View kernels = {.name = "summary",
                               .help = "",
                               .make = kGroupsView.make,
                               .narrow = kNarrowFigures,
                               .sorts = true};
  static const View copied = {.name = "summary",
                              .help = "",
                              .make = kGroupsView.make,
                              .narrow = kNarrowCopyFigures,
                              .sorts = true};
  return copies ? copied : kernels;
}

/// `option`: the option that names the view.
const View& FindView(std::string_view name, std::string_view option) {
  for (const View& view : Views()) {
    if (view.name == name) return view;
  }
  std::vector<std::string_view> names;
  for (const View& view : Views()) names.push_back(view.name);
  names.insert(names.end(), {"all", "list"});
  throw UsageError(fmt::format("{}: {}", option, NoSuchName("view", name, names, "the views are")));
}

std::vector<const View*> ViewsOf(std::string_view list, std::string_view option) {
  std::vector<const View*> views;
  const auto add = [&](const View& view) {
    if (std::find(views.begin(), views.end(), &view) == views.end()) views.push_back(&view);
  };
  for (const std::string_view name : WordsOf(list)) {
    if (name == "all") {
      for (const View& view : Views()) add(view);
    } else {
      add(FindView(name, option));
    }
  }
  return views;
}

/// Passes words of --by to the views that know them.
void PlanKeys(std::string_view by, std::vector<ViewPlan>* plans) {
  if (by.empty()) return;
  if (std::all_of(plans->begin(), plans->end(),
                  [](const ViewPlan& plan) { return plan.view->by.empty(); })) {
    throw UsageError(fmt::format("--by: the rows of {} are what they are: no view named has keys",
                                 plans->front().view->name));
  }
  for (const std::string_view word : WordsOf(by)) {
    bool known = false;
    std::string valid;
    std::vector<std::string_view> all;
    for (ViewPlan& plan : *plans) {
      if (plan.view->by.empty()) continue;
      const std::span<const std::string_view> words = plan.view->by;
      AppendFormat(&valid, "; those of {} are {}", plan.view->name, fmt::join(words, ","));
      all.insert(all.end(), words.begin(), words.end());
      const std::string_view key = plan.view->groups_kernels ? KeyOfWord(word) : word;
      if (std::find(words.begin(), words.end(), key) == words.end()) continue;
      plan.options.by.emplace_back(word);
      known = true;
    }
    if (known) continue;
    throw UsageError(
        fmt::format("--by: {}", NearNames(word, all).empty()
                                    ? fmt::format("there is no key '{}'{}", word, valid)
                                    : NoSuchName("key", word, all, "")));
  }
}

void PlanWhatIf(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  if (request.what_if.empty()) return;
  bool known = false;
  for (ViewPlan& plan : *plans) {
    if (!plan.view->what_if) continue;
    plan.options.what_if = request.what_if;
    known = true;
  }
  if (!known) throw UsageError("--what-if needs a view that computes anew, such as critical-path");
}

void PlanOrder(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  std::string wrong;
  bool known = request.sort.empty();
  for (ViewPlan& plan : *plans) {
    const std::span<const std::string_view> words = plan.view->sort_words;
    const bool sorts = !words.empty() || (plan.view->sorts && request.instead.empty());
    if (sorts) {
      plan.options.top = request.top;
    } else {
      plan.top = request.top;
    }
    if (request.sort.empty()) continue;
    if (!words.empty()) {
      plan.options.sort = request.sort;
      if (std::find(words.begin(), words.end(), request.sort) != words.end()) {
        known = true;
      } else {
        wrong =
            fmt::format("--sort: {}", NoSuchName("key", request.sort, {words.begin(), words.end()},
                                                 fmt::format("those of {} are", plan.view->name)));
      }
      continue;
    }
    try {
      plan.order = ParseOrder(request.sort, FieldsOf(*plan.view, plan.options));
      if (sorts) {
        plan.options.sort = request.sort;
        plan.order.reset();
      }
      known = true;
    } catch (const UsageError& error) {
      wrong = error.what();
    }
  }
  if (!known) throw UsageError(wrong);
}

/// Takes the conditions of --where on items and on their groups.
template <typename Item>
void TakeWhere(Where<Item> where, ViewPlan* plan, std::unique_ptr<ItemFilter<Item>>* items) {
  plan->options.where = std::move(where.groups);
  *items = std::move(where.items);
}

/// Passes --where to the one view, and its conditions on kernels or copies to `items`.
void PlanWhere(const ViewRequest& request, std::vector<ViewPlan>* plans, ItemFilters* items) {
  if (request.where.empty()) return;
  if (plans->size() > 1) {
    throw UsageError("--where names the columns of one view: give one to --view");
  }
  ViewPlan& plan = plans->front();
  if (!plan.view->refuses_where.empty()) {
    throw UsageError(fmt::format("--where: {}", plan.view->refuses_where));
  }
  std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
  if (plan.options.plain) {
    // Rows that are no groups are items themselves.
    if (plan.view->make == nullptr) fields.clear();
    if (plan.options.copies) {
      TakeWhere(ReadCopyWhere(request.where, std::move(fields)), &plan, &items->copies);
    } else {
      TakeWhere(ReadKernelWhere(request.where, std::move(fields)), &plan, &items->kernels);
    }
    return;
  }
  if (!plan.view->groups_kernels || plan.says_rules) {
    plan.where = ReadWhere(request.where, std::vector<WhereScope>{{"row", "rows", fields}}).front();
    return;
  }
  if (plan.options.copies) {
    // Copies have no columns of kernels.
    plan.options.where =
        ReadWhere(request.where, std::vector<WhereScope>{{"group", "groups", fields}}).front();
    return;
  }
  TakeWhere(ReadKernelWhere(request.where, std::move(fields)), &plan, &items->kernels);
}

/// The keys, then the figures that fit beside them.
std::string NarrowList(std::span<const Field> fields, std::string_view figures) {
  std::string list;
  for (const Field& field : fields) {
    if (field.fold == Fold::kKey) AppendFormat(&list, "{},", field.key);
  }
  return list.append(figures);
}

void PlanColumns(const ViewRequest& request, std::vector<ViewPlan>* plans) {
  if (!request.columns.empty() && plans->size() > 1) {
    throw UsageError("-c names the columns of one view: give one to --view");
  }
  for (ViewPlan& plan : *plans) {
    const std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
    std::string list = "all";
    if (request.in_lines && !plan.view->some.empty()) list = plan.view->some;
    if (request.narrow && !plan.view->narrow.empty() && !plan.says_rules) {
      list = NarrowList(fields, plan.view->narrow);
    }
    plan.places = SelectFields(request.columns.empty() ? list : request.columns, fields);
  }
}

bool Has(std::span<const Field> fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
}

}  // namespace

std::vector<Field> FieldsOf(const View& view, const ViewOptions& options) {
  if (view.make != nullptr) {
    std::vector<Field> all = view.make(options)->Fields();
    if (!Has(all, kRowKindField.key)) all.push_back(kRowKindField);
    return all;
  }
  const std::span<const Field> fields = view.fields();
  return {fields.begin(), fields.end()};
}

void RankFields(const ViewPlan& plan, std::vector<Field>* fields) {
  const View& view = *plan.view;
  std::string list = fmt::format("{},", fmt::join(plan.options.by, ","));
  list += view.important.empty() ? NarrowList(*fields, view.narrow) : std::string(view.important);
  // By requested names, not by those in the list of all fields.
  if (plan.options.plain) {
    for (const size_t place : plan.places) AppendFormat(&list, ",{}", (*fields)[place].key);
  }
  RankFields(list, fields);
}

std::string ListOfViews() {
  std::string text;
  for (const View& view : Views()) AppendFormat(&text, "  {:<14} {}\n", view.name, view.help);
  return text;
}

std::vector<ViewPlan> PlanViews(const ViewRequest& request, ItemFilters* items) {
  std::vector<ViewPlan> plans;
  for (const View* view : ViewsOf(request.list, request.option)) {
    ViewPlan& plan = plans.emplace_back();
    const auto by_others = std::find_if(request.instead.begin(), request.instead.end(),
                                        [&](const View& one) { return one.name == view->name; });
    plan.view = by_others != request.instead.end() ? &*by_others : view;
    plan.says_rules = !request.instead.empty();
    plan.options.copies = request.copies;
    plan.options.model = request.model;
    plan.rows_requested = !request.columns.empty() || !request.where.empty() ||
                          !request.sort.empty() || request.top > 0;
  }
  PlanKeys(request.by, &plans);
  PlanWhatIf(request, &plans);
  PlanOrder(request, &plans);
  PlanColumns(request, &plans);
  ItemFilters dropped;
  PlanWhere(request, &plans, items == nullptr ? &dropped : items);
  return plans;
}

std::vector<ViewPlan> PlanRows(const ViewRequest& request, ItemFilters* items) {
  std::vector<ViewPlan> plans(1);
  ViewPlan& plan = plans.front();
  plan.options.plain = true;
  plan.options.copies = request.copies;
  if (request.list == GroupedRows(false).name) {
    plan.view = &GroupedRows(request.copies);
    plan.options.by = {std::string(request.by)};
  } else {
    plan.view = &FindView(request.list, request.option);
  }
  PlanOrder(request, &plans);
  PlanColumns(request, &plans);
  PlanWhere(request, &plans, items);
  return plans;
}

std::optional<ViewPlan> WithSteps(const ViewPlan& plan) {
  const View& view = *plan.view;
  const std::span<const std::string_view> words = view.by;
  const auto takes = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end() &&
           std::none_of(plan.options.by.begin(), plan.options.by.end(),
                        [&](const std::string& given) {
                          return (view.groups_kernels ? KeyOfWord(given) : given) == word;
                        });
  };
  if (!takes("step")) return std::nullopt;
  ViewPlan with_steps = plan;
  std::vector<std::string>& by = with_steps.options.by;
  // Without words, a view of groups uses its first key.
  if (view.groups_kernels && by.empty()) by = {"kernel"};
  if (takes("rank")) by.emplace_back("rank");
  by.emplace_back("step");
  return with_steps;
}

TraceNeeds NeedsOf(std::span<const ViewPlan> plans) {
  TraceNeeds needs;
  for (const ViewPlan& plan : plans) {
    needs = needs | plan.view->needs;
    // Which steps count depends on them (Steps), and must not on the other views.
    if (plan.view->make != nullptr) needs = needs | TraceNeeds{TracePart::kOverheads};
  }
  return needs;
}

bool TakeCalls(std::span<const ViewPlan> plans) {
  return std::any_of(plans.begin(), plans.end(),
                     [](const ViewPlan& plan) { return plan.view->calls; });
}

}  // namespace oplens::prof
