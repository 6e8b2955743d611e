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
  kRepetition,  ///< A repeated sequence of kernels.
};

/// A step as found on the host.
struct HostStep {
  int64_t number = 0;
  int64_t start_ns = 0;
  /// Before the start if never closed or if the clock jumped: the step lasts until the next one.
  int64_t end_ns = 0;
};

/// The steps of a run, by start; at least one unless the run has no events.
class Steps {
 public:
  static constexpr size_t kNone = HostPlaces::kNone;

  Steps(const parse::Joined& joined, const DeviceWork& work);
  /// `given`: steps found by a pattern, in any order; overlapping ones of one number are merged. If
  /// empty, as the other constructor. `all_steady`: all steps that are not cut count as steady.
  /// `joined` and `work` must outlive this object.
  Steps(const parse::Joined& joined, const DeviceWork& work, std::vector<HostStep> given,
        bool all_steady = false);

  /// Drops the steps for which `kept` returns false; what was in them is in none.
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

  /// The index in all() of a host thread's step at a time.
  size_t OfHost(int64_t time_ns) const { return Kept(PlaceOfHost(time_ns)); }
  /// For a GPU event: the step of its launch, otherwise the one in whose span it starts.
  size_t OfEvent(const DeviceEvent& event) const { return Kept(PlaceOfEvent(event)); }

 private:
  // Indices among all steps.
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
  void ReadServed();
  void Judge(bool all_steady);
  bool LastLacksItsEnd() const;

  const parse::Joined& joined_;
  const DeviceWork& work_;
  std::vector<Step> steps_;
  std::vector<Step> whole_;          // If some were dropped: all of them,
  std::vector<size_t> places_kept_;  // and the new indices of those kept.
  HostPlaces places_;
  StepSource source_ = StepSource::kNone;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEPS_H_
