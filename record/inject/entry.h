#ifndef OPLENS_RECORD_INJECT_ENTRY_H_
#define OPLENS_RECORD_INJECT_ENTRY_H_

#include <atomic>
#include <cstdint>

// Access control for writing to the spool: only its own process, one call per thread at a time.

namespace oplens::record::inject {

struct Thread;

/// What is known of the calling thread. initial-exec avoids the dynamic linker per event.
struct ThisThread {
  Thread* thread = nullptr;  ///< Of event_stream.cc; null before its first event.
  bool inside = false;       ///< A call is in progress.
};
extern __attribute__((tls_model("initial-exec"))) constinit thread_local ThisThread t_this;
/// Points to 0 in a child: the system clears its page on every fork, even if no fork handlers run
/// (_Fork, clone). Such a child still has the parent's chunks.
extern constinit std::atomic<const std::atomic<uint32_t>*> g_own_mark;

/// Marks this process as the owner of the recorder's files. Before that, and on systems that cannot
/// clear a page, every process counts as owner.
void MarkOwnProcess() noexcept;

inline bool IsOwnProcess() noexcept {
  return g_own_mark.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
}

/// A call into the recorder, for the lifetime of this object. Refused to a signal handler that
/// interrupted another call of its thread, which may be inside a record or hold a lock, and to a
/// child without fork handlers.
class Entry {
 public:
  Entry() noexcept : granted_(!t_this.inside && IsOwnProcess()) {
    if (!granted_) return;
    t_this.inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Entry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (granted_) t_this.inside = false;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool granted() const noexcept { return granted_; }

 private:
  const bool granted_;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_ENTRY_H_
