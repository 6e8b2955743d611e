#ifndef OPLENS_PROF_VIEWS_TB_TENSOR_CORE_H_
#define OPLENS_PROF_VIEWS_TB_TENSOR_CORE_H_

#include <cstdint>
#include <vector>

#include "parse/join/call_tree.h"
#include "prof/run/step.h"

namespace oplens::prof {

/// Which kernels the TensorBoard plugin counts in the time of Tensor Cores of a GPU: those that an
/// operator launched, but not by a call of the driver. By external ids (TbTree) where the trace
/// holds them, else by time.
class TensorBoardTensorCores {
 public:
  TensorBoardTensorCores(const parse::Joined& joined, const parse::CallTree& calls);

  /// How often a kernel, by its index, counts.
  int64_t CountOf(uint32_t kernel) const;
  bool Uses(const Kernel& kernel);

 private:
  bool IsInOperator(const Kernel& kernel) const;

  const Trace& trace_;
  std::vector<uint8_t> counts_;  // By kernel, where the trace holds external ids.
  LeftOutCalls left_out_;
  std::vector<IntervalSet> operators_;  // By thread: when it ran any.
  std::vector<uint8_t> uses_;           // By name; see tb_tensor_core.cc.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_TENSOR_CORE_H_
