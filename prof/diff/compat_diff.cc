#include "prof/diff/compat_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "prof/diff/hta_diff.h"
#include "prof/diff/tb_diff.h"
#include "prof/table/top_rows.h"
#include "prof/views/hta_diff_names.h"
#include "prof/views/rank_order.h"
#include "prof/views/tb_diff_tree.h"

namespace oplens::prof {
namespace {

constexpr CompatDiffRules kCompatDiffRules[] = {
    {Compat::kTensorBoard, "tb", TbDiffTreeView, kTbDiffTables, kTbDiffKeys, MakeTbDiff},
    {Compat::kHta, "hta", HtaDiffNamesView, kHtaDiffTables, kHtaDiffKeys, MakeHtaDiff},
};

/// Adds the words of a list, each once. Throws UsageError for one that is not among `known`.
void ReadWords(const CompatDiffRules& rules, std::string_view option, std::string_view list,
               std::span<const std::string_view> known, std::vector<std::string>* words) {
  if (list.empty()) return;
  for (const std::string_view word : WordsOf(list)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(fmt::format(
          "--{}: {}", option,
          NoSuchName("word", word, {known.begin(), known.end()},
                     fmt::format("with --diff --compat {} the words are", rules.word))));
    }
    if (std::find(words->begin(), words->end(), word) == words->end()) words->emplace_back(word);
  }
}

ViewPlan SideOf(const View& view) {
  ViewPlan plan;
  plan.view = &view;
  plan.places.resize(view.fields().size());
  std::iota(plan.places.begin(), plan.places.end(), size_t{0});
  return plan;
}

}  // namespace

CompatDiffPlan PlanCompatDiff(Compat compat, std::string_view list, std::string_view by,
                              bool one_table, std::vector<ViewPlan>* sides) {
  const auto rules =
      std::find_if(std::begin(kCompatDiffRules), std::end(kCompatDiffRules),
                   [compat](const CompatDiffRules& entry) { return entry.compat == compat; });
  if (rules == std::end(kCompatDiffRules)) {
    throw UsageError("--compat: PyTorch's tables compare nothing: with --diff it is tb or hta");
  }
  CompatDiffPlan plan;
  plan.rules = rules;
  ReadWords(*rules, "view", list, rules->tables, &plan.tables);
  ReadWords(*rules, "by", by, rules->by, &plan.by);
  if (list.empty()) {
    plan.tables.assign(rules->tables.begin(), rules->tables.end());
    if (one_table) plan.tables.resize(1);
  }
  if (one_table && plan.tables.size() > 1) {
    throw UsageError("several views need --json or --sqlite: give one of them, or one view");
  }
  *sides = {SideOf(rules->view())};
  return plan;
}

std::vector<std::string> PrintCompatDiff(const CompatDiffPlan& plan, const DiffInput& base,
                                         const DiffInput& now, Destination* destination) {
  const std::unique_ptr<CompatDiff> diff = plan.rules->make(base, now, plan.by);
  std::vector<std::string> notes = diff->Notes();
  bool first = true;
  for (const std::string& table : plan.tables) {
    const std::unique_ptr<Sink> sink = destination->NewTable();
    sink->Words((first ? diff->Words() : std::string()) + fmt::format("\n{}\n", table));
    first = false;
    TopRows rows(std::nullopt, plan.top, sink.get());
    diff->Write(table, &rows);
    std::string sentence = rows.Sentence("rows of " + table);
    if (!sentence.empty()) notes.push_back(std::move(sentence));
  }
  return notes;
}

std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes) {
  const KeptRows& rows = side.tables->At(0);
  const size_t column = rows.ColumnOf("rank").value_or(0);
  std::set<std::string_view, RankBefore> ranks;
  for (size_t row = 0; row < rows.size(); ++row) ranks.insert(rows.Text(row, column));
  if (ranks.empty()) return {};
  if (ranks.size() > 1) {
    notes->push_back(
        fmt::format("{} has {} ranks, of which these rules compare one: {}; for another one give "
                    "its file",
                    side.name, ranks.size(), *ranks.begin()));
  }
  return *ranks.begin();
}

}  // namespace oplens::prof
