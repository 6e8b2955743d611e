#ifndef OPLENS_PROF_VIEWS_TB_KERNELS_H_
#define OPLENS_PROF_VIEWS_TB_KERNELS_H_

#include <memory>

#include "prof/run/tb_tree.h"
#include "prof/views/tb_tensor_core_time.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kTbKernelsNeeds = kTbTreeNeeds;

/// The kernel tables of the TensorBoard plugin. `by`: {"kernel"} for the table by name, of all
/// kernels; {"kernel", "op", "grid", "block", "regs", "smem"} for that by properties, of the
/// kernels under its tree of operators (TbTree). UsageError for anything else. The table by name
/// says in its notes what the advice of the plugin goes by (TbTensorCoreTime).
std::unique_ptr<Partial> MakeTbKernels(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_KERNELS_H_
