// Rules about kernels.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "parse/model/compute_capability.h"
#include "prof/advice/checks.h"
#include "prof/advice/evidence.h"

namespace oplens::prof::advice {
namespace {

constexpr double kMuchToGain = 0.01;
constexpr double kMuchPadding = 0.02;
constexpr double kMuchWithoutRoof = 0.05;  // If the gain is unknown.
constexpr double kMuchFp32 = 0.02;
constexpr double kIsHalfNet = 0.20;  // Of the time of products.
constexpr double kMuchLayout = 0.02;
constexpr double kMuchSmallGrid = 0.05;
constexpr double kMuchLowOccupancy = 0.02;
constexpr double kMuchRecompute = 0.05;
constexpr double kManyUpdates = 50;  // Per step.
constexpr double kMemoryIsShort = 0.70;

/// The gain of a topic; unknown without a roof.
std::optional<double> GainOf(const RankFacts& rank, Topic topic) {
  if (!rank.has_roofs) return std::nullopt;
  return ShareOfTime(rank, rank.At(topic).all.gain_ns);
}

bool IsHalfNet(const ProductTimes& products) {
  const int64_t all_ns = products.half_ns + products.fp32_ns + products.tensor_fp32_ns;
  return ShareOf(products.half_ns, all_ns) > kIsHalfNet;
}

/// Shared by the rules about fp32.
std::optional<Finding> CheckFp32(const RankFacts& rank, std::string_view how) {
  const TopicFacts& products = rank.At(Topic::kFp32);
  const double share = ShareOfTime(rank, products.all.time_ns);
  const std::optional<double> gain = GainOf(rank, Topic::kFp32);
  if (!(share > kMuchFp32) || gain.value_or(1) <= kMuchToGain) return std::nullopt;
  return Finding{
      fmt::format("{} % of the time are products of fp32 on CUDA cores, {}", Percent(share), how),
      gain, Severity::kMedium, EvidenceOf(products)};
}

}  // namespace

std::optional<Finding> CheckPadDims(const Case& look) {
  const TopicFacts& products = look.rank.At(Topic::kPad);
  const double share = ShareOfTime(look.rank, products.all.time_ns);
  const std::optional<double> gain = GainOf(look.rank, Topic::kPad);
  if (!(share > (gain ? kMuchPadding : kMuchWithoutRoof)) || gain.value_or(1) <= kMuchToGain) {
    return std::nullopt;
  }
  return Finding{fmt::format("{} % of the time are products with sizes that the fast kernels of "
                             "Tensor Cores do not take",
                             Percent(share)),
                 gain, Severity::kLow, EvidenceOf(products)};
}

std::optional<Finding> CheckFp32In16BitNet(const Case& look) {
  if (!IsHalfNet(look.rank.products)) return std::nullopt;
  return CheckFp32(look.rank, "in a net whose other products are of 16 bits");
}

std::optional<Finding> CheckTf32Off(const Case& look) {
  const RankFacts& rank = look.rank;
  if (rank.compute_capability < kFirstWithTf32 || IsHalfNet(rank.products)) return std::nullopt;
  return CheckFp32(rank, "where Tensor Cores could run them as TF32");
}

std::optional<Finding> CheckMixedPrecision(const Case& look) {
  const RankFacts& rank = look.rank;
  if (rank.compute_capability < kFirstWithTensorCores ||
      rank.compute_capability >= kFirstWithTf32 || IsHalfNet(rank.products)) {
    return std::nullopt;
  }
  return CheckFp32(rank, "and Tensor Cores of this GPU multiply fp16 only");
}

std::optional<Finding> CheckLayoutTransforms(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kLayout);
  const double share = ShareOfTime(look.rank, kernels.all.time_ns);
  if (!(share > kMuchLayout)) return std::nullopt;
  return Finding{fmt::format("{} % of the time {} kernels change the layout of tensors for "
                             "convolutions",
                             Percent(share), kernels.all.count),
                 share, Severity::kInfo, EvidenceOf(kernels)};
}

std::optional<Finding> CheckSmallGrids(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kSmallGrid);
  const double share = ShareOfTime(look.rank, kernels.all.gain_ns);
  if (!(share > kMuchSmallGrid)) return std::nullopt;
  return Finding{
      fmt::format("{} % of the time run kernels of at least 10 us that have fewer blocks "
                  "than the GPU has multiprocessors",
                  Percent(ShareOfTime(look.rank, kernels.all.time_ns))),
      share, Severity::kInfo, EvidenceOf(kernels)};
}

std::optional<Finding> CheckLowOccupancy(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kLowOccupancy);
  const double share = ShareOfTime(look.rank, kernels.all.gain_ns);
  if (!(share > kMuchLowOccupancy)) return std::nullopt;
  return Finding{fmt::format("{} % of the time run kernels with a theoretical occupancy below 25 % "
                             "that are below 60 % of every roof",
                             Percent(ShareOfTime(look.rank, kernels.all.time_ns))),
                 share, Severity::kInfo, EvidenceOf(kernels)};
}

std::optional<Finding> CheckPerTensorOptimizer(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& kernels = rank.At(Topic::kOptimizer);
  const auto steps = static_cast<double>(std::max<size_t>(rank.steps.size(), 1));
  const double updates = static_cast<double>(kernels.all.count) / steps;
  const double share = ShareOfTime(rank, kernels.all.gain_ns);
  if (updates < kManyUpdates || !(share > kMuchToGain)) return std::nullopt;
  return Finding{fmt::format("the optimizer launches {:.0f} kernels a step, one or more for each "
                             "tensor",
                             updates),
                 share, Severity::kInfo, EvidenceOf(kernels)};
}

std::optional<Finding> CheckRecomputation(const Case& look) {
  const RankFacts& rank = look.rank;
  const TopicFacts& kernels = rank.At(Topic::kRecompute);
  const double share = ShareOfTime(rank, kernels.all.time_ns);
  if (!(share > kMuchRecompute)) return std::nullopt;
  const bool known = rank.has_memory && rank.memory_bytes > 0;
  const double full = known ? ShareOf(rank.peak_allocated_bytes, rank.memory_bytes) : 0;
  if (full > kMemoryIsShort) return std::nullopt;  // Recomputation is then intended.
  std::string sentence = fmt::format(
      "{} % of the time forward kernels run once more for the backward pass", Percent(share));
  if (known) sentence += fmt::format(", while only {} % of the memory are used", Percent(full));
  const int64_t waits_ns = kernels.all.gain_ns - kernels.all.time_ns;
  const double waits = ShareOf(waits_ns, rank.total_ns);
  if (waits_ns > 0) {
    sentence += fmt::format("; for {} % the GPU waits for their launches", Percent(waits));
  }
  return Finding{std::move(sentence), std::min(share + std::max(waits, 0.0), 1.0), Severity::kInfo,
                 EvidenceOf(kernels)};
}

}  // namespace oplens::prof::advice
