#ifndef OPLENS_PROF_VIEWS_TB_TENSOR_CORE_TIME_H_
#define OPLENS_PROF_VIEWS_TB_TENSOR_CORE_TIME_H_

#include <cstdint>

#include "parse/model/trace.h"
#include "prof/run/tb_tree.h"

namespace oplens::prof {

/// What the plugin's advice on Tensor Cores goes by.
struct TbTensorCoreTime {
  int64_t kernel_ns = 0;       ///< Of all kernels.
  int64_t tensor_core_ns = 0;  ///< Of those that use Tensor Cores.
  int64_t op_kernel_ns = 0;    ///< Of those that operators launched.
  int64_t eligible_ns = 0;     ///< Of those that the innermost eligible operators launched.

  void Add(const TbTensorCoreTime& other);
  double used_ratio() const;  ///< tc_used_ratio; 0 without kernels.
  double eligible_ratio()
      const;  ///< tc_eligible_ops_kernel_ratio; 0 where operators launched none.
};

/// `trace` holds kTbTreeNeeds, and `tree` is its tree.
TbTensorCoreTime TbTensorCoreTimeOf(const Trace& trace, const TbTree& tree);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_TENSOR_CORE_TIME_H_
