#ifndef OPLENS_PROF_RUN_TB_COLLECTIVES_H_
#define OPLENS_PROF_RUN_TB_COLLECTIVES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prof/run/interval_set.h"
#include "prof/run/step.h"

namespace oplens::prof {

class Run;

/// A collective as the TensorBoard plugin sees it: a range of a name that it knows
/// (IsTensorBoardCollective), or its shadow on the GPU, and the kernels with its external id.
struct TbCollective {
  std::string name;
  Interval range;
  std::vector<Interval> ranges;  ///< The range and the kernels, by start, longer ones first.
  int64_t size_bytes = 0;        ///< Of its inputs; of types that the plugin does not know 0.
  std::optional<size_t> step;    ///< Place in `steps` of the step that holds it.
};

/// All of a run, by start, longer ones first; of several with one external id the last. Empty where
/// both NCCL and Gloo are in it. `steps`: TensorBoardSteps. Needs TracePart::kTorchEvents.
std::vector<TbCollective> FindTbCollectives(const Run& run, const std::vector<Step>& steps);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TB_COLLECTIVES_H_
