// Rules about idle time of the GPU, and about the host.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "prof/advice/checks.h"
#include "prof/advice/evidence.h"

namespace oplens::prof::advice {
namespace {

constexpr double kHostChecksMuchLoading = 0.05;  // As in the TensorBoard plugin.
constexpr double kMuchHostBound = 0.20;  // Idle time not explained by batches, waits or copies.
constexpr double kMuchBlocking = 0.02;
constexpr double kMuchCold = 0.05;
constexpr double kMostlyShort = 0.50;
constexpr int64_t kManyShort = 50;
constexpr double kMuchWaiting = 0.05;
constexpr double kMuchPageable = 0.01;
constexpr double kMuchAllocating = 0.005;

/// Causes of idle time, largest first, as evidence.
std::vector<std::string> CausesOf(const RankFacts& rank) {
  std::array<size_t, kIdleCauseCount> order{};
  for (size_t i = 0; i < kIdleCauseCount; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank.idle_ns[a] > rank.idle_ns[b]; });
  const int64_t all_ns = SaturatingSum(rank.capacity_ns(), rank.cold_ns);
  std::vector<std::string> evidence;
  for (const size_t cause : order) {
    if (rank.idle_ns[cause] == 0 || evidence.size() == kMostEvidence) break;
    evidence.push_back(fmt::format("idle for {}: {}, {} % of the window",
                                   IdleCauseWord(static_cast<IdleCause>(cause)),
                                   TimeText(static_cast<double>(rank.idle_ns[cause])),
                                   Percent(ShareOf(rank.idle_ns[cause], all_ns))));
  }
  return evidence;
}

}  // namespace

std::optional<Finding> CheckDataLoader(const Case& look) {
  const RankFacts& rank = look.rank;
  const double share = ShareOf(rank.dataloader_ns, rank.steps_ns);
  if (!(share > kHostChecksMuchLoading)) return std::nullopt;
  std::vector<StepFact> order = rank.steps;
  std::stable_sort(order.begin(), order.end(), [](const StepFact& a, const StepFact& b) {
    return a.dataloader_ns > b.dataloader_ns;
  });
  Finding found{fmt::format("{} % of the step time the GPU and the program wait for the next batch",
                            Percent(share)),
                share};
  for (size_t i = 0; i < std::min(order.size(), kMostEvidence); ++i) {
    found.evidence.push_back(fmt::format("step {}: {} of {}", order[i].number,
                                         TimeText(static_cast<double>(order[i].dataloader_ns)),
                                         TimeText(static_cast<double>(order[i].total_ns))));
  }
  return found;
}

std::optional<Finding> CheckBlockingCalls(const Case& look) {
  const TopicFacts& waits = look.rank.At(Topic::kBlocking);
  const double share = ShareOf(waits.all.gain_ns, look.rank.capacity_ns());
  if (!(share > kMuchBlocking)) return std::nullopt;
  return Finding{fmt::format("{} % of the time the GPU has nothing to do after a call that waited "
                             "for it ({} calls)",
                             Percent(share), waits.all.count),
                 share, Severity::kInfo, EvidenceOf(waits)};
}

std::optional<Finding> CheckHostBound(const Case& look) {
  const double share = ShareOf(look.rank.host_bound_ns, look.rank.capacity_ns());
  if (!(share > kMuchHostBound)) return std::nullopt;
  return Finding{fmt::format("{} % of the time the GPU waits for the host to launch its next work",
                             Percent(share)),
                 share, Severity::kInfo, CausesOf(look.rank)};
}

std::optional<Finding> CheckColdStart(const Case& look) {
  const RankFacts& rank = look.rank;
  const int64_t load_ns = rank.idle_ns[static_cast<size_t>(IdleCause::kModuleLoad)];
  const double share = ShareOf(load_ns, SaturatingSum(rank.cold_ns, rank.capacity_ns()));
  if (!(share > kMuchCold)) return std::nullopt;
  return Finding{
      fmt::format(
          "{} % of the recording are launches of at least 1 ms, which load the code of "
          "kernels at their first use; other shares are of the rest, without the cold start",
          Percent(share)),
      std::nullopt,
      Severity::kInfo,
      {fmt::format("idle for such launches: {}", TimeText(static_cast<double>(load_ns)))}};
}

std::optional<Finding> CheckShortKernels(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kShort);
  const double many = ShareOf(kernels.all.count, look.rank.kernels.count);
  const double share = ShareOf(kernels.all.gain_ns, look.rank.capacity_ns());
  if (kernels.all.count < kManyShort || !(many > kMostlyShort) || !(share > kMuchWaiting))
    return std::nullopt;
  return Finding{
      fmt::format("{} % of the kernels run less than 5 us ({} % of the kernel time); for {} % of "
                  "the time the GPU waits for the launch of one",
                  Percent(many), Percent(ShareOf(kernels.all.time_ns, look.rank.kernels.time_ns)),
                  Percent(share)),
      share, Severity::kInfo, EvidenceOf(kernels)};
}

std::optional<Finding> CheckPageableCopies(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& copies = rank.At(Topic::kPageable);
  // At most what nothing else on the GPU hides.
  const double share = std::min(ShareOf(copies.all.time_ns, rank.capacity_ns()),
                                ShareOf(rank.memcpy_exposed_ns, rank.steps_ns));
  if (!(share > kMuchPageable)) return std::nullopt;
  return Finding{fmt::format("{} copies from or to pageable memory take {}; the GPU does nothing "
                             "else for {} % of the time",
                             copies.all.count, TimeText(static_cast<double>(copies.all.time_ns)),
                             Percent(share)),
                 share, Severity::kInfo, EvidenceOf(copies)};
}

std::optional<Finding> CheckAllocatorRetries(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& calls = rank.At(Topic::kAllocation);
  const double share = ShareOf(calls.all.time_ns, rank.window_ns);
  if (!(share > kMuchAllocating)) return std::nullopt;
  return Finding{fmt::format("after the first step the program still asks the driver for memory: "
                             "{} calls, {} % of the time",
                             calls.all.count, Percent(share)),
                 share, Severity::kInfo, EvidenceOf(calls)};
}

}  // namespace oplens::prof::advice
