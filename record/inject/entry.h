#ifndef OPLENS_RECORD_INJECT_ENTRY_H_
#define OPLENS_RECORD_INJECT_ENTRY_H_

#include <atomic>
#include <cstdint>

// Who may write into the spool: the process that it is of, and there one call a thread at a time.

namespace oplens::record::inject {

/// Whether a call is under way on this thread. No call into the dynamic linker at each event.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local bool t_inside;
/// 0 in a child: the system clears its page at every fork, also where no handler of fork runs
/// (_Fork, clone), and in such a child the chunks are still the parent's.
extern constinit std::atomic<const std::atomic<uint32_t>*> g_own_mark;

/// Marks this process as the one that the recorder's files are of. Before that, and with a system
/// that cannot clear a page, every process counts as that.
void MarkOwnProcess() noexcept;

inline bool IsOwnProcess() noexcept {
  return g_own_mark.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
}

/// A call into the recorder, for as long as this lives. It is refused to a signal handler that
/// interrupted another call of its thread, which may be in the middle of a record or hold a lock,
/// and to a child that is not known.
class Entry {
 public:
  Entry() noexcept : granted_(!t_inside && IsOwnProcess()) {
    if (!granted_) return;
    t_inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Entry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (granted_) t_inside = false;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool granted() const noexcept { return granted_; }

 private:
  const bool granted_;
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_ENTRY_H_
