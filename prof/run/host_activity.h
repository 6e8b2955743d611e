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

/// Whether a host range's name says that the program waits for its next batch.
inline bool IsDataLoaderRange(std::string_view name) {
  return name.starts_with("enumerate(DataPipe)#") ||
         (name.starts_with("enumerate(DataLoader)#") &&
          name.find(".__next__") != std::string_view::npos);
}

/// Per moment a tag: the first in a list of priorities, or kNone. 24 bytes per stretch.
class TaggedTimes {
 public:
  static constexpr uint8_t kNone = UINT8_MAX;

  TaggedTimes() = default;
  /// `sets` by priority; their indices are the tags. O(n) per set.
  explicit TaggedTimes(std::vector<IntervalSet> sets);

  /// Calls f(tag, start_ns, end_ns) for successive parts that make up [start, end). O(log n +
  /// parts), faster for windows in ascending order.
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

  std::vector<Stretch> stretches_;  // By start; equal tags do not touch.
  mutable size_t last_ = 0;         // The last result of FirstAfter.
};

/// What a host thread does at a moment; of several things the first here.
enum class HostDoing : uint8_t {
  kWaiting,        ///< In a call that waits for a GPU (IsWaitingCall).
  kCommunication,  ///< In an op or label of a collective.
  kDataLoader,     ///< Waits for its next batch.
  kOperator,       ///< In an operator or backward node.
  kOther,          ///< None of these: Python, or code without records.
  kNothingYet,     ///< As kOther, before the thread's first record.
};

/// What host threads did when. A thread is analysed on first use: O(n log n) for its ranges and
/// calls, O(n) if the calls are ordered by start.
class HostActivity {
 public:
  /// Without TracePart::kWaitCalls only waits that the file has records of are known.
  static constexpr TraceNeeds kNeeds = {TracePart::kWaitCalls};

  /// `joined` must outlive this object.
  explicit HostActivity(const parse::Joined& joined);

  /// Calls f(HostDoing, start_ns, end_ns) for successive parts that make up the window.
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
    std::vector<Interval> waits;   // Until it is analysed.
    TaggedTimes times;
  };

  const Thread& Of(ThreadIndex thread);
  void Find(ThreadIndex thread, Thread* found);
  std::optional<HostDoing> DoingOf(uint32_t range);

  const parse::Joined& joined_;
  std::vector<Thread> threads_;  // One extra for calls on no thread.
  std::vector<uint8_t> texts_;   // Meaning of a range, by its text.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_ACTIVITY_H_
