#ifndef OPLENS_PROF_VIEWS_OVERVIEW_H_
#define OPLENS_PROF_VIEWS_OVERVIEW_H_

#include <memory>
#include <span>

#include "parse/model/trace_needs.h"
#include "prof/table/field.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `overview`: where the time of each step went (docs/views.md).
std::unique_ptr<Partial> MakeOverview(const ViewOptions& options);
std::span<const Field> OverviewFields();
inline constexpr TraceNeeds kOverviewNeeds{TracePart::kApiTimes};
/// What it needs beside these with Compat::kTensorBoard.
inline constexpr TraceNeeds kTbOverviewNeeds{TracePart::kApiCalls, TracePart::kTorchEvents};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OVERVIEW_H_
