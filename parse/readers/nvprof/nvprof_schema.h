#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_SCHEMA_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_SCHEMA_H_

#include <string_view>

namespace oplens::parse::nvprof {

// Tables and flags of nvprof's databases, schema versions 8 to 22. Columns are looked up by name
// where they are read, since every version appended some.

inline constexpr std::string_view kStringTable = "StringTable";
inline constexpr std::string_view kVersionTable = "Version";
inline constexpr std::string_view kConcurrentKernelTable = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL";
/// Filled instead of CONCURRENT_KERNEL if nvprof serialised kernels (metrics, events).
inline constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kRuntimeTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kDriverTable = "CUPTI_ACTIVITY_KIND_DRIVER";
inline constexpr std::string_view kMarkerTable = "CUPTI_ACTIVITY_KIND_MARKER";
inline constexpr std::string_view kMemcpyTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kMemcpy2Table = "CUPTI_ACTIVITY_KIND_MEMCPY2";
inline constexpr std::string_view kMemsetTable = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kSynchronizationTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
inline constexpr std::string_view kOverheadTable = "CUPTI_ACTIVITY_KIND_OVERHEAD";
inline constexpr std::string_view kDeviceTable = "CUPTI_ACTIVITY_KIND_DEVICE";
inline constexpr std::string_view kEventTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
inline constexpr std::string_view kNameTable = "CUPTI_ACTIVITY_KIND_NAME";
/// One row per block of memory: versions 11 to 15.
inline constexpr std::string_view kMemoryLifetimeTable = "CUPTI_ACTIVITY_KIND_MEMORY";
/// One row per operation: from version 16 on.
inline constexpr std::string_view kMemoryOperationTable = "CUPTI_ACTIVITY_KIND_MEMORY2";

// Added by `record`: docs/recording.md.
inline constexpr std::string_view kMetaTable = "OPLENS_META";
inline constexpr std::string_view kNoteTable = "OPLENS_NOTE";
/// Prefix of a key of OPLENS_META: an environment variable with the program's rank.
inline constexpr std::string_view kVariablePrefix = "env.";
inline constexpr std::string_view kCallTable = "OPLENS_CALL";
inline constexpr std::string_view kKernelExtraTable = "OPLENS_KERNEL";
inline constexpr std::string_view kGraphNodeTable = "OPLENS_GRAPH_NODE";
inline constexpr std::string_view kAllocationTable = "OPLENS_ALLOCATION";
/// The columns of MEMORY2 that version 12 does not have.
inline constexpr std::string_view kRecordedMemoryTable = "OPLENS_MEMORY";
inline constexpr std::string_view kWaitExtraTable = "OPLENS_SYNCHRONIZATION";
inline constexpr std::string_view kEventExtraTable = "OPLENS_CUDA_EVENT";

/// StringTable's row 0: a NULL pointer.
inline constexpr std::string_view kNullString = "-- null --";

/// Bits of MARKER.flags (CUpti_ActivityFlag).
inline constexpr int kMarkerInstant = 1 << 0;
inline constexpr int kMarkerStart = 1 << 1;
inline constexpr int kMarkerEnd = 1 << 2;

/// MARKER.objectKind (CUpti_ActivityObjectKind).
inline constexpr int kObjectProcess = 1;
inline constexpr int kObjectThread = 2;

/// MEMORY2.memoryOperationType (CUpti_ActivityMemoryOperationType).
inline constexpr int kMemoryAllocation = 1;
inline constexpr int kMemoryRelease = 2;

}  // namespace oplens::parse::nvprof

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_SCHEMA_H_
