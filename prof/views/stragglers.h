#ifndef OPLENS_PROF_VIEWS_STRAGGLERS_H_
#define OPLENS_PROF_VIEWS_STRAGGLERS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// Which ranks keep the others waiting, since when and why: docs/views_distributed.md,
/// "stragglers".
inline constexpr TraceNeeds kStragglersNeeds = {};
std::span<const Field> StragglersFields();
std::unique_ptr<Partial> MakeStragglers(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STRAGGLERS_H_
