#ifndef OPLENS_PARSE_MODEL_NODE_NAME_H_
#define OPLENS_PARSE_MODEL_NODE_NAME_H_

#include <string>
#include <string_view>

namespace oplens {

/// "mm" of "mm, seq = 72" and of PyTorch 1.0's "mm, stashed seq=72"; all of it when there is no
/// number.
std::string_view WithoutSequence(std::string_view text);

/// What is left of the name of an op or of its node for comparing the two: lower case letters and
/// digits of the last part of a qualified name, without "Backward0" and a sequence number:
/// "aten::_softmax" and "SoftmaxBackward0, seq = 5" both give "softmax".
std::string BareName(std::string_view text);

/// Whether an op of a bare name may have made a node of a bare name: one ends with the other.
/// "layernorm" fits "nativelayernorm".
bool NamesFit(std::string_view bare_node, std::string_view bare_op);

/// Whether a node of the backward pass is the one that PyTorch makes of an operator of its own,
/// which computes gradients and nothing else: "ConvolutionBackward0, seq = 5", with a number at the
/// end since PyTorch 1.9. Not those of functions that programs write.
bool IsOperatorNode(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_NODE_NAME_H_
