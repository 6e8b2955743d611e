#include "prof/views/collective_set.h"

#include <utility>

namespace oplens::prof {
namespace {

bool IsNumbered(StepSource source) {
  return source == StepSource::kRanges || source == StepSource::kPattern;
}

}  // namespace

uint32_t CollectiveSet::PlaceOf(const CollectiveGroup& group) {
  const auto [at, fresh] = places_.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (fresh) groups_.push_back(&at->first);
  return at->second;
}

void CollectiveSet::Add(const Run& run) {
  const Trace& trace = run.trace();
  Recording& recording = ranks_[std::string(run.rank())].emplace_back();
  recording.origin_ns = run.collectives().empty() ? 0 : run.origin_ns();
  recording.world_size = trace.world_size;
  recording.clock_offset_ns = trace.clock_offset_ns;
  recording.calls.reserve(run.collectives().size());
  std::map<int64_t, uint32_t> steps;
  for (const CollectiveCall& found : run.collectives()) {
    Call& call = recording.calls.emplace_back();
    call.start_ns = found.start_ns;
    call.end_ns = found.end_ns;
    call.latency_ns = found.latency_ns;
    call.exposed_ns = found.exposed_ns;
    call.size_bytes = found.facts.size_bytes;
    call.sequence = found.facts.sequence;
    call.kind = found.facts.kind;
    call.time = found.time;
    call.dtype = found.facts.dtype;
    call.group =
        PlaceOf({std::string(trace.strings.View(found.facts.group)),
                 std::string(trace.strings.View(found.facts.ranks)), found.facts.group_size});
    if (!found.step) continue;
    const auto [at, fresh] = steps.try_emplace(*found.step, recording.steps.size());
    if (fresh) recording.steps.push_back(*found.step);
    call.step = at->second;
    recording.numbered_steps = IsNumbered(run.steps().source());
  }
}

void CollectiveSet::Merge(const CollectiveSet& other) {
  std::vector<uint32_t> place_of;
  place_of.reserve(other.groups_.size());
  for (const CollectiveGroup* group : other.groups_) place_of.push_back(PlaceOf(*group));
  for (const auto& [name, recordings] : other.ranks_) {
    std::vector<Recording>& own = ranks_[name];
    for (const Recording& recording : recordings) {
      own.push_back(recording);
      for (Call& call : own.back().calls) call.group = place_of[call.group];
    }
  }
}

}  // namespace oplens::prof
