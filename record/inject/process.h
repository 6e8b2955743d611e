#ifndef OPLENS_RECORD_INJECT_PROCESS_H_
#define OPLENS_RECORD_INJECT_PROCESS_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/inject/stream.h"
#include "record/spool/spool_format.h"

// The recorded process: its folder in the spool, its page, and the state that all threads share.
// Global, because NVTX and CUPTI callbacks carry no context.

namespace oplens::record::inject {

/// The settings from spool::kOptionsVariable.
struct Options {
  bool cuda = false;
  bool nvtx = false;
  bool memory = false;
  bool sync = false;
  bool overhead = false;
  bool wait = false;       ///< Record only after the program opens the window.
  bool children = false;   ///< Record child processes.
  bool arguments = false;  ///< Keep command line arguments.
  bool reference = false;  ///< Of GPU work, record only what goes into graphs.
};

/// Reads the environment and creates the process's folder, once. False: this process is not
/// recorded.
bool StartProcess() noexcept;

/// Whether to store events. After a fork, the first event creates the child's folder.
bool IsRecording() noexcept;

const Options& TheOptions() noexcept;

/// Null before StartProcess() and if it failed.
spool::ProcessPage* Page() noexcept;

/// The path of a chunk; false if it does not fit.
bool ChunkPath(uint32_t stream, uint32_t sequence, char* out, size_t size) noexcept;

/// The path of a file of a ring; false if it does not fit.
bool RingPath(uint32_t stream, uint32_t place, char* out, size_t size) noexcept;

/// Tells `record` that a stream has come to chunks of spool::kLargestChunkBytes, so that it makes a
/// ring.
void NoteLargeStream(uint32_t stream) noexcept;

/// The number of a new stream.
uint32_t NewStream() noexcept;

/// Records the first reason why something could not be stored.
void NoteError(int error_number) noexcept;

__attribute__((cold)) void CountLostEvent() noexcept;
void CountLostRow() noexcept;
void CountCutText() noexcept;
/// Counts a call refused by Entry: in a signal handler, or in a child without fork handlers.
void CountRefusedCall() noexcept;

/// Appends to the stream of names. `text` may be null. `is_cut`: the name is truncated.
/// Thread-safe.
void WriteName(spool::RecordKind kind, uint16_t domain, uint8_t part, uint64_t id,
               std::string_view text, bool is_cut) noexcept;

/// Access to the activity stream while its lock is held.
class ActivityLock {
 public:
  ActivityLock() noexcept;
  ~ActivityLock();
  ActivityLock(const ActivityLock&) = delete;
  ActivityLock& operator=(const ActivityLock&) = delete;
  Stream& stream() noexcept;
};

extern constinit std::atomic<bool> g_window;
/// Whether the recording window is open, by NVTX marks of the domain "oplens" and
/// cudaProfilerStart. Open from the start unless Options::wait.
inline bool WindowOpen() noexcept { return g_window.load(std::memory_order_relaxed); }
void SetWindow(bool open) noexcept;

/// Call at an orderly end of the process. CUPTI must be flushed before: it may be unloaded by now.
void EndProcess() noexcept;

/// CUPTI's id of the calling thread: the low half of pthread_self().
uint32_t ThreadId() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_PROCESS_H_
