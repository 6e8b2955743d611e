#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_GRAPH_NODES_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_GRAPH_NODES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parse/readers/common/graph_nodes.h"
#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Finds the calls that put the nodes of CUDA graphs into them: GraphNodes.
class NsysGraphNodes {
 public:
  explicit NsysGraphNodes(NsysContext* context) : context_(*context) {}

  /// Notes that a kernel, by its index, is a replay of `node` of the process `global_pid`, a cell
  /// of its row.
  void Want(size_t kernel, int64_t node, const Cell& global_pid);
  /// Fills Kernel::capture of the wanted kernels where the file holds the whole chain of clones.
  void Place();

 private:
  std::string_view Table();
  void ReadEvents();
  void TakeEvent(int64_t row_id, const Cell* row);

  NsysContext& context_;
  GraphNodes nodes_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_GRAPH_NODES_H_
