#include "parse/join/step_contexts.h"

#include <algorithm>
#include <optional>

#include "base/team.h"
#include "parse/join/gradient_hints.h"

namespace oplens::parse {
namespace {

/// Ranges that are worth a thread.
constexpr size_t kRangesAlone = size_t{16} << 10;

}  // namespace

class StepContexts::Reader {
 public:
  Reader(StepContexts* result, const Trace& trace, const LeakedRanges& leaks,
         const RangeRoles& roles)
      : result_(*result), trace_(trace), leaks_(leaks), roles_(roles) {}

  /// What ranges say by themselves. Shared by threads.
  void ReadAlone() {
    const size_t count = trace_.ranges.size();
    InParts(count, CountParts(count, kRangesAlone), [&](size_t, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const Range& range = trace_.ranges[i];
        if (leaks_.Has(i) || range.open()) continue;
        result_.contexts_[i] = roles_.ContextOf(range);
      }
    });
  }

  void ReadThread(ThreadIndex thread, size_t begin, size_t end) {
    nodes_open_ = 0;
    evaluates_.clear();
    last_nodes_.clear();
    any_node_ = false;
    any_forward_ = false;
    for (size_t i = begin; i < end; ++i) {
      const Range& range = trace_.ranges[i];
      if (leaks_.Has(i) || range.open()) continue;
      CloseBefore(range);
      if (RepeatsMarker(range)) {
        result_.repeats_.resize(trace_.ranges.size(), false);
        result_.repeats_[i] = true;
        result_.contexts_[i] = StepContext::kNone;
      } else {
        ReadRange(static_cast<uint32_t>(i), range);
      }
    }
    result_.node_threads_[thread] = any_node_;
    result_.engine_threads_[thread] = any_node_ && !any_forward_;
    while (!open_.empty()) Close();
  }

 private:
  /// An open range of an op, a node or the engine.
  struct Open {
    int64_t end_ns;
    uint32_t range;
    bool node;
    int64_t runs_again_until_ns;  ///< For a node: ops that begin in it before that are forward ops.
    int64_t marked_sequence;      ///< PyTorch's own range directly inside repeats it; -1: none.
    uint32_t marked_around;       ///< Innermost marked op around it, or itself; not for a node.
    // Of the ops directly inside a node that may run again:
    size_t inner_begin = 0;   ///< Index of the first in inner_.
    bool unnumbered = false;  ///< There are others, without a number.
  };
  /// An op directly inside an open node.
  struct Inner {
    uint32_t range;
    bool again;  ///< A forward op, known from a checkpoint; else one with a number.
  };

  /// A range directly inside a marker of nvtx_annotate repeats its number for older readers: "mm,
  /// seq = 3".
  bool RepeatsMarker(const Range& range) const {
    return !open_.empty() && open_.back().marked_sequence >= 0 && roles_.IsSequenceText(range) &&
           roles_.SequenceOf(range) == open_.back().marked_sequence;
  }

  void ReadRange(uint32_t index, const Range& range) {
    NoteMarkedThread(range);
    NoteMarkedOpAround(index, range);
    StepContext context = result_.contexts_[index];
    // "relu_backward" is a function that a node calls; it is a node only outside any other.
    if (context == StepContext::kNode && roles_.IsGradientFunction(range) && nodes_open_ > 0) {
      context = StepContext::kNone;
    }
    result_.contexts_[index] = context;
    NoteNodeServed(index, range, context);
    if (range.kind == RangeKind::kFrame) return NoteCheckpointFrame(range);
    const std::optional<int64_t> sequence = roles_.SequenceOf(range);
    if (context == StepContext::kNone && !sequence) return;
    const bool node = context == StepContext::kNode;
    if (node) {
      any_node_ = true;
      if (sequence.value_or(-1) >= 0) result_.nodes_.push_back(index);
    } else if (context == StepContext::kNone) {
      const bool inside = NoteInnerOp(index, range, *sequence);
      any_forward_ |= !inside && IsForward(range, *sequence);
    }
    uint32_t marked = node ? kNoRange : EnclosingMarked();
    if (roles_.IsMarkedOp(range)) marked = index;
    if (node) ++nodes_open_;
    const int64_t again_until_ns =
        node && roles_.RunsCheckpoint(range) ? range.end_ns : range.start_ns;
    open_.push_back({range.end_ns, index, node, again_until_ns, roles_.MarkedSequence(range),
                     marked, inner_.size()});
  }

  /// Whether an op outside of nodes shows that the thread runs more than the engine. 0 may be a
  /// filler, but not if the marker has the op's own number. An op without a number shows it before
  /// the first of the engine's ranges; later, hooks of the engine (FSDP's reductions) call such.
  bool IsForward(const Range& range, int64_t sequence) {
    if (sequence > 0 || roles_.MarkedSequence(range) == 0) return true;
    const bool engine_ran = any_node_ || !evaluates_.empty();
    return (sequence == 0 || !engine_ran) && roles_.IsMarked(range, markers::Direction::kForward);
  }

  uint32_t EnclosingMarked() const { return open_.empty() ? kNoRange : open_.back().marked_around; }

  /// Ranges that do not enclose this one enclose no later one either.
  void CloseBefore(const Range& range) {
    while (!open_.empty() && open_.back().end_ns < range.end_ns) Close();
  }

  /// Ends the last open range. Ops in a backward pass have no numbers, unless the pass is recorded
  /// itself (create_graph): then all do. So numbered ops beside others are a rerun forward pass,
  /// unless they compute gradients.
  void Close() {
    const Open& last = open_.back();
    if (last.node) {
      --nodes_open_;
      for (size_t i = last.inner_begin; i < inner_.size(); ++i) {
        if (!inner_[i].again && !last.unnumbered) continue;
        result_.contexts_[inner_[i].range] = StepContext::kRecompute;
      }
      inner_.resize(last.inner_begin);
    }
    open_.pop_back();
  }

  void NoteMarkedThread(const Range& range) {
    const int64_t number = roles_.OwnThreadOf(range);
    if (number == 0) return;
    const ThreadIndex thread = trace_.ThreadOf(range);
    result_.marked_threads_[{trace_.threads[thread].process_id, number}] = thread;
  }

  /// Ops inside a marked op have only numbers: their nodes belong to the marked op.
  void NoteMarkedOpAround(uint32_t index, const Range& range) {
    if (!roles_.IsSequenceText(range)) return;
    const uint32_t around = EnclosingMarked();
    if (around != kNoRange) result_.marked_ops_.FindOrInsert(index, around);
  }

  /// The engine's work around a node belongs to the node; it runs AccumulateGrad right after the
  /// node whose gradient is complete, before any other of the same depth.
  void NoteNodeServed(uint32_t index, const Range& range, StepContext context) {
    while (!evaluates_.empty() && trace_.ranges[evaluates_.back()].end_ns <= range.start_ns) {
      evaluates_.pop_back();
    }
    if (context == StepContext::kNode) {
      const size_t depth = nodes_open_;
      last_nodes_.resize(depth + 1, kNoRange);
      last_nodes_[depth] = index;
      // The range is for the first node in it.
      if (!evaluates_.empty()) result_.nodes_served_.FindOrInsert(evaluates_.back(), index);
      return;
    }
    const bool evaluate = context == StepContext::kEvaluate;
    if (evaluate) evaluates_.push_back(index);
    if (context == StepContext::kAccumulate || (evaluate && roles_.EnclosesAccumulate(range))) {
      const size_t depth = nodes_open_;
      const uint32_t last = depth < last_nodes_.size() ? last_nodes_[depth] : kNoRange;
      if (last != kNoRange) result_.nodes_served_.FindOrInsert(index, last);
    }
  }

  /// Code of the framework that unpacks a checkpoint runs inside the requesting node, which
  /// computes its gradients afterwards.
  void NoteCheckpointFrame(const Range& range) {
    if (open_.empty() || !open_.back().node || !roles_.IsCheckpointFrame(range)) return;
    int64_t& until_ns = open_.back().runs_again_until_ns;
    until_ns = std::max(until_ns, range.end_ns);
  }

  /// Notes whether an op directly inside a node has a number. Returns whether it is in any node.
  bool NoteInnerOp(uint32_t index, const Range& range, int64_t sequence) {
    if (open_.empty()) return false;
    Open& parent = open_.back();
    if (!parent.node) return nodes_open_ > 0;
    if (HasGradientFacts(trace_.strings.View(range.text))) {
      result_.gradient_calls_.FindOrInsert(parent.range, index);
    }
    // Markers say themselves which ops are reruns.
    if (roles_.MarkedSequence(range) >= 0 || roles_.IsMarkedOp(range)) return true;
    const bool gradient = roles_.ComputesGradient(range);
    if (!gradient && range.start_ns < parent.runs_again_until_ns) {
      inner_.push_back({index, true});
    } else if (sequence > 0) {  // Old files give 0 to ops that have no number.
      if (!gradient) inner_.push_back({index, false});
    } else {
      parent.unnumbered = true;
    }
    return true;
  }

  StepContexts& result_;
  const Trace& trace_;
  const LeakedRanges& leaks_;
  const RangeRoles& roles_;
  // Of the current thread.
  std::vector<Open> open_;
  size_t nodes_open_ = 0;             // How many of them are nodes.
  std::vector<uint32_t> evaluates_;   // The engine's ranges around nodes, open ones last.
  std::vector<uint32_t> last_nodes_;  // The last node by the number of nodes around it.
  std::vector<Inner> inner_;          // Of the open nodes, those of the last one at the end.
  bool any_node_ = false;
  bool any_forward_ = false;
};

StepContexts::StepContexts(const Trace& trace, const ThreadRanges& threads,
                           const LeakedRanges& leaks, const RangeRoles& roles)
    : contexts_(trace.ranges.size(), StepContext::kNone),
      engine_threads_(threads.thread_count(), false),
      node_threads_(threads.thread_count(), false) {
  Reader reader(this, trace, leaks, roles);
  reader.ReadAlone();
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    reader.ReadThread(static_cast<ThreadIndex>(thread), threads.BeginOf(thread),
                      threads.EndOf(thread));
  }
}

const ThreadIndex* StepContexts::MarkedThread(int64_t process_id, int64_t number) const {
  const auto place = marked_threads_.find({process_id, number});
  return place == marked_threads_.end() ? nullptr : &place->second;
}

}  // namespace oplens::parse
