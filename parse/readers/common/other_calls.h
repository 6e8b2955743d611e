#ifndef OPLENS_PARSE_READERS_COMMON_OTHER_CALLS_H_
#define OPLENS_PARSE_READERS_COMMON_OTHER_CALLS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "parse/model/time_spans.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::parse {

/// The API calls that nothing refers to: TracePart::kApiCalls, kWaitCalls, kLongCalls or kApiTimes.
/// They enter the trace last, so that everything else is the same without them.
class OtherCalls {
 public:
  /// `strings` has the names of the calls; it must outlive this object.
  OtherCalls(TraceNeeds needs, const StringPool& strings)
      : strings_(strings),
        calls_wanted_(needs.Has(TracePart::kApiCalls)),
        waits_wanted_(needs.Has(TracePart::kWaitCalls)),
        long_wanted_(needs.Has(TracePart::kLongCalls)),
        times_wanted_(needs.Has(TracePart::kApiTimes)) {}

  bool wanted() const { return calls_wanted_ || waits_wanted_ || long_wanted_ || times_wanted_; }
  /// Whether a call with these times may be needed; the end must not be before the start.
  bool Wants(int64_t start_ns, int64_t end_ns) const {
    return calls_wanted_ || waits_wanted_ || times_wanted_ || IsLong(start_ns, end_ns);
  }

  /// `thread` is the reader's key; Place sets call.thread.
  void Add(LaunchCall call, int64_t thread) {
    if (!IsKept(call)) {
      if (times_wanted_) AddTime({call.start_ns, call.end_ns});
      return;
    }
    if (keys_.empty() || keys_[last_] != thread) {
      const uint32_t known = index_.Find(thread);
      last_ = known != IdMap::kNone ? known : static_cast<uint32_t>(keys_.size());
      if (known == IdMap::kNone) {
        index_.FindOrInsert(thread, last_);
        keys_.push_back(thread);
      }
    }
    call.thread = last_;
    calls_.push_back(call);
  }

  /// Appends the calls to Trace::launches in order of start, independent of the order of rows and
  /// without duplicates. `thread_of` maps keys to threads.
  void Place(Trace* trace, const std::function<ThreadIndex(int64_t)>& thread_of);

 private:
  bool IsLong(int64_t start_ns, int64_t end_ns) const {
    return long_wanted_ && static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(start_ns) >=
                               static_cast<uint64_t>(kLongCallNs);
  }
  bool IsKept(const LaunchCall& call) {
    return calls_wanted_ || IsLong(call.start_ns, call.end_ns) ||
           (waits_wanted_ && Waits(call.api));
  }
  void AddTime(std::pair<int64_t, int64_t> time) {
    times_ascend_ = times_ascend_ && last_time_ <= time;
    last_time_ = time;
    times_.Append(time.first, time.second);
  }
  void PlaceTimes(Trace* trace);
  bool Waits(StringId api);

  const StringPool& strings_;
  bool calls_wanted_;
  bool waits_wanted_;
  bool long_wanted_;
  bool times_wanted_;
  enum : uint8_t { kUnasked, kGoesOn, kWaits };
  std::vector<uint8_t> waits_;  // By name.
  TimeSpans times_;             // Of calls that are not kept themselves.
  std::pair<int64_t, int64_t> last_time_ = {INT64_MIN, INT64_MIN};
  bool times_ascend_ = true;
  std::vector<LaunchCall> calls_;  // `thread` is an index into keys_.
  std::vector<int64_t> keys_;
  IdMap index_;  // Key -> index into keys_.
  uint32_t last_ = 0;
};

/// Whether `other`, with the correlation id of `kept`, is a separate call: a runtime call and the
/// driver call inside it may share an id, but rows of one function on one thread are the same call.
inline bool IsCallOfItsOwn(const LaunchCall& other, const LaunchCall& kept) {
  return other.api != kept.api || other.thread != kept.thread;
}

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_OTHER_CALLS_H_
