#ifndef OPLENS_PROF_VIEWS_EVENT_MEMORY_H_
#define OPLENS_PROF_VIEWS_EVENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::prof {

/// What the framework took of memory less what it gave back, between two moments. O(M log M) to
/// make and O(log M) to ask for M events; 32 bytes an event.
class EventMemory {
 public:
  struct Bytes {
    int64_t host = 0;
    int64_t device = 0;
  };

  /// `all_threads`: whatever thread did it.
  EventMemory(const Trace& trace, bool all_threads);

  bool empty() const { return moments_.empty(); }
  /// Of a thread, both moments included. What is in it is no more of those that nobody asked for.
  Bytes Take(ThreadIndex thread, int64_t start_ns, int64_t end_ns);

  /// The events that no Take had in it.
  struct Untaken {
    int64_t count = 0;
    int64_t first_ns = INT64_MAX;
    Bytes bytes;
  };
  Untaken Rest() const;

 private:
  struct Moment {
    ThreadIndex thread;
    int32_t takes;  // More Takes begin than end in front of it.
    int64_t time_ns;
    // Sums of the moments before it, which wrap: only differences are used.
    uint64_t host;
    uint64_t device;
  };

  bool all_threads_;
  std::vector<Moment> moments_;  // By thread and time, and one behind them.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_EVENT_MEMORY_H_
