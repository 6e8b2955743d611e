#ifndef OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
#define OPLENS_RECORD_UNFINISHED_LAUNCHES_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "record/nvprof_writer.h"

namespace oplens::record {

/// The creation of a graph node; during stream capture, within the call that would otherwise
/// launch.
struct NodeMade {
  int64_t thread_id;
  int64_t time_ns;
  auto operator<=>(const NodeMade&) const = default;
};

/// All rows of OPLENS_GRAPH_NODE, by thread and time.
std::vector<NodeMade> NodesMade(NvprofWriter* writer);

/// The number of successful kernel and graph launches in [from_ns, until_ns) without a completed
/// kernel in the database. Captured launches do not count. Reads all calls: for recordings known to
/// be incomplete.
int64_t CountUnfinishedLaunches(NvprofWriter* writer, int64_t from_ns, int64_t until_ns);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_UNFINISHED_LAUNCHES_H_
