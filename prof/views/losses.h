#ifndef OPLENS_PROF_VIEWS_LOSSES_H_
#define OPLENS_PROF_VIEWS_LOSSES_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// What each rank's recording lacks, and what mends it: docs/views.md, "losses". No rows when
/// nothing is lost. Of records, what their reasons tell.
inline constexpr TraceNeeds kLossesNeeds = {};
std::span<const Field> LossesFields();
std::unique_ptr<Partial> MakeLosses(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_LOSSES_H_
