#ifndef OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
#define OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parse/join/open_at_cut.h"
#include "parse/join/surroundings_reader.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The ranges around the call of backward(), on the threads that wait for the engine of the
/// backward pass:
///
///     forward thread  |- aten::mm, seq 5 -|   |- "my backward" -----------------|
///     engine thread                             |- MmBackward0, seq 5 -| [launch]
///
/// The waiting thread is that of the forward op of the last node begun on the engine's thread by
/// then that has one, else of the first such node there. If no node of the thread has its forward
/// op, any thread of the process without nodes may wait.
///
/// Usage: Ask for all launches, then Answer, which sweeps each thread once.
class BackwardCallers {
 public:
  /// `known` must outlive this object.
  explicit BackwardCallers(const RangeKnowledge& known);

  /// Requests, for a launch of a backward phase, the ranges of the waiting threads when its node
  /// begins; launches of a thread must come in order. Returns the number of the question, from 1,
  /// shared by launches of one node; 0: no thread waits. `outermost`:
  /// SurroundingsReader::OutermostContext() at the launch.
  uint32_t Ask(const LaunchCall& call, Phase phase, uint32_t outermost);

  /// By up to ThreadLimit() threads if there is an `open`, which stands before all ranges; `open`
  /// may be null. Threads read the texts of the trace.
  void Answer(const OpCalls& calls, OpenAtCut* open);
  /// The free texts for a question, outermost first, at most kMaxRangePath per thread.
  std::span<const uint32_t> RangesOf(uint32_t question) const {
    if (question == 0) return {};
    return {ranges_.data() + bounds_[question - 1], bounds_[question] - bounds_[question - 1]};
  }

 private:
  struct Linked {
    int64_t start_ns;
    ThreadIndex forward_thread;
  };
  struct Question {
    int64_t time_ns;
    uint32_t number;
  };

  /// Questions of a thread, in order of time.
  struct Part {
    ThreadIndex thread = 0;
    std::span<const Question> questions;
    // Where the sweep begins: OpenAtCut.
    std::vector<uint32_t> open;
    size_t next_range = 0;
    std::vector<std::pair<uint32_t, uint32_t>> found;  ///< Question and range.
  };

  std::vector<Part> CutQuestions(OpenAtCut* open);
  void AnswerPart(const OpCalls& calls, Part* part) const;
  /// Other threads that wait for a thread with backward work at a time.
  std::vector<ThreadIndex> WaitingFor(ThreadIndex thread, int64_t time_ns) const;

  const RangeKnowledge& known_;
  std::vector<std::vector<Linked>> linked_;       // By thread; in order of start.
  std::vector<bool> has_nodes_;                   // By thread.
  std::vector<std::vector<Question>> questions_;  // By waiting thread.
  uint32_t asked_ = 0;
  Question last_ = {};            // The last question,
  ThreadIndex last_thread_ = 0;   // and its thread.
  std::vector<uint32_t> ranges_;  // By question.
  std::vector<uint32_t> bounds_;  // First index per question in ranges_; one more at the end.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
