#ifndef OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
#define OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/autograd.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Which host threads wait for what the engine of the backward pass does on a thread: what they are
/// inside of meanwhile is what the user wrote around the call of backward().
///
///     forward thread  |- aten::mm, seq 5 -|   |- "my backward" -----------------|
///     engine thread                             |- MmBackward0, seq 5 -| [launch]
///
/// That is the thread of the forward op of the last node with one that began on the engine's thread
/// by then, else of the first such node there. Where no node of a thread has its forward op, it is
/// any thread of the process that has no nodes of its own.
class BackwardCallers {
 public:
  /// `ends[t]`: where the ranges of thread t end, as Autograd has them. All must outlive this.
  BackwardCallers(const Trace& trace, const Autograd& autograd, std::span<const size_t> ends);

  /// Other threads that wait for what a thread with backward work does at a time.
  std::vector<ThreadIndex> Of(ThreadIndex thread, int64_t time_ns) const;

 private:
  struct Linked {
    int64_t start_ns;
    ThreadIndex forward_thread;
  };

  const Trace& trace_;
  std::vector<std::vector<Linked>> linked_;  // By thread; in the order of their starts.
  std::vector<bool> has_nodes_;              // By thread.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_BACKWARD_CALLERS_H_
