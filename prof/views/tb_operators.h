#ifndef OPLENS_PROF_VIEWS_TB_OPERATORS_H_
#define OPLENS_PROF_VIEWS_TB_OPERATORS_H_

#include <memory>

#include "prof/run/tb_tree.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// What the view needs beside kOperatorsNeeds with Compat::kTensorBoard.
inline constexpr TraceNeeds kTbOperatorsNeeds = kTbTreeNeeds;

/// The operator table of the TensorBoard plugin, in the fields of the view operators; those that
/// the plugin does not have are unknown. `by` takes shape; UsageError for other words.
std::unique_ptr<Partial> MakeTbOperators(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_OPERATORS_H_
