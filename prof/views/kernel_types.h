#ifndef OPLENS_PROF_VIEWS_KERNEL_TYPES_H_
#define OPLENS_PROF_VIEWS_KERNEL_TYPES_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// Time of the devices by what ran at once, over all ranks: docs/views.md, "kernel-types".
inline constexpr TraceNeeds kKernelTypesNeeds = {};
std::span<const Field> KernelTypesFields();
std::unique_ptr<Partial> MakeKernelTypes(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNEL_TYPES_H_
