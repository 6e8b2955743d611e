#include "prof/views/collective_set.h"

#include <utility>

namespace oplens::prof {
namespace {

void SaveRecording(const CollectiveSet::Recording& recording, ByteWriter* bytes) {
  bytes->Values(&recording.origin_ns, &recording.world_size, &recording.numbered_steps,
                &recording.clock_offset_ns, &recording.steps);
  bytes->Number(recording.calls.size());
  int64_t before_ns = recording.origin_ns;
  for (const CollectiveSet::Call& call : recording.calls) {
    TransferCall(bytes, before_ns, &call);
    // One more, so that none is 0.
    bytes->Number(call.step == CollectiveSet::kNoStep ? 0 : uint64_t{call.step} + 1);
    bytes->Number(call.group);
    before_ns = call.start_ns;
  }
}

/// `groups`: the number of each group that was saved.
void LoadRecording(const std::vector<uint32_t>& groups, ByteReader* bytes,
                   CollectiveSet::Recording* recording) {
  bytes->Values(&recording->origin_ns, &recording->world_size, &recording->numbered_steps,
                &recording->clock_offset_ns, &recording->steps);
  recording->calls.resize(bytes->Size(11));
  int64_t before_ns = recording->origin_ns;
  for (CollectiveSet::Call& call : recording->calls) {
    TransferCall(bytes, before_ns, &call);
    const uint64_t step = bytes->Number();
    bytes->Check(step <= recording->steps.size(), "a call is in a step that none is");
    call.step = step == 0 ? CollectiveSet::kNoStep : static_cast<uint32_t>(step - 1);
    const uint64_t group = bytes->Number();
    bytes->Check(group < groups.size(), "a call is of a group that none is");
    call.group = groups[group];
    before_ns = call.start_ns;
  }
}

bool IsNumbered(StepSource source) {
  return source == StepSource::kRanges || source == StepSource::kPattern;
}

}  // namespace

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
    call.group = groups_.NumberOf({std::string(trace.strings.View(found.facts.group)),
                                   std::string(trace.strings.View(found.facts.ranks)),
                                   found.facts.group_size});
    if (!found.step) continue;
    const auto [at, fresh] = steps.try_emplace(*found.step, recording.steps.size());
    if (fresh) recording.steps.push_back(*found.step);
    call.step = at->second;
    recording.numbered_steps = IsNumbered(run.steps().source());
  }
}

void CollectiveSet::Save(ByteWriter* bytes) const {
  groups_.Save(bytes);
  bytes->Number(ranks_.size());
  for (const auto& [name, recordings] : ranks_) {
    bytes->Values(&name);
    bytes->Number(recordings.size());
    for (const Recording& recording : recordings) SaveRecording(recording, bytes);
  }
}

void CollectiveSet::Load(ByteReader* bytes) {
  const std::vector<uint32_t> groups = groups_.Load(bytes);
  for (size_t left = bytes->Size(2); left > 0; --left) {
    std::string name;
    bytes->Values(&name);
    std::vector<Recording>& recordings = ranks_[name];
    for (size_t more = bytes->Size(); more > 0; --more) {
      LoadRecording(groups, bytes, &recordings.emplace_back());
    }
  }
}

void CollectiveSet::Merge(CollectiveSet other) {
  const std::vector<uint32_t> groups = groups_.Merge(other.groups_);
  for (auto& [name, recordings] : other.ranks_) {
    std::vector<Recording>& own = ranks_[name];
    for (Recording& recording : recordings) {
      own.push_back(std::move(recording));
      for (Call& call : own.back().calls) call.group = groups[call.group];
    }
  }
}

}  // namespace oplens::prof
