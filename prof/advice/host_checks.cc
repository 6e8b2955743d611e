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

constexpr double kMuchLoading = 0.05;    // As in the TensorBoard plugin.
constexpr double kMuchHostBound = 0.20;  // Idle time not explained by batches, waits or copies.
constexpr double kMuchBlocking = 0.02;
constexpr double kMuchCold = 0.05;
constexpr double kMostlyShort = 0.50;
constexpr int64_t kManyShort = 50;
constexpr double kMuchWaiting = 0.05;
constexpr double kMuchOfHost = 0.02;
constexpr double kMuchGraphLaunch = 0.02;
constexpr double kMuchCopying = 0.01;
constexpr double kMuchAllocating = 0.005;
constexpr double kMuchInCalls = 0.02;

/// How the host's lateness is made up, largest first.
std::vector<std::string> HostCausesOf(const RankFacts& rank) {
  std::vector<IdleCause> order = {IdleCause::kLaunch, IdleCause::kHostOp, IdleCause::kPython};
  const auto ns = [&](IdleCause cause) { return rank.idle_ns[static_cast<size_t>(cause)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](IdleCause a, IdleCause b) { return ns(a) > ns(b); });
  std::vector<std::string> evidence;
  for (const IdleCause cause : order) {
    if (ns(cause) == 0) break;
    evidence.push_back(fmt::format("idle for {}: {}, {} % of the time", IdleCauseWord(cause),
                                   TimeText(static_cast<double>(ns(cause))),
                                   Percent(ShareOf(ns(cause), rank.total_ns))));
  }
  evidence.push_back(fmt::format("the longest single wait: {}",
                                 TimeText(static_cast<double>(rank.longest_host_ns))));
  if (rank.family == Family::kKineto) {
    evidence.push_back("of that a part is the profiler's: some 2 to 4 us an op and call");
  }
  return evidence;
}

}  // namespace

std::optional<Finding> CheckDataLoader(const Case& look) {
  const RankFacts& rank = look.rank;
  const double share = ShareOf(rank.dataloader_ns, rank.total_ns);
  if (!(share > kMuchLoading)) return std::nullopt;
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
  const double share = ShareOf(waits.all.gain_ns, look.rank.total_ns);
  if (!(share > kMuchBlocking)) return std::nullopt;
  return Finding{fmt::format("{} % of the time the GPU has nothing to do after a call that waited "
                             "for it ({} calls)",
                             Percent(share), waits.all.count),
                 share, Severity::kInfo, EvidenceOf(waits)};
}

std::optional<Finding> CheckHostBound(const Case& look) {
  const RankFacts& rank = look.rank;
  // What other rules have of it is not counted again.
  const double share = ShareOf(rank.At(Topic::kHost).all.gain_ns, rank.total_ns);
  if (!(ShareOf(rank.host_ns(), rank.total_ns) > kMuchHostBound) || !(share > kMuchOfHost)) {
    return std::nullopt;
  }
  const std::string place =
      rank.host_place.empty() ? "" : fmt::format(", mostly in {}", rank.host_place);
  if (rank.longest_host_ns > rank.host_ns() / 2) {
    return Finding{
        .sentence =
            fmt::format("{} % of the time the GPU waits for the host to launch its next "
                        "work{}; one wait is {} of {}",
                        Percent(share), place, TimeText(static_cast<double>(rank.longest_host_ns)),
                        TimeText(static_cast<double>(rank.host_ns()))),
        .gain = share,
        .evidence = HostCausesOf(rank),
        .change = "look what the host does in that one wait; it is no matter of many launches",
        .command = "--view gaps",
        .view = "gaps"};
  }
  return Finding{
      fmt::format("{} % of the time the GPU waits for the host to launch its next work{}",
                  Percent(share), place),
      share, Severity::kInfo, HostCausesOf(rank)};
}

std::optional<Finding> CheckStepStart(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& starts = rank.At(Topic::kStepStart);
  const double share = ShareOf(starts.all.gain_ns, rank.total_ns);
  if (!(share > kMuchLoading)) return std::nullopt;
  Finding found{
      fmt::format("{} % of the time passes at the start of steps before the host launches "
                  "their first work ({} of {} steps)",
                  Percent(share), starts.all.count, rank.steps.size()),
      share};
  found.evidence.push_back(fmt::format(
      "the longest single wait for the host: {}{}",
      TimeText(static_cast<double>(rank.longest_host_ns)),
      rank.host_place.empty() ? "" : fmt::format("; waits are mostly in {}", rank.host_place)));
  return found;
}

std::optional<Finding> CheckColdStart(const Case& look) {
  const RankFacts& rank = look.rank;
  const int64_t load_ns = rank.idle_ns[static_cast<size_t>(IdleCause::kModuleLoad)];
  const double share = ShareOf(load_ns, rank.total_ns);
  if (!(share > kMuchCold)) return std::nullopt;
  return Finding{
      fmt::format("{} % of the time the GPU waits for launches of at least 1 ms, which load the "
                  "code of kernels at their first use",
                  Percent(share)),
      std::nullopt,
      Severity::kInfo,
      {fmt::format("idle for such launches: {}", TimeText(static_cast<double>(load_ns)))}};
}

std::optional<Finding> CheckGraphLaunch(const Case& look) {
  const TopicFacts& graphs = look.rank.At(Topic::kGraphLaunch);
  const double share = ShareOf(graphs.all.gain_ns, look.rank.total_ns);
  if (!(share > kMuchGraphLaunch)) return std::nullopt;
  return Finding{fmt::format("{} % of the time the GPU is idle between the launch of a graph and "
                             "the graph's first work ({} launches)",
                             Percent(share), graphs.all.count),
                 share, Severity::kInfo, EvidenceOf(graphs)};
}

std::optional<Finding> CheckShortKernels(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kShort);
  const double many = ShareOf(kernels.all.count, look.rank.kernels.count);
  const double share = ShareOf(kernels.all.gain_ns, look.rank.total_ns);
  if (kernels.all.count < kManyShort || !(many > kMostlyShort) || !(share > kMuchWaiting))
    return std::nullopt;
  return Finding{
      fmt::format("{} % of the kernels run less than 5 us ({} % of the kernel time); for {} % of "
                  "the time the GPU waits for the launch of one",
                  Percent(many), Percent(ShareOf(kernels.all.time_ns, look.rank.kernels.time_ns)),
                  Percent(share)),
      share, Severity::kInfo, EvidenceOf(kernels)};
}

namespace {

/// Copies between host and GPU; `wait_ns`: idle time in their calls before they begin.
std::optional<Finding> CheckCopies(const RankFacts& rank, Topic topic, int64_t wait_ns,
                                   std::string_view memory) {
  const TopicFacts& copies = rank.At(topic);
  // At most what nothing else on the GPU hides.
  const double share = ShareOf(
      std::min(copies.all.gain_ns, SaturatingSum(rank.memcpy_exposed_ns, wait_ns)), rank.total_ns);
  if (!(share > kMuchCopying)) return std::nullopt;
  return Finding{
      fmt::format("copies from or to {} memory take {}; the GPU does nothing else for "
                  "{} % of the time",
                  memory, TimeText(static_cast<double>(copies.all.time_ns)), Percent(share)),
      share, Severity::kInfo, EvidenceOf(copies)};
}

/// Idle time in API calls of a topic.
std::optional<Finding> CheckCalls(const RankFacts& rank, Topic topic, double much,
                                  std::string_view what) {
  const TopicFacts& calls = rank.At(topic);
  const double share = ShareOf(calls.all.gain_ns, rank.total_ns);
  if (!(share > much)) return std::nullopt;
  return Finding{fmt::format("{} % of the time the GPU has no work while the host {} ({} calls)",
                             Percent(share), what, calls.all.count),
                 share, Severity::kInfo, EvidenceOf(calls)};
}

}  // namespace

std::optional<Finding> CheckPageableCopies(const Case& look) {
  const int64_t wait_ns = look.rank.idle_ns[static_cast<size_t>(IdleCause::kPageableCopy)];
  return CheckCopies(look.rank, Topic::kPageable, wait_ns, "pageable");
}

std::optional<Finding> CheckPinnedCopies(const Case& look) {
  return CheckCopies(look.rank, Topic::kPinned, 0, "pinned");
}

std::optional<Finding> CheckAllocatorRetries(const Case& look) {
  return CheckCalls(look.rank, Topic::kAllocation, kMuchAllocating,
                    "asks the driver for memory or releases it, after the first steps");
}

std::optional<Finding> CheckApiCalls(const Case& look) {
  return CheckCalls(look.rank, Topic::kApiCall, kMuchInCalls,
                    "is in long API calls that launch nothing");
}

}  // namespace oplens::prof::advice
