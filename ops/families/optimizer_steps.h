#ifndef OPLENS_OPS_FAMILIES_OPTIMIZER_STEPS_H_
#define OPLENS_OPS_FAMILIES_OPTIMIZER_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oplens::ops {

/// How a step needs a tensor.
enum class Need : uint8_t {
  kRequired,
  kOptional,
  kOtherSize,  ///< Optional, and not as large as the parameter.
};

/// A tensor of a step, or one a parameter.
struct Slot {
  std::string_view name;  ///< "" behind the last one.
  int moves = 0;          ///< How often each element is read or written.
  Need need = Need::kRequired;
  int flops = 0;  ///< More FLOPs an element of the parameter where the tensor is there.
};

/// What a step of an optimizer reads, writes and computes (docs/costs.md, Optimizers).
struct Step {
  std::string_view name;
  int flops;       ///< An element of the first tensor.
  int decay;       ///< More where there is a weight decay.
  bool estimated;  ///< `flops` stands for functions.
  Slot slots[6];   ///< The first one is that whose elements count.

  bool HasSlot(std::string_view slot) const;
};

/// A function that makes a step.
struct OptimizerFunction {
  std::string_view name;  ///< Normalised.
  std::string_view step;
  /// Its positional arguments, divided by blanks: tensors of the step, options, and "-" for what
  /// has no part in the cost.
  std::string_view words;
  /// The words begin with the first list of tensors; what comes before has no part.
  bool lists = false;
};

std::span<const std::string_view> OptimizerFunctionNames();
/// Of one of those names.
const OptimizerFunction& OptimizerFunctionOf(std::string_view name);
/// Apex's first fused step, and PyProf's record of it.
const OptimizerFunction& ApexAdam();
/// Of OptimizerFunction::step.
const Step& StepOf(std::string_view name);
/// The name in Step of a keyword of its functions ("exp_avgs": "exp_avg"); the keyword itself where
/// it is one.
std::string_view StepKeyword(std::string_view keyword, const OptimizerFunction& function);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_OPTIMIZER_STEPS_H_
