#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_RANK_CLOCKS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_RANK_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "prof/views/collectives/clock_fit.h"

namespace oplens::prof {

/// How far the clock in the file of a rank is ahead of that of another rank, by calls that both
/// ended at once.
struct RankClock {
  uint32_t rank = 0;
  uint32_t other = 0;
  ClockFit fit;  ///< By the clock of `rank`.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rank, &self->other, &self->fit.time_ns, &self->fit.offset_ns,
                  &self->fit.drift, &self->fit.count);
  }
};

/// The clocks of all ranks, also of two that have no such calls together, through other ranks.
class RankClocks {
 public:
  RankClocks() = default;
  /// `ranks`: number of all; `known`: of ranks below that, in any order.
  RankClocks(size_t ranks, std::vector<RankClock> known);

  /// How far the clock of `rank` is ahead of that of `other`; nullopt: unknown.
  std::optional<ClockFit> Between(uint32_t rank, uint32_t other) const;

 private:
  struct Place {
    uint32_t root = 0;  // The first rank that this one can be compared with.
    ClockFit ahead;     // Of its clock.
  };

  std::vector<Place> places_;  // By rank.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_RANK_CLOCKS_H_
