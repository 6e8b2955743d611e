#ifndef OPLENS_PROF_VIEWS_TB_DISTRIBUTED_H_
#define OPLENS_PROF_VIEWS_TB_DISTRIBUTED_H_

#include <memory>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view `distributed` by the rules of the TensorBoard plugin: its charts of computation and
/// communication, and of synchronizing and transfer. The row `mean` has whole microseconds, cut as
/// the plugin cuts them.
std::unique_ptr<Partial> MakeTbDistributed(const ViewOptions& options);

/// The view `collectives` by these: the table of communication operations, a row a rank and name.
std::unique_ptr<Partial> MakeTbCollectives(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_DISTRIBUTED_H_
