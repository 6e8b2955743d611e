#ifndef OPLENS_RECORD_INJECT_ENTRY_H_
#define OPLENS_RECORD_INJECT_ENTRY_H_

#include <atomic>
#include <cstdint>

#include "nvtx_annotate/vocabulary/direct_range.h"

// Access control for writing to the spool: only its own process, one call per thread at a time.

namespace oplens::record::inject {

/// What is known of the calling thread; `thread` is event_stream.cc's, `inside` of any call.
/// initial-exec avoids the dynamic linker per event.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local markers::DirectSlot t_this;
/// Points to 0 in a child: the system clears its page on every fork, even if no fork handlers run
/// (_Fork, clone). Such a child still has the parent's chunks.
extern constinit std::atomic<const std::atomic<uint32_t>*> g_own_mark;

/// Marks this process as the owner of the recorder's files. Before that, and on systems that cannot
/// clear a page, every process counts as owner.
void MarkOwnProcess() noexcept;

inline bool IsOwnProcess() noexcept {
  return g_own_mark.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
}

/// A call into the recorder, for the lifetime of this object: see markers::DirectEntry.
class Entry : public markers::DirectEntry {
 public:
  Entry() noexcept : DirectEntry(&t_this, *g_own_mark.load(std::memory_order_relaxed)) {}
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_ENTRY_H_
