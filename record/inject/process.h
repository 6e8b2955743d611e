#ifndef OPLENS_RECORD_INJECT_PROCESS_H_
#define OPLENS_RECORD_INJECT_PROCESS_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/inject/stream.h"
#include "record/spool/spool_format.h"

// The recorded process: its folder in the spool, its page, and what all threads share. There is
// one, as the callbacks of NVTX and CUPTI carry no other context.

namespace oplens::record::inject {

/// What the user asked for, from spool::kOptionsVariable.
struct Options {
  bool cuda = false;
  bool nvtx = false;
  bool memory = false;
  bool sync = false;
  bool overhead = false;
  bool wait = false;       ///< Until the program opens the window.
  bool children = false;   ///< Record processes that the program starts.
  bool arguments = false;  ///< Keep those of the command line.
  bool reference = false;  ///< Of the GPU only what goes into graphs.
};

/// Reads the environment and makes the process's folder, once. False: this process is not recorded.
bool StartProcess() noexcept;

/// Whether events are to be stored. After a fork the first event makes the child's own folder.
bool IsRecording() noexcept;

const Options& TheOptions() noexcept;

/// Null before StartProcess() and when it failed.
spool::ProcessPage* Page() noexcept;

/// Path of a chunk; false when it does not fit.
bool ChunkPath(uint32_t stream, uint32_t sequence, char* out, size_t size) noexcept;

/// Maps a chunk of spool::kLargestChunkBytes that `record` has made ahead, under the name `path`;
/// null: there is none. What a chunk costs is paid on another processor then.
void* TakeReadyChunk(const char* path) noexcept;

/// A number for a further stream.
uint32_t NewStream() noexcept;

/// Remembers the first reason why something could not be stored.
void NoteError(int error_number) noexcept;

void CountLostEvent() noexcept;
void CountLostRow() noexcept;
void CountCutText() noexcept;
/// A call to which Entry was refused: of a signal handler, or of a child that is not known.
void CountRefusedCall() noexcept;

/// Appends to the stream of names. The text may be null. `is_cut`: it is not all of the name. Safe
/// for threads.
void WriteName(spool::RecordKind kind, uint16_t domain, uint8_t part, uint64_t id,
               std::string_view text, bool is_cut) noexcept;

/// The stream of activity, for whoever holds its lock.
class ActivityLock {
 public:
  ActivityLock() noexcept;
  ~ActivityLock();
  ActivityLock(const ActivityLock&) = delete;
  ActivityLock& operator=(const ActivityLock&) = delete;
  Stream& stream() noexcept;
};

/// Whether the program has opened the window: NVTX's marks of the domain "oplens", and
/// cudaProfilerStart. Open from the start unless Options::wait.
bool WindowOpen() noexcept;
void SetWindow(bool open) noexcept;

/// The process ends in an orderly way. CUPTI has been flushed before that: it may be gone by now.
void EndProcess() noexcept;

/// CUPTI's number of the calling thread: the low half of pthread_self().
uint32_t ThreadId() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_PROCESS_H_
