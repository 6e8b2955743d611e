#include "parse/readers/nvprof/recorded_captures.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {
namespace {

/// CUgraphNodeType of a kernel.
constexpr int64_t kKernelNode = 0;

/// A node that came into a graph.
struct Node {
  int64_t time_ns = 0;
  int64_t process = 0;
  int64_t thread = 0;
  int64_t graph = 0;
  int64_t id = 0;
  StringId name = 0;
};

/// Those of kernels that are copies of no others, by time.
std::vector<Node> CreatedNodes(NvprofContext* context) {
  constexpr std::string_view kColumns[] = {"timestamp", "processId",   "threadId",
                                           "graphId",   "graphNodeId", "originalGraphNodeId",
                                           "nodeType",  "name"};
  constexpr size_t kNumbers = 6;  // Of rows that are not counted by PlaceRecordedGraphNodes.
  std::vector<Node> nodes;
  std::set<std::pair<int64_t, int64_t>> copies;  // Told as created too.
  context->ForEachRow(nvprof::kGraphNodeTable, kColumns, [&](int64_t, const Cell* row) {
    if (!AllInts(row, kNumbers)) return;
    const Node node = {row[0].integer(), row[1].integer(), row[2].integer(),
                       row[3].integer(), row[4].integer(), context->TextOf(row[7])};
    const int64_t original = row[5].integer();
    if (original != 0 && original != node.id) {
      copies.emplace(node.process, node.id);
    } else if (!row[6].is_int() || row[6].integer() == kKernelNode) {
      nodes.push_back(node);
    }
  });
  std::erase_if(nodes, [&](const Node& node) { return copies.contains({node.process, node.id}); });
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
    return std::tie(a.time_ns, a.process, a.thread, a.id) <
           std::tie(b.time_ns, b.process, b.thread, b.id);
  });
  return nodes;
}

/// Of what replays ran: name by the thread and time of the call that put it into the graph.
using ReplayedNames = std::map<std::pair<ThreadIndex, int64_t>, StringId>;

ReplayedNames NamesOfReplays(const Trace& trace) {
  ReplayedNames names;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.capture == kNoLaunch) continue;
    const LaunchCall& call = trace.launches[kernel.capture];
    names.try_emplace({call.thread, call.start_ns}, kernel.name);
  }
  return names;
}

Kernel CapturedKernel(const Node& node, LaunchIndex launch) {
  Kernel kernel;
  kernel.correlation_id = kUnknownId;
  // In the order of the calls.
  kernel.row_id = node.time_ns;
  kernel.name = node.name;
  kernel.graph = true;
  kernel.launch = kernel.capture = launch;
  for (int32_t* const field :
       {&kernel.device_id, &kernel.context_id, &kernel.registers_per_thread,
        &kernel.static_shared_memory_bytes, &kernel.dynamic_shared_memory_bytes}) {
    *field = -1;
  }
  std::fill_n(kernel.grid, std::size(kernel.grid), -1);
  std::fill_n(kernel.block, std::size(kernel.block), -1);
  kernel.process_id = static_cast<int32_t>(node.process);
  return kernel;
}

}  // namespace

void AddRecordedCaptures(NvprofContext* context) {
  Trace& trace = context->trace;
  std::vector<Node> nodes = CreatedNodes(context);
  const ReplayedNames replayed = nodes.empty() ? ReplayedNames() : NamesOfReplays(trace);
  std::map<std::pair<int64_t, int64_t>, int32_t> captures;  // By process and graph.
  for (Node& node : nodes) {
    const ThreadIndex thread = context->ThreadOf(node.process, node.thread);
    if (node.name == 0) {
      const auto known = replayed.find({thread, node.time_ns});
      if (known != replayed.end()) node.name = known->second;
    }
    LaunchCall call;
    call.start_ns = call.end_ns = node.time_ns;
    call.correlation_id = kUnknownId;
    call.thread = thread;
    const auto next = static_cast<int32_t>(captures.size());
    const int32_t capture = captures.try_emplace({node.process, node.graph}, next).first->second;
    trace.launches.push_back(call);
    Kernel& kernel = trace.kernels.emplace_back(
        CapturedKernel(node, static_cast<LaunchIndex>(trace.launches.size() - 1)));
    kernel.stream_id = capture;
  }
}

}  // namespace oplens::parse
