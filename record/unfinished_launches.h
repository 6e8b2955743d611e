#ifndef OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
#define OPLENS_RECORD_UNFINISHED_LAUNCHES_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "record/nvprof_writer.h"

namespace oplens::record {

/// The making of a graph's node; while a stream is captured, it lies in the call that would have
/// launched.
struct NodeMade {
  int64_t thread_id;
  int64_t time_ns;
  auto operator<=>(const NodeMade&) const = default;
};

/// All of OPLENS_GRAPH_NODE, by thread and time.
std::vector<NodeMade> NodesMade(NvprofWriter* writer);

/// How many launches of kernels and graphs that succeeded from `from_ns` on and before `until_ns`
/// have no kernel in the database, or none with an end. Those that were captured into a graph are
/// no launches. Reads all calls: for recordings of which something is known to be missing.
int64_t CountUnfinishedLaunches(NvprofWriter* writer, int64_t from_ns, int64_t until_ns);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
