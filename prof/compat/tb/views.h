#ifndef OPLENS_PROF_COMPAT_TB_VIEWS_H_
#define OPLENS_PROF_COMPAT_TB_VIEWS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

// Views by the rules of the TensorBoard plugin (torch_tb_profiler 0.4.3), with the fields of our
// views of the same name; fields that the plugin does not have are unknown. prof/compat/compat.cc
// lists what they need of a trace in addition to ours.

/// The plugin's advice, one row per rule and rank.
std::unique_ptr<Partial> MakeTbAdvice(const ViewOptions& options);

std::unique_ptr<Partial> MakeTbOverview(const ViewOptions& options);

/// Utilisation within the plugin's steps of each GPU that ran a kernel.
std::unique_ptr<Partial> MakeTbGpu(const ViewOptions& options);

/// The operator table. `by` takes shape; other words throw UsageError.
std::unique_ptr<Partial> MakeTbOperators(const ViewOptions& options);

/// The module table, one tree per rank: a row per call, with the sums over all calls of its name
/// and number; of outermost calls with equal trees only one. A module's parent is the enclosing one
/// in time on its thread, where the plugin uses the numbers of Python calls. Not done: the table of
/// PyTorch Lightning. Any word of `by` except rank, by which rows are split anyway, throws
/// UsageError.
std::unique_ptr<Partial> MakeTbModules(const ViewOptions& options);

/// The kernel tables. `by`: none or {"kernel"} for the table by name, of all kernels; {"kernel",
/// "op", "grid", "block", "regs", "smem"} for the table by properties, of the kernels under the
/// plugin's operator tree (TbTree). Anything else throws UsageError. Notes of the table by name
/// give the figures behind the plugin's advice (TbTensorCoreTime).
std::unique_ptr<Partial> MakeTbKernels(const ViewOptions& options);

/// The points of the plugin's memory chart.
std::unique_ptr<Partial> MakeTbMemory(const ViewOptions& options);

/// The table of blocks of memory.
std::unique_ptr<Partial> MakeTbMemoryEvents(const ViewOptions& options);

/// The table of operators' use of memory. Any word of `by` throws UsageError.
std::unique_ptr<Partial> MakeTbMemoryOps(const ViewOptions& options);

/// The charts of computation and communication, and of synchronizing and transfer. The row `mean`
/// has whole microseconds, truncated as in the plugin.
std::unique_ptr<Partial> MakeTbDistributed(const ViewOptions& options);

/// The table of communication operations, one row per rank and name. Any word of `by` throws
/// UsageError.
std::unique_ptr<Partial> MakeTbCollectives(const ViewOptions& options);

inline constexpr std::string_view kTbDiffTables[] = {"operators", "tree"};
inline constexpr std::string_view kTbDiffKeys[] = {"node"};

/// What the diff view of the TensorBoard plugin (torch_tb_profiler 0.4.3) compares: the calls
/// inside the steps (without steps, all calls) of each rank's first thread, one row each, parents
/// first, `level` calls deep. Not a view of --view: `prof --diff --compat tb` joins two of it.
/// Missing: the nodes of backward passes, which the plugin makes if modules are recorded.
const View& TbDiffTreeView();

/// The diff view of the TensorBoard plugin (torch_tb_profiler 0.4.3) of the first rank of each
/// side. Both sides are rows of TbDiffTreeView.
///
/// `tree`: the calls inside the steps of a thread, and recursively those inside two that match, are
/// cut where a module, data loader or optimizer of one side matches the other side's: the first of
/// the same kind and name after the previous match. Each match is a node, and so is what lies
/// between two matches; if that is a single call on either side, it is descended into likewise. The
/// value of a call is its time on the device, or its length if that is 0. Descends at most 256
/// levels.
///
/// `operators`: sums by name over all operators of the root, or of each node with "node" in `by`.
std::unique_ptr<OtherDiff> MakeTbDiff(const DiffInput& base, const DiffInput& now,
                                      const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_VIEWS_H_
