#include "oplens/make_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/ratio.h"
#include "oplens/culprit_lines.h"
#include "oplens/kernel_times.h"
#include "oplens/rank_times.h"
#include "oplens/run_facts.h"
#include "oplens/screen.h"
#include "parse/records/kernel_records.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/table/kept_rows.h"
#include "prof/verdicts/steady_steps.h"
#include "prof/views/run_views.h"

namespace oplens::screen {
namespace {

using Rows = prof::KeptRows;
using prof::KeptTables;

// The views of a screen: indices of its plans.
enum ViewPlace : size_t {
  kVerdict,
  kOverview,
  kGpu,
  kIdle,
  kTemporal,
  kLosses,
  kMfu,
  kByOp,
  kByKernel,
  kDistributed,  // Only with several files,
  kCulprits,     // as this.
};

struct PlannedView {
  std::string_view view;
  std::string_view columns;
  std::string_view by = {};
  size_t top = 0;
  bool several_only = false;
};

constexpr std::string_view kGroupFigures =
    "count,total,share,tflops,flops_known,gbps,bytes_known,tc,tc_known";

const std::vector<PlannedView>& PlannedViews() {
  static const std::string op_columns = fmt::format("op,{}", kGroupFigures);
  static const std::string kernel_columns = fmt::format("kernel,{}", kGroupFigures);
  static const std::vector<PlannedView> views = {
      {"verdict", "rank,verdict,command"},
      {"overview", "all"},
      {"gpu", "all"},
      {"idle", "rank,device,step,cause,idle_ns", "step"},
      {"temporal", "rank,idle_pct"},
      {"losses", "all"},
      {"mfu", "all"},
      {"groups", op_columns, "op", kMostOps},
      {"groups", kernel_columns, "kernel", kMostKernels},
      {"distributed", "rank,step,computation_ns,overlap_ns,communication_ns,wait_ns", {}, 0, true},
      {"culprits", "who,cause,what,often,cost_ns,cost_pct,test", {}, 0, true},
  };
  return views;
}

std::vector<prof::ViewPlan> PlansOf(bool several,
                                    std::shared_ptr<const prof::ModelPlan> model = nullptr) {
  std::vector<prof::ViewPlan> plans;
  for (const PlannedView& view : PlannedViews()) {
    if (view.several_only && !several) continue;
    plans.push_back(prof::PlanViews({.list = view.view,
                                     .by = view.by,
                                     .columns = view.columns,
                                     .top = view.top,
                                     .model = model})
                        .front());
  }
  return plans;
}

/// Runs the views; also sums kernels and collects facts about the runs.
class ScreenViews : public prof::ViewRunner {
 public:
  ScreenViews(const std::vector<prof::ViewPlan>& plans, const prof::RunOptions& run,
              KeptTables* tables, KernelTimes* times, RunFacts* facts)
      : ViewRunner(plans, run, tables), times_(*times), facts_(*facts) {}

  void BeginInput(const parse::KernelRecords* profile) override {
    ViewRunner::BeginInput(profile);
    facts_.Begin(run());
  }
  void Add(const prof::PricedKernel& kernel) override {
    ViewRunner::Add(kernel);
    if (lanes_of_views_ == 0) Sum({&kernel, Selects(kernel)});
  }
  /// One more than of the views, if they have lanes: for the sums here.
  size_t Lanes() override {
    lanes_of_views_ = ViewRunner::Lanes();
    return lanes_of_views_ == 0 ? 0 : lanes_of_views_ + 1;
  }
  void Look(size_t lane, const HeldRows& rows) override {
    if (lane < lanes_of_views_) return ViewRunner::Look(lane, rows);
    for (const HeldRow& held : rows) {
      if (!held.row->replay) Sum(held);
    }
  }
  void EndInput() override {
    facts_.End(run());
    ViewRunner::EndInput();
  }
  void EndLastInput() override {
    facts_.End(run());
    ViewRunner::EndLastInput();
  }

 private:
  void Sum(const HeldRow& kernel) {
    if (kernel.selected) times_.Add(*kernel.row);
    facts_.Add(*kernel.row);
  }

  KernelTimes& times_;
  RunFacts& facts_;
  size_t lanes_of_views_ = 0;  // Of the current input.
};

/// A class of the view overview and its name on the screen.
struct PartWord {
  std::string_view key;
  std::string_view name;
};
constexpr PartWord kParts[] = {
    {"kernel_ns", "compute"},    {"memcpy_ns", "copies"},
    {"memset_ns", "fills"},      {"comm_ns", "communication alone"},
    {"runtime_ns", "API calls"}, {"dataloader_ns", "data loader"},
    {"cpu_ns", "host ops"},      {"queued_ns", "queued"},
    {"cold_ns", "cold start"},   {"other_ns", "nothing recorded"},
};
constexpr std::string_view kMean = "mean";
constexpr std::string_view kReplays = "(graph replay)";

/// Turns tables into facts.
class Maker {
 public:
  Maker(const KeptTables& tables, const KernelTimes& times, const RunFacts& facts, bool several)
      : tables_(tables), times_(times), facts_(facts), several_(several) {}

  void Fill(Screen* screen) {
    FillKernels(screen);
    FillRanks(screen);
    FillSteps(screen);
    FillTime(screen);
    FillVerdict(screen);
    FillGpu(screen);
    FillCosts(screen);
    FillLosses(screen);
  }

 private:
  const Rows& Table(ViewPlace place) const { return tables_.At(place); }

  void FillRanks(Screen* screen) const {
    if (!several_) return;
    screen->culprits = CulpritsOf(Table(kCulprits));
    if (!screen->one_run) {
      // Times of several runs are not compared; what is wrong with the files is said.
      const bool ranks = screen->are_ranks;
      std::erase_if(screen->culprits, [&](const CulpritFact& culprit) {
        return !ranks || !culprit.often.empty() || culprit.cost_ns;
      });
    }
    FillRankTimes(Table(kDistributed), Table(kOverview), screen);
    const auto is_other = [](const CulpritFact& culprit) { return culprit.cause == "other run"; };
    if (std::ranges::any_of(screen->culprits, is_other)) screen->slowest_by_pct.reset();
  }

  void FillSteps(Screen* screen) const {
    screen->steps.source = facts_.step_source();
    screen->steps.proposal = facts_.step_proposal();
    screen->steps.outside = facts_.outside_steps();
    const Rows& rows = Table(kOverview);
    StepFacts& steps = screen->steps;
    std::vector<int64_t> totals_ns;
    std::vector<double> hosts_ns;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.Text(i, "rank") != ShownRank(*screen)) continue;
      if (rows.Text(i, "step") == kMean) steps.phase = rows.Text(i, "phase");
      if (rows.Text(i, "step") == kMean) continue;
      const int64_t total_ns = rows.Count(i, "total_ns");
      const std::string_view state = rows.Text(i, "state");
      if (state == prof::StepStateWord(prof::StepState::kSteady)) {
        totals_ns.push_back(total_ns);
        if (const auto host_ns = rows.Number(i, "host_ns")) hosts_ns.push_back(*host_ns);
        continue;
      }
      auto known = std::ranges::find(steps.left_out, state, &StepFacts::LeftOut::state);
      if (known == steps.left_out.end()) {
        known = steps.left_out.insert(
            known, {std::string(state), 0, std::string(rows.Text(i, "step")), total_ns});
      }
      ++known->count;
      known->longest_ns = std::max(known->longest_ns, total_ns);
    }
    steps.steady = totals_ns.size();
    if (totals_ns.empty()) return;
    std::sort(totals_ns.begin(), totals_ns.end());
    steps.median_ns = totals_ns[(totals_ns.size() - 1) / 2];
    steps.shortest_ns = totals_ns.front();
    steps.longest_ns = totals_ns.back();
    if (hosts_ns.size() == totals_ns.size()) {
      steps.host_median_ns = static_cast<int64_t>(LowerMedianOf(std::move(hosts_ns)));
    }
  }

  void FillTime(Screen* screen) const {
    const Rows& rows = Table(kOverview);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.Text(i, "step") != kMean || rows.Text(i, "rank") != ShownRank(*screen)) continue;
      const std::optional<double> total_ns = rows.Number(i, "total_ns");
      if (!total_ns || *total_ns <= 0) return;
      StepTime& time = screen->time.emplace();
      // A run counts from its cold start to its last work, as in the verdict.
      const bool of_run = screen->steps.source == StepFacts::Source::kRun;
      time.cold_ns = of_run ? rows.Number(i, "cold_ns").value_or(0) : 0;
      time.end_ns = of_run ? rows.Number(i, "end_ns").value_or(0) : 0;
      time.total_ns = *total_ns - time.cold_ns - time.end_ns;
      if (time.total_ns <= 0) return screen->time.reset();
      for (const PartWord& part : kParts) {
        double ns = rows.Number(i, part.key).value_or(0);
        if (part.key == "other_ns") {
          for (const std::string_view apart : {"queued_ns", "cold_ns", "end_ns"}) {
            ns -= rows.Number(i, apart).value_or(0);
          }
        }
        if (of_run && part.key == "cold_ns") continue;
        if (ns > 0) time.parts.push_back({std::string(part.name), ns, 100 * ns / time.total_ns});
        if (part.key == "comm_ns" && rows.Number(i, part.key)) {
          time.communication_pct = 100 * ns / time.total_ns;
        }
      }
      std::stable_sort(time.parts.begin(), time.parts.end(),
                       [](const TimePart& a, const TimePart& b) { return a.time_ns > b.time_ns; });
      const auto of_rest = [&](std::string_view figure) {
        std::optional<double> pct = rows.Number(i, figure);
        if (pct) *pct *= *total_ns / time.total_ns;
        return pct;
      };
      time.busy_pct = of_rest("busy_pct");
      time.mfu_pct = of_rest("mfu_pct");
      screen->model = ModelFactsOf(Table(kMfu), ShownRank(*screen), *total_ns / time.total_ns);
      return;
    }
  }

  void FillVerdict(Screen* screen) const {
    const Rows& rows = Table(kVerdict);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.Text(i, "rank") != ShownRank(*screen)) continue;
      screen->verdict = rows.Text(i, "verdict");
      screen->verdict_command = rows.Text(i, "command");
    }
  }

  /// The steps of the shown rank that the mean is over, with their total length.
  std::pair<std::set<int64_t>, double> CountedSteps(const Screen& screen) const {
    const Rows& rows = Table(kOverview);
    std::pair<std::set<int64_t>, double> counted;
    for (const bool steady : {true, false}) {
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows.Text(i, "step") == kMean || rows.Text(i, "rank") != ShownRank(screen)) continue;
        const std::string_view state = rows.Text(i, "state");
        if ((state == prof::StepStateWord(prof::StepState::kSteady)) != steady) continue;
        counted.first.insert(NumberIn(rows.Text(i, "step")));
        counted.second += rows.Number(i, "total_ns").value_or(0);
      }
      if (!counted.first.empty()) break;
    }
    return counted;
  }

  static int64_t NumberIn(std::string_view text) {
    return std::strtoll(std::string(text).c_str(), nullptr, 10);
  }

  /// Fills in the busiest GPU of the shown rank.
  void FillGpu(Screen* screen) const {
    const Rows& rows = Table(kGpu);
    std::optional<size_t> most;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.Text(i, "rank") != ShownRank(*screen)) continue;
      if (!most || rows.Count(i, "busy_ns") > rows.Count(*most, "busy_ns")) most = i;
    }
    if (!most) return;
    GpuUse& use = screen->gpu.emplace();
    use.rank = rows.Text(*most, "rank");
    use.device = fmt::format("{}", rows.Count(*most, "device"));
    use.sm_efficiency_pct = rows.Number(*most, "sm_efficiency_pct");
    use.achieved_occupancy_pct = rows.Number(*most, "achieved_occupancy_pct");
    use.tc_least_pct = rows.Number(*most, "tc_least_pct");
    use.tc_known_pct = rows.Number(*most, "tc_known_pct");
    FillIdle(*screen, rows.Count(*most, "device"), &use);
    const Rows& temporal = Table(kTemporal);
    for (size_t i = 0; i < temporal.size(); ++i) {
      if (temporal.Text(i, "rank") != use.rank) continue;
      if (const auto pct = temporal.Number(i, "idle_pct")) screen->span_busy_pct = 100 - *pct;
    }
  }

  void FillIdle(const Screen& screen, int64_t device, GpuUse* use) const {
    const auto [steps, all_ns] = CountedSteps(screen);
    const bool of_run = screen.steps.source == StepFacts::Source::kRun;
    const double outside_ns = screen.time ? screen.time->cold_ns + screen.time->end_ns : 0;
    const double total_ns = all_ns - outside_ns;
    if (!(total_ns > 0)) return;
    const Rows& idle = Table(kIdle);
    std::map<std::string, double, std::less<>> causes_ns;
    for (size_t i = 0; i < idle.size(); ++i) {
      if (idle.Text(i, "rank") != use->rank || idle.Count(i, "device") != device ||
          !steps.contains(idle.Count(i, "step"))) {
        continue;
      }
      causes_ns[std::string(idle.Text(i, "cause"))] += idle.Number(i, "idle_ns").value_or(0);
    }
    for (const auto& [cause, ns] : causes_ns) {
      const double pct = 100 * ns / total_ns;
      if (cause == "(all)") {
        use->idle_pct = 100 * (ns - outside_ns) / total_ns;
      } else if (!of_run || (cause != "cold-start" && cause != "tail")) {
        use->causes.push_back({cause, pct});
      }
    }
    std::stable_sort(
        use->causes.begin(), use->causes.end(),
        [](const IdleTime& a, const IdleTime& b) { return a.share_pct > b.share_pct; });
  }

  static std::optional<double> PercentOfAll(double part_ns, const Screen& screen) {
    if (screen.kernel_ns <= 0) return std::nullopt;
    return 100 * part_ns / screen.kernel_ns;
  }

  void FillKernels(Screen* screen) const {
    const prof::GroupSums& all = times_.all();
    screen->kernels = all.kernels;
    screen->kernel_ns = static_cast<double>(all.total_ns);
    const Rows& ops = Table(kByOp);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.Text(i, "op") != kReplays) continue;
      screen->replays = ops.Count(i, "count");
      const double replay_ns = ops.Number(i, "total").value_or(0);
      screen->kernel_ns += replay_ns;
      if (replay_ns > 0) screen->replay_pct = 100 * replay_ns / screen->kernel_ns;
    }
    // The kernels of replays are in it too, with nothing known of them.
    const double kernels = 1 - screen->replay_pct / 100;
    for (double& pct : screen->op_by_pct) pct *= kernels;
    screen->flops_by_launch_pct *= kernels;
    screen->op_known_pct = PercentOfAll(static_cast<double>(times_.op_known_ns()), *screen);
    screen->flops_known_pct = PercentOfAll(static_cast<double>(all.flops_ns), *screen);
    if (times_.tc_judged_ns() > 0)
      screen->missed_tc_pct = all.PercentOfTotal(times_.missed_tc_ns());
  }

  void FillCosts(Screen* screen) const {
    screen->layers = times_.Layers(kMostLayers, screen->kernel_ns);
    screen->ops = CostsOf(Table(kByOp), "op");
    screen->kernel_names = CostsOf(Table(kByKernel), "kernel");
    for (Cost& cost : screen->ops.rows) AddRoof(times_.OfOp(cost.name), &cost);
    for (Cost& cost : screen->kernel_names.rows) {
      AddRoof(times_.OfKernel(cost.name), &cost);
      cost.largest = times_.MainOpOf(cost.name);
    }
  }

  static void AddRoof(const RoofTimes* times, Cost* cost) {
    if (times == nullptr) return;
    cost->bound = times->Bound();
    cost->roof_pct = times->RoofPct();
  }

  static Costs CostsOf(const Rows& rows, std::string_view key) {
    Costs costs;
    for (size_t i = 0; i < rows.size(); ++i) {
      Cost cost;
      cost.name = rows.Text(i, key);
      cost.kernels = rows.Count(i, "count");
      cost.total_ns = rows.Number(i, "total").value_or(0);
      cost.share_pct = rows.Number(i, "share").value_or(0);
      const auto known = [&](std::string_view figure, std::string_view share) {
        return ShowsRate(rows.Number(i, share)) ? rows.Number(i, figure) : std::nullopt;
      };
      cost.tflops = known("tflops", "flops_known");
      cost.gbps = known("gbps", "bytes_known");
      cost.tc_pct = known("tc", "tc_known");
      constexpr std::string_view kMore = " more)";
      if (cost.name.starts_with('(') && cost.name.ends_with(kMore)) {
        // The summary row of --top: "(17 more)".
        costs.others = static_cast<size_t>(std::strtoull(cost.name.c_str() + 1, nullptr, 10));
        costs.others_pct = cost.share_pct;
      } else {
        costs.rows.push_back(std::move(cost));
      }
    }
    return costs;
  }

  /// Each loss once, with the rank that has the most of it.
  void FillLosses(Screen* screen) const {
    const Rows& rows = Table(kLosses);
    std::vector<LossFact> losses;
    for (size_t i = 0; i < rows.size(); ++i) {
      LossFact loss;
      loss.loss = rows.Text(i, "loss");
      loss.rank = rows.Text(i, "rank");
      loss.count = rows.Count(i, "count");
      loss.share_pct = rows.Number(i, "share_pct");
      loss.why = rows.Text(i, "why");
      loss.mend = rows.Text(i, "mend");
      const auto known = std::ranges::find(losses, loss.loss, &LossFact::loss);
      if (known == losses.end()) {
        losses.push_back(std::move(loss));
      } else if (Weight(loss) > Weight(*known)) {
        *known = std::move(loss);
      }
    }
    std::stable_sort(losses.begin(), losses.end(),
                     [](const LossFact& a, const LossFact& b) { return Weight(a) > Weight(b); });
    screen->more_losses = losses.size() - std::min(losses.size(), kMostLosses);
    losses.resize(std::min(losses.size(), kMostLosses));
    screen->losses = std::move(losses);
  }

  /// Losses that are not times, such as dropped records, count as 1 %.
  static double Weight(const LossFact& loss) { return loss.share_pct.value_or(1); }

  std::string_view ShownRank(const Screen& screen) const {
    if (!screen.ranks.empty()) return screen.shown_rank;
    // With one rank, or several that cannot be compared: the first.
    const Rows& rows = Table(kOverview);
    return rows.size() == 0 ? std::string_view() : rows.Text(0, "rank");
  }

  const KeptTables& tables_;
  const KernelTimes& times_;
  const RunFacts& facts_;
  bool several_;
};

/// Fills in the inputs that could not be read.
void FillLost(const Diagnostics& diagnostics, Screen* screen) {
  // A single input is named at the top already.
  const std::string only = screen->inputs.size() == 1 ? screen->inputs.front() + ": " : "";
  for (std::string_view file : diagnostics.lost_files()) {
    if (!only.empty() && file.starts_with(only)) file.remove_prefix(only.size());
    screen->lost.emplace_back(file);
  }
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    const int64_t count = diagnostics.CountOf(reason);
    const bool of_file = reason == Reason::kFileCut || reason == Reason::kTrailingData;
    if (count == 0 || of_file || SeverityOf(reason) < Severity::kLost) continue;
    screen->lost.push_back(fmt::format("{} {}", count, ReasonSentence(reason)));
  }
}

}  // namespace

TraceNeeds NeedsOfScreen() { return prof::NeedsOf(PlansOf(true)); }

Screen MakeScreen(prof::RecordSource* records, const ScreenPlan& plan, Diagnostics* diagnostics) {
  const std::vector<prof::ViewPlan> plans = PlansOf(plan.several, plan.model);
  KernelTimes times;
  KeptTables tables;
  RunFacts facts;
  ScreenViews views(plans, plan.run, &tables, &times, &facts);
  prof::PricingReport told;
  PriceSome(records, plan.pricing, &views, diagnostics, &told);
  views.Finish();

  Screen screen;
  screen.selected = !plan.run.selection.empty();
  for (const std::string& note : views.Notes()) {
    if (note.starts_with("no step lies in")) screen.selection_note = note;
    diagnostics->Note(note);
  }
  screen.inputs = plan.inputs;
  FillLost(*diagnostics, &screen);
  if (plan.pricing.rules != nullptr) {
    screen.rule_misfits = told.misfits.Sentences(*plan.pricing.rules);
  }
  facts.Fill(&screen);
  if (plan.one_file) screen.one_run = true;
  Maker(tables, times, facts, plan.several).Fill(&screen);
  return screen;
}

}  // namespace oplens::screen
