#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"
#include "prof/verdicts/rank_load.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/common/work_place.h"

namespace oplens::prof {

class Run;

/// Makes the RankLoad of one run. Takes kernels in order of start.
class LoadMaker {
 public:
  /// `run` must outlive this object.
  explicit LoadMaker(const Run& run);

  void Add(const PricedKernel& kernel);
  RankLoad Take();

 private:
  struct PlaceTimes {
    WorkPlace place;
    Sum total_ns;
    Sum kernels;
    Sum flops;
    // Step and time, sparse; a step may occur several times.
    std::vector<std::pair<uint32_t, Sum>> times_ns;
  };
  using Places = std::unordered_map<uint64_t, PlaceTimes>;

  void FindDeviceTimes();
  void FindHostTimes();
  static void AddTo(Places* all, WorkPlace place, size_t step, int64_t time_ns, int64_t flops);
  void Keep(const Places& all, size_t most);

  const Run& run_;
  TextNumbers texts_;
  RankLoad load_;
  Places ops_;
  Places layers_;
};

/// Adds the matched calls of the rank that are of this profile.
void AddCallsTo(std::span<const CollectiveRow> calls, RankLoad* load);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_
