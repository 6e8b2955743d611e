#ifndef OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "nvtx_annotate/emitter.h"

namespace oplens::annotate::torch {

/// The names of one kind of backward node.
struct NodeName {
  std::string text;  ///< "autograd::engine::evaluate_function: AddmmBackward0"
  std::string free;  ///< The same as a free text.
  WholeText evaluate;
  LastingNames node;         ///< AddmmBackward0
  bool accumulates = false;  ///< The node is an AccumulateGrad.
};

/// Whether a node with this name accumulates a gradient.
bool IsAccumulation(std::string_view node) noexcept;

/// Finds the engine's name of its work for a node, and the node's own name, by their texts: the
/// framework builds both anew each time. Lock-free; at most 4096 kinds of nodes, kept until the
/// process ends.
class NodeNames {
 public:
  /// `text`: see NodeName. Null if the table is full or the name is very long.
  const NodeName* Find(std::string_view text);
  /// The same; null if it was not found before.
  const NodeName* FindKnown(std::string_view text) const noexcept;

 private:
  static constexpr size_t kSlots = 8192;

  std::atomic<const NodeName*> slots_[kSlots] = {};
  std::atomic<size_t> used_{0};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_
