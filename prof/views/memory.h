#ifndef OPLENS_PROF_VIEWS_MEMORY_H_
#define OPLENS_PROF_VIEWS_MEMORY_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kMemoryNeeds = {TracePart::kMemoryEvents};

/// How much memory was allocated and reserved at each moment, of each rank, device and source
/// (docs/views.md, "memory").
std::unique_ptr<Partial> MakeMemory(const ViewOptions& options);

/// The curve of a pool of memory.
struct MemoryCurve {
  struct Point {
    int64_t time_ns = 0;
    int64_t allocated_bytes = 0;
    int64_t reserved_bytes = kUnknownId;
    friend auto operator<=>(const Point&, const Point&) = default;
  };
  std::vector<Point> points;  ///< None: it has no rows.
  int64_t peak_bytes = 0;
};
/// The same view with the points that `curve_of` finds.
std::unique_ptr<Partial> MakeMemoryOf(MemoryCurve (*curve_of)(const Run& run,
                                                              const MemoryLife::Pool& pool));

/// Its fields.
std::span<const Field> MemoryFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_H_
