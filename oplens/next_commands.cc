#include "oplens/next_commands.h"

#include <string_view>

#include "prof/views/collectives/change_point.h"

namespace oplens::screen {
namespace {

// From these shares on, a suggestion is worthwhile.
constexpr double kMuchIdlePct = 20;
constexpr double kMuchCommunicationPct = 5;
constexpr double kMuchMissedTcPct = 5;
constexpr double kMuchLostPct = 5;
constexpr double kLittleKnownPct = 80;
constexpr double kUnevenPct = 2;

/// Ignores idle time before the first and after the last work: it is due to the recording.
bool IsIdle(const Screen& screen) {
  return screen.gpu && screen.gpu->idle_pct.value_or(0) >= kMuchIdlePct &&
         100 - screen.span_busy_pct.value_or(0) >= kMuchIdlePct;
}

bool CommunicatesMuch(const Screen& screen) {
  return screen.time && screen.time->communication_pct.value_or(0) >= kMuchCommunicationPct;
}

/// Whether ranks of a run wait, or may wait, for each other.
bool AreUneven(const Screen& screen) {
  return screen.are_ranks && screen.ranks.size() > 1 &&
         (screen.slowest_by_pct.value_or(0) >= kUnevenPct || CommunicatesMuch(screen));
}

/// Whether there are enough steps for the view stragglers.
bool HasStragglerSteps(const Screen& screen) { return screen.steps.whole >= prof::kLeastSteps; }

struct Advice {
  bool (*fits)(const Screen& screen);
  std::string_view command;
  std::string_view why;
};

constexpr Advice kAdvice[] = {
    {[](const Screen& screen) { return AreUneven(screen) && HasStragglerSteps(screen); },
     "prof --view stragglers", "which rank holds the others up, by which op"},
    {[](const Screen& screen) { return AreUneven(screen) && !HasStragglerSteps(screen); },
     "prof --view ranks", "the ranks side by side"},
    {CommunicatesMuch, "prof --view collectives", "what collectives waited for"},
    {[](const Screen& screen) {
       return IsIdle(screen) && screen.steps.source == StepFacts::Source::kMarked;
     },
     "prof --view idle --by step", "why the GPU was idle, by step"},
    {[](const Screen& screen) {
       return IsIdle(screen) && screen.steps.source != StepFacts::Source::kMarked;
     },
     "prof --view idle", "why the GPU was idle, how long"},
    {[](const Screen& screen) { return screen.missed_tc_pct.value_or(0) >= kMuchMissedTcPct; },
     "prof --csv -c op,kernel,params,sil,tc,tc_elig,tc_why", "why products miss Tensor Cores"},
    {[](const Screen& screen) {
       return !screen.losses.empty() && screen.losses.front().share_pct.value_or(0) >= kMuchLostPct;
     },
     "prof --view losses", "what the recording lacks"},
    {[](const Screen& screen) {
       return screen.kernels > 0 && screen.flops_known_pct.value_or(0) < kLittleKnownPct;
     },
     "check", "how many kernels have each column"},
    {[](const Screen& screen) {
       return screen.flops_known_pct.value_or(0) > 0 && !screen.ops.rows.empty();
     },
     "prof --view advice", "what to change, what it saves at most"},
    {[](const Screen& screen) { return !screen.layers.rows.empty() && !screen.records; },
     "prof --view modules", "all layers as a tree"},
    {[](const Screen& screen) {
       return screen.are_ranks && screen.ranks.size() > 1 && !AreUneven(screen);
     },
     "prof --view ranks", "the ranks side by side"},
    {[](const Screen& screen) { return screen.kernels > 0 || screen.time; }, "report -o run.html",
     "all of it, with a timeline"},
};

}  // namespace

std::vector<NextCommand> NextCommands(const Screen& screen, size_t most) {
  std::vector<NextCommand> commands;
  const size_t count = std::size(kAdvice);
  for (size_t i = 0; i < count && most > 0; ++i) {
    const Advice& advice = kAdvice[i];
    if (!advice.fits(screen)) continue;
    // Keep the last line for the HTML page, which always fits.
    if (commands.size() + 1 >= most && i + 1 < count) continue;
    commands.push_back({std::string(advice.command), std::string(advice.why)});
  }
  return commands;
}

}  // namespace oplens::screen
