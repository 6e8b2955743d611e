// Rules about kernels that a stream runs one after the other, and about those below their roof.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "prof/advice/checks.h"
#include "prof/advice/evidence.h"

namespace oplens::prof::advice {
namespace {

constexpr double kMuchInGroups = 0.02;
constexpr double kMuchMemoryBound = 0.20;
constexpr double kMostlyMemoryBound = 0.30;
constexpr double kMuchInPasses = 0.01;
constexpr double kManyPasses = 3;  // Per step.

/// A finding if the gain of a topic is above kMuchInGroups; its sentence is the share of the time
/// and `what`.
std::optional<Finding> CheckGroups(const RankFacts& rank, Topic topic, std::string_view what) {
  const TopicFacts& groups = rank.At(topic);
  const double gain = ShareOfTime(rank, groups.all.gain_ns);
  if (!(gain > kMuchInGroups)) return std::nullopt;
  return Finding{
      fmt::format("{} % of the time {}", Percent(ShareOfTime(rank, groups.all.time_ns)), what),
      gain, Severity::kInfo, EvidenceOf(groups)};
}

}  // namespace

std::optional<Finding> CheckAttentionBackend(const Case& look) {
  return CheckGroups(look.rank, Topic::kAttention,
                     "is attention whose scores go through memory between its kernels, or whose "
                     "kernel is slower than FlashAttention");
}

std::optional<Finding> CheckAttentionCopies(const Case& look) {
  return CheckGroups(look.rank, Topic::kAttentionCopies,
                     "kernels copy, join or rotate tensors around attention");
}

std::optional<Finding> CheckCastsBeforeProducts(const Case& look) {
  return CheckGroups(look.rank, Topic::kCast,
                     "kernels cast or copy a tensor that a product reads next");
}

std::optional<Finding> CheckQuantisation(const Case& look) {
  return CheckGroups(look.rank, Topic::kQuantise,
                     "kernels quantise or rotate tensors beside products of at most 8 bits");
}

std::optional<Finding> CheckFusion(const Case& look) {
  return CheckGroups(look.rank, Topic::kChain,
                     "run chains of memory-bound kernels, each of which one kernel could do");
}

std::optional<Finding> CheckFarFromRoof(const Case& look) {
  const Sums& all = look.rank.At(Topic::kFarFromRoof).all;
  return CheckGroups(
      look.rank, Topic::kFarFromRoof,
      fmt::format("run kernels of at least 10 us below half of their roof, together at {} % of it",
                  Percent(ShareOf(all.time_ns - all.gain_ns, all.time_ns))));
}

std::optional<Finding> CheckMemoryBound(const Case& look) {
  const TopicFacts& kernels = look.rank.At(Topic::kMemoryBound);
  const double share = ShareOfTime(look.rank, kernels.all.time_ns);
  if (!(share > kMuchMemoryBound)) return std::nullopt;
  return Finding{
      fmt::format("{} % of the time run elementwise kernels, norms, reductions and copies of which "
                  "no other rule says more",
                  Percent(share)),
      std::nullopt, share > kMostlyMemoryBound ? Severity::kMedium : Severity::kLow,
      EvidenceOf(kernels)};
}

std::optional<Finding> CheckForeachOptimizer(const Case& look) {
  const TopicFacts& passes = look.rank.At(Topic::kForeach);
  const auto steps = static_cast<double>(std::max<size_t>(look.rank.steps.size(), 1));
  const double a_step = static_cast<double>(passes.all.count) / steps;
  const double gain = ShareOfTime(look.rank, passes.all.gain_ns);
  if (a_step < kManyPasses || !(gain > kMuchInPasses)) return std::nullopt;
  return Finding{fmt::format("the optimizer passes {:.0f} times a step over lists of tensors, "
                             "which takes {} % of the time",
                             a_step, Percent(ShareOfTime(look.rank, passes.all.time_ns))),
                 gain, Severity::kInfo, EvidenceOf(passes)};
}

}  // namespace oplens::prof::advice
