#ifndef OPLENS_PROF_RUN_COPY_BANDWIDTH_H_
#define OPLENS_PROF_RUN_COPY_BANDWIDTH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parse/model/cuda_kinds.h"
#include "prof/run/time_series.h"

namespace oplens::prof {

class Run;

/// Whether so many bytes can have been moved in that time: five times the fastest memory of the
/// table of GPUs (8 TB/s) is more than any cache gives. Else the size or the time that the file has
/// is wrong, and no rate follows from them. True where there is no time.
bool IsPossibleRate(int64_t size_bytes, int64_t time_ns);

/// What the copies or fills of a kind moved, on one GPU.
struct CopyTraffic {
  int64_t count = 0;
  int64_t bytes = 0;    ///< Of those whose rate is possible,
  int64_t time_ns = 0;  ///< and in which any of these ran.
  /// Bytes per second of those that run, each its bytes over its time; and -1 where none does, so
  /// that running ones without bytes can be told from that.
  std::vector<SeriesPoint> points;
};

struct CopyKindKey {
  int32_t device_id = 0;
  bool fill = false;
  CopyKind kind = CopyKind::kUnknown;  ///< Of a copy.

  std::string Name() const;
  friend auto operator<=>(const CopyKindKey&, const CopyKindKey&) = default;
};

/// Of the selected copies and fills. One that takes no time by the clock of the file took one tick
/// of it. O(n log n) in them, O(n) where they end in the order of their starts.
std::map<CopyKindKey, CopyTraffic> CopyTrafficOf(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COPY_BANDWIDTH_H_
