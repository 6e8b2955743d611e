#include "prof/views/slow_ops.h"

#include <optional>
#include <set>

#include "prof/views/change_point.h"

namespace oplens::prof {
namespace {

/// An op is slow that takes so much longer than on the median rank.
constexpr double kLeastSlow = 0.03;

PeersOfSteps PeersOf(const std::vector<std::pair<const StragglerWork*, size_t>>& havers) {
  PeersOfSteps all;
  for (const auto& [work, at] : havers) {
    const auto times_ns = work->TimesOf(at);
    for (size_t i = 0; i < times_ns.size(); ++i) {
      if (work->steps[i].whole) all[work->steps[i].number].Add(times_ns[i]);
    }
  }
  for (auto& [number, peers] : all) peers.Sort();
  return all;
}

/// Where half of the ranks have it at least.
Series SeriesOf(const StragglerWork& work, size_t at, const PeersOfSteps& all, size_t ranks) {
  Series series;
  const auto times_ns = work.TimesOf(at);
  for (size_t i = 0; i < times_ns.size(); ++i) {
    if (!work.steps[i].whole) continue;
    const Peers& peers = all.at(work.steps[i].number);
    if (peers.size() < 2 || peers.size() * 2 < ranks) continue;
    const double median_ns = peers.MedianWithout(times_ns[i]);
    const auto own_ns = static_cast<double>(times_ns[i]);
    if (median_ns > 0) series.Add(work.steps[i].number, own_ns, own_ns - median_ns, median_ns);
  }
  return series;
}

std::optional<SlowOps::Slow> SlowIn(const Series& series) {
  if (series.steps.size() < kLeastSteps) return std::nullopt;
  const SeriesLevel level = LevelOf(series.shares, kLeastSpread);
  if (level.level < kLeastSlow || !IsCertain(level, series.shares.size())) return std::nullopt;
  SlowOps::Slow slow;
  slow.since_step = series.steps[level.since];
  slow.own_ns = MeanFrom(series.own_ns, level.since);
  slow.excess_ns = MeanFrom(series.excess_ns, level.since);
  return slow;
}

}  // namespace

void SlowOps::Compare(WorkPlace place, const Havers& havers, size_t ranks, Found* found) const {
  if (havers.size() < 2) return;
  const PeersOfSteps peers = PeersOf(havers);
  for (const auto& [work, at] : havers) {
    auto slow = SlowIn(SeriesOf(*work, at, peers, ranks));
    if (!slow) continue;
    slow->place = place;
    slow->order = at;
    const auto [known, fresh] = found->try_emplace(work, *slow);
    const Slow& most = known->second;
    const bool costs_more = slow->excess_ns > most.excess_ns ||
                            (slow->excess_ns == most.excess_ns && slow->order < most.order);
    if (!fresh && costs_more) known->second = *slow;
  }
}

void SlowOps::Find(const std::vector<const StragglerWork*>& works) {
  std::map<WorkPlace, Havers> places;
  for (const StragglerWork* work : works) {
    for (size_t i = 0; i < work->ops.size(); ++i) places[work->ops[i]].emplace_back(work, i);
  }
  for (const auto& [place, havers] : places) Compare(place, havers, works.size(), &ops_);
  // Layers of ops that are slow somewhere.
  places.clear();
  std::set<uint32_t> wanted;
  for (const auto& [work, slow] : ops_) wanted.insert(slow.place.op);
  for (const StragglerWork* work : works) {
    for (size_t i = 0; i < work->layers.size(); ++i) {
      if (!wanted.contains(work->layers[i].op)) continue;
      places[work->layers[i]].emplace_back(work, work->ops.size() + i);
    }
  }
  for (const auto& [place, havers] : places) {
    Found layers;
    Compare(place, havers, works.size(), &layers);
    for (const auto& [work, slow] : layers) {
      const Slow* const op = OpOf(work);
      if (op == nullptr || op->place.op != place.op) continue;
      const auto [known, fresh] = layers_.try_emplace(work, slow);
      if (!fresh && slow.excess_ns > known->second.excess_ns) known->second = slow;
    }
  }
}

}  // namespace oplens::prof
