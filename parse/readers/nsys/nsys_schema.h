#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_SCHEMA_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_SCHEMA_H_

#include <cstdint>
#include <string_view>

namespace oplens::parse::nsys {

// Tables and numbers of Nsight Systems' exports, from those without a schema version (2020) to
// schema 3.25. Any table may be missing (its events were not recorded) or have a suffix "_V<n>".
// Columns are looked up by name where they are read.
//
// Never read: TARGET_INFO_SYSTEM_ENV and ProcessStreams, the environment of the machine and the
// output of the program. From META_DATA_CAPTURE, the command line and the environment of the
// program, only variables with its rank are kept.

inline constexpr std::string_view kStringTable = "StringIds";
inline constexpr std::string_view kMetaTable = "META_DATA_EXPORT";
inline constexpr std::string_view kOldMetaTable = "EXPORT_META_DATA";  ///< Up to 2023.3.
inline constexpr std::string_view kCaptureTable = "META_DATA_CAPTURE";
/// A name in kCaptureTable: its values are `NAME="VALUE"`, of the started program.
inline constexpr std::string_view kVariableName = "PROCESS_0:ENVIRONMENT_VARIABLE";
inline constexpr std::string_view kSessionTable = "ANALYSIS_DETAILS";
inline constexpr std::string_view kStartTimeTable = "TARGET_INFO_SESSION_START_TIME";
inline constexpr std::string_view kProcessTable = "PROCESSES";
inline constexpr std::string_view kThreadNameTable = "ThreadNames";
inline constexpr std::string_view kGpuTable = "TARGET_INFO_GPU";
inline constexpr std::string_view kCudaDeviceTable = "TARGET_INFO_CUDA_DEVICE";
inline constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kMemcpyTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kMemsetTable = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kSynchronizationTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
inline constexpr std::string_view kEventTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
inline constexpr std::string_view kGraphTraceTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view kRuntimeTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kGraphNodeTable = "CUDA_GRAPH_NODE_EVENTS";
/// Events of graph nodes up to schema 2.9.1, of whole graphs later; its columns distinguish them.
inline constexpr std::string_view kGraphTable = "CUDA_GRAPH_EVENTS";
inline constexpr std::string_view kMemoryUsageTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
inline constexpr std::string_view kOverheadTable = "PROFILER_OVERHEAD";
inline constexpr std::string_view kNvtxTable = "NVTX_EVENTS";

/// RUNTIME.eventClass of calls; rows of other classes (backtraces, 67) repeat a call.
inline constexpr int64_t kRuntimeCall = 0;
inline constexpr int64_t kDriverCall = 1;

/// NVTX_EVENTS.eventType. Imported events come from text files of other tools.
inline constexpr int64_t kNvtxCategory = 33;
inline constexpr int64_t kNvtxMark = 34;
inline constexpr int64_t kNvtxThread = 39;
inline constexpr int64_t kNvtxPushPop = 59;
inline constexpr int64_t kNvtxStartEnd = 60;
inline constexpr int64_t kImportedMark = 65;
inline constexpr int64_t kImportedPushPop = 70;
inline constexpr int64_t kImportedStartEnd = 71;
inline constexpr int64_t kNvtxDomainCreate = 75;

// SYNCHRONIZATION.syncType is not read: in no version does it have the numbers of
// ENUM_CUPTI_SYNC_TYPE. Up to 3.13 a wait for a context is 1, for an event 2, for a stream and of a
// stream for an event 3; in 3.16 they are 0, 1, 2. Whether there is a stream and an event
// distinguishes all four kinds in each.

/// ENUM_CUDA_MEM_KIND: CUPTI's CUpti_ActivityMemoryKind - 1, with "unknown" at the end.
inline constexpr int64_t kMemoryUnknown = 7;

/// CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType.
inline constexpr int64_t kAllocation = 0;
inline constexpr int64_t kDeallocation = 1;

// A global thread id is, from the top: 8 bits hardware, 8 virtual machine, 24 process, 24 thread. A
// global process id has no thread, a global VM id no process either.

/// Identifies a process of the file, by a global thread or process id.
inline constexpr int64_t ProcessKey(int64_t global_id) { return global_id >> 24; }
/// Identifies a virtual machine.
inline constexpr int64_t MachineKey(int64_t global_id) { return global_id >> 48; }
inline constexpr int64_t ProcessIdOf(int64_t process_key) { return process_key & 0xFFFFFF; }
inline constexpr int64_t ThreadIdOf(int64_t global_id) { return global_id & 0xFFFFFF; }

}  // namespace oplens::parse::nsys

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_SCHEMA_H_
