#ifndef OPLENS_PROF_RUN_STEPS_H_
#define OPLENS_PROF_RUN_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "prof/run/device_work.h"
#include "prof/run/step.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Where the steps of a run come from.
enum class StepSource : uint8_t {
  kNone,        ///< One step: the run.
  kRanges,      ///< ProfilerStep#N ranges.
  kPattern,     ///< Ranges or layers that match --step.
  kRepetition,  ///< A sequence of kernels that repeats.
};

/// A step as someone found it on the host.
struct HostStep {
  int64_t number = 0;
  int64_t start_ns = 0;
  /// Before the start where it was never closed, or the clock jumped: it then lasts until the next
  /// one begins.
  int64_t end_ns = 0;
};

/// The steps of a run, by start. There is always one, but in a run without any event.
class Steps {
 public:
  static constexpr size_t kNone = HostPlaces::kNone;

  Steps(const parse::Joined& joined, const DeviceWork& work);
  /// Steps that were found by a pattern, in any order; those of one number that overlap are one.
  /// Without any they are found as above. `joined` and `work` must outlive this object.
  Steps(const parse::Joined& joined, const DeviceWork& work, std::vector<HostStep> given);

  /// Leaves out the steps for which `kept` answers false: what was in one is in none.
  template <typename F>
  void Keep(F kept) {
    places_kept_.assign(steps_.size(), kNone);
    std::vector<Step> left;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!kept(steps_[i])) continue;
      places_kept_[i] = left.size();
      left.push_back(steps_[i]);
    }
    whole_ = std::exchange(steps_, std::move(left));
  }

  std::span<const Step> all() const { return steps_; }
  StepSource source() const { return source_; }
  /// From the start of the first span to the end of the last.
  Interval window() const;

  /// The place in all() of the step in which a host thread did something at a time.
  size_t OfHost(int64_t time_ns) const { return Kept(PlaceOfHost(time_ns)); }
  /// Of a GPU's event: that of the call that launched it, else that in whose span it starts.
  size_t OfEvent(const DeviceEvent& event) const { return Kept(PlaceOfEvent(event)); }

 private:
  // Places among all steps.
  std::span<const Step> whole() const { return places_kept_.empty() ? steps_ : whole_; }
  size_t PlaceOfHost(int64_t time_ns) const {
    return source_ == StepSource::kNone && !whole().empty() ? 0 : places_.Of(time_ns);
  }
  size_t PlaceOfEvent(const DeviceEvent& event) const;
  size_t Kept(size_t place) const {
    return place == kNone || places_kept_.empty() ? place : places_kept_[place];
  }

  bool TakeHostSteps(std::vector<HostStep> found, StepSource source);
  void TakeRun();

  const parse::Joined& joined_;
  const DeviceWork& work_;
  std::vector<Step> steps_;
  std::vector<Step> whole_;          // Where some were left out: all of them,
  std::vector<size_t> places_kept_;  // and the places of those that are left.
  HostPlaces places_;
  StepSource source_ = StepSource::kNone;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEPS_H_
