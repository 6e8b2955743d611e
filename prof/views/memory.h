#ifndef OPLENS_PROF_VIEWS_MEMORY_H_
#define OPLENS_PROF_VIEWS_MEMORY_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kMemoryNeeds = {TracePart::kMemoryEvents};

/// How much memory was allocated and reserved at each moment, of each rank, device and source
/// (docs/views.md, "memory"). With Compat::kTensorBoard the points of the plugin's chart.
std::unique_ptr<Partial> MakeMemory(const ViewOptions& options);

/// Its fields.
std::span<const Field> MemoryFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_H_
