#ifndef OPLENS_PROF_VIEWS_TB_DIFF_TREE_H_
#define OPLENS_PROF_VIEWS_TB_DIFF_TREE_H_

#include "prof/views/view.h"

namespace oplens::prof {

/// What the diff view of the TensorBoard plugin (torch_tb_profiler 0.4.3) compares of a run: of the
/// first thread of each rank the calls inside of its steps (without steps all), a row each, those
/// around others before them, `level` calls deep. Not one of the views of --view: `prof --diff
/// --compat tb` joins two of it (prof/diff/tb_diff.h). Lacks the nodes of backward passes, which
/// the plugin makes where modules are recorded.
const View& TbDiffTreeView();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_DIFF_TREE_H_
