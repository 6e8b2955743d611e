#include "prof/views/path/advice_claims.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/saturating.h"
#include "prof/path/replay.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steady_idle.h"
#include "prof/run/steps.h"

namespace oplens::prof {

using advice::Topic;

/// Times in which the GPU waits for what the host does.
class HostTimes {
 public:
  explicit HostTimes(std::span<const Interval> times)
      : times_(times), ends_in_order_(std::ranges::is_sorted(times_, {}, &Interval::end_ns)) {}

  /// How much of a time is in them.
  int64_t Within(const Interval& time) const {
    int64_t taken_ns = 0;
    const auto is_before = [&](const Interval& one) { return one.end_ns <= time.start_ns; };
    // Most parts come in the order of time.
    const bool known = ends_in_order_ && (hint_ == 0 || is_before(times_[hint_ - 1])) &&
                       (hint_ == times_.size() || !is_before(times_[hint_]));
    auto next = known ? times_.begin() + static_cast<ptrdiff_t>(hint_)
                      : std::partition_point(times_.begin(), times_.end(), is_before);
    hint_ = static_cast<size_t>(next - times_.begin());
    for (; next != times_.end() && next->start_ns < time.end_ns; ++next) {
      SaturatingAdd(&taken_ns, LengthOf({std::max(next->start_ns, time.start_ns),
                                         std::min(next->end_ns, time.end_ns)}));
    }
    return std::min(taken_ns, LengthOf(time));
  }

 private:
  std::span<const Interval> times_;
  bool ends_in_order_;
  mutable size_t hint_ = 0;  // Where the last part was found in times_.
};

/// The run without what each of some topics could save.
class TopicChanges : public TimeChanges {
 public:
  TopicChanges(const Run& run, const AdviceClaims& claims) : run_(run), claims_(claims) {
    place_of_.fill(kNone);
  }

  void Add(Topic topic) {
    place_of_[static_cast<size_t>(topic)] = topics_.size();
    topics_.push_back(topic);
    const std::span<const Interval> times = claims_.times_[static_cast<size_t>(topic)];
    if (!times.empty()) timed_.emplace_back(topic, HostTimes(times));
  }

  /// By change.
  std::span<const Topic> topics() const { return topics_; }
  size_t count() const override { return topics_.size(); }

  void Of(const PathEdge& part, std::vector<Changed>* changed) const override {
    switch (part.cause) {
      case PathCause::kCompute:
      case PathCause::kCopy:
        return OfWork(part, changed);
      case PathCause::kCommunication:
      case PathCause::kUnknown:
        return;
      case PathCause::kSync:
        if (IsOf(claims_.blocking_, part)) Set(Topic::kBlocking, kNoDependency, part, changed);
        if (IsOf(claims_.pageable_, part)) Set(Topic::kPageable, kNoDependency, part, changed);
        return;
      case PathCause::kPageableCopy: {
        // The host copies in the call itself.
        const bool gone = IsOf(claims_.pageable_, part);
        if (gone) Set(Topic::kPageable, 0, part, changed);
        return OfHost(part, gone ? Topic::kPageable : Topic::kNone, changed);
      }
      case PathCause::kDataLoader:
        return Set(Topic::kDataLoader, 0, part, changed);
      default:
        return OfHost(part, Topic::kNone, changed);
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  static bool IsOf(const std::set<LaunchIndex>& calls, const PathEdge& part) {
    return part.subject.kind == PathSubject::Kind::kCall && calls.contains(part.subject.index);
  }

  void OfHost(const PathEdge& part, Topic but, std::vector<Changed>* changed) const {
    const Interval time = {part.start_ns, SaturatingSum(part.start_ns, part.time_ns)};
    for (const auto& [topic, times] : timed_) {
      if (topic != but) Set(topic, part.time_ns - times.Within(time), part, changed);
    }
  }

  void OfWork(const PathEdge& part, std::vector<Changed>* changed) const {
    if (part.subject.kind != PathSubject::Kind::kWork) return;
    const DeviceEvent& event = run_.device_work().events()[part.subject.index];
    if (event.work == WorkClass::kCopy) {
      return Set(claims_.copies_.topics[event.index], 0, part, changed);
    }
    const int64_t all_ns = event.duration_ns();
    if (!event.IsKernel() || all_ns <= 0) return;
    const Topic topic = claims_.kernels_.topics[event.index];
    if (topic == Topic::kNone) return;
    // Of a part of the kernel, a part of its gain.
    const int64_t gain_ns = claims_.kernels_.gains_ns[event.index];
    const double left = 1 - static_cast<double>(gain_ns) / static_cast<double>(all_ns);
    Set(topic, std::llround(static_cast<double>(part.time_ns) * std::clamp(left, 0.0, 1.0)), part,
        changed);
  }

  /// Of a topic that is no change, nothing.
  void Set(Topic topic, int64_t time_ns, const PathEdge& part,
           std::vector<Changed>* changed) const {
    if (topic == Topic::kNone || time_ns == part.time_ns) return;
    const size_t place = place_of_[static_cast<size_t>(topic)];
    if (place != kNone) changed->push_back({place, time_ns});
  }

  const Run& run_;
  const AdviceClaims& claims_;
  std::vector<Topic> topics_;
  std::array<size_t, advice::kTopicCount> place_of_;  // Among them.
  std::vector<std::pair<Topic, HostTimes>> timed_;    // Of those that have some.
};

Topic TopicOfHostWait(const advice::RankFacts& facts, const LateWork& late, int64_t host_ns) {
  const bool first = facts.has_steps && late.begins != 0 && host_ns > advice::kLaunchWaitNs;
  return first ? Topic::kStepStart : Topic::kHost;
}

void AdviceClaims::Begin(const Run* run) {
  *this = AdviceClaims();
  run_ = run;
  if (run == nullptr) return;
  kernels_ = Claims(run->trace().kernels.size());
  copies_ = Claims(run->trace().copies.size());
  waits_.assign(run->trace().kernels.size(), kNoWait);
  of_wait_.assign(run->steady_idle().late.size(), Topic::kNone);
}

void AdviceClaims::TakeKernel(uint32_t kernel, Topic topic, int64_t gain_ns) {
  if (kernel < kernels_.size()) kernels_.Take(kernel, topic, gain_ns);
}

void AdviceClaims::TakeCopy(uint32_t copy, Topic topic, int64_t gain_ns) {
  copies_.Take(copy, topic, gain_ns);
}

void AdviceClaims::TakeCall(LaunchIndex call, const Interval& gap, int64_t gain_ns) {
  blocking_.insert(call);
  blocked_.emplace_back(gap, gain_ns);
}

void AdviceClaims::ForEachGain(
    const std::function<void(uint32_t kernel, Topic topic, int64_t gain_ns)>& of_kernel,
    const std::function<void(const Interval& time, Topic topic, int64_t gain_ns)>& of_time) const {
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_.topics[i] != Topic::kNone) of_kernel(i, kernels_.topics[i], kernels_.gains_ns[i]);
  }
  for (size_t i = 0; i < copies_.size() && run_ != nullptr; ++i) {
    const MemoryCopy& copy = run_->trace().copies[i];
    if (copies_.topics[i] == Topic::kNone) continue;
    of_time({copy.start_ns, copy.end_ns}, copies_.topics[i], copies_.gains_ns[i]);
  }
  for (const auto& [gap, gain_ns] : blocked_) of_time(gap, Topic::kBlocking, gain_ns);
  for (size_t i = 0; i < times_.size(); ++i) {
    for (const Interval& time : times_[i]) of_time(time, static_cast<Topic>(i), LengthOf(time));
  }
}

void AdviceClaims::TakeTime(Topic topic, const Interval& time) {
  times_[static_cast<size_t>(topic)].push_back(time);
}

void AdviceClaims::Replay(advice::RankFacts* facts) {
  if (run_ == nullptr || !facts->has_launches) return;
  const SteadyTime& steady = run_->steady_idle().time;
  if (steady.windows.empty() || (steady.of_run && !run_->selects_all())) return;
  TopicChanges changes(*run_, *this);
  for (size_t i = 0; i < advice::kTopicCount; ++i) {
    const auto topic = static_cast<Topic>(i);
    // Communication stays: other ranks are not replayed.
    if (topic == Topic::kCollective || topic == Topic::kSmallCollective) continue;
    if (facts->At(topic).all.gain_ns <= 0) continue;
    std::sort(times_[i].begin(), times_[i].end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
    changes.Add(topic);
  }
  for (const std::vector<int64_t>& step : ReplaySteps(*run_, steady.counts, changes)) {
    std::array<int64_t, advice::kTopicCount>& saved_ns = saved_ns_.emplace_back();
    for (size_t i = 0; i < step.size(); ++i) {
      const Topic topic = changes.topics()[i];
      saved_ns[static_cast<size_t>(topic)] = step[i];
      SaturatingAdd(&facts->At(topic).saved_ns, step[i]);
    }
  }
  facts->has_replay = true;
}

}  // namespace oplens::prof
