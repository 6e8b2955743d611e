#ifndef OPLENS_PROF_VIEWS_TB_MODULES_H_
#define OPLENS_PROF_VIEWS_TB_MODULES_H_

#include <memory>

#include "prof/run/tb_tree.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// What the view needs beside kModulesNeeds with Compat::kTensorBoard.
inline constexpr TraceNeeds kTbModulesNeeds = kTbTreeNeeds;

/// The module table of the TensorBoard plugin (torch_tb_profiler 0.4.3), a tree a rank: a row a
/// call, with the sums over all calls of its name and number; of outermost calls with equal trees
/// only one. A module is in the one around it in time on its thread, which the plugin finds by the
/// numbers of Python calls. Not done: the table of PyTorch Lightning. `by` takes nothing;
/// UsageError for any word but rank, by which rows are split anyway.
std::unique_ptr<Partial> MakeTbModules(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_MODULES_H_
