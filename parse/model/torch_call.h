#ifndef OPLENS_PARSE_MODEL_TORCH_CALL_H_
#define OPLENS_PARSE_MODEL_TORCH_CALL_H_

#include <string>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens {

/// What a name that PyTorch's profiler gave to a host operator means.
enum class TorchName : uint8_t {
  kCall,          ///< An operator: "aten::mm", "_C::rms_norm", a name without "::" and with shapes.
  kBackwardNode,  ///< "AddmmBackward0", "autograd::engine::evaluate_function: MulBackward0",
                  ///< "torch::autograd::AccumulateGrad".
  kStep,          ///< "ProfilerStep#6"
  kLabel,         ///< Anything else: "Optimizer.step#SGD.step", "nccl:all_reduce".
};

/// `has_arguments`: the profiler recorded arguments. `registered`: the profiler says that it is no
/// label of the user, so a plain name without arguments is an operator too, whoever registered it:
/// "CompiledFunction" of an autograd Function, "triton_poi_fused_add_0".
TorchName ClassifyTorchName(std::string_view name, bool has_arguments, bool registered = false);

/// Returns the call of a PyTorch operator in the form of its Python API, the same whichever
/// profiler recorded it. `name` is the dispatcher's ("aten::addmm", "aten::add_.Tensor"); `args`
/// are in the order of the operator's schema, without names, kOther if absent or of unknown value.
/// Trailing arguments may be missing.
///
/// mod is PyProf's for ops that Python users know ("torch", "torch.nn.functional", "Tensor"), else
/// the namespace ("aten", "_C"). Arguments that the Python function takes in another place or by
/// keyword only get their name; those without a counterpart are dropped.
OpCall MakeTorchCall(std::string_view name, std::vector<OpArg> args);

/// Returns a tensor argument; `profiler_type`: PyTorch's profiler's data type, or "".
OpArg TorchTensor(std::vector<int64_t> shape, std::string_view profiler_type);

/// Returns PyTorch's name of a data type ("float32") for its profiler's ("float", "c10::Half",
/// "long int"); the text itself if it is none of these.
std::string_view TorchDType(std::string_view profiler_type);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TORCH_CALL_H_
