#ifndef OPLENS_PROF_VIEWS_GPU_H_
#define OPLENS_PROF_VIEWS_GPU_H_

#include <memory>
#include <span>

#include "parse/model/trace_needs.h"
#include "prof/table/field.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `gpu`: how well each GPU was used (docs/views.md).
std::unique_ptr<Partial> MakeGpu(const ViewOptions& options);
std::span<const Field> GpuFields();
inline constexpr TraceNeeds kGpuNeeds{TracePart::kMemoryEvents};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GPU_H_
