#include "parse/join/step_contexts.h"

#include <algorithm>
#include <optional>

#include "base/staged_work.h"
#include "base/threads.h"
#include "parse/join/gradient_hints.h"

namespace oplens::parse {
namespace {

/// Ranges of a window, and how many are worth threads.
constexpr size_t kRangesOfWindow = size_t{8} << 10;
constexpr size_t kRangesOfThreads = size_t{32} << 10;

}  // namespace

class StepContexts::Reader {
 public:
  /// Consecutive ranges of a thread, and what each says by itself: little, as it goes from the
  /// thread that reads it to another.
  struct Window {
    size_t thread = 0;
    size_t begin = 0;
    size_t end = 0;
    std::vector<uint8_t> says;       ///< By range: Says.
    std::vector<int64_t> sequences;  ///< Of those with kNumbered; -1: no number.
  };

  Reader(StepContexts* result, const Trace& trace, const ThreadRanges& threads,
         const LeakedRanges& leaks, const RangeRoles& roles)
      : result_(*result), trace_(trace), threads_(threads), leaks_(leaks), roles_(roles) {}

  /// Windows are read by threads, and joined to those before them in order.
  void Read() {
    const bool alone = trace_.ranges.size() < kRangesOfThreads;
    DoInOrder<Window>(
        alone ? 0 : static_cast<size_t>(ThreadLimit() - 1),
        [this](Window* window) { return Next(window); },
        [this](Window* window) { ReadAlone(window); }, [this](Window* window) { Take(*window); });
  }

 private:
  bool Next(Window* window) {
    while (next_thread_ < threads_.thread_count() && next_ == threads_.EndOf(next_thread_)) {
      ++next_thread_;
    }
    if (next_thread_ == threads_.thread_count()) return false;
    window->thread = next_thread_;
    window->begin = next_;
    next_ = std::min(next_ + kRangesOfWindow, threads_.EndOf(next_thread_));
    window->end = next_;
    return true;
  }

  enum Says : uint8_t {
    kCounts = 1,        ///< It is neither leaked nor open.
    kSpeaks = 2,        ///< Something of what ReadRange() asks for.
    kNumbered = 4,      ///< RangeRoles::SequenceOf.
    kSequenceText = 8,  ///< RangeRoles::IsSequenceText.
  };

  void ReadAlone(Window* window) const {
    window->says.clear();
    window->sequences.clear();
    for (size_t i = window->begin; i < window->end; ++i) {
      const Range& range = trace_.ranges[i];
      if (leaks_.Has(i) || range.open()) {
        window->says.push_back(0);
        continue;
      }
      const StepContext context = roles_.ContextOf(range);
      result_.contexts_[i] = context;
      const std::optional<int64_t> sequence = roles_.SequenceOf(range);
      if (sequence) window->sequences.push_back(*sequence);
      const bool speaks = context != StepContext::kNone || sequence ||
                          range.kind == RangeKind::kFrame || roles_.OwnThreadOf(range) != 0;
      const auto bit = [](bool value, Says says) { return value ? says : 0; };
      window->says.push_back(static_cast<uint8_t>(
          kCounts | bit(speaks, kSpeaks) | bit(sequence.has_value(), kNumbered) |
          bit(sequence && roles_.IsSequenceText(range), kSequenceText)));
    }
  }

  void Take(const Window& window) {
    if (window.begin == threads_.BeginOf(window.thread)) {
      nodes_open_ = 0;
      evaluates_.clear();
      last_nodes_.clear();
      any_node_ = false;
      any_forward_ = false;
    }
    size_t next_sequence = 0;
    for (size_t i = window.begin; i < window.end; ++i) {
      const uint8_t says = window.says[i - window.begin];
      if ((says & kCounts) == 0) continue;
      const Range& range = trace_.ranges[i];
      CloseBefore(range);
      if ((says & kSpeaks) == 0) continue;
      std::optional<int64_t> sequence;
      if ((says & kNumbered) != 0) sequence = window.sequences[next_sequence++];
      const bool sequence_text = (says & kSequenceText) != 0;
      if (sequence_text && RepeatsMarker(*sequence)) {
        result_.repeats_.resize(trace_.ranges.size(), false);
        result_.repeats_[i] = true;
        result_.contexts_[i] = StepContext::kNone;
        continue;
      }
      if (sequence_text) NoteMarkedOpAround(static_cast<uint32_t>(i));
      ReadRange(static_cast<uint32_t>(i), range, sequence);
    }
    if (window.end < threads_.EndOf(window.thread)) return;
    result_.node_threads_[window.thread] = any_node_;
    result_.engine_threads_[window.thread] = any_node_ && !any_forward_;
    while (!open_.empty()) Close();
  }

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

  /// Whether a range with a sequence text, directly inside a marker of nvtx_annotate, repeats its
  /// number for older readers: "mm, seq = 3".
  bool RepeatsMarker(int64_t sequence) const {
    return !open_.empty() && open_.back().marked_sequence >= 0 &&
           sequence == open_.back().marked_sequence;
  }

  void ReadRange(uint32_t index, const Range& range, std::optional<int64_t> sequence) {
    NoteMarkedThread(range);
    StepContext context = result_.contexts_[index];
    // "relu_backward" is a function that a node calls; it is a node only outside any other.
    if (context == StepContext::kNode && roles_.IsGradientFunction(range) && nodes_open_ > 0) {
      context = StepContext::kNone;
    }
    result_.contexts_[index] = context;
    NoteNodeServed(index, range, context);
    if (range.kind == RangeKind::kFrame) return NoteCheckpointFrame(range);
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
  void NoteMarkedOpAround(uint32_t index) {
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
  const ThreadRanges& threads_;
  const LeakedRanges& leaks_;
  const RangeRoles& roles_;
  // Where the next window begins.
  size_t next_thread_ = 0;
  size_t next_ = 0;
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
  Reader(this, trace, threads, leaks, roles).Read();
}

const ThreadIndex* StepContexts::MarkedThread(int64_t process_id, int64_t number) const {
  const auto place = marked_threads_.find({process_id, number});
  return place == marked_threads_.end() ? nullptr : &place->second;
}

}  // namespace oplens::parse
