#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SET_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SET_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/run/collective_calls.h"
#include "prof/views/calls/before_calls.h"
#include "prof/views/common/numbered.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/work_place.h"

namespace oplens::prof {

class Run;

struct CollectiveGroup {
  static constexpr size_t kLeastBytes = 3;  ///< Minimum when saved.

  std::string name;   ///< "" if not recorded.
  std::string ranks;  ///< "[0, 1]"; "" if not recorded. Of a message: sender and receiver.
  int64_t size = -1;  ///< -1: unknown.

  bool known() const { return !name.empty() || !ranks.empty(); }
  friend auto operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

using CollectiveGroups = Numbered<CollectiveGroup>;

/// The collective calls of some ranks, packed: about 25 bytes per call. Calls are matched across
/// ranks once all are there (CollectiveMatches).
class CollectiveSet {
 public:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  /// One call on one rank; -1 is unknown.
  struct Call {
    int64_t start_ns = 0;  ///< Both on the file's clock.
    int64_t end_ns = 0;
    int64_t latency_ns = -1;
    int64_t exposed_ns = -1;
    int64_t size_bytes = -1;
    int64_t sequence = -1;
    uint32_t step = kNoStep;  ///< Index in Recording::steps.
    uint32_t group = 0;       ///< Number in groups().
    BeforeCall before;        ///< Its work is a number in works().
    CollectiveKind kind = CollectiveKind::kUnknown;
    CollectiveTime time = CollectiveTime::kKernel;
    ops::DType dtype = ops::DType::kUnknown;
  };

  struct Recording {
    int64_t origin_ns = 0;        ///< Its first event.
    int64_t world_size = -1;      ///< -1: unknown.
    bool numbered_steps = false;  ///< Its steps have their own numbers, the same on all ranks.
    std::optional<int64_t> clock_offset_ns;
    std::vector<int64_t> steps;    ///< Numbers.
    std::vector<uint32_t> groups;  ///< Numbers in groups() of its calls' groups.
    std::vector<uint32_t> works;   ///< Numbers in works() of the work before them.
    size_t call_count = 0;
    std::string packed;  ///< The calls, by start: CallsOf.
  };

  /// Adds the rank of a run, with or without calls.
  void Add(const Run& run, const BeforeCalls& before = {});
  /// Adds a profile of a rank whose `calls`, by start, are not in `recording` yet. Groups and works
  /// are numbers from NumberOf, steps are indices in Recording::steps.
  void Add(const std::string& rank, Recording recording, std::span<const Call> calls);
  uint32_t NumberOf(const CollectiveGroup& group) { return groups_.NumberOf(group); }
  uint32_t NumberOf(const WorkName& work) { return works_.NumberOf(work); }
  void Merge(CollectiveSet other);

  /// See docs/summary_format.md.
  void Save(ByteWriter* bytes) const;
  /// Precondition: this object is empty.
  void Load(ByteReader* bytes);

  using Ranks = std::map<std::string, std::vector<Recording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }
  /// The calls of a recording, by start.
  static std::vector<Call> CallsOf(const Recording& recording);
  const CollectiveGroups& groups() const { return groups_; }
  const Numbered<WorkName>& works() const { return works_; }
  /// Null: none or unknown.
  const WorkName* WorkBefore(const Call& call) const {
    return call.before.work == BeforeCall::kNone ? nullptr : &works_[call.before.work];
  }

 private:
  Ranks ranks_;
  CollectiveGroups groups_;
  Numbered<WorkName> works_;
};

/// A call without step, group and preceding work. `before_ns`: a time near its start.
template <typename Bytes, typename Call>
void TransferCall(Bytes* bytes, int64_t before_ns, Call* call) {
  bytes->Near(&call->start_ns, before_ns);
  bytes->Near(&call->end_ns, call->start_ns);
  bytes->Values(&call->latency_ns, &call->exposed_ns, &call->size_bytes, &call->sequence);
  bytes->Word(&call->kind, static_cast<size_t>(CollectiveKind::kWait) + 1);
  bytes->Word(&call->time, static_cast<size_t>(CollectiveTime::kEnqueue) + 1);
  bytes->Word(&call->dtype, static_cast<size_t>(ops::DType::kUnknown) + 1);
  if constexpr (Bytes::kReads) {
    bytes->Check(call->start_ns <= call->end_ns, "a call ends before it starts");
    for (const int64_t value :
         {call->latency_ns, call->exposed_ns, call->size_bytes, call->sequence}) {
      bytes->Check(value >= -1, "a call has a negative time or size");
    }
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SET_H_
