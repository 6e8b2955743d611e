// Rules about several ranks, memory and steps.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/median.h"
#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/advice/checks.h"
#include "prof/advice/evidence.h"

namespace oplens::prof::advice {
namespace {

constexpr double kMuchExposed = 0.05;
constexpr double kMuchToHide = 0.01;
constexpr double kMuchSmallMessages = 0.01;
constexpr double kManyMessages = 10;  // Per step.
constexpr double kMuchUneven = 0.05;
constexpr double kRunChecksMemoryIsFull = 0.90;  // As in the TensorBoard plugin.
constexpr double kMuchFragmented = 0.25;
constexpr double kMemoryIsUsed = 0.50;
constexpr size_t kLeastRunSteps = 5;
constexpr size_t kLeastWarmSteps = 3;
constexpr double kLateStep = 0.10;
constexpr double kManyDeviations = 5;
constexpr double kDeviationOfMad = 1.4826;  // Of a normal distribution.
constexpr double kMuchJitter = 0.02;
constexpr size_t kRareLateSteps = 3;  // At most one step in this many.
constexpr double kMuchWarmUp = 1.5;

/// What to do about exposed communication in groups of a kind.
std::string_view ChangeOfCommunication(std::string_view kind) {
  if (kind == "tensor" || kind == "context") {
    return "overlap it within the layer (split a product so that its parts are sent while others "
           "are computed; sequence parallelism), or put fewer ranks into these groups, on the "
           "fastest links";
  }
  if (kind == "pipeline") {
    return "more and smaller micro-batches, or an interleaved schedule; split layers evenly";
  }
  if (kind == "expert") {
    return "overlap dispatch and combine with other computation (shared experts, a second "
           "micro-batch), or send fewer bytes (8-bit dispatch)";
  }
  if (kind == "data") {
    return "overlap it with the backward pass (buckets of DistributedDataParallel, prefetch of "
           "FSDP), or communicate less: gradient accumulation, compression, a larger batch (which "
           "may need another learning rate)";
  }
  return "";
}

std::vector<int64_t> TotalsOf(std::span<const StepFact> steps) {
  std::vector<int64_t> totals;
  for (const StepFact& step : steps) totals.push_back(step.total_ns);
  return totals;
}

/// Whether the first step took much longer than the median of the others.
bool IsWarmUp(std::span<const StepFact> steps) {
  if (steps.size() < kLeastWarmSteps) return false;
  const int64_t median_ns = LowerMedianOf(TotalsOf(steps.subspan(1)));
  return static_cast<double>(steps[0].total_ns) > kMuchWarmUp * static_cast<double>(median_ns);
}

}  // namespace

std::optional<Finding> CheckExposedCommunication(const Case& look) {
  const RankFacts& rank = look.rank;
  const double exposed = ShareOf(rank.comm_exposed_ns, rank.total_ns);
  if (!(exposed > kMuchExposed)) return std::nullopt;
  Finding found{
      fmt::format("{} % of the time the GPU does nothing but communicate", Percent(exposed)),
      std::nullopt, exposed >= kHighShare ? Severity::kHigh : Severity::kMedium,
      EvidenceOf(rank.At(Topic::kCollective))};
  const CommunicationFacts* const other = look.communication;
  int64_t transfer_ns = rank.comm_exposed_ns;
  if (other != nullptr && other->exposed_ns > 0) {
    // Of calls without a match all may be transfer.
    transfer_ns -= std::min(other->waiting_ns, transfer_ns);
    found.sentence +=
        fmt::format(", {} % of it waiting for other ranks",
                    Percent(ShareOf(rank.comm_exposed_ns - transfer_ns, rank.comm_exposed_ns)));
    found.change = ChangeOfCommunication(other->kind);
  }
  // Only computation that hides no communication yet can hide more.
  const double share = ShareOf(std::min(transfer_ns, rank.compute_alone_ns), rank.total_ns);
  found.sentence += fmt::format("; computation that could hide more of it takes {} %",
                                Percent(ShareOf(rank.compute_alone_ns, rank.total_ns)));
  if (share > kMuchToHide) {
    found.gain = share;
  } else if (transfer_ns > rank.comm_exposed_ns / 2) {
    found.change =
        "there is nothing to hide it behind: communicate less (gradient accumulation, "
        "larger batches, fewer ranks in a group) or over faster links";
  } else {
    return std::nullopt;  // It is waiting: waits-for-ranks.
  }
  return found;
}

std::optional<Finding> CheckWaitsForRanks(const Case& look) {
  const CommunicationFacts* const other = look.communication;
  if (other == nullptr) return std::nullopt;
  const int64_t waiting_ns = std::min(other->waiting_ns, look.rank.comm_exposed_ns);
  const double share = ShareOf(waiting_ns, look.rank.total_ns);
  if (!(share > kMuchUneven)) return std::nullopt;
  Finding found{fmt::format("{} % of the time this rank waits in collectives, with nothing else to "
                            "do, until other ranks join them",
                            Percent(share)),
                share};
  for (size_t i = 0; i < std::min(other->waits_for.size(), kMostEvidence); ++i) {
    const auto& [ns, rank] = other->waits_for[i];
    found.evidence.push_back(fmt::format("for rank {}: {} of {}", rank,
                                         TimeText(static_cast<double>(ns)),
                                         TimeText(static_cast<double>(other->waiting_ns))));
  }
  return found;
}

std::optional<Finding> CheckSlowCollectives(const Case& look) {
  const RankFacts& rank = look.rank;
  const CommunicationFacts* const other = look.communication;
  if (other == nullptr || rank.link_bytes_per_s <= 0) return std::nullopt;
  const bool matched = other->matched.transfer_ns > 0;
  const LargeCalls& calls = matched ? other->matched : other->alone;
  const int64_t exposed_ns =
      matched ? std::min(other->transfer_ns, rank.comm_exposed_ns) : rank.comm_exposed_ns;
  if (!(ShareOf(exposed_ns, rank.total_ns) > kMuchExposed)) return std::nullopt;
  // 1e9 B/s is 1 B/ns.
  const auto rate = [&](int64_t ns) { return ns > 0 ? ShareOf(calls.bus_bytes, ns) : 0.0; };
  const double link = static_cast<double>(rank.link_bytes_per_s) / 1e9;
  const double reached = rate(matched ? calls.transfer_ns : calls.latency_ns);
  if (!(reached > 0) || !(reached < kLeastOfRoof * link)) return std::nullopt;
  if (!matched) {
    return Finding{
        .sentence = fmt::format("collectives of at least 1 MiB move {:.1f} GB/s over the bus, of "
                                "{:.0f} GB/s that the links of the GPU can: they wait for other "
                                "ranks, or the fabric is slow",
                                reached, link),
        .gain = std::nullopt,
        .severity = Severity::kMedium,
        .evidence = EvidenceOf(rank.At(Topic::kCollective)),
        .change = "give the profiles of all ranks: their calls tell waiting from transfer",
        .command = "",
        .view = ""};
  }
  const double share = ShareOf(exposed_ns, rank.total_ns) * (1 - reached / link);
  return Finding{fmt::format("collectives of at least 1 MiB move {:.1f} GB/s over the bus once all "
                             "ranks are there ({:.1f} with waiting), of {:.0f} GB/s that the links "
                             "of the GPU can",
                             reached, rate(calls.latency_ns), link),
                 share, Severity::kInfo, EvidenceOf(rank.At(Topic::kCollective))};
}

std::optional<Finding> CheckThinRecording(const Case& look) {
  const RankFacts& rank = look.rank;
  struct Lack {
    bool missing;
    MissingFact fact;
    std::string_view cannot_tell;
  };
  const Lack lacks[] = {
      {!rank.has_launches, MissingFact::kLaunches, "what the GPU waits for"},
      {!rank.has_phases && !rank.has_prices, MissingFact::kOps, "which op launched a kernel"},
      {!rank.has_prices, MissingFact::kArguments, "how far kernels are from what the GPU can"},
  };
  Finding found;
  std::string unknown;
  for (const Lack& lack : lacks) {
    if (!lack.missing) continue;
    unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", lack.cannot_tell);
    const std::string_view flag = RecordingFlag(lack.fact, rank.family);
    if (!flag.empty()) found.evidence.push_back(fmt::format("{}: {}", lack.cannot_tell, flag));
  }
  if (!unknown.empty()) found.sentence = fmt::format("this profile cannot tell {}", unknown);
  if (rank.file_cut) {
    found.sentence += fmt::format("{}the file ends early: what follows is in no figure",
                                  unknown.empty() ? "" : "; ");
    found.evidence.push_back("the file: let the profiler end before it is copied");
  }
  if (found.sentence.empty()) return std::nullopt;
  return found;
}

std::optional<Finding> CheckSmallMessages(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& calls = rank.At(Topic::kSmallCollective);
  const auto steps = static_cast<double>(std::max<size_t>(rank.steps.size(), 1));
  const double a_step = static_cast<double>(calls.all.count) / steps;
  const double share = ShareOf(std::min(calls.all.gain_ns, rank.comm_exposed_ns), rank.total_ns);
  if (a_step < kManyMessages || !(share > kMuchSmallMessages)) return std::nullopt;
  return Finding{fmt::format("{:.0f} collectives a step have messages of less than 1 MiB; no "
                             "computation hides {} % of the time",
                             a_step, Percent(share)),
                 share, Severity::kInfo, EvidenceOf(calls)};
}

std::optional<Finding> CheckUnbalancedRanks(const Case& look) {
  if (look.all.size() < 2 || look.rank.At(Topic::kCollective).all.count == 0) return std::nullopt;
  std::vector<int64_t> times;
  for (const RankFacts* rank : look.all) times.push_back(rank->kernels.time_ns);
  const int64_t most_ns = *std::max_element(times.begin(), times.end());
  const int64_t median_ns = LowerMedianOf(times);
  const double share = ShareOf(most_ns - median_ns, look.rank.capacity_ns());
  if (look.rank.kernels.time_ns != most_ns || !(share > kMuchUneven)) return std::nullopt;
  Finding found{fmt::format("this rank computes {} longer than the median of {} ranks: the others "
                            "wait for it",
                            TimeText(static_cast<double>(most_ns - median_ns)), times.size()),
                share};
  found.evidence.push_back(fmt::format("kernels of this rank: {}, of the median: {}",
                                       TimeText(static_cast<double>(most_ns)),
                                       TimeText(static_cast<double>(median_ns))));
  return found;
}

std::optional<Finding> CheckDataParallel(const Case& look) {
  if (!look.rank.data_parallel || look.rank.gpus < 2) return std::nullopt;
  return Finding{
      fmt::format("DataParallel runs the net on {} GPUs from one process", look.rank.gpus),
      std::nullopt, Severity::kMedium};
}

std::optional<Finding> CheckNcclBackend(const Case& look) {
  constexpr int kLeastCapability = 35;
  const RankFacts& rank = look.rank;
  if (!rank.distributed_data_parallel || rank.nccl || rank.gpus == 0) return std::nullopt;
  // Without a collective in the file, its backend is unknown.
  if (!rank.gloo || rank.compute_capability < kLeastCapability) return std::nullopt;
  return Finding{
      "DistributedDataParallel communicates through gloo on the host, though the GPU "
      "could run NCCL",
      std::nullopt, Severity::kMedium};
}

std::optional<Finding> CheckMemoryNearFull(const Case& look) {
  const RankFacts& rank = look.rank;
  const double share = ShareOf(rank.peak_allocated_bytes, rank.memory_bytes);
  if (!(share > kRunChecksMemoryIsFull)) return std::nullopt;
  return Finding{fmt::format("the peak of allocated memory is {} % of the GPU's", Percent(share)),
                 std::nullopt,
                 Severity::kMedium,
                 {fmt::format("{} of {}", BytesText(rank.peak_allocated_bytes),
                              BytesText(rank.memory_bytes))}};
}

std::optional<Finding> CheckFragmentation(const Case& look) {
  const RankFacts& rank = look.rank;
  const int64_t unused = rank.peak_reserved_bytes - rank.allocated_at_peak_bytes;
  const double share = ShareOf(unused, rank.peak_reserved_bytes);
  if (!(share > kMuchFragmented) ||
      !(ShareOf(rank.peak_reserved_bytes, rank.memory_bytes) > kMemoryIsUsed)) {
    return std::nullopt;
  }
  return Finding{
      fmt::format("{} % of the memory that the allocator holds is in no tensor even "
                  "when it holds most",
                  Percent(share)),
      std::nullopt,
      Severity::kLow,
      {fmt::format("{} reserved, {} of it allocated, {} on the GPU",
                   BytesText(rank.peak_reserved_bytes), BytesText(rank.allocated_at_peak_bytes),
                   BytesText(rank.memory_bytes))}};
}

std::optional<Finding> CheckStepJitter(const Case& look) {
  std::span<const StepFact> steps = look.rank.steps;
  if (IsWarmUp(steps)) steps = steps.subspan(1);
  if (steps.size() < kLeastRunSteps) return std::nullopt;
  const std::vector<int64_t> totals = TotalsOf(steps);
  const int64_t median_ns = LowerMedianOf(totals);
  std::vector<int64_t> off;
  for (const int64_t total : totals) off.push_back(std::abs(total - median_ns));
  const auto median = static_cast<double>(median_ns);
  const double late_ns =
      std::max(kLateStep * median, kManyDeviations * kDeviationOfMad *
                                       static_cast<double>(LowerMedianOf(std::move(off))));
  std::vector<StepFact> late;
  int64_t lost_ns = 0;
  for (const StepFact& step : steps) {
    if (!(static_cast<double>(step.total_ns - median_ns) > late_ns)) continue;
    late.push_back(step);
    SaturatingAdd(&lost_ns, step.total_ns - median_ns);
  }
  // If many steps are long, there are several kinds of steps.
  if (late.size() * kRareLateSteps > steps.size()) return std::nullopt;
  const double share = ShareOf(lost_ns, look.rank.total_ns);
  if (!(share > kMuchJitter)) return std::nullopt;
  std::stable_sort(late.begin(), late.end(),
                   [](const StepFact& a, const StepFact& b) { return a.total_ns > b.total_ns; });
  Finding found{fmt::format("{} of {} steps are far slower than the median of {}", late.size(),
                            steps.size(), TimeText(median)),
                share};
  for (size_t i = 0; i < std::min(late.size(), kMostEvidence); ++i) {
    found.evidence.push_back(fmt::format("step {}: {}, waiting for a batch {}", late[i].number,
                                         TimeText(static_cast<double>(late[i].total_ns)),
                                         TimeText(static_cast<double>(late[i].dataloader_ns))));
  }
  return found;
}

std::optional<Finding> CheckWarmUpStep(const Case& look) {
  const std::span<const StepFact> steps = look.rank.steps;
  if (!look.rank.has_steps || steps.empty()) return std::nullopt;
  // Of few steps none is left out.
  const bool is_held = look.rank.left_out.empty() && IsWarmUp(steps);
  if (look.rank.left_out.empty() && !is_held) return std::nullopt;
  const auto median = static_cast<double>(
      std::max<int64_t>(LowerMedianOf(TotalsOf(is_held ? steps.subspan(1) : steps)), 1));
  Finding found;
  if (is_held) {
    found.sentence = fmt::format(
        "the first step, {}, takes {:.1f} times the median of the others: all means hold it",
        steps[0].number, static_cast<double>(steps[0].total_ns) / median);
  } else {
    found.sentence =
        fmt::format("all means leave out {} of {} steps, unlike the others for a reason",
                    look.rank.left_out.size(), look.rank.left_out.size() + steps.size());
  }
  const std::span<const StepFact> told = is_held ? steps.first(1) : std::span(look.rank.left_out);
  for (const StepFact& step : told.first(std::min(told.size(), kMostEvidence))) {
    const std::string_view reason = StepStateReason(step.state);
    found.evidence.push_back(fmt::format("step {}{}: {}, median of the others: {}", step.number,
                                         reason.empty() ? "" : fmt::format(" ({})", reason),
                                         TimeText(static_cast<double>(step.total_ns)),
                                         TimeText(median)));
  }
  return found;
}

}  // namespace oplens::prof::advice
