#ifndef OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
#define OPLENS_RECORD_UNFINISHED_LAUNCHES_H_

#include <cstdint>

#include "record/nvprof_writer.h"

namespace oplens::record {

/// How many launches of kernels and graphs that succeeded from `from_ns` on and before `until_ns`
/// have no kernel in the database, or none with an end. Those that were captured into a graph are
/// no launches. Reads all calls: for recordings of which something is known to be missing.
int64_t CountUnfinishedLaunches(NvprofWriter* writer, int64_t from_ns, int64_t until_ns);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
