#ifndef OPLENS_PARSE_JOIN_STEP_CONTEXTS_H_
#define OPLENS_PARSE_JOIN_STEP_CONTEXTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "parse/join/range_roles.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What each range says about the training step, given the ranges around it on its thread. Rules:
/// docs/correlation.md, "Phases".
///
///     |- evaluate_function: MmBackward0 --------------------|  kEvaluate, of the node inside
///     |  |- MmBackward0, seq 5 --------------------------|  |  kNode
///     |  |  |- {'op': 'mm', 'seq': 9, ...} -----------|  |  |  an op of gradients of gradients,
///     |  |  |  |- mm, seq 9 -|                        |  |  |  which this repeats: not looked at
///     |  |  |- aten::tanh, seq 8 -|  (runs again)      |  |  |  kRecompute
///     |- evaluate_function: AccumulateGrad --|                 kEvaluate, of the node before it
///     |  |- AccumulateGrad --------|                           kAccumulate, the same
///
/// Ignores open and leaked ranges. O(R) for R ranges, of which up to ThreadLimit() threads read the
/// texts; 1 byte per range, and 32 per range of the engine.
class StepContexts {
 public:
  /// All must outlive this object.
  StepContexts(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
               const RangeRoles& roles);

  StepContext ContextOf(size_t range) const { return contexts_[range]; }
  /// Whether PyTorch's own range repeats the number of the marker directly around it.
  bool Repeats(size_t range) const { return !repeats_.empty() && repeats_[range]; }
  /// Whether a thread runs only the backward pass: old files have no ranges between its nodes.
  bool IsEngineThread(ThreadIndex thread) const { return engine_threads_[thread]; }
  bool HasNodes(ThreadIndex thread) const { return node_threads_[thread]; }

  /// Ranges of the nodes with a sequence number, ascending; see RangeRoles::NodeOf.
  const std::vector<uint32_t>& nodes() const { return nodes_; }
  /// For the engine's range outside nodes: the range of its node.
  uint32_t NodeServedBy(size_t range) const { return Look(nodes_served_, range); }
  /// For a number inside an op marked by nvtx_annotate: that op, which owns its node.
  uint32_t EnclosingMarkedOp(size_t range) const { return Look(marked_ops_, range); }
  /// For a node's range: its call of a gradient function with facts (see gradient_hints.h).
  uint32_t GradientCallIn(size_t node) const { return Look(gradient_calls_, node); }
  /// The thread whose markers of nvtx_annotate have this number as their own; null: none.
  const ThreadIndex* MarkedThread(int64_t process_id, int64_t number) const;

 private:
  class Reader;

  static uint32_t Look(const IdMap& map, size_t range) {
    const uint32_t found = map.Find(static_cast<int64_t>(range));
    return found == IdMap::kNone ? kNoRange : found;
  }

  std::vector<StepContext> contexts_;  // By range.
  std::vector<bool> repeats_;          // By range; empty if none does.
  std::vector<bool> engine_threads_;   // By thread.
  std::vector<bool> node_threads_;     // By thread.
  std::vector<uint32_t> nodes_;
  IdMap nodes_served_;  // These by range.
  IdMap marked_ops_;
  IdMap gradient_calls_;
  std::map<std::pair<int64_t, int64_t>, ThreadIndex> marked_threads_;  // By process and number.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_STEP_CONTEXTS_H_
