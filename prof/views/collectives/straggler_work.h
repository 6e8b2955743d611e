#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_WORK_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_WORK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/collectives/place_times.h"
#include "prof/views/common/work_place.h"

namespace oplens::prof {

class Run;

struct StragglerWork {
  /// Maximum number of ops, and of pairs of op and layer: the most expensive are kept.
  static constexpr size_t kMostPlaces = 24;
  /// Maximum number of times over ops and steps: more steps leave fewer ops.
  static constexpr size_t kMostTimes = 2'048;

  struct Step {
    int64_t number = 0;
    bool steady = true;
    Sum total_ns = 0;  ///< Including its device work.
    // Of its calls that were matched on other ranks:
    Sum wait_ns = 0;
    Sum calls = 0;
    Sum unmatched = 0;  ///< Calls that could have a match and have none.

    static constexpr std::tuple kMembers{&Step::number,  &Step::steady, &Step::total_ns,
                                         &Step::wait_ns, &Step::calls,  &Step::unmatched};
    friend auto operator<=>(const Step&, const Step&) = default;
  };

  int64_t origin_ns = 0;
  std::vector<Step> steps;       ///< By start.
  std::vector<WorkName> ops;     ///< Without layers: summed over all.
  std::vector<WorkName> layers;  ///< Pairs that have a layer.
  std::vector<Sum> times_ns;     ///< Per op, then per pair in `layers`, by step.
  /// Step::wait_ns by process group (GroupIdentity), then by index of the step.
  std::map<std::string, std::map<uint32_t, Sum>> group_waits_ns;

  std::span<const Sum> TimesOf(size_t place) const {
    return std::span(times_ns).subspan(place * steps.size(), steps.size());
  }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);
};

template <typename Bytes, typename Self>
void StragglerWork::Transfer(Bytes* bytes, Self* self) {
  bytes->Values(&self->origin_ns, &self->steps, &self->ops, &self->layers);
  const size_t places = self->ops.size() + self->layers.size();
  if constexpr (Bytes::kReads) {
    bytes->Check(places <= 2 * kMostPlaces, "there are more ops than are kept");
    const size_t times = places * self->steps.size();
    bytes->Check(times <= bytes->left(), "there are more times than the bytes can hold");
    self->times_ns.resize(times);
  }
  for (auto& time_ns : self->times_ns) bytes->Values(&time_ns);
  if constexpr (Bytes::kReads) {
    for (size_t left = bytes->Size(3); left > 0; --left) {
      std::string group;
      uint32_t step = 0;
      bytes->Values(&group, &step);
      bytes->Check(step < self->steps.size(), "a group waits in a step that does not exist");
      bytes->Values(&self->group_waits_ns[group][step]);
    }
  } else {
    size_t count = 0;
    for (const auto& [group, waits_ns] : self->group_waits_ns) count += waits_ns.size();
    bytes->Number(count);
    for (const auto& [group, waits_ns] : self->group_waits_ns) {
      for (const auto& [step, wait_ns] : waits_ns) bytes->Values(&group, &step, &wait_ns);
    }
  }
}

/// Builds StragglerWork of one run. Takes kernels in order of start; ignores communication.
class StragglerWorkMaker {
 public:
  /// `run` must outlive this object.
  explicit StragglerWorkMaker(const Run& run);

  void Add(const PricedKernel& kernel) { places_.Add(kernel); }
  StragglerWork Take();

 private:
  void Keep(const std::vector<PlaceTimesMaker::Named>& longest, std::vector<WorkName>* names);

  StragglerWork work_;
  size_t most_places_ = 0;
  PlaceTimesMaker places_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_STRAGGLER_WORK_H_
