#ifndef OPLENS_PROF_VIEWS_ROOFLINE_H_
#define OPLENS_PROF_VIEWS_ROOFLINE_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// How far the kernels of each op and shape are from what their GPU could do: docs/views.md,
/// "roofline". `by` takes rank, phase, layer; UsageError for other words. It needs the kernels and
/// their prices only: records do.
std::unique_ptr<Partial> MakeRoofline(const ViewOptions& options);

/// Its fields without those that `by` adds.
std::span<const Field> RooflineFields();
/// The words of --by.
std::span<const std::string_view> RooflineKeys();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_ROOFLINE_H_
