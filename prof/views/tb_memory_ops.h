#ifndef OPLENS_PROF_VIEWS_TB_MEMORY_OPS_H_
#define OPLENS_PROF_VIEWS_TB_MEMORY_OPS_H_

#include <memory>

#include "prof/views/view.h"

namespace oplens::prof {

/// The TensorBoard plugin's table of what operators did with memory, in the fields of the view
/// memory-ops; those that the plugin does not have are unknown. UsageError for any word of `by`.
std::unique_ptr<Partial> MakeTbMemoryOps(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_MEMORY_OPS_H_
