#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SET_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SET_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
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

/// A group of ranks as it is recorded.
struct CollectiveGroup {
  static constexpr size_t kLeastBytes = 3;  ///< That are saved of one.

  std::string name;   ///< "" where it is not recorded.
  std::string ranks;  ///< "[0, 1]"; the same.
  int64_t size = -1;  ///< -1: not known.

  bool known() const { return !name.empty() || !ranks.empty(); }
  static constexpr std::tuple kMembers{&CollectiveGroup::name, &CollectiveGroup::ranks,
                                       &CollectiveGroup::size};
  friend auto operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

using CollectiveGroups = Numbered<CollectiveGroup>;

/// The calls of collectives of some ranks, packed: some 25 bytes a call. What belongs to what among
/// ranks is found when all are there (CollectiveMatches).
class CollectiveSet {
 public:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  /// One call on one rank; -1 is not known.
  struct Call {
    int64_t start_ns = 0;  ///< On the file's clock, as the end.
    int64_t end_ns = 0;
    int64_t latency_ns = -1;
    int64_t exposed_ns = -1;
    int64_t size_bytes = -1;
    int64_t sequence = -1;
    uint32_t step = kNoStep;  ///< Place in Recording::steps.
    uint32_t group = 0;       ///< Number in groups().
    BeforeCall before;        ///< Its work is a number in works().
    CollectiveKind kind = CollectiveKind::kUnknown;
    CollectiveTime time = CollectiveTime::kKernel;
    ops::DType dtype = ops::DType::kUnknown;
  };

  /// One profile of a rank.
  struct Recording {
    int64_t origin_ns = 0;        ///< Its first event.
    int64_t world_size = -1;      ///< -1: not known.
    bool numbered_steps = false;  ///< Its steps have numbers of their own, the same on all ranks.
    std::optional<int64_t> clock_offset_ns;
    std::vector<int64_t> steps;    ///< Numbers.
    std::vector<uint32_t> groups;  ///< Numbers in groups() of those that its calls are of,
    std::vector<uint32_t> works;   ///< and in works() of what was done before them.
    size_t call_count = 0;
    std::string packed;  ///< The calls, by start: CallsOf.
  };

  /// The rank of a run, with calls or without.
  void Add(const Run& run, const BeforeCalls& before = {});
  /// A profile of a rank with these calls, by start, which `recording` is without. Their groups and
  /// works are numbers that NumberOf gave, their steps places in Recording::steps.
  void Add(const std::string& rank, Recording recording, std::span<const Call> calls);
  uint32_t NumberOf(const CollectiveGroup& group) { return groups_.NumberOf(group); }
  uint32_t NumberOf(const WorkName& work) { return works_.NumberOf(work); }
  void Merge(CollectiveSet other);

  /// docs/summary_format.md.
  void Save(ByteWriter* bytes) const;
  /// Into one that is empty.
  void Load(ByteReader* bytes);

  using Ranks = std::map<std::string, std::vector<Recording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }
  /// The calls of a recording, by start.
  static std::vector<Call> CallsOf(const Recording& recording);
  const CollectiveGroups& groups() const { return groups_; }
  /// What was done before calls.
  const Numbered<WorkName>& works() const { return works_; }
  /// Null: nothing, or it is not known.
  const WorkName* WorkBefore(const Call& call) const {
    return call.before.work == BeforeCall::kNone ? nullptr : &works_[call.before.work];
  }

 private:
  Ranks ranks_;
  CollectiveGroups groups_;
  Numbered<WorkName> works_;
};

/// What a call is by itself, without step, group and what was before it. `before_ns`: a time that
/// its start is near.
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
