#ifndef OPLENS_PARSE_JOIN_STEP_INDEX_H_
#define OPLENS_PARSE_JOIN_STEP_INDEX_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// When each training step of a trace ran: the ranges "ProfilerStep#N" of PyTorch's profiler,
/// whatever kind of range holds the text.
class StepIndex {
 public:
  explicit StepIndex(const Trace& trace);

  /// The number that the text of a step's range names; nullopt: it is no step's.
  static std::optional<int64_t> NumberIn(std::string_view text);

  bool empty() const { return steps_.empty(); }

  /// The step in which a host thread did something. A step counts for every thread of its process,
  /// since the backward pass runs on threads of its own. Where several hold the moment, one of the
  /// thread itself wins, then the one that began last. O(log n).
  std::optional<int64_t> Find(ThreadIndex thread, int64_t time_ns) const;

 private:
  struct Step {
    int64_t process_id;
    int64_t start_ns;
    int64_t end_ns;  // Of one that was never closed: where the next one of the process begins.
    int64_t number;
    ThreadIndex thread;
  };

  const Trace& trace_;
  std::vector<Step> steps_;  // By process and start.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_STEP_INDEX_H_
