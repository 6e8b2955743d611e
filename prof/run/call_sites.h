#ifndef OPLENS_PROF_RUN_CALL_SITES_H_
#define OPLENS_PROF_RUN_CALL_SITES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/interval_set.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Where a host thread was: indices into CallSites::texts(); 0 is "", unknown.
struct CallSite {
  uint32_t op = 0;     ///< The innermost operator call.
  uint32_t layer = 0;  ///< The layers around it, outermost first, joined by ":".
  uint32_t frame = 0;  ///< The innermost user frame in Python, also of a recorded call stack.
};

/// Where host threads were at given moments, for people: "aten::item", "train.py(33): step".
class CallSites {
 public:
  /// `joined` must outlive this object.
  explicit CallSites(const parse::Joined& joined) : joined_(joined) { NumberOf({}); }

  /// Adds a moment; returns its number, from 0. Numbers begin again after Find.
  size_t Ask(ThreadIndex thread, int64_t time_ns);
  /// Calls f(start_ns, end_ns) for the stretches of a time within which the site of a thread does
  /// not change, ascending. O(log R + stretches), after O(R log R) for the thread's ranges.
  template <typename F>
  void ForEachStretch(ThreadIndex thread, const Interval& time, F f) {
    int64_t now_ns = time.start_ns;
    const std::vector<int64_t>& bounds = BoundsOf(thread);
    for (auto next = std::upper_bound(bounds.begin(), bounds.end(), now_ns);
         next != bounds.end() && *next < time.end_ns; ++next) {
      f(now_ns, *next);
      now_ns = *next;
    }
    if (now_ns < time.end_ns) f(now_ns, time.end_ns);
  }
  /// The site of each moment, by number. O(R log R) for the ranges of the threads involved.
  std::vector<CallSite> Find();
  /// Each distinct one once.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Moment {
    ThreadIndex thread = 0;
    int64_t time_ns = 0;
    size_t number = 0;
  };

  void FindOn(ThreadIndex thread, const Moment* begin, const Moment* end,
              std::vector<CallSite>* found);
  CallSite SiteOf(const std::vector<uint32_t>& around, int64_t time_ns);
  uint32_t NumberOf(std::string text);
  /// When ranges of a thread begin and end, ascending, each once; none for an unknown thread.
  const std::vector<int64_t>& BoundsOf(ThreadIndex thread);

  const parse::Joined& joined_;
  std::vector<Moment> moments_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;  // Index in texts_.
  std::unordered_map<ThreadIndex, std::vector<int64_t>> bounds_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_SITES_H_
