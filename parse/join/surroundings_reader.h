#ifndef OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_
#define OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/join/forward_backward.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_sweep.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What the join has found out of single ranges before it looks at what was launched inside them.
struct RangeKnowledge {
  const Trace& trace;
  const ThreadRanges& threads;
  const LeakedRanges& leaks;
  const RangeTexts& texts;
  const StepContexts& contexts;
  const ForwardBackward& links;
  /// Ranges that were never closed tell of what follows like others.
  bool keep_open = false;
  /// What is around the forward op of every node is listed, whoever tells it else.
  bool every_forward = false;
};

/// Goes along one thread, and lists what is around a moment. Rules: docs/correlation.md, "Launch to
/// ranges".
class SurroundingsReader {
 public:
  /// All must outlive this object. Makes in `calls` the sequence texts that it needs.
  SurroundingsReader(const RangeKnowledge& known, OpCalls* calls) : known_(known), calls_(*calls) {}

  /// Begins at the start of a thread.
  void Begin(ThreadIndex thread);
  /// Moves on to a call of the thread, or to the beginning of a range of it. Starts must not
  /// descend.
  void MoveTo(int64_t start_ns, int64_t end_ns);
  void MoveToRange(uint32_t range);

  /// Changes whenever what is around may have changed.
  uint64_t version() const { return open_.version(); }

  /// The outermost range around that says something of the step, but the optimizer's;
  /// OpenRanges::kNone: there is none.
  uint32_t OutermostContext() const;

  /// Appends what is around to `lists`.
  Surroundings Collect(SurroundingLists* lists);

  /// Calls f(range) for the free texts around, outermost first, as long as f answers true.
  template <typename F>
  void ForEachPath(F f) const {
    open_.ForEach(kPathLane, f);
  }

 private:
  enum Lane : size_t {
    kLayerLane,
    kTraceLane,
    kReprLane,
    kOpLane,
    kSequenceLane,
    kPathLane,
    kFrameLane,
    kContextLane,  // What says something of the step.
    kForwardLane,  // Ops that made a node.
    kLaneCount
  };
  static_assert(kLaneCount <= OpenRanges::kMaxLanes);

  static Lane LaneOf(MarkerKind kind);
  void Push(size_t index);
  void PushMarker(size_t index, const Range& range);
  void PushOperator(size_t index, const Range& range);
  void PushTo(size_t index, const Range& range, Lane lane) {
    open_.Push(static_cast<uint32_t>(index), range.end_ns, lane);
  }
  /// Whether a range says something sure of what follows it: an unclosed one is only a label.
  bool Counts(const Range& range) const { return !range.open() || known_.keep_open; }

  /// Answers how many are not listed; so does AddOps.
  uint32_t AddLane(Lane lane);
  uint32_t AddOps();
  template <typename F>
  uint32_t ForEachListed(Lane lane, F f) const {
    return static_cast<uint32_t>(open_.ForEachOfEnds(lane, kMaxOutermost, kMaxInnermost, f));
  }
  /// Answers whether one of them says that it is of the backward pass.
  bool AddSequences();
  void AddPaths(Surroundings* around);
  void AddFrames();
  /// Phase and node.
  void ReadStep(Surroundings* around) const;
  /// What the innermost of the free texts around names.
  Phase NamedPass(const Surroundings& around) const;
  void NoteLacks(Surroundings* around) const;

  bool NamesOnly(uint32_t range) const;
  bool SaysBackward(uint32_t range) const;
  /// Drops those of equal number and similar name (one holds the other) but the first.
  void DropSimilarSequences();
  std::string_view SequenceName(uint32_t range) const;

  const RangeKnowledge& known_;
  OpCalls& calls_;
  OpenRanges open_;
  ThreadIndex thread_ = 0;
  size_t next_ = 0;  // The first range of the thread that was not opened yet.
  size_t end_ = 0;
  SurroundingLists* lists_ = nullptr;  // Of the Collect() at hand.
  std::vector<uint32_t> sequences_;    // The same.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_
