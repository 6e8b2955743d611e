#ifndef OPLENS_PROF_VIEWS_IMBALANCE_H_
#define OPLENS_PROF_VIEWS_IMBALANCE_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// How uneven the work of experts and of the stages of a pipeline is: docs/views_distributed.md,
/// "imbalance".
inline constexpr TraceNeeds kImbalanceNeeds = {};
std::span<const Field> ImbalanceFields();
std::unique_ptr<Partial> MakeImbalance(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_IMBALANCE_H_
