#ifndef OPLENS_PROF_RUN_CALL_SITES_H_
#define OPLENS_PROF_RUN_CALL_SITES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
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
  size_t Ask(ThreadIndex thread, int64_t time_ns) { return AskAlong(thread, {time_ns, time_ns}); }
  /// Adds a time, to be cut into stretches.
  size_t AskAlong(ThreadIndex thread, const Interval& time);

  /// A stretch of a time within which the site of its thread does not change.
  struct Stretch {
    size_t number = 0;  ///< Of the time.
    Interval time;
    CallSite site;
  };
  /// The site of each moment, by number, and of each time where it begins.
  std::vector<CallSite> Find();
  /// The stretches of each time, by number, ascending. A moment has one, which is empty.
  ///
  /// Both: O(R) for the ranges of the threads involved; if no moment is earlier than the first one
  /// of the time before, only for those from then on.
  void FindAlong(std::vector<Stretch>* stretches);
  /// Each distinct one once.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Asked {
    ThreadIndex thread = 0;
    Interval time;
    size_t number = 0;
  };
  /// The ranges of a thread, up to a moment.
  struct Sweep {
    int64_t now_ns = INT64_MIN;
    size_t next = 0;               // The first that begins later.
    std::vector<uint32_t> around;  // Started, and possibly not ended.
  };

  /// Appends to `stretches` in the order of [begin, end), which ascends; with `along` false only
  /// where each time begins.
  void FindOn(ThreadIndex thread, const Asked* begin, const Asked* end, bool along,
              std::vector<Stretch>* stretches);
  void FindAll(bool along, std::vector<Stretch>* stretches);
  void MoveTo(int64_t time_ns, size_t last, Sweep* sweep) const;
  /// Where stretches of a time begin after its start, each once, given the sweep up to its start.
  void FindBounds(const Interval& time, const Sweep& sweep, size_t last);
  bool Counts(size_t range) const;
  CallSite SiteOf(const std::vector<uint32_t>& around, int64_t time_ns);
  uint32_t NumberOf(std::string_view text);

  const parse::Joined& joined_;
  std::vector<Asked> asked_;
  std::vector<Stretch> found_;  // In the order of threads and times.
  std::vector<std::string> texts_;
  TextMap<uint32_t> numbers_;                      // Index in texts_.
  std::unordered_map<ThreadIndex, Sweep> sweeps_;  // Up to the first moment of the last Find.
  std::vector<int64_t> bounds_;                    // Of the current time.
  std::string layer_;                              // Of SiteOf().
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_SITES_H_
