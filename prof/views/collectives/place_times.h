#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_PLACE_TIMES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_PLACE_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"
#include "prof/views/common/work_place.h"

namespace oplens::prof {

class Run;

/// The kernels of an op or a layer.
struct PlaceTimes {
  WorkPlace place;
  Sum total_ns;
  Sum kernels;
  Sum flops;
  /// Step (index in Run::steps) and time, sparse; a step may occur several times.
  std::vector<std::pair<uint32_t, Sum>> times_ns;
};

/// Time of the computing kernels of one run in its steps, by op and by layer. Takes kernels in
/// order of start.
class PlaceTimesMaker {
 public:
  using Named = std::pair<WorkName, const PlaceTimes*>;

  /// `run` must outlive this object.
  explicit PlaceTimesMaker(const Run& run) : run_(run) {}

  void Add(const PricedKernel& kernel);

  /// At most `most` of them, the longest first. Valid until the next kernel.
  std::vector<Named> LongestOps(size_t most) const { return Longest(ops_, most); }
  std::vector<Named> LongestLayers(size_t most) const { return Longest(layers_, most); }

 private:
  using Places = std::unordered_map<uint64_t, PlaceTimes>;

  std::vector<Named> Longest(const Places& all, size_t most) const;

  const Run& run_;
  TextNumbers texts_;
  Places ops_;
  Places layers_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_PLACE_TIMES_H_
