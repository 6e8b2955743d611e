#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_

#include <simdjson.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// A map by text that is looked up without making a std::string.
template <typename T>
using SortedTextMap = std::map<std::string, T, std::less<>>;

/// What the parts of the Kineto reader share: the trace that they fill, threads, bad events.
class KinetoContext {
 public:
  KinetoContext(TraceNeeds wanted, Diagnostics* sink) : needs(wanted), diagnostics(*sink) {}
  KinetoContext(const KinetoContext&) = delete;
  KinetoContext& operator=(const KinetoContext&) = delete;

  /// The thread that an event names; a missing process or thread is number 0.
  ThreadIndex ThreadOf(const KinetoEvent& event);
  /// A process or thread id: its number, or for a text that is none ("Spans") a negative number in
  /// order of appearance.
  int64_t NumberOf(simdjson::dom::element id);
  /// Counts a broken event with its place in the file.
  void CountBad(Reason reason, const KinetoEvent& event);
  /// Times of an event with a duration; counts it under `reason` and answers false when they cannot
  /// be read, under `reversed` when it ends before it starts.
  bool TimesOf(const KinetoEvent& event, Reason reason, Reason reversed, KinetoTimes* times);
  /// As ReadKinetoTimes; notes whether the file has more than whole microseconds.
  bool RawTimesOf(const KinetoEvent& event, KinetoTimes* times);
  /// The moment of an event without a duration.
  bool MomentOf(const KinetoEvent& event, int64_t* ns);

  /// What the times of the file are multiples of, as far as their numbers tell.
  int64_t ClockResolutionNs() const;

  Trace trace;
  TraceNeeds needs;
  Diagnostics& diagnostics;

 private:
  std::map<std::pair<int64_t, int64_t>, ThreadIndex> threads_;
  std::pair<int64_t, int64_t> last_key_;
  ThreadIndex last_thread_ = 0;
  bool any_time_ = false;
  bool fraction_ = false;    // Some time was no whole number of microseconds.
  bool all_digits_ = false;  // Some time was exact that a double cannot hold.
  int64_t latest_ns_ = 0;
  SortedTextMap<int64_t> id_texts_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_
