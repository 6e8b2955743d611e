#include "record/unfinished_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <string>
#include <vector>

#include "record/nvprof_tables.h"

namespace oplens::record {
namespace {

// Ids of launch calls, fixed in cupti_runtime_cbid.h and cupti_driver_cbid.h: cudaLaunch,
// cudaLaunchKernel, cudaLaunchCooperativeKernel, cudaGraphLaunch, cudaLaunchKernelExC and
// __cudaLaunchKernel with their _ptsz and MultiDevice forms; cuLaunch, cuLaunchGrid,
// cuLaunchKernel, cuLaunchCooperativeKernel, cuGraphLaunch, cuLaunchKernelEx.
constexpr char kRuntimeLaunches[] =
    "13, 211, 213, 214, 269, 270, 272, 311, 312, 430, 431, 505, 506";
constexpr char kDriverLaunches[] = "115, 116, 117, 307, 442, 477, 478, 480, 514, 515, 652, 653";

std::string CallsWithoutKernel(const char* kind, const char* launches) {
  return fmt::format(
      "SELECT threadId, start, end FROM {} WHERE cbid IN ({}) AND returnValue = 0 AND start >= ?1 "
      "AND start < ?2 AND correlationId NOT IN (SELECT correlationId FROM {} WHERE end > 0 AND "
      "start >= ?1 AND start < ?2)",
      NvprofTableName(kind), launches, NvprofTableName("CONCURRENT_KERNEL"));
}

}  // namespace

std::vector<NodeMade> NodesMade(NvprofWriter* writer) {
  std::vector<NodeMade> nodes;
  SQLite::Statement rows = writer->Prepare("SELECT threadId, timestamp FROM OPLENS_GRAPH_NODE");
  while (rows.executeStep()) {
    nodes.push_back({rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64()});
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

int64_t CountUnfinishedLaunches(NvprofWriter* writer, int64_t from_ns, int64_t until_ns) {
  const std::vector<NodeMade> nodes = NodesMade(writer);
  int64_t count = 0;
  for (const std::string& query : {CallsWithoutKernel("RUNTIME", kRuntimeLaunches),
                                   CallsWithoutKernel("DRIVER", kDriverLaunches)}) {
    SQLite::Statement calls = writer->Prepare(query);
    calls.bind(1, from_ns);
    calls.bind(2, until_ns);
    while (calls.executeStep()) {
      const NodeMade begin = {calls.getColumn(0).getInt64(), calls.getColumn(1).getInt64()};
      const NodeMade end = {begin.thread_id, calls.getColumn(2).getInt64()};
      const auto node = std::lower_bound(nodes.begin(), nodes.end(), begin);
      if (node == nodes.end() || *node > end) ++count;
    }
  }
  return count;
}

}  // namespace oplens::record
