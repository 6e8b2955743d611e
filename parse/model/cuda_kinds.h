#ifndef OPLENS_PARSE_MODEL_CUDA_KINDS_H_
#define OPLENS_PARSE_MODEL_CUDA_KINDS_H_

#include <cstdint>
#include <string_view>

namespace oplens {

// Kinds of what GPUs and the profiler do, by CUPTI's names. What a file says that is none of them
// is kUnknown, whose word is "".

/// Which way a copy went.
enum class CopyKind : uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kHostToArray,
  kArrayToHost,
  kArrayToArray,
  kArrayToDevice,
  kDeviceToArray,
  kDeviceToDevice,
  kHostToHost,
  kPeerToPeer,
  kUnifiedHostToDevice,  ///< Unified memory: Nsight Systems tells of these.
  kUnifiedDeviceToHost,
  kUnifiedDeviceToDevice,
};

/// A kind of memory.
enum class MemoryKind : uint8_t {
  kUnknown,
  kPageable,
  kPinned,
  kDevice,
  kArray,
  kManaged,
  kDeviceStatic,
  kManagedStatic,
};

/// What waited for what.
enum class WaitKind : uint8_t {
  kUnknown,
  kEvent,            ///< The host for an event.
  kStreamWaitEvent,  ///< A stream for an event.
  kStream,           ///< The host for a stream.
  kContext,          ///< The host for all streams of a context.
};

/// What the profiler or the driver took time for.
enum class OverheadKind : uint8_t {
  kUnknown,
  kDriverCompiler,
  kBufferFlush,
  kInstrumentation,
  kResource,
  kModuleLoading,
  kLazyFunctionLoading,
  kCommandBufferFull,
  kBufferRequest,
  kUnifiedMemoryInit,
};

// The kind of a number of CUPTI's. Nsight Systems has the same numbers for copies.

CopyKind CopyKindOfNumber(int64_t number);          ///< CUpti_ActivityMemcpyKind
MemoryKind MemoryKindOfNumber(int64_t number);      ///< CUpti_ActivityMemoryKind
WaitKind WaitKindOfNumber(int64_t number);          ///< CUpti_ActivitySynchronizationType
OverheadKind OverheadKindOfNumber(int64_t number);  ///< CUpti_ActivityOverheadKind

// The words of PyTorch's profiler for them, as they stand in the names of events.

/// "HtoD", "UVM HtoD".
std::string_view CopyKindWord(CopyKind kind);
CopyKind CopyKindOf(std::string_view word);

/// "Pageable", and as one word of a sentence, "pageable".
std::string_view MemoryKindTitle(MemoryKind kind);
std::string_view MemoryKindWord(MemoryKind kind);
MemoryKind MemoryKindOf(std::string_view title);

/// "Stream Sync".
std::string_view WaitKindWord(WaitKind kind);
WaitKind WaitKindOf(std::string_view word);

/// "Buffer Flush".
std::string_view OverheadKindWord(OverheadKind kind);
OverheadKind OverheadKindOf(std::string_view word);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_CUDA_KINDS_H_
