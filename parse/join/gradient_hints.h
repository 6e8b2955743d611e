#ifndef OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_
#define OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::parse {

/// The call of a forward op with what the call of its gradient function, inside its node, tells of
/// it: some profiles hold tensor shapes but no other arguments, so that the extents of a
/// convolution's result are only those of the dY that its gradient function takes. Adds to the
/// arguments:
///   output    a tensor: the result of a convolution
///   training  True: cuDNN's gradient of batch norm exists for training only
/// "" when it tells nothing, or the two calls do not have the same input. Both are canonical texts
/// (AppendOpCall).
std::string WithGradientFacts(std::string_view forward_call, std::string_view gradient_call);

/// The same for profiles without numbers that link a node to its forward op: a convolution whose
/// steps were not recorded has the result that the gradient functions for input and weight of its
/// extents take, where these agree.
class ResultsBySize {
 public:
  void Add(std::string_view gradient_call);
  bool empty() const { return results_.empty(); }
  /// The call with its argument `output`, "" where nothing tells it.
  std::string WithResult(std::string_view forward_call) const;

 private:
  /// By forward op and operands; empty where two differ.
  std::map<std::string, std::vector<int64_t>> results_;
};

/// Whether a function of this name ("aten::cudnn_convolution_backward") may tell anything.
bool IsTellingGradient(std::string_view name);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_GRADIENT_HINTS_H_
