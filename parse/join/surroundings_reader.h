#ifndef OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_
#define OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parse/join/forward_backward.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_sweep.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/join/vocabulary_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The join's results for single ranges, before launches inside them are read.
struct RangeKnowledge {
  const Trace& trace;
  const ThreadRanges& threads;
  const LeakedRanges& leaks;
  const RangeTexts& texts;
  const VocabularyRanges& vocabulary;
  const StepContexts& contexts;
  const ForwardBackward& links;
  bool keep_open = false;  ///< Treat never-closed ranges like others.
  /// List the surroundings of every node's forward op, even if others have them.
  bool every_forward = false;
};

/// Lists the ranges around moments of a thread. Rules: docs/correlation.md, "Launch to ranges".
class SurroundingsReader {
 public:
  /// All must outlive this object. Makes the sequence texts that `calls` has not yet in `made`,
  /// for OpCalls::Take().
  SurroundingsReader(const RangeKnowledge& known, const OpCalls& calls, SequenceTexts* made)
      : known_(known), calls_(calls), made_(*made) {}

  void Begin(ThreadIndex thread);
  /// Begins in the middle, before the range `next` of the thread: of those before it, `open`,
  /// ascending, are all that have not ended by the next call of MoveTo().
  void BeginAt(ThreadIndex thread, std::span<const uint32_t> open, size_t next);
  /// Moves on to a call of the thread, or the beginning of a range. Starts must not descend.
  void MoveTo(int64_t start_ns, int64_t end_ns);
  void MoveToRange(uint32_t range);

  /// Changes whenever the surroundings may have changed.
  uint64_t version() const { return open_.version(); }

  /// The outermost range around that has a StepContext but kOptimizer; OpenRanges::kNone: none.
  uint32_t OutermostContext() const;

  /// Appends the ranges of the current surroundings to `lists`.
  Surroundings Collect(SurroundingLists* lists);

  /// Calls f(range) for the free texts around, outermost first, while f returns true.
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
    kContextLane,  // With a StepContext.
    kForwardLane,  // Ops that made a node.
    // Ranges that are ops and layers in all but form; they are in kPathLane too.
    kVocabularyOpLane,
    kVocabularyLayerLane,
    kLaneCount
  };
  static_assert(kLaneCount <= OpenRanges::kMaxLanes);

  static Lane LaneOf(MarkerKind kind);
  void Push(size_t index);
  void PushMarker(size_t index, const Range& range);
  void PushOperator(size_t index, const Range& range);
  void PushVocabulary(size_t index, const Range& range);
  void PushTo(size_t index, const Range& range, Lane lane) {
    open_.Push(static_cast<uint32_t>(index), range.start_ns, range.end_ns, lane);
  }
  /// Whether a range counts for what follows it: a never-closed one is only a label.
  bool Counts(const Range& range) const { return !range.open() || known_.keep_open; }

  /// Returns the number of omitted ranges, like AddOps.
  uint32_t AddLane(Lane lane);
  uint32_t AddOps();
  /// Lists the innermost range that is an op in all but form, if nothing recorded tells the op.
  void AddVocabularyOp(Surroundings* around);
  template <typename F>
  uint32_t ForEachListed(Lane lane, F f) const {
    return static_cast<uint32_t>(open_.ForEachOfEnds(lane, kMaxOutermost, kMaxInnermost, f));
  }
  /// Returns whether one of them is of the backward pass.
  bool AddSequences();
  uint32_t AddPaths();
  void AddFrames();
  /// Sets phase and node.
  void ReadStep(Surroundings* around) const;
  /// The pass named by the innermost free text around.
  Phase NamedPass(const Surroundings& around) const;
  void NoteMissingFacts(Surroundings* around) const;

  bool NamesOnly(uint32_t range) const;
  struct Sequence {
    uint32_t range = 0;
    SequenceText text;
  };
  bool SaysBackward(const Sequence& sequence) const;
  /// Drops ranges with the number and a similar name (one contains the other) of the one before.
  void DropSimilarSequences();

  const RangeKnowledge& known_;
  const OpCalls& calls_;
  SequenceTexts& made_;
  OpenRanges open_;
  ThreadIndex thread_ = 0;
  size_t next_ = 0;  // The first range of the thread that is not opened yet.
  size_t end_ = 0;
  SurroundingLists* lists_ = nullptr;  // Of the current Collect().
  std::vector<Sequence> sequences_;    // Likewise.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SURROUNDINGS_READER_H_
