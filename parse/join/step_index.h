#ifndef OPLENS_PARSE_JOIN_STEP_INDEX_H_
#define OPLENS_PARSE_JOIN_STEP_INDEX_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// The times of a trace's training steps: ranges "ProfilerStep#N" of PyTorch, of any kind.
class StepIndex {
 public:
  explicit StepIndex(const Trace& trace);

  /// Returns the number in the text of a step's range; nullopt if it is none.
  static std::optional<int64_t> NumberIn(std::string_view text);

  bool empty() const { return steps_.empty(); }

  /// Returns the step of a moment on a host thread. A step holds for every thread of its process,
  /// since the backward pass has its own threads. Of several steps, one of the same thread has
  /// precedence, then the last to begin. O(log n).
  std::optional<int64_t> Find(ThreadIndex thread, int64_t time_ns) const;

 private:
  struct Step {
    int64_t process_id;
    int64_t start_ns;
    int64_t end_ns;  // If never closed: the start of the process's next step.
    int64_t number;
    ThreadIndex thread;
  };

  const Trace& trace_;
  std::vector<Step> steps_;  // By process and start.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_STEP_INDEX_H_
