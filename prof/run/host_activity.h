#ifndef OPLENS_PROF_RUN_HOST_ACTIVITY_H_
#define OPLENS_PROF_RUN_HOST_ACTIVITY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "prof/run/interval_set.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Whether a range of the host is the program waiting for its next batch, by its name.
inline bool IsDataLoaderRange(std::string_view name) {
  return name.starts_with("enumerate(DataPipe)#") ||
         (name.starts_with("enumerate(DataLoader)#") &&
          name.find(".__next__") != std::string_view::npos);
}

/// What moments are, of several things at once the first in a list of priorities: a number for
/// each, kNone where there is nothing. 24 bytes a stretch.
class TaggedTimes {
 public:
  static constexpr uint8_t kNone = UINT8_MAX;

  TaggedTimes() = default;
  /// `sets` by priority; their places are the tags. O(n) for each of them.
  explicit TaggedTimes(std::vector<IntervalSet> sets);

  /// Calls f(tag, start_ns, end_ns) for the parts of [start, end), in the order of time; together
  /// they are all of it. O(log n) and the answers, less where windows come by their starts.
  template <typename F>
  void ForEach(const Interval& window, F f) const {
    int64_t now_ns = window.start_ns;
    for (size_t i = FirstAfter(now_ns); i < stretches_.size() && now_ns < window.end_ns; ++i) {
      const Stretch& next = stretches_[i];
      if (next.start_ns >= window.end_ns) break;
      if (next.start_ns > now_ns) f(kNone, now_ns, next.start_ns);
      const int64_t start_ns = std::max(next.start_ns, now_ns);
      now_ns = std::min(next.end_ns, window.end_ns);
      f(next.tag, start_ns, now_ns);
    }
    if (now_ns < window.end_ns) f(kNone, now_ns, window.end_ns);
  }

 private:
  struct Stretch {
    int64_t start_ns;
    int64_t end_ns;
    uint8_t tag;
  };

  /// The first stretch that ends after a time.
  size_t FirstAfter(int64_t time_ns) const;

  std::vector<Stretch> stretches_;  // By start; none touches the same tag.
  mutable size_t last_ = 0;         // What FirstAfter answered last.
};

/// What a host thread does at a moment; of several things the first.
enum class HostDoing : uint8_t {
  kWaiting,        ///< It is in a call that waits for a GPU (IsWaitingCall).
  kCommunication,  ///< In an op or label of a collective.
  kDataLoader,     ///< Waits for its next batch.
  kOperator,       ///< In a call of an operator or a backward node.
  kOther,          ///< In none of these: Python, or code of which nothing is recorded.
  kNothingYet,     ///< The same, before anything of the thread is recorded.
};

/// What host threads did when. A thread is looked at when it is first asked for: O(n log n) for its
/// ranges and calls, O(n) where the calls come by their starts.
class HostActivity {
 public:
  /// Without TracePart::kWaitCalls only waits that the file has records of are known.
  static constexpr TraceNeeds kNeeds = {TracePart::kWaitCalls};

  /// `joined` must outlive this object.
  explicit HostActivity(const parse::Joined& joined);

  /// Calls f(HostDoing, start_ns, end_ns) for the parts of a window, in the order of time; together
  /// they are all of it.
  template <typename F>
  void ForEach(ThreadIndex thread, const Interval& window, F f) {
    const Thread& known = Of(thread);
    known.times.ForEach(window, [&](uint8_t tag, int64_t start_ns, int64_t end_ns) {
      if (tag != TaggedTimes::kNone) return f(static_cast<HostDoing>(tag), start_ns, end_ns);
      const int64_t begin_ns = std::clamp(known.first_ns, start_ns, end_ns);
      if (start_ns < begin_ns) f(HostDoing::kNothingYet, start_ns, begin_ns);
      if (begin_ns < end_ns) f(HostDoing::kOther, begin_ns, end_ns);
    });
  }

 private:
  struct Thread {
    bool known = false;
    int64_t first_ns = INT64_MAX;  // Of its ranges and calls.
    std::vector<Interval> waits;   // Until it is known.
    TaggedTimes times;
  };

  const Thread& Of(ThreadIndex thread);
  void Find(ThreadIndex thread, Thread* found);
  std::optional<HostDoing> DoingOf(uint32_t range);

  const parse::Joined& joined_;
  std::vector<Thread> threads_;  // One more for calls on no thread.
  std::vector<uint8_t> texts_;   // What a range's text says it is, by text.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_ACTIVITY_H_
