#ifndef OPLENS_PROF_VIEWS_IDLE_H_
#define OPLENS_PROF_VIEWS_IDLE_H_

#include <memory>
#include <span>

#include "prof/run/idle_gaps.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `idle`: why each GPU, or each stream, did nothing (docs/views.md).
inline constexpr TraceNeeds kIdleNeeds = kIdleGapsNeeds;
std::span<const Field> IdleFields();
std::span<const std::string_view> IdleKeys();
std::unique_ptr<Partial> MakeIdle(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_IDLE_H_
