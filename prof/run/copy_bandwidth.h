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

/// Whether this many bytes can be moved in that time: five times the fastest memory in the table of
/// GPUs (8 TB/s) exceeds any cache. Otherwise the recorded size or time is wrong, and no rate
/// follows. True without a time.
bool IsPossibleRate(int64_t size_bytes, int64_t time_ns);

/// Traffic of one kind of copies or fills on one GPU.
struct CopyTraffic {
  int64_t count = 0;
  int64_t bytes = 0;    ///< Of those with a possible rate;
  int64_t time_ns = 0;  ///< time in which any of these ran.
  /// Total bytes per second of those running, each at its average rate; -1 while none runs, as
  /// opposed to 0 for running ones without bytes.
  std::vector<SeriesPoint> points;
};

struct CopyKindKey {
  int32_t device_id = 0;
  bool fill = false;
  CopyKind kind = CopyKind::kUnknown;  ///< Copies only.

  std::string Name() const;
  friend auto operator<=>(const CopyKindKey&, const CopyKindKey&) = default;
};

/// Covers selected copies and fills. A duration of 0 on the file's clock counts as one tick. O(n
/// log n) in their number, O(n) if they end in the order of their starts.
std::map<CopyKindKey, CopyTraffic> CopyTrafficOf(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COPY_BANDWIDTH_H_
