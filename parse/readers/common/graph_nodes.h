#ifndef OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_
#define OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/id_map.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Finds the calls that put nodes into CUDA graphs, by events of their creation. For a clone (in an
/// instantiated graph) the event of its first original counts, because the op was at work then.
class GraphNodes {
 public:
  /// The creation of a node in a graph.
  struct Event {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t thread = 0;    ///< The reader's key.
    int64_t original = 0;  ///< 0: created, not cloned.
    StringId api = 0;
    LaunchIndex launch = kNoLaunch;
  };

  /// Notes that the kernel with index `kernel` replays `node`, 0 if unknown. `process`: the
  /// reader's number of its process, from 1; 0: unknown.
  void Want(size_t kernel, int64_t node, uint32_t process) {
    replays_.push_back({kernel, node, process});
  }
  bool empty() const { return replays_.empty(); }

  void Add(uint32_t process, int64_t node, const Event& event);

  /// Sets Kernel::capture of these kernels if the chain of clones is complete. `call_of` makes an
  /// event's call.
  void Place(Trace* trace, const std::function<LaunchCall(const Event&)>& call_of);

 private:
  struct Replay {
    size_t kernel = 0;
    int64_t node = 0;
    uint32_t process = 0;
  };

  /// Returns the event of the creation; kNoItem if the chain is incomplete or cyclic.
  ItemIndex CreationOf(uint32_t process, int64_t node) const;

  std::vector<Replay> replays_;
  std::vector<Event> events_;
  std::vector<IdMap> events_of_process_;  // By process number: node -> index into events_.
  uint32_t process_ = 0;
  bool several_processes_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_
