#ifndef OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
#define OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/surroundings_reader.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What the threads that wait for the engine of the backward pass are inside of meanwhile: what the
/// user wrote around the call of backward().
///
///     forward thread  |- aten::mm, seq 5 -|   |- "my backward" -----------------|
///     engine thread                             |- MmBackward0, seq 5 -| [launch]
///
/// That is the thread of the forward op of the last node with one that began on the engine's thread
/// by then, else of the first such node there. Where no node of a thread has its forward op, it is
/// any thread of the process that has no nodes of its own.
///
/// First every launch asks, then all are answered in one sweep a thread.
class BackwardCallers {
 public:
  /// `known` must outlive this object.
  explicit BackwardCallers(const RangeKnowledge& known);

  /// Asks for a launch of a backward phase what waits for it as its node begins; launches of a
  /// thread come in their order. Answers the number of the question, from 1, which is the one
  /// before for the same node; 0: nobody waits.
  /// `outermost`: SurroundingsReader::OutermostContext() there.
  uint32_t Ask(const LaunchCall& call, Phase phase, uint32_t outermost);

  /// Answers all questions.
  void Answer(SurroundingsReader* reader);
  /// The free texts, outermost first, that belong to a question, at most kMaxRangePath a thread.
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

  /// Other threads that wait for what a thread with backward work does at a time.
  std::vector<ThreadIndex> WaitingFor(ThreadIndex thread, int64_t time_ns) const;

  const RangeKnowledge& known_;
  std::vector<std::vector<Linked>> linked_;       // By thread; in the order of their starts.
  std::vector<bool> has_nodes_;                   // By thread.
  std::vector<std::vector<Question>> questions_;  // By thread that is asked about.
  uint32_t asked_ = 0;
  Question last_ = {};            // The last one,
  ThreadIndex last_thread_ = 0;   // and the thread that asked.
  std::vector<uint32_t> ranges_;  // By question.
  std::vector<uint32_t> bounds_;  // Where those of each begin in it; one more at the end.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
