#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_

#include <span>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/verdicts/rank_load.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/place_times.h"

namespace oplens::prof {

class Run;

/// Makes the RankLoad of one run. Takes kernels in order of start.
class LoadMaker {
 public:
  /// `run` must outlive this object.
  explicit LoadMaker(const Run& run);

  void Add(const PricedKernel& kernel) { places_.Add(kernel); }
  RankLoad Take();

 private:
  void FindDeviceTimes();
  void FindHostTimes();
  void Keep(const std::vector<PlaceTimesMaker::Named>& longest);

  const Run& run_;
  RankLoad load_;
  PlaceTimesMaker places_;
};

/// Adds the matched calls of the rank that are of this profile.
void AddCallsTo(std::span<const CollectiveRow> calls, RankLoad* load);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_LOAD_MAKER_H_
