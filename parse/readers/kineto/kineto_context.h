#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_

#include <simdjson.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// A map by text, with lookup without a std::string.
template <typename T>
using SortedTextMap = std::map<std::string, T, std::less<>>;

/// Shared by the parts of the Kineto reader: the trace that they fill, threads, bad events.
class KinetoContext {
 public:
  KinetoContext(TraceNeeds wanted, Diagnostics* sink) : needs(wanted), diagnostics(*sink) {}
  KinetoContext(const KinetoContext&) = delete;
  KinetoContext& operator=(const KinetoContext&) = delete;

  /// Returns the thread of an event; a missing process or thread is number 0.
  ThreadIndex ThreadOf(const KinetoEvent& event);
  /// Returns a process or thread id; for a text ("Spans") a negative number in order of appearance.
  int64_t NumberOf(simdjson::dom::element id);
  /// Counts a broken event with its position.
  void CountBad(Reason reason, const KinetoEvent& event);
  /// Reads the times of an event with a duration. If they are unreadable, counts it under `reason`,
  /// and if it ends before it starts, under `reversed`; returns false in both cases.
  bool TimesOf(const KinetoEvent& event, Reason reason, Reason reversed, KinetoTimes* times);
  /// Like ReadKinetoTimes; also tracks the resolution of the file's times.
  bool RawTimesOf(const KinetoEvent& event, KinetoTimes* times);
  /// Reads the moment of an event without a duration.
  bool MomentOf(const KinetoEvent& event, int64_t* ns);

  /// The greatest step of which all times of the file appear to be multiples.
  int64_t ClockResolutionNs() const;

  Trace trace;
  TraceNeeds needs;
  Diagnostics& diagnostics;

 private:
  std::map<std::pair<int64_t, int64_t>, ThreadIndex> threads_;
  std::pair<int64_t, int64_t> last_key_;
  ThreadIndex last_thread_ = 0;
  bool any_time_ = false;
  bool fraction_ = false;    // Some time was not a whole number of microseconds.
  bool all_digits_ = false;  // Some time was exact beyond a double.
  int64_t latest_ns_ = 0;
  SortedTextMap<int64_t> id_texts_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_CONTEXT_H_
