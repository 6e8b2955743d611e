#include "record/nvprof_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <string_view>

namespace oplens::record {
namespace {

struct Entry {
  const char* kind;
  int since;                    // First version with the table.
  const char* indexed_columns;  // The first of these that the version has is indexed.
  // Names in order. "*": BLOB; "@V": since version V; "<V": before version V.
  const char* columns;
};

/// Of KERNEL and CONCURRENT_KERNEL.
constexpr const char* kKernelColumns =
    "cacheConfig* sharedMemoryConfig registersPerThread partitionedGlobalCacheRequested "
    "partitionedGlobalCacheExecuted start end completed deviceId contextId streamId gridX "
    "gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory "
    "localMemoryPerThread localMemoryTotal correlationId gridId name queued@11 "
    "submitted@11 launchType@11 isSharedMemoryCarveoutRequested@11 "
    "sharedMemoryCarveoutRequested@11 sharedMemoryExecuted@12 graphNodeId@16 "
    "shmemLimitConfig@16 graphId@16 pAccessPolicyWindow*@16 channelID@17 channelType@17 "
    "clusterX@18 clusterY@18 clusterZ@18 clusterSchedulingPolicy@18 "
    "localMemoryTotal_v2@18 maxPotentialClusterSize@22 maxActiveClusters@22";

constexpr Entry kEntries[] = {
    {"MEMCPY", 8, "correlationId",
     "copyKind srcKind dstKind flags bytes start end deviceId contextId streamId "
     "correlationId runtimeCorrelationId graphNodeId@16 graphId@16 channelID@17 "
     "channelType@17"},
    {"MEMSET", 8, "correlationId",
     "value bytes start end deviceId contextId streamId correlationId flags@9 memoryKind@9 "
     "graphNodeId@16 graphId@16 channelID@17 channelType@17 runtimeCorrelationId<9"},
    {"KERNEL", 8, "correlationId", kKernelColumns},
    {"DRIVER", 8, "correlationId", "cbid start end processId threadId correlationId returnValue"},
    {"RUNTIME", 8, "correlationId", "cbid start end processId threadId correlationId returnValue"},
    {"EVENT", 8, "correlationId", "id value domain correlationId"},
    {"METRIC", 8, "correlationId", "id value* correlationId flags"},
    {"DEVICE", 8, "",
     "flags globalMemoryBandwidth globalMemorySize constantMemorySize l2CacheSize "
     "numThreadsPerWarp coreClockRate numMemcpyEngines numMultiprocessors maxIPC "
     "maxWarpsPerMultiprocessor maxBlocksPerMultiprocessor "
     "maxSharedMemoryPerMultiprocessor maxRegistersPerMultiprocessor maxRegistersPerBlock "
     "maxSharedMemoryPerBlock maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ "
     "maxGridDimX maxGridDimY maxGridDimZ computeCapabilityMajor computeCapabilityMinor id "
     "eccEnabled uuid* name isCudaVisible@16 isMigEnabled@17 gpuInstanceId@17 "
     "computeInstanceId@17 migUuid*@17 isNumaNode@22 numaId@22"},
    {"CONTEXT", 8, "",
     "contextId deviceId computeApiKind nullStreamId parentContextId@22 isGreenContext@22"},
    {"CONCURRENT_KERNEL", 8, "correlationId", kKernelColumns},
    {"NAME", 8, "", "objectKind objectId* name"},
    {"MARKER", 8, "timestamp", "flags timestamp id objectKind objectId* name domain@9"},
    {"MARKER_DATA", 8, "", "flags id payloadKind payload* color category"},
    {"SOURCE_LOCATOR", 8, "", "id lineNumber fileName"},
    {"GLOBAL_ACCESS", 8, "correlationId",
     "flags sourceLocatorId correlationId functionId executed pcOffset threadsExecuted "
     "l2_transactions theoreticalL2Transactions"},
    {"BRANCH", 8, "correlationId",
     "sourceLocatorId correlationId functionId pcOffset diverged threadsExecuted executed"},
    {"OVERHEAD", 8, "correlationId start",
     "overheadKind objectKind objectId* start end correlationId@22 overheadData*@22"},
    {"CDP_KERNEL", 8, "correlationId",
     "cacheConfig* sharedMemoryConfig registersPerThread start end deviceId contextId "
     "streamId gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
     "dynamicSharedMemory localMemoryPerThread localMemoryTotal correlationId gridId "
     "parentGridId queued submitted completed parentBlockX parentBlockY parentBlockZ name"},
    {"PREEMPTION", 8, "timestamp", "preemptionKind timestamp gridId blockX blockY blockZ"},
    {"ENVIRONMENT", 8, "timestamp", "deviceId timestamp environmentKind data*"},
    {"EVENT_INSTANCE", 8, "correlationId", "id domain instance value correlationId"},
    {"MEMCPY2", 8, "correlationId",
     "copyKind srcKind dstKind flags bytes start end deviceId contextId streamId "
     "srcDeviceId srcContextId dstDeviceId dstContextId correlationId graphNodeId@16 "
     "graphId@16 channelID@17 channelType@17"},
    {"METRIC_INSTANCE", 8, "correlationId", "id value* instance correlationId flags"},
    {"INSTRUCTION_EXECUTION", 8, "correlationId",
     "flags sourceLocatorId correlationId functionId pcOffset threadsExecuted "
     "notPredOffThreadsExecuted executed"},
    {"UNIFIED_MEMORY_COUNTER", 8, "start",
     "counterKind value start end address srcId dstId streamId processId flags@9"},
    {"FUNCTION", 8, "", "id contextId moduleId functionIndex name"},
    {"MODULE", 8, "", "contextId id cubinSize cubin*"},
    {"DEVICE_ATTRIBUTE", 8, "", "flags deviceId attribute* value*"},
    {"SHARED_ACCESS", 8, "correlationId",
     "flags sourceLocatorId correlationId functionId pcOffset threadsExecuted "
     "sharedTransactions theoreticalSharedTransactions executed"},
    {"PC_SAMPLING", 8, "correlationId",
     "flags sourceLocatorId correlationId functionId latencySamples@9 samples stallReason "
     "pcOffset"},
    {"PC_SAMPLING_RECORD_INFO", 8, "correlationId",
     "correlationId totalSamples droppedSamples samplingPeriodInCycles"},
    {"INSTRUCTION_CORRELATION", 8, "", "flags sourceLocatorId functionId pcOffset"},
    {"OPENACC_DATA", 9, "start",
     "eventKind parentConstruct version implicit deviceType deviceNumber threadId async "
     "asyncMap lineNo endLineNo funcLineNo funcEndLineNo start end cuDeviceId cuContextId "
     "cuStreamId cuProcessId cuThreadId externalId srcFile funcName bytes hostPtr "
     "devicePtr varName"},
    {"OPENACC_LAUNCH", 9, "start",
     "eventKind parentConstruct version implicit deviceType deviceNumber threadId async "
     "asyncMap lineNo endLineNo funcLineNo funcEndLineNo start end cuDeviceId cuContextId "
     "cuStreamId cuProcessId cuThreadId externalId srcFile funcName numGangs numWorkers "
     "vectorLength kernelName"},
    {"OPENACC_OTHER", 9, "start",
     "eventKind parentConstruct version implicit deviceType deviceNumber threadId async "
     "asyncMap lineNo endLineNo funcLineNo funcEndLineNo start end cuDeviceId cuContextId "
     "cuStreamId cuProcessId cuThreadId externalId srcFile funcName"},
    {"CUDA_EVENT", 9, "correlationId", "correlationId contextId streamId eventId"},
    {"STREAM", 9, "correlationId", "contextId streamId priority flag correlationId@11"},
    {"SYNCHRONIZATION", 9, "correlationId",
     "type start end correlationId contextId streamId cudaEventId"},
    {"EXTERNAL_CORRELATION", 9, "correlationId", "externalKind externalId correlationId"},
    {"NVLINK", 9, "",
     "nvlinkVersion typeDev0 typeDev1 idDev0* idDev1* flag physicalNvLinkCount portDev0* "
     "portDev1* bandwidth nvswitchConnected@12"},
    {"INSTANTANEOUS_EVENT", 9, "timestamp", "id value timestamp deviceId"},
    {"INSTANTANEOUS_EVENT_INSTANCE", 9, "timestamp", "id value timestamp deviceId instance"},
    {"INSTANTANEOUS_METRIC", 9, "timestamp", "id value* timestamp deviceId flags"},
    {"INSTANTANEOUS_METRIC_INSTANCE", 9, "timestamp",
     "id value* timestamp deviceId flags instance"},
    {"MEMORY", 11, "start",
     "memoryKind address bytes start end allocPC freePC processId deviceId contextId name"},
    {"PCIE", 11, "", "type id* domain pcieGeneration linkRate linkWidth upstreamBus attr*"},
    {"OPENMP", 12, "start", "eventKind version threadId start end cuProcessId cuThreadId"},
    {"INTERNAL_LAUNCH_API", 16, "correlationId",
     "cbid start end processId threadId correlationId returnValue"},
    {"MEMORY2", 16, "correlationId",
     "memoryOperationType memoryKind correlationId address bytes "
     "timestamp PC processId deviceId contextId streamId name "
     "isAsync memoryPoolConfig*"},
    {"MEMORY_POOL", 16, "correlationId",
     "memoryPoolOperationType memoryPoolType correlationId processId "
     "deviceId minBytesToKeep address size releaseThreshold timestamp "
     "utilizedSize"},
    {"GRAPH_TRACE", 17, "correlationId",
     "correlationId start end deviceId graphId contextId streamId endDeviceId@22 "
     "endContextId@22"},
    {"JIT", 18, "correlationId",
     "jitEntryType jitOperationType deviceId start end correlationId "
     "jitOperationCorrelationId cacheSize cachePath"},
};

int ParseVersion(std::string_view digits) {
  int version = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return version;
}

// Adds the column described by `token` if `version` has it.
void AddColumn(std::string token, int version, std::vector<ColumnSpec>* columns) {
  if (const size_t at = token.find_first_of("@<"); at != std::string::npos) {
    const int bound = ParseVersion(std::string_view(token).substr(at + 1));
    const bool present = token[at] == '@' ? version >= bound : version < bound;
    if (!present) return;
    token.resize(at);
  }
  const bool blob = token.back() == '*';
  if (blob) token.pop_back();
  columns->push_back({token, blob});
}

bool HasColumn(const TableSpec& table, const std::string& name) {
  const auto is_it = [&](const ColumnSpec& column) { return column.name == name; };
  return std::any_of(table.columns.begin(), table.columns.end(), is_it);
}

}  // namespace

std::string NvprofTableName(const std::string& kind) { return "CUPTI_ACTIVITY_KIND_" + kind; }

std::vector<TableSpec> NvprofTables(int version) {
  std::vector<TableSpec> tables;
  for (const Entry& entry : kEntries) {
    if (version < entry.since) continue;
    TableSpec table{NvprofTableName(entry.kind), {}, ""};
    std::istringstream tokens(entry.columns);
    for (std::string token; tokens >> token;) AddColumn(token, version, &table.columns);
    // STREAM of version 9 lacks the column that later versions index.
    std::istringstream candidates(entry.indexed_columns);
    for (std::string name; table.indexed_column.empty() && candidates >> name;) {
      if (HasColumn(table, name)) table.indexed_column = name;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string CreateTableSql(const TableSpec& table) {
  std::string columns;
  for (const ColumnSpec& column : table.columns) {
    columns += fmt::format(", {} {} NOT NULL", column.name, column.blob ? "BLOB" : "INT");
  }
  return fmt::format("CREATE TABLE {}(_id_ INTEGER PRIMARY KEY{})", table.name, columns);
}

std::string CreateIndexSql(const TableSpec& table) {
  if (table.indexed_column.empty()) return "";
  return fmt::format("CREATE INDEX INDEX_{0} ON {0}({1})", table.name, table.indexed_column);
}

}  // namespace oplens::record
