#ifndef OPLENS_PARSE_MODEL_CUDA_KINDS_H_
#define OPLENS_PARSE_MODEL_CUDA_KINDS_H_

#include <cstdint>
#include <string_view>

namespace oplens {

// Kinds of GPU and profiler activities, by CUPTI's names. Others are kUnknown, whose word is "".

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
  kUnifiedHostToDevice,  ///< Unified memory: recorded by Nsight Systems.
  kUnifiedDeviceToHost,
  kUnifiedDeviceToDevice,
};

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

/// Who waited for what.
enum class WaitKind : uint8_t {
  kUnknown,
  kEvent,            ///< The host, for an event.
  kStreamWaitEvent,  ///< A stream, for an event.
  kStream,           ///< The host, for a stream.
  kContext,          ///< The host, for all streams of a context.
};

/// What took the profiler's or the driver's time.
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

// From CUPTI's numbers. Nsight Systems has the same numbers for copies.

CopyKind CopyKindOfNumber(int64_t number);          ///< CUpti_ActivityMemcpyKind
MemoryKind MemoryKindOfNumber(int64_t number);      ///< CUpti_ActivityMemoryKind
WaitKind WaitKindOfNumber(int64_t number);          ///< CUpti_ActivitySynchronizationType
OverheadKind OverheadKindOfNumber(int64_t number);  ///< CUpti_ActivityOverheadKind

// To and from the words that PyTorch's profiler has in the names of events.

/// "HtoD", "UVM HtoD".
std::string_view CopyKindWord(CopyKind kind);
CopyKind CopyKindOf(std::string_view word);

/// "Pageable"; MemoryKindWord: "pageable", for use within a sentence.
std::string_view MemoryKindTitle(MemoryKind kind);
std::string_view MemoryKindWord(MemoryKind kind);
/// Of a title or a word.
MemoryKind MemoryKindOf(std::string_view word);

/// "Stream Sync".
std::string_view WaitKindWord(WaitKind kind);
WaitKind WaitKindOf(std::string_view word);

/// "Buffer Flush".
std::string_view OverheadKindWord(OverheadKind kind);
OverheadKind OverheadKindOf(std::string_view word);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_CUDA_KINDS_H_
