#ifndef OPLENS_PROF_RUN_QUEUE_LENGTH_H_
#define OPLENS_PROF_RUN_QUEUE_LENGTH_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "prof/run/time_series.h"

namespace oplens::prof {

class Run;

/// A GPU and a stream.
using StreamKey = std::pair<int32_t, int32_t>;

/// How many pieces of work waited on each stream, as points at which that changes: one more when
/// the call begins that asks for it, one less when the work begins. Work that began before its call
/// never waited. What one call launched (a graph's kernels) is one piece. Work whose call is not
/// known has no part.
///
/// O(n log n) in the work, O(n) where the calls of a stream come in the order of its work; 16 bytes
/// a piece meanwhile.
std::map<StreamKey, std::vector<SeriesPoint>> QueueLengths(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_QUEUE_LENGTH_H_
