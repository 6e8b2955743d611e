#ifndef OPLENS_PARSE_READERS_NSYS_GRAPH_NODES_H_
#define OPLENS_PARSE_READERS_NSYS_GRAPH_NODES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/nsys_context.h"

namespace oplens::parse {

/// Finds the calls that put the nodes of CUDA graphs into them, from the events of their creation.
/// A node of an instantiated graph is a clone; the event of the first original counts, since at
/// that moment the op was at work.
class NsysGraphNodes {
 public:
  explicit NsysGraphNodes(NsysContext* context) : context_(*context) {}

  /// Notes that a kernel, by its index, is a replay of `node` of the process `global_pid`, a cell
  /// of its row.
  void Want(size_t kernel, int64_t node, const Cell& global_pid);
  /// Fills Kernel::capture of the wanted kernels where the file holds the whole chain of clones.
  void Place();

 private:
  struct Replay {
    size_t kernel = 0;
    int64_t node = 0;
    uint32_t process = 0;
  };
  struct Event {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t global_tid = 0;
    int64_t original = 0;  // 0: it was created, not cloned.
    StringId api = 0;
    LaunchIndex launch = kNoLaunch;
  };

  std::string_view Table();
  void ReadEvents();
  void TakeEvent(int64_t row_id, const Cell* row);
  /// The event of the creation; kNoItem when a link of the chain is missing or the chain is a ring.
  ItemIndex CreationOf(uint32_t process, int64_t node) const;
  LaunchIndex LaunchOf(ItemIndex event);

  NsysContext& context_;
  std::vector<Replay> replays_;
  std::vector<Event> events_;
  std::vector<IdMap> events_of_process_;  // By process number: node -> index into events_.
  uint32_t process_ = 0;
  bool several_processes_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_GRAPH_NODES_H_
