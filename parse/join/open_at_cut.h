#ifndef OPLENS_PARSE_JOIN_OPEN_AT_CUT_H_
#define OPLENS_PARSE_JOIN_OPEN_AT_CUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The ranges that are open where the sweep of a thread is cut, so that it can begin there.
///
/// O(R) once for R ranges, shared by up to ThreadLimit() threads, then, for all cuts together,
/// O(R / 256) and what is open at each. Memory: 8 bytes per 256 ranges.
class OpenAtCut {
 public:
  /// All must outlive this object.
  OpenAtCut(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks);

  /// Stands before all ranges again.
  void Restart() {
    thread_ = kNoThread;
    open_.clear();
  }
  /// Returns the first range of a thread that starts later than a time: where a cut at it is.
  size_t FirstAfter(ThreadIndex thread, int64_t time_ns) const;
  /// Moves on to the cut before the range `next` of a thread: `next` and the time must not descend
  /// on it.
  void MoveTo(ThreadIndex thread, size_t next, int64_t time_ns);

  /// The ranges of the thread before `next` that end at the time or later, ascending; without
  /// leaked ones.
  const std::vector<uint32_t>& open() const { return open_; }

 private:
  static constexpr size_t kBlock = 256;

  const Trace& trace_;
  const ThreadRanges& threads_;
  const LeakedRanges& leaks_;
  std::vector<int64_t> latest_ends_;  // By block of ranges.
  std::vector<uint32_t> open_;
  ThreadIndex thread_ = kNoThread;
  size_t seen_ = 0;  // The first range behind those that were looked at.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_OPEN_AT_CUT_H_
