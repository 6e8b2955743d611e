#ifndef OPLENS_PROF_COMPAT_TB_VIEWS_H_
#define OPLENS_PROF_COMPAT_TB_VIEWS_H_

#include <memory>

#include "prof/views/view.h"

namespace oplens::prof {

// Views by the rules of the TensorBoard plugin (torch_tb_profiler 0.4.3), in the fields of ours of
// that name; those that the plugin does not have are unknown. What they need of a trace beside what
// ours do stands in prof/compat/compat.cc.

/// What the plugin advises, a row a rule and rank.
std::unique_ptr<Partial> MakeTbAdvice(const ViewOptions& options);

/// Where the time of each of the plugin's steps went.
std::unique_ptr<Partial> MakeTbOverview(const ViewOptions& options);

/// How well each GPU that ran a kernel was used within the plugin's steps.
std::unique_ptr<Partial> MakeTbGpu(const ViewOptions& options);

/// The operator table. `by` takes shape; UsageError for other words.
std::unique_ptr<Partial> MakeTbOperators(const ViewOptions& options);

/// The module table, a tree a rank: a row a call, with the sums over all calls of its name and
/// number; of outermost calls with equal trees only one. A module is in the one around it in time
/// on its thread, which the plugin finds by the numbers of Python calls. Not done: the table of
/// PyTorch Lightning. `by` takes nothing; UsageError for any word but rank, by which rows are split
/// anyway.
std::unique_ptr<Partial> MakeTbModules(const ViewOptions& options);

/// The kernel tables. `by`: none or {"kernel"} for the table by name, of all kernels; {"kernel",
/// "op", "grid", "block", "regs", "smem"} for that by properties, of the kernels under its tree of
/// operators (TbTree). UsageError for anything else. The table by name says in its notes what the
/// advice of the plugin goes by (TbTensorCoreTime).
std::unique_ptr<Partial> MakeTbKernels(const ViewOptions& options);

/// The points of the plugin's chart of memory.
std::unique_ptr<Partial> MakeTbMemory(const ViewOptions& options);

/// The table of pieces of memory.
std::unique_ptr<Partial> MakeTbMemoryEvents(const ViewOptions& options);

/// The table of what operators did with memory. UsageError for any word of `by`.
std::unique_ptr<Partial> MakeTbMemoryOps(const ViewOptions& options);

/// The charts of computation and communication, and of synchronizing and transfer. The row `mean`
/// has whole microseconds, cut as the plugin cuts them.
std::unique_ptr<Partial> MakeTbDistributed(const ViewOptions& options);

/// The table of communication operations, a row a rank and name. UsageError for any word of `by`.
std::unique_ptr<Partial> MakeTbCollectives(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_VIEWS_H_
