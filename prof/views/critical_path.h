#ifndef OPLENS_PROF_VIEWS_CRITICAL_PATH_H_
#define OPLENS_PROF_VIEWS_CRITICAL_PATH_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "prof/path/critical_path.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The critical path of each step by cause, by name or edge by edge, and its length with other
/// times: docs/views_critical_path.md.
std::span<const Field> CriticalPathFields();
std::unique_ptr<Partial> MakeCriticalPath(const ViewOptions& options);
/// As View::make_together: the paths are found once.
std::vector<std::unique_ptr<Partial>> MakeCriticalPaths(std::span<const ViewOptions> options);
/// Words of --by: name, edge.
std::span<const std::string_view> CriticalPathKeys();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CRITICAL_PATH_H_
