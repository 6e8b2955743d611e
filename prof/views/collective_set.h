#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/run/collective_calls.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"

namespace oplens::prof {

/// A group of ranks as it is recorded.
struct CollectiveGroup {
  std::string name;   ///< "" where it is not recorded.
  std::string ranks;  ///< "[0, 1]"; the same.
  int64_t size = -1;  ///< -1: not known.

  bool known() const { return !name.empty() || !ranks.empty(); }
  friend auto operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

/// The calls of collectives of some ranks: a small record a call. What belongs to what among ranks
/// is found when all are there (CollectiveMatches).
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
    uint32_t group = 0;       ///< Place in groups().
    CollectiveKind kind = CollectiveKind::kUnknown;
    CollectiveTime time = CollectiveTime::kKernel;
    ops::DType dtype = ops::DType::kUnknown;
  };
  static_assert(sizeof(Call) <= 64);

  /// One profile of a rank.
  struct Recording {
    int64_t origin_ns = 0;        ///< Its first event.
    int64_t world_size = -1;      ///< -1: not known.
    bool numbered_steps = false;  ///< Its steps have numbers of their own, the same on all ranks.
    std::optional<int64_t> clock_offset_ns;
    std::vector<int64_t> steps;  ///< Numbers.
    std::vector<Call> calls;     ///< By start.
  };

  void Add(const Run& run);
  void Merge(const CollectiveSet& other);

  void Save(ByteWriter* bytes) const;
  /// Into one that is empty.
  void Load(ByteReader* bytes);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    if constexpr (Bytes::kReads) {
      self->Load(bytes);
    } else {
      self->Save(bytes);
    }
  }

  using Ranks = std::map<std::string, std::vector<Recording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }
  const CollectiveGroup& GroupOf(const Call& call) const { return *groups_[call.group]; }
  size_t group_count() const { return groups_.size(); }

 private:
  uint32_t PlaceOf(const CollectiveGroup& group);

  Ranks ranks_;
  std::map<CollectiveGroup, uint32_t> places_;
  std::vector<const CollectiveGroup*> groups_;  // Keys of `places_`.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_
