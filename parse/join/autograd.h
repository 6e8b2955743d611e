#ifndef OPLENS_PARSE_JOIN_AUTOGRAD_H_
#define OPLENS_PARSE_JOIN_AUTOGRAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What a range says of the training step: the innermost that says anything around a launch tells
/// its phase.
enum class StepContext : uint8_t {
  kNone,
  kNode,        ///< A node of the backward pass: the function of one forward op.
  kEvaluate,    ///< What the engine does for a node, around it: sums and hooks of gradients.
  kAccumulate,  ///< AccumulateGrad.
  kRecompute,   ///< A forward op that runs again inside a node (checkpointing).
  kOptimizer,
};

/// One run of the backward node of a forward op.
struct NodeRun {
  uint32_t node = 0;  ///< Number of the forward op that made the node, from 1.
  uint32_t run = 0;   ///< Which run of it, from 0: a graph that is kept runs again.
};

/// What the ranges of a trace say of forward, backward and step. Rules: docs/correlation.md.
///
/// O(R log R) for R ranges; 9 bytes a range.
class Autograd {
 public:
  /// `ranges` grouped by thread, sorted by start (outer before inner); `ends[t]`: where those of
  /// thread t end. Every text of a marker is classified. Ranges with `left_out` do not count.
  Autograd(const Trace& trace, const RangeTexts& texts, std::span<const size_t> ends,
           const std::vector<bool>& left_out);

  StepContext ContextOf(size_t range) const { return contexts_[range]; }
  /// Of a forward op that made a node: its number, from 1; else 0.
  uint32_t ForwardNodeOf(size_t range) const {
    return contexts_[range] == StepContext::kNode ? 0 : links_[range];
  }
  /// Of a range with the context kNode: its forward op; node 0 when it has none.
  NodeRun RunOf(size_t range) const {
    return contexts_[range] == StepContext::kNode && links_[range] != 0 ? runs_[links_[range] - 1]
                                                                        : NodeRun();
  }
  /// Of a range with the context kEvaluate or kAccumulate: the forward op of the node that it
  /// belongs to, by number; 0: unknown.
  uint32_t NodeAroundOf(size_t range) const {
    const uint32_t node = nodes_around_[range];
    return node == kNone ? 0 : RunOf(node).node;
  }
  /// The ranges of the forward ops that made nodes; [n - 1] is that of number n.
  const std::vector<uint32_t>& forwards() const { return forwards_; }
  /// The call of a gradient function inside a node of the op of that number, kNone when there is
  /// none that tells anything (see gradient_hints.h).
  uint32_t GradientCallOf(uint32_t number) const { return gradient_calls_[number - 1]; }
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Whether a thread runs nothing but the backward pass: old files have no range around what its
  /// engine does between the nodes.
  bool IsEngineThread(ThreadIndex thread) const { return engine_threads_[thread]; }

 private:
  class Builder;

  std::vector<StepContext> contexts_;   // By range.
  std::vector<uint32_t> links_;         // By range; kNode: 1 + index into runs_, else the number.
  std::vector<uint32_t> nodes_around_;  // By range; ranges of nodes.
  std::vector<NodeRun> runs_;
  std::vector<uint32_t> forwards_;
  std::vector<uint32_t> gradient_calls_;  // By number - 1; ranges.
  std::vector<bool> engine_threads_;      // By thread.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_AUTOGRAD_H_
