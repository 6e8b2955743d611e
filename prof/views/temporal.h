#ifndef OPLENS_PROF_VIEWS_TEMPORAL_H_
#define OPLENS_PROF_VIEWS_TEMPORAL_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// How long the device of each rank was idle, computing, or doing something else: docs/views.md,
/// "temporal".
inline constexpr TraceNeeds kTemporalNeeds = {};
std::span<const Field> TemporalFields();
std::unique_ptr<Partial> MakeTemporal(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TEMPORAL_H_
