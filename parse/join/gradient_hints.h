#ifndef OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_
#define OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::parse {

/// Completes a forward op's call by that of its gradient function, inside its node: some profiles
/// have tensor shapes but no other arguments, so only the dY of its gradient function has the
/// extents of a convolution's result. Adds these arguments:
///   output    a tensor: the result of a convolution
///   training  True: cuDNN's gradient of batch norm exists for training only
/// Returns "" if there is nothing to add, or the two calls do not have the same input. Texts are
/// canonical (AppendOpCall).
std::string WithGradientFacts(std::string_view forward_call, std::string_view gradient_call);

/// Likewise for profiles without numbers that link a node to its op: a convolution without recorded
/// strides gets the dY of the gradient functions with its input and weight, if these agree.
class ResultsBySize {
 public:
  void Add(std::string_view gradient_call);
  bool empty() const { return results_.empty(); }
  /// Returns the call with its argument `output`, or "" if it is unknown.
  std::string WithResult(std::string_view forward_call) const;

 private:
  /// By forward op and operands; empty if two differ.
  std::map<std::string, std::vector<int64_t>> results_;
};

/// Whether a function of this name ("aten::cudnn_convolution_backward") may have such facts.
bool HasGradientFacts(std::string_view name);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_
