#ifndef OPLENS_PROF_VIEWS_LAUNCHES_H_
#define OPLENS_PROF_VIEWS_LAUNCHES_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view `launches`: what launching cost the host, and how late the work began (docs/views.md).
inline constexpr TraceNeeds kLaunchesNeeds = {};
std::span<const Field> LaunchesFields();
std::span<const std::string_view> LaunchesKeys();
std::unique_ptr<Partial> MakeLaunches(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_LAUNCHES_H_
