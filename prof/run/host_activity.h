#ifndef OPLENS_PROF_RUN_HOST_ACTIVITY_H_
#define OPLENS_PROF_RUN_HOST_ACTIVITY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/once.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "prof/run/interval_set.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

class DeviceWork;

/// Whether a host range's name says that the program waits for its next batch.
inline bool IsDataLoaderRange(std::string_view name) {
  return name.starts_with("enumerate(DataPipe)#") ||
         (name.starts_with("enumerate(DataLoader)#") &&
          name.find(".__next__") != std::string_view::npos);
}

/// Per moment a tag: the first in a list of priorities, or kNone. 17 bytes per stretch.
class TaggedTimes {
 public:
  static constexpr uint8_t kNone = UINT8_MAX;

  TaggedTimes() = default;
  /// `sets` by priority; their indices are the tags. O(n) per set.
  explicit TaggedTimes(std::vector<IntervalSet> sets);

  /// Calls f(tag, start_ns, end_ns) for successive parts that make up [start, end). O(log n +
  /// parts), faster for windows in ascending order with the same `last`, which is 0 at first.
  template <typename F>
  void ForEach(const Interval& window, size_t* last, F f) const {
    int64_t now_ns = window.start_ns;
    for (size_t i = *last = FirstAfter(now_ns, *last);
         i < stretches_.size() && now_ns < window.end_ns; ++i) {
      const Interval& next = stretches_[i];
      if (next.start_ns >= window.end_ns) break;
      if (next.start_ns > now_ns) f(kNone, now_ns, next.start_ns);
      const int64_t start_ns = std::max(next.start_ns, now_ns);
      now_ns = std::min(next.end_ns, window.end_ns);
      f(tags_[i], start_ns, now_ns);
    }
    if (now_ns < window.end_ns) f(kNone, now_ns, window.end_ns);
  }

 private:
  /// The first stretch that ends after a time; `last`: an earlier result.
  size_t FirstAfter(int64_t time_ns, size_t last) const;

  std::vector<Interval> stretches_;  // By start; equal tags do not touch.
  std::vector<uint8_t> tags_;        // Of stretches_.
};

/// What a host thread does at a moment; of several things the first here.
enum class HostDoing : uint8_t {
  kWaiting,        ///< In a call that waits for a GPU (IsWaitingCall).
  kPageableCopy,   ///< In the call of a copy from or to pageable memory.
  kApiCall,        ///< In another API call of at least kLongCallNs.
  kCommunication,  ///< In an op or label of a collective.
  kDataLoader,     ///< Waits for its next batch.
  kOperator,       ///< In an operator or backward node.
  kOther,          ///< None of these: Python, or code without records.
};

/// Whether the thread is in an API call that HostActivity::CallAt finds.
constexpr bool IsInCall(HostDoing doing) { return doing <= HostDoing::kApiCall; }

/// Whether a copy passes through the host's pageable memory, so that its call copies too.
inline bool IsPageable(const MemoryCopy& copy) {
  return copy.source_kind == MemoryKind::kPageable || copy.target_kind == MemoryKind::kPageable;
}

/// What host threads did when. A thread is analysed on first use: O(n log n) for its ranges and
/// calls, O(n) if the calls are ordered by start. Several threads may ask.
class HostActivity {
 public:
  /// Without these parts only calls that launched work or that the file has records of are known.
  static constexpr TraceNeeds kNeeds = {TracePart::kWaitCalls, TracePart::kLongCalls};

  /// `work`: with the copies whose calls count as kPageableCopy. Both must outlive this object.
  HostActivity(const parse::Joined& joined, const DeviceWork& work);

  /// Analyses a thread before its first use.
  void Prepare(ThreadIndex thread) { Of(thread); }

  /// Where a caller is in each thread: of its own, empty at first.
  using Places = std::vector<size_t>;

  /// Calls f(HostDoing, start_ns, end_ns) for successive parts that make up the window.
  template <typename F>
  void ForEach(ThreadIndex thread, const Interval& window, Places* places, F f) {
    if (places->size() < threads_.size()) places->resize(threads_.size(), 0);
    Thread& own = Of(thread);
    size_t* const last = &(*places)[static_cast<size_t>(&own - threads_.data())];
    own.times.ForEach(window, last, [&](uint8_t tag, int64_t start_ns, int64_t end_ns) {
      f(tag == TaggedTimes::kNone ? HostDoing::kOther : static_cast<HostDoing>(tag), start_ns,
        end_ns);
    });
  }
  /// The outermost known call of a thread at a time; kNoLaunch: none. O(log n).
  LaunchIndex CallAt(ThreadIndex thread, int64_t time_ns);

 private:
  struct Call {
    LaunchIndex index = 0;
    HostDoing doing = HostDoing::kWaiting;
  };
  struct Thread {
    Once once;
    std::vector<Call> calls;  // Once it is analysed, by start.
    TaggedTimes times;
  };

  Thread& Of(ThreadIndex thread);
  void Find(ThreadIndex thread, Thread* found);
  std::optional<HostDoing> DoingOf(uint32_t range);

  const parse::Joined& joined_;
  std::vector<Thread> threads_;  // One extra for calls on no thread.
  std::mutex mutex_;             // While a thread is analysed:
  std::vector<uint8_t> texts_;   // meaning of a range, by its text.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_ACTIVITY_H_
