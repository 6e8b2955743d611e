#ifndef OPLENS_PROF_COMPAT_TB_DIFF_H_
#define OPLENS_PROF_COMPAT_TB_DIFF_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/other_diff.h"
#include "prof/views/view.h"

namespace oplens::prof {

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

#endif  // OPLENS_PROF_COMPAT_TB_DIFF_H_
