#ifndef OPLENS_PROF_VIEWS_MEMORY_MEMORY_H_
#define OPLENS_PROF_VIEWS_MEMORY_MEMORY_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

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
/// The view `memory` with the points that `curve_of` finds.
std::unique_ptr<Partial> MakeMemoryOf(MemoryCurve (*curve_of)(const Run& run,
                                                              const MemoryLife::Pool& pool));

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_MEMORY_H_
