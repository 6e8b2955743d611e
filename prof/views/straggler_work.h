#ifndef OPLENS_PROF_VIEWS_STRAGGLER_WORK_H_
#define OPLENS_PROF_VIEWS_STRAGGLER_WORK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"
#include "prof/views/work_place.h"

namespace oplens::prof {

class Run;

/// What a rank computed in the steps of one profile.
struct StragglerWork {
  /// Ops that are kept, and as many pairs of op and layer: those that cost most,
  static constexpr size_t kMostPlaces = 24;
  /// and times in all, over ops and steps: with many steps there are fewer ops.
  static constexpr size_t kMostTimes = 2'048;

  struct Step {
    int64_t number = 0;
    bool whole = true;
    int64_t total_ns = 0;  ///< With its device work.
    // Of the calls in it that were found on other ranks:
    int64_t wait_ns = 0;
    int64_t calls = 0;
    int64_t unmatched = 0;  ///< Calls that might have been found there, and were not.
  };
  /// Number of the text that stands for a process group, and place of a step.
  using GroupStep = std::pair<uint32_t, uint32_t>;

  int64_t origin_ns = 0;
  std::vector<Step> steps;        ///< By start.
  std::vector<WorkPlace> ops;     ///< Layer 0: of all layers.
  std::vector<WorkPlace> layers;  ///< Pairs that have a layer.
  std::vector<int64_t> times_ns;  ///< Of each of `ops`, then of `layers`, by step.

  std::map<GroupStep, int64_t> group_waits_ns;  ///< Of Step::wait_ns what it waited in each group.

  std::span<const int64_t> TimesOf(size_t place) const {
    return std::span(times_ns).subspan(place * steps.size(), steps.size());
  }
};

/// Makes it of one run: kernels come in the order of their starts. Communication is left out.
class StragglerWorkMaker {
 public:
  /// All must outlive this object.
  StragglerWorkMaker(const Run& run, TextNumbers* texts);

  void Add(const PricedKernel& kernel);
  StragglerWork Take();

 private:
  struct Sum {
    WorkPlace place;
    int64_t total_ns = 0;
    // Step and time; a step may stand more than once. Dense they would take steps times places.
    std::vector<std::pair<uint32_t, int64_t>> times_ns;
  };
  using Sums = std::unordered_map<uint64_t, Sum>;

  void AddTo(Sums* sums, WorkPlace place, size_t step, int64_t time_ns);
  void Keep(Sums* sums, std::vector<WorkPlace>* places);

  const Run& run_;
  TextNumbers& texts_;
  StragglerWork work_;
  size_t most_places_ = 0;
  Sums ops_;
  Sums layers_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STRAGGLER_WORK_H_
