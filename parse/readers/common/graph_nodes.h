#ifndef OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_
#define OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/id_map.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Finds the calls that put the nodes of CUDA graphs into them, from the events of their creation.
/// A node of an instantiated graph is a clone; the event of the first original counts, since at
/// that moment the op was at work.
class GraphNodes {
 public:
  /// A node came into a graph.
  struct Event {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t thread = 0;    ///< A key of the reader's.
    int64_t original = 0;  ///< 0: it was created, not cloned.
    StringId api = 0;
    LaunchIndex launch = kNoLaunch;
  };

  /// Notes that a kernel, by its index, is a replay of `node` of a process, a number from 1 that
  /// the reader gives; 0: the file does not say.
  void Want(size_t kernel, int64_t node, uint32_t process) {
    replays_.push_back({kernel, node, process});
  }
  bool empty() const { return replays_.empty(); }

  void Add(uint32_t process, int64_t node, const Event& event);

  /// Fills Kernel::capture of the wanted kernels where the file holds the whole chain of clones.
  /// `call_of` makes the call of an event.
  void Place(Trace* trace, const std::function<LaunchCall(const Event&)>& call_of);

 private:
  struct Replay {
    size_t kernel = 0;
    int64_t node = 0;
    uint32_t process = 0;
  };

  /// The event of the creation; kNoItem when a link of the chain is missing or the chain is a ring.
  ItemIndex CreationOf(uint32_t process, int64_t node) const;

  std::vector<Replay> replays_;
  std::vector<Event> events_;
  std::vector<IdMap> events_of_process_;  // By process number: node -> index into events_.
  uint32_t process_ = 0;
  bool several_processes_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_GRAPH_NODES_H_
