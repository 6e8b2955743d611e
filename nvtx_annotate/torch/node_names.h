#ifndef OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "nvtx_annotate/emitter.h"

namespace oplens::annotate::torch {

/// The names of one kind of node of the backward pass.
struct NodeName {
  std::string text;  ///< "autograd::engine::evaluate_function: AddmmBackward0"
  std::string free;  ///< The same as a marker's text.
  WholeText evaluate;
  LastingNames node;  ///< AddmmBackward0
};

/// What the engine calls its work for a node, and the node's own name. The framework makes both
/// anew each time: they are known by their texts. Without locks; holds 4096 kinds of nodes, for as
/// long as the process lives.
class NodeNames {
 public:
  /// `text`: of NodeName. Null when there is no room, and where a name is very long.
  const NodeName* Find(std::string_view text);

 private:
  static constexpr size_t kSlots = 8192;

  std::atomic<const NodeName*> slots_[kSlots] = {};
  std::atomic<size_t> used_{0};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_NODE_NAMES_H_
