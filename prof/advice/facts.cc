#include "prof/advice/facts.h"

#include <algorithm>
#include <tuple>

#include "base/saturating.h"
#include "prof/verdicts/root_cause.h"

namespace oplens::prof::advice {
namespace {

/// All members that add up.
constexpr int64_t RankFacts::*kFactsSums[] = {
    &RankFacts::total_ns,         &RankFacts::dataloader_ns,     &RankFacts::comm_exposed_ns,
    &RankFacts::compute_alone_ns, &RankFacts::memcpy_exposed_ns, &RankFacts::multi_tensor_kernels,
};

constexpr bool RankFacts::*kFlags[] = {
    &RankFacts::has_run,   &RankFacts::has_launches,  &RankFacts::has_prices,
    &RankFacts::has_roofs, &RankFacts::has_phases,    &RankFacts::has_memory,
    &RankFacts::has_steps, &RankFacts::data_parallel, &RankFacts::distributed_data_parallel,
    &RankFacts::nccl,      &RankFacts::gloo,          &RankFacts::file_cut,
};

constexpr int64_t ProductTimes::*kProducts[] = {&ProductTimes::half_ns, &ProductTimes::fp32_ns,
                                                &ProductTimes::tensor_fp32_ns};

/// Compares GPUs by share of used memory, then by all other figures.
bool IsFuller(const RankFacts& a, const RankFacts& b) {
  const auto share = [](const RankFacts& facts) {
    return facts.memory_bytes > 0 ? static_cast<double>(facts.peak_allocated_bytes) /
                                        static_cast<double>(facts.memory_bytes)
                                  : 0.0;
  };
  return std::tuple(share(a), a.peak_allocated_bytes, a.memory_bytes, a.peak_reserved_bytes,
                    a.allocated_at_peak_bytes) > std::tuple(share(b), b.peak_allocated_bytes,
                                                            b.memory_bytes, b.peak_reserved_bytes,
                                                            b.allocated_at_peak_bytes);
}

}  // namespace

void Sums::Add(const Sums& more) {
  SaturatingAdd(&count, more.count);
  SaturatingAdd(&time_ns, more.time_ns);
  SaturatingAdd(&gain_ns, more.gain_ns);
}

void TopicFacts::Add(std::string_view place, const Sums& sums) {
  all.Add(sums);
  const auto known = places.find(place);
  if (known != places.end()) return known->second.Add(sums);
  places[std::string(places.size() < kMostPlaces ? place : kOtherPlaces)].Add(sums);
}

void TopicFacts::DropGains() {
  all.gain_ns = 0;
  for (auto& [place, sums] : places) sums.gain_ns = 0;
}

void TopicFacts::Merge(const TopicFacts& more) {
  SaturatingAdd(&saved_ns, more.saved_ns);
  for (const auto& [place, sums] : more.places) Add(place, sums);
}

int64_t RankFacts::host_ns() const {
  int64_t sum_ns = 0;
  for (size_t i = 0; i < kIdleCauseCount; ++i) {
    if (GroupOf(static_cast<IdleCause>(i)) == IdleGroup::kHost) SaturatingAdd(&sum_ns, idle_ns[i]);
  }
  return sum_ns;
}

int64_t RankFacts::capacity_ns() const {
  return has_run ? SaturatingProduct(total_ns, std::max<int64_t>(gpus, 1)) : kernels.time_ns;
}

void RankFacts::Merge(const RankFacts& more) {
  // All of its recordings must have been replayed.
  has_replay = has_run ? has_replay && (more.has_replay || !more.has_run) : more.has_replay;
  for (const auto flag : kFlags) this->*flag |= more.*flag;
  for (const auto sum : kFactsSums) SaturatingAdd(&(this->*sum), more.*sum);
  if (std::tie(more.longest_host_ns, more.host_place) > std::tie(longest_host_ns, host_place)) {
    longest_host_ns = more.longest_host_ns;
    host_place = more.host_place;
  }
  gpus = std::max(gpus, more.gpus);
  steps.insert(steps.end(), more.steps.begin(), more.steps.end());
  std::sort(steps.begin(), steps.end());
  left_out.insert(left_out.end(), more.left_out.begin(), more.left_out.end());
  std::sort(left_out.begin(), left_out.end());
  for (size_t i = 0; i < kIdleCauseCount; ++i) SaturatingAdd(&idle_ns[i], more.idle_ns[i]);
  kernels.Add(more.kernels);
  for (const auto time : kProducts) SaturatingAdd(&(products.*time), more.products.*time);
  for (size_t i = 0; i < kTopicCount; ++i) topics[i].Merge(more.topics[i]);
  compute_capability = std::max(compute_capability, more.compute_capability);
  link_bytes_per_s = std::max(link_bytes_per_s, more.link_bytes_per_s);
  family = std::max(family, more.family);
  if (!IsFuller(more, *this)) return;
  memory_bytes = more.memory_bytes;
  peak_allocated_bytes = more.peak_allocated_bytes;
  peak_reserved_bytes = more.peak_reserved_bytes;
  allocated_at_peak_bytes = more.allocated_at_peak_bytes;
}

}  // namespace oplens::prof::advice
