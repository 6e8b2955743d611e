#ifndef OPLENS_PROF_VIEWS_SETUP_H_
#define OPLENS_PROF_VIEWS_SETUP_H_

#include <memory>
#include <span>
#include <string_view>

#include "parse/model/trace_needs.h"
#include "prof/table/field.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `setup`: on what the run ran, and what of it was recorded (docs/views.md).
std::unique_ptr<Partial> MakeSetup(const ViewOptions& options);
std::span<const Field> SetupFields();
inline constexpr TraceNeeds kSetupNeeds{};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SETUP_H_
