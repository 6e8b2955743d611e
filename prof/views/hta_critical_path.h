#ifndef OPLENS_PROF_VIEWS_HTA_CRITICAL_PATH_H_
#define OPLENS_PROF_VIEWS_HTA_CRITICAL_PATH_H_

#include <memory>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view critical-path by the rules of HolisticTraceAnalysis: docs/views_critical_path.md.
/// Throws UsageError where ViewOptions::what_if asks for what these do not have.
std::unique_ptr<Partial> MakeHtaCriticalPath(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_HTA_CRITICAL_PATH_H_
