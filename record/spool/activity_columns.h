#ifndef OPLENS_RECORD_SPOOL_ACTIVITY_COLUMNS_H_
#define OPLENS_RECORD_SPOOL_ACTIVITY_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "record/spool/spool_format.h"

// The columns of activity rows. A row in the spool has the columns of nvprof's table (version 12),
// then those of our table with what nvprof lacks, in order.

namespace oplens::record {

/// A number that this version of CUPTI does not provide; NULL in the database. Only in our own
/// tables.
inline constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

struct ActivityTable {
  spool::Table table;
  const char* kind;           ///< Of nvprof's table CUPTI_ACTIVITY_KIND_<kind>; null: none.
  const char* extra_table;    ///< Null: none. Its first column `row` is nvprof's row, if any.
  const char* extra_columns;  ///< Separated by blanks; "'" marks a text.
};

/// By spool::Table. In nvprof's tables the column `name` is a text.
inline constexpr ActivityTable kActivityTables[] = {
    {spool::Table::kConcurrentKernel, "CONCURRENT_KERNEL", "OPLENS_KERNEL",
     "graphNodeId graphId shmemLimitConfig channelID channelType clusterX clusterY clusterZ "
     "clusterSchedulingPolicy localMemoryTotal_v2 maxPotentialClusterSize maxActiveClusters "
     "isDeviceLaunched"},
    {spool::Table::kRuntime, "RUNTIME", nullptr, nullptr},
    {spool::Table::kDriver, "DRIVER", nullptr, nullptr},
    {spool::Table::kMemcpy, "MEMCPY", "OPLENS_MEMCPY",
     "graphNodeId graphId channelID channelType isDeviceLaunched copyCount"},
    {spool::Table::kMemcpy2, "MEMCPY2", "OPLENS_MEMCPY2",
     "graphNodeId graphId channelID channelType"},
    {spool::Table::kMemset, "MEMSET", "OPLENS_MEMSET",
     "graphNodeId graphId channelID channelType isDeviceLaunched"},
    {spool::Table::kSynchronization, "SYNCHRONIZATION", "OPLENS_SYNCHRONIZATION",
     "cudaEventSyncId returnValue"},
    {spool::Table::kCudaEvent, "CUDA_EVENT", "OPLENS_CUDA_EVENT",
     "deviceId deviceTimestamp cudaEventSyncId"},
    {spool::Table::kOverhead, "OVERHEAD", "OPLENS_OVERHEAD", "correlationId"},
    {spool::Table::kDevice, "DEVICE", "OPLENS_DEVICE",
     "isCudaVisible isMigEnabled gpuInstanceId computeInstanceId isNumaNode numaId"},
    {spool::Table::kDeviceAttribute, "DEVICE_ATTRIBUTE", nullptr, nullptr},
    {spool::Table::kContext, "CONTEXT", "OPLENS_CONTEXT",
     "parentContextId isGreenContext numMultiprocessors"},
    {spool::Table::kStream, "STREAM", nullptr, nullptr},
    {spool::Table::kName, "NAME", nullptr, nullptr},
    {spool::Table::kPcie, "PCIE", nullptr, nullptr},
    {spool::Table::kExternalCorrelation, "EXTERNAL_CORRELATION", nullptr, nullptr},
    {spool::Table::kUnifiedMemoryCounter, "UNIFIED_MEMORY_COUNTER", nullptr, nullptr},
    {spool::Table::kMemoryOperation, nullptr, "OPLENS_MEMORY",
     "memoryOperationType memoryKind correlationId address bytes timestamp PC processId deviceId "
     "contextId streamId isAsync name'"},
    // A node that a thread added to a graph (originalGraphNodeId 0), or its copy in a cloned or
    // instantiated graph, whose id the replayed kernels carry. nodeType: CUgraphNodeType. Kernels
    // have names only in reference recordings.
    {spool::Table::kGraphNode, nullptr, "OPLENS_GRAPH_NODE",
     "timestamp processId threadId graphId graphNodeId originalGraphNodeId nodeType name'"},
};
inline constexpr size_t kActivityTableCount = sizeof kActivityTables / sizeof kActivityTables[0];
static_assert(kActivityTableCount == static_cast<size_t>(spool::Table::kCount));

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_ACTIVITY_COLUMNS_H_
