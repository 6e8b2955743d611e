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
#include "prof/run/run.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

/// An op of a layer, by numbers of texts. Of a kernel whose op is not known its name.
struct WorkPlace {
  uint32_t op = 0;
  uint32_t layer = 0;  ///< 0: it has none, or all of them.
  friend auto operator<=>(const WorkPlace&, const WorkPlace&) = default;
};

/// What a rank computed in the steps of one profile, and before each call of a collective.
struct StragglerWork {
  static constexpr uint32_t kNone = UINT32_MAX;
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
  /// What was done most between the start of the call of a collective before and that of a call.
  struct Before {
    int64_t since_ns = 0;        ///< Start of the call, from the first event of the profile.
    uint32_t place = kNone;      ///< In `doing`; kNone: the GPU computed nothing.
    uint32_t idle_permille = 0;  ///< Behind the end of that before, how long nothing computed.
  };

  /// Number of the text that stands for a process group, and place of a step.
  using GroupStep = std::pair<uint32_t, uint32_t>;

  int64_t origin_ns = 0;
  std::vector<Step> steps;        ///< By start.
  std::vector<WorkPlace> ops;     ///< Layer 0: of all layers.
  std::vector<WorkPlace> layers;  ///< Pairs that have a layer.
  std::vector<int64_t> times_ns;  ///< Of each of `ops`, then of `layers`, by step.
  std::vector<WorkPlace> doing;   ///< Of `before`.
  std::vector<Before> before;     ///< By call, until AddCalls has come.

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
    std::vector<int64_t> times_ns;  // By step.
  };
  using Sums = std::unordered_map<uint64_t, Sum>;

  WorkPlace PlaceOf(const PricedKernel& kernel);
  void AddTo(Sums* sums, WorkPlace place, size_t step, int64_t time_ns);
  void PassCalls(int64_t until_ns);
  void EndGap();
  void Keep(Sums* sums, std::vector<WorkPlace>* places);
  uint32_t DoingOf(WorkPlace place);

  const Run& run_;
  TextNumbers& texts_;
  StragglerWork work_;
  size_t most_places_ = 0;
  Sums ops_;
  Sums layers_;
  std::unordered_map<uint64_t, uint32_t> doing_;  // By place; into work_.doing.
  // Between two calls:
  size_t call_ = 0;  // The next one.
  int64_t gap_start_ns_ = 0;
  int64_t busy_ns_ = 0;
  int64_t busy_until_ns_ = 0;
  std::unordered_map<uint64_t, int64_t> gap_times_ns_;  // By place.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STRAGGLER_WORK_H_
