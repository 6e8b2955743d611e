#include "prof/views/collectives/collective_set.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

using CollectiveSetCall = CollectiveSet::Call;
using Recording = CollectiveSet::Recording;

/// Minimum of a saved call: nine numbers, step, group and preceding work.
constexpr size_t kLeastCallBytes = 13;

/// Maps numbers to their indices in a recording.
class CollectiveSetPlaces {
 public:
  explicit CollectiveSetPlaces(std::vector<uint32_t>* numbers) : numbers_(*numbers) {
    numbers_.clear();
  }

  uint64_t PlaceOf(uint32_t number) {
    const auto [at, fresh] = places_.try_emplace(number, numbers_.size());
    if (fresh) numbers_.push_back(number);
    return at->second;
  }

 private:
  std::vector<uint32_t>& numbers_;
  std::map<uint32_t, size_t> places_;
};

/// Writes calls one after the other, each relative to the previous.
class Packer {
 public:
  explicit Packer(Recording* recording)
      : recording_(*recording), groups_(&recording->groups), works_(&recording->works) {
    before_ns_ = recording_.origin_ns;
    recording_.call_count = 0;
  }

  void Add(const CollectiveSetCall& call) {
    TransferCall(&bytes_, before_ns_, &call);
    // Plus one, since 0 means none.
    bytes_.Number(call.step == CollectiveSet::kNoStep ? 0 : uint64_t{call.step} + 1);
    bytes_.Number(groups_.PlaceOf(call.group));
    const bool worked = call.before.work != BeforeCall::kNone;
    bytes_.Number(worked ? works_.PlaceOf(call.before.work) + 1 : 0);
    bytes_.Number(static_cast<uint64_t>(call.before.idle_permille + 1));
    before_ns_ = call.start_ns;
    ++recording_.call_count;
  }
  void End() { recording_.packed = bytes_.Take(); }

 private:
  Recording& recording_;
  CollectiveSetPlaces groups_;
  CollectiveSetPlaces works_;
  int64_t before_ns_ = 0;
  ByteWriter bytes_;
};

/// Calls `take` with each call.
template <typename Take>
void Unpack(const Recording& recording, ByteReader* bytes, Take take) {
  int64_t before_ns = recording.origin_ns;
  for (size_t left = recording.call_count; left > 0; --left) {
    CollectiveSetCall call;
    TransferCall(bytes, before_ns, &call);
    const uint64_t step = bytes->Number();
    bytes->Check(step <= recording.steps.size(), "a call is in a step that does not exist");
    call.step = step == 0 ? CollectiveSet::kNoStep : static_cast<uint32_t>(step - 1);
    const uint64_t group = bytes->Number();
    bytes->Check(group < recording.groups.size(), "a call has a group that does not exist");
    call.group = recording.groups[group];
    const uint64_t work = bytes->Number();
    bytes->Check(work <= recording.works.size(), "a call follows an op that does not exist");
    if (work > 0) call.before.work = recording.works[work - 1];
    const uint64_t idle = bytes->Number();
    bytes->Check(idle <= uint64_t{BeforeCall::kWholePermille} + 1,
                 "a share is more than the whole");
    call.before.idle_permille = static_cast<int32_t>(idle) - 1;
    before_ns = call.start_ns;
    take(call);
  }
  bytes->End();
}

void SaveRecording(const Recording& recording, ByteWriter* bytes) {
  bytes->Values(&recording.origin_ns, &recording.world_size, &recording.numbered_steps,
                &recording.clock_offset_ns, &recording.steps, &recording.groups, &recording.works);
  bytes->Number(recording.call_count);
  bytes->Number(recording.packed.size());
  bytes->Raw(recording.packed);
}

/// `groups`, `works`: the numbers of what was saved. Validates the packed calls, so that unpacking
/// cannot fail later.
void LoadRecording(const std::vector<uint32_t>& groups, const std::vector<uint32_t>& works,
                   ByteReader* bytes, Recording* recording) {
  bytes->Values(&recording->origin_ns, &recording->world_size, &recording->numbered_steps,
                &recording->clock_offset_ns, &recording->steps, &recording->groups,
                &recording->works);
  for (uint32_t& group : recording->groups) {
    bytes->Check(group < groups.size(), "a call has a group that does not exist");
    group = groups[group];
  }
  for (uint32_t& work : recording->works) {
    bytes->Check(work < works.size(), "a call follows an op that does not exist");
    work = works[work];
  }
  const uint64_t count = bytes->Number();
  recording->packed = bytes->Raw(bytes->Size());
  bytes->Check(count <= recording->packed.size() / kLeastCallBytes, "calls are cut");
  recording->call_count = count;
  ByteReader packed(recording->packed, bytes->what());
  Unpack(*recording, &packed, [](const CollectiveSetCall&) {});
}

/// The sender and the receiver of a message, if its peer is known.
std::optional<CollectiveGroup> PairOf(const Trace& trace, const CollectiveFacts& facts) {
  const bool sends = facts.kind == CollectiveKind::kSend;
  if (facts.peer < 0 || trace.rank < 0 || facts.peer == trace.rank ||
      (!sends && facts.kind != CollectiveKind::kRecv)) {
    return std::nullopt;
  }
  const auto [sender, receiver] =
      sends ? std::pair(trace.rank, facts.peer) : std::pair(facts.peer, trace.rank);
  return CollectiveGroup{std::string(trace.strings.View(facts.group)),
                         fmt::format("[{}, {}]", sender, receiver), 2};
}

bool IsNumbered(StepSource source) {
  return source == StepSource::kRanges || source == StepSource::kPattern;
}

}  // namespace

void CollectiveSet::Add(const Run& run, const BeforeCalls& before) {
  const Trace& trace = run.trace();
  Recording recording;
  recording.origin_ns = run.collectives().empty() ? 0 : run.origin_ns();
  recording.world_size = trace.world_size;
  recording.clock_offset_ns = trace.clock_offset_ns;
  const std::vector<uint32_t> works = works_.Merge(before.works);
  std::vector<CollectiveSetCall> calls;
  calls.reserve(run.collectives().size());
  std::map<int64_t, uint32_t> steps;
  for (const CollectiveCall& found : run.collectives()) {
    CollectiveSetCall& call = calls.emplace_back();
    if (!before.calls.empty()) call.before = before.calls[calls.size() - 1];
    if (call.before.work != BeforeCall::kNone) call.before.work = works[call.before.work];
    call.start_ns = found.start_ns;
    call.end_ns = found.end_ns;
    call.latency_ns = found.latency_ns;
    call.exposed_ns = found.exposed_ns;
    call.size_bytes = found.facts.size_bytes;
    call.sequence = found.facts.sequence;
    call.kind = found.facts.kind;
    call.time = found.time;
    call.dtype = found.facts.dtype;
    if (const auto pair = PairOf(trace, found.facts)) {
      // PyTorch numbers the messages of a rank in its group, whoever they go to.
      call.sequence = -1;
      call.group = NumberOf(*pair);
    } else {
      call.group =
          NumberOf({std::string(trace.strings.View(found.facts.group)),
                    std::string(trace.strings.View(found.facts.ranks)), found.facts.group_size});
    }
    if (!found.step) continue;
    const auto [at, fresh] = steps.try_emplace(*found.step, recording.steps.size());
    if (fresh) recording.steps.push_back(*found.step);
    call.step = at->second;
    recording.numbered_steps = IsNumbered(run.steps().source());
  }
  Add(std::string(run.rank()), std::move(recording), calls);
}

void CollectiveSet::Add(const std::string& rank, Recording recording,
                        std::span<const CollectiveSetCall> calls) {
  Recording& own = ranks_[rank].emplace_back(std::move(recording));
  Packer packer(&own);
  for (const CollectiveSetCall& call : calls) packer.Add(call);
  packer.End();
}

std::vector<CollectiveSet::Call> CollectiveSet::CallsOf(const Recording& recording) {
  std::vector<CollectiveSetCall> calls;
  calls.reserve(recording.call_count);
  ByteReader bytes(recording.packed, "calls of collectives");
  Unpack(recording, &bytes, [&calls](const CollectiveSetCall& call) { calls.push_back(call); });
  return calls;
}

void CollectiveSet::Save(ByteWriter* bytes) const {
  groups_.Save(bytes);
  works_.Save(bytes);
  bytes->Number(ranks_.size());
  for (const auto& [name, recordings] : ranks_) {
    bytes->Values(&name);
    bytes->Number(recordings.size());
    for (const Recording& recording : recordings) SaveRecording(recording, bytes);
  }
}

void CollectiveSet::Load(ByteReader* bytes) {
  const std::vector<uint32_t> groups = groups_.Load(bytes);
  const std::vector<uint32_t> works = works_.Load(bytes);
  for (size_t left = bytes->Size(2); left > 0; --left) {
    std::string name;
    bytes->Values(&name);
    std::vector<Recording>& recordings = ranks_[name];
    for (size_t more = bytes->Size(); more > 0; --more) {
      LoadRecording(groups, works, bytes, &recordings.emplace_back());
    }
  }
}

void CollectiveSet::Merge(CollectiveSet other) {
  const std::vector<uint32_t> groups = groups_.Merge(other.groups_);
  const std::vector<uint32_t> works = works_.Merge(other.works_);
  for (auto& [name, recordings] : other.ranks_) {
    std::vector<Recording>& own = ranks_[name];
    for (Recording& recording : recordings) {
      own.push_back(std::move(recording));
      for (uint32_t& group : own.back().groups) group = groups[group];
      for (uint32_t& work : own.back().works) work = works[work];
    }
  }
}

}  // namespace oplens::prof
