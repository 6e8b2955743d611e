#ifndef OPLENS_PARSE_MODEL_TORCH_CALL_H_
#define OPLENS_PARSE_MODEL_TORCH_CALL_H_

#include <string>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens {

/// What a name that PyTorch's profiler gave to a host operator stands for.
enum class TorchName : uint8_t {
  kCall,          ///< An operator: "aten::mm", "_C::rms_norm", a name without "::" and with shapes.
  kBackwardNode,  ///< "AddmmBackward0", "autograd::engine::evaluate_function: MulBackward0",
                  ///< "torch::autograd::AccumulateGrad".
  kStep,          ///< "ProfilerStep#6"
  kLabel,         ///< Anything else: "Optimizer.step#SGD.step", "nccl:all_reduce".
};

/// `has_arguments`: whether the profiler recorded any argument of it. `registered`: it says that
/// this is no label of the user, so that a plain name without arguments is that of an operator
/// too, whoever registered it: "CompiledFunction" of an autograd Function,
/// "triton_poi_fused_add_0".
TorchName ClassifyTorchName(std::string_view name, bool has_arguments, bool registered = false);

/// The call of a PyTorch operator in the form of its Python API, so that a call is the same whoever
/// recorded it. `name` is the dispatcher's ("aten::addmm", "aten::add_.Tensor"); `args` are its
/// arguments in the order of the operator's schema, each without a name, kOther for one that is
/// absent or of no known value. Trailing arguments may be missing.
///
/// mod is PyProf's for ops that Python users know ("torch", "torch.nn.functional", "Tensor"), else
/// the namespace ("aten", "_C"). Arguments that the Python function takes in another place or by
/// keyword only get their name; those that have no counterpart are dropped.
OpCall MakeTorchCall(std::string_view name, std::vector<OpArg> args);

/// A tensor argument, by the name that PyTorch's profiler gives to its data type; "": unknown.
OpArg TorchTensor(std::vector<int64_t> shape, std::string_view profiler_type);

/// PyTorch's name of a data type ("float32") for what its profiler writes ("float", "c10::Half",
/// "long int"); the text itself when it is none of these.
std::string_view TorchDType(std::string_view profiler_type);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TORCH_CALL_H_
