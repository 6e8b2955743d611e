#ifndef OPLENS_PARSE_READERS_NVPROF_RECORDED_CAPTURES_H_
#define OPLENS_PARSE_READERS_NVPROF_RECORDED_CAPTURES_H_

#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// TracePart::kCaptures: adds a kernel without times (IsCaptured) for each kernel that a call put
/// into a CUDA graph, as the table OPLENS_GRAPH_NODE has it. Its name is the one that `record
/// --reference` wrote, else that of the kernels that replays of the file ran. A graph is a capture;
/// copies of nodes in graphs that were instantiated are none. After PlaceRecordedGraphNodes.
void AddRecordedCaptures(NvprofContext* context);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_RECORDED_CAPTURES_H_
