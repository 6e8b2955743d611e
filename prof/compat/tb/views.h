#ifndef OPLENS_PROF_COMPAT_TB_VIEWS_H_
#define OPLENS_PROF_COMPAT_TB_VIEWS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/views/common/view.h"

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

inline constexpr std::string_view kTbDiffTables[] = {"operators", "tree"};
inline constexpr std::string_view kTbDiffKeys[] = {"node"};

/// What the diff view of the TensorBoard plugin (torch_tb_profiler 0.4.3) compares of a run: of the
/// first thread of each rank the calls inside of its steps (without steps all), a row each, those
/// around others before them, `level` calls deep. Not one of the views of --view: `prof --diff
/// --compat tb` joins two of it. Lacks the nodes of backward passes, which
/// the plugin makes where modules are recorded.
const View& TbDiffTreeView();

/// The diff view of the TensorBoard plugin (torch_tb_profiler 0.4.3) of the first rank of each
/// side. Both sides are the rows of TbDiffTreeView.
///
/// `tree`: the calls inside of the steps of a thread, and again those inside of two that match, are
/// cut where a module, data loader or optimizer of one side matches one of the other: of the same
/// kind and name, the first that comes behind the match before. A match is a node, and so is what
/// lies between two of them; what of it is a single call on either side is looked into likewise.
/// The value of a call is its time on the device, or its length where that is 0. Looks into at most
/// 256 nodes that are in one another.
///
/// `operators`: sums by name over all operators of the root, or of each node with "node" in `by`.
std::unique_ptr<OtherDiff> MakeTbDiff(const DiffInput& base, const DiffInput& now,
                                      const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_VIEWS_H_
