#include "oplens/summary_screen.h"

#include <cstddef>
#include <string_view>

#include "oplens/culprit_lines.h"
#include "oplens/rank_times.h"
#include "prof/input/rank_namer.h"
#include "prof/table/kept_rows.h"
#include "prof/view_task.h"
#include "prof/views/run_views.h"

namespace oplens::screen {
namespace {

enum SummaryView : size_t { kOfRanks, kOfOverview, kOfDistributed, kOfCulprits };
constexpr std::string_view kSummaryViews = "ranks,overview,distributed,culprits";

}  // namespace

Screen ScreenOfSummaries(const std::vector<prof::SummaryInput>& summaries,
                         const std::vector<std::string>& inputs, prof::LeftOut* left_out,
                         size_t* left_out_before, Diagnostics* losses) {
  const std::vector<prof::ViewPlan> plans = prof::PlanViews({.list = kSummaryViews});
  prof::KeptTables tables;
  prof::ViewRunner runner(plans, {}, &tables);
  prof::RunClaims claims;
  *left_out_before += prof::AddSummaries(summaries, plans, left_out, &runner, &claims, losses);
  runner.Finish();
  Screen screen;
  screen.inputs = inputs;
  screen.of_summaries = true;
  screen.one_run = claims.Sentence().empty();
  screen.are_ranks = screen.one_run;
  const prof::KeptRows& ranks = tables.At(kOfRanks);
  screen.runs = ranks.size();
  for (size_t i = 0; i < ranks.size(); ++i) {
    screen.kernels += ranks.Count(i, "kernels");
    screen.kernel_ns += ranks.Number(i, "kernel_ns").value_or(0);
  }
  if (screen.one_run) screen.culprits = CulpritsOf(tables.At(kOfCulprits));
  FillRankTimes(tables.At(kOfDistributed), tables.At(kOfOverview), &screen);
  return screen;
}

}  // namespace oplens::screen
