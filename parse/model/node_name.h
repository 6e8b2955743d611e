#ifndef OPLENS_PARSE_MODEL_NODE_NAME_H_
#define OPLENS_PARSE_MODEL_NODE_NAME_H_

#include <string>
#include <string_view>

namespace oplens {

/// Returns "mm" for "mm, seq = 72" and torch 1.0's "mm, stashed seq=72"; `text` without a number.
std::string_view WithoutSequence(std::string_view text);

/// Reduces the name of an op or of its node for comparison: lower-case letters and digits of the
/// last part of a qualified name, without "Backward0" and a sequence number. "aten::_softmax" and
/// "SoftmaxBackward0, seq = 5" both give "softmax".
std::string BareName(std::string_view text);

/// Whether the op may have made the node, by their bare names: one ends with the other, e.g.
/// "nativelayernorm" with "layernorm".
bool NamesFit(std::string_view bare_node, std::string_view bare_op);

/// Whether PyTorch itself made this node of the backward pass for one of its operators, so that it
/// only computes gradients: "ConvolutionBackward0, seq = 5" (the digit since PyTorch 1.9). False
/// for nodes of the program's own functions.
bool IsOperatorNode(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_NODE_NAME_H_
