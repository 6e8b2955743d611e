#include <fmt/format.h>

#include <cmath>

#include "engine/query_options.h"
#include "mcp/tool_parts.h"
#include "mcp/tools.h"
#include "prof/diff/compare.h"
#include "prof/input/record_source.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/table/fitted_text.h"
#include "prof/views/run_views.h"

namespace oplens::mcp {
namespace {

/// The tables of one side.
void ReadSide(OpenedRun* run, const prof::DiffPlan& plan, prof::KeptTables* tables,
              Messages* messages, WorkMeter* meter) {
  const prof::Options options = engine::OptionsOf({run->place().resolved}, {}, {});
  prof::PriceOptions pricing = options.Pricing();
  pricing.shows_prices = false;
  prof::ViewRunner runner(plan.plans, options.RunOf({}), tables);
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>&) {
    prof::PriceAll(records, pricing, &runner, messages->losses());
  };
  run->run().Read(prof::NeedsOf(plan.plans), {}, read, messages, meter);
  runner.Finish();
}

OrderedJson CellOf(const std::optional<double>& value) {
  return value ? RoundedCell(*value) : OrderedJson();
}

std::vector<OrderedJson> RowOf(std::string_view what, std::string_view name,
                               const prof::Figure& figure) {
  return {what,
          SafeText(name, SIZE_MAX),
          CellOf(figure.base),
          CellOf(figure.now),
          CellOf(figure.delta()),
          CellOf(figure.delta_pct()),
          prof::WordOf(figure.change),
          prof::WordOf(figure.verdict)};
}

void AddTable(const prof::DiffTable& table, AnswerRows* rows) {
  const size_t main = table.main.value_or(0);
  if (main >= table.figures.size()) return;
  for (const prof::DiffRow& row : table.rows) {
    const prof::Figure& figure = row.figures[main];
    if ((!figure.base && !figure.now) || figure.change == prof::Change::kSame) continue;
    std::string name;
    for (size_t i = 0; i < row.keys.size(); ++i) {
      if (row.keys[i].empty()) continue;
      if (!name.empty()) name.push_back(' ');
      const std::string key = SafeText(row.keys[i], SIZE_MAX);
      prof::AppendCut(key, kNameColumns, prof::CutOf(table.keys[i], key), &name);
    }
    rows->Add(RowOf(table.view, name, figure));
  }
}

}  // namespace

Found DiffTool(const Arguments& asked, OpenedRuns* runs, CallContext* context) {
  const prof::DiffPlan plan =
      prof::PlanDiff(asked.name.empty() ? "operators" : asked.name, asked.by);
  const std::shared_ptr<OpenedRun> base = runs->Open(asked.base, context->meter());
  const std::shared_ptr<OpenedRun> now = runs->Open(asked.path, context->meter());
  prof::KeptTables base_tables;
  prof::KeptTables now_tables;
  Messages messages("oplens");
  ReadSide(base.get(), plan, &base_tables, &messages, context->meter());
  ReadSide(now.get(), plan, &now_tables, &messages, context->meter());
  const prof::Diff diff =
      prof::Compare(plan, {base->place().named, &base_tables}, {now->place().named, &now_tables});
  Found found{{}, AnswerRows(static_cast<size_t>(asked.skip))};
  found.rows.BeginPlain({"what", "name", "base", "new", "delta", "delta_pct", "change", "verdict"});
  found.rows.Add(RowOf("total_ns", "mean step", diff.total));
  for (const prof::Cause& cause : diff.causes) {
    found.rows.Add({"cause", cause.cause, nullptr, nullptr, RoundedCell(cause.delta_ns), nullptr,
                    nullptr, prof::WordOf(cause.verdict)});
  }
  for (const prof::Difference& one : diff.differences) {
    found.rows.Add({one.decides ? "setup (decides)" : "setup", one.fact,
                    SafeText(one.base, kNameColumns), SafeText(one.now, kNameColumns), nullptr,
                    nullptr, nullptr, nullptr});
  }
  size_t shown = 0;
  for (const prof::DiffTable& table : diff.tables) {
    if (shown++ < plan.views.size()) AddTable(table, &found.rows);
  }
  Answer& answer = found.answer;
  answer.title = SafeText(diff.verdict, kSentenceColumns);
  AddNotes(diff.notes, 4, &answer);
  if (!diff.lost.empty()) AddNotes({diff.lost}, 5, &answer);
  std::vector<std::string> words = {"diff", base->place().named};
  if (!asked.name.empty()) words.insert(words.end(), {"--view", asked.name});
  if (!asked.by.empty()) words.insert(words.end(), {"--by", asked.by});
  const screen::Screen& facts = now->Facts(context->meter());
  answer.evidence = {CommandOf(words, now->place().named), now->place().named,
                     fmt::format("{} against {}", now->hash(), base->hash()), "recorded",
                     ShareOf(facts)};
  answer.next = NextOf(facts, now->place().named, "");
  return found;
}

}  // namespace oplens::mcp
