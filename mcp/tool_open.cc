#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mcp/tool_parts.h"
#include "mcp/tools.h"
#include "oplens/known_mfu.h"
#include "prof/views/common/view.h"

namespace oplens::mcp {
namespace {

using screen::Cost;
using screen::Costs;
using screen::Screen;

OrderedJson Number(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

/// Rows "what, name, time_ns, pct, key" of the facts, the most telling first.
class FactRows {
 public:
  explicit FactRows(AnswerRows* rows) : rows_(*rows) {
    rows_.BeginPlain({"what", "name", "time_ns", "pct", "key"});
  }

  void Add(std::string_view what, std::string_view name, OrderedJson time_ns, OrderedJson pct,
           OrderedJson key = nullptr) {
    rows_.Add({what, SafeText(name, kNameColumns), RoundedCell(time_ns), RoundedCell(pct),
               std::move(key)});
  }
  void AddCosts(std::string_view what, const Costs& costs) {
    for (const Cost& cost : costs.rows) {
      const bool has_key = what == "kernel" && !cost.name.starts_with('(');
      Add(what, cost.name.empty() ? "(unknown)" : cost.name, cost.total_ns, cost.share_pct,
          has_key ? OrderedJson(NameKey(cost.name)) : OrderedJson());
    }
    if (costs.others > 0) {
      Add(what, fmt::format("({} more)", costs.others), nullptr, costs.others_pct);
    }
  }

 private:
  AnswerRows& rows_;
};

void AddAll(const Screen& facts, FactRows* rows) {
  if (facts.steps.median_ns) {
    rows->Add("step", fmt::format("median of {}", facts.steps.steady), *facts.steps.median_ns, {});
  }
  if (facts.time) {
    rows->Add("time", "mean step or run", facts.time->total_ns, {});
    for (const screen::TimePart& part : facts.time->parts) {
      rows->Add("time", part.name, part.time_ns, part.share_pct);
    }
    if (facts.time->busy_pct) rows->Add("gpu", "busy", {}, Number(facts.time->busy_pct));
  }
  if (facts.gpu) {
    if (facts.gpu->idle_pct) rows->Add("gpu", "idle", {}, Number(facts.gpu->idle_pct));
    for (const screen::IdleTime& cause : facts.gpu->causes) {
      rows->Add("idle", cause.cause, {}, cause.share_pct);
    }
  }
  rows->AddCosts("op", facts.ops);
  rows->Add("known", "op", {}, Number(facts.op_known_pct));
  rows->Add("known", "FLOPs", {}, Number(facts.flops_known_pct));
  for (const screen::LossFact& loss : facts.losses) {
    rows->Add("lost", loss.loss, {}, Number(loss.share_pct));
  }
  if (const std::optional<screen::KnownMfu> mfu = screen::KnownMfuOf(facts)) {
    rows->Add("gpu", mfu->is_bound ? "MFU, at least" : "MFU", {}, mfu->pct);
  }
  if (facts.missed_tc_pct) {
    rows->Add("gpu", "products off Tensor Cores", {}, Number(facts.missed_tc_pct));
  }
  for (const screen::RankTime& rank : facts.ranks) {
    rows->Add("rank", rank.rank, Number(rank.compute_ns), {});
  }
  rows->AddCosts("kernel", facts.kernel_names);
  rows->AddCosts("layer", facts.layers);
  rows->Add("kernels", fmt::format("{}", facts.kernels), facts.kernel_ns, {});
}

/// What the file is.
std::string FileText(const Screen& facts) {
  std::vector<std::string> gpus;
  for (const screen::GpuFact& gpu : facts.gpus) {
    gpus.push_back(fmt::format("{}{}{}", gpu.name.empty() ? "unknown GPU" : gpu.name,
                               gpu.count > 1 ? fmt::format(" x{}", gpu.count) : "",
                               gpu.taken ? " (assumed)" : ""));
  }
  std::vector<std::string> parts = {facts.profilers.empty()
                                        ? std::string("records")
                                        : fmt::format("{}", fmt::join(facts.profilers, ", "))};
  if (!gpus.empty()) parts.push_back(fmt::format("{}", fmt::join(gpus, ", ")));
  parts.push_back(fmt::format("{} kernels", facts.kernels));
  if (facts.runs > 1) {
    parts.push_back(fmt::format("{} {}", facts.runs, facts.are_ranks ? "ranks" : "profiles"));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

Found OpenTool(const Arguments& asked, OpenedRuns* runs, CallContext* context) {
  const std::shared_ptr<OpenedRun> run = runs->Open(asked.path, context->meter());
  const Screen& facts = run->Facts(context->meter());
  Found found{{}, AnswerRows(static_cast<size_t>(asked.skip))};
  FactRows rows(&found.rows);
  AddAll(facts, &rows);
  Answer& answer = found.answer;
  answer.title = SafeText(facts.verdict.empty() ? "no verdict" : facts.verdict, kSentenceColumns);
  answer.notes.push_back(SafeText(FileText(facts), kSentenceColumns));
  std::vector<std::string_view> views;
  for (const prof::View& view : prof::Views()) views.push_back(view.name);
  answer.notes.push_back(fmt::format("views: {}", fmt::join(views, " ")));
  AddNotes(facts.lost, 4, &answer);
  if (!facts.one_run) {
    answer.notes.emplace_back("the files are not ranks of one run: open one of them");
  }
  if (!facts.losses.empty() && !facts.losses.front().mend.empty()) {
    answer.notes.push_back(
        SafeText(fmt::format("{}: {}", facts.losses.front().loss, facts.losses.front().mend),
                 kSentenceColumns));
  }
  if (facts.gap) {
    answer.notes.push_back(
        SafeText(fmt::format("for {:.1f} % of kernel time, {}: {}", facts.gap->share_pct,
                             facts.gap->raises, facts.gap->remedy),
                 kSentenceColumns));
  }
  answer.evidence = {CommandOf({}, run->place().named), run->place().named, run->hash(),
                     "recorded+computed", ShareOf(facts)};
  answer.next = CallOfCommand(facts.verdict_command, run->place().named, "the verdict in figures");
  if (answer.next.tool.empty()) answer.next = NextOf(facts, run->place().named, "");
  return found;
}

}  // namespace oplens::mcp
