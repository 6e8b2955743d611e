#ifndef OPLENS_PROF_PATH_BACKWARD_BURSTS_H_
#define OPLENS_PROF_PATH_BACKWARD_BURSTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// A stretch of time in which a thread of the engine runs nodes of the backward pass for the thread
/// that called backward().
///
///     caller  |- forward ops -|                            |- optimizer -|
///     engine                     |- node -| |- node -| ...|
///                                begin                  end
struct BackwardBurst {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  ///< More than the begin.
  ThreadIndex engine = 0;
  ThreadIndex caller = 0;
  bool waits = false;  ///< The caller begins nothing meanwhile: it waits.
};

/// The thread that each engine thread works for: that of the forward ops of most of its nodes;
/// where no node has its forward op, of the threads of its process without nodes the one with most
/// ranges. kNoThread of threads that are no engine's, or run their own backward pass.
std::vector<ThreadIndex> CallersOfEngines(const parse::Joined& joined);

/// The bursts of all engine threads, by thread and time. What an engine runs is one burst until its
/// caller begins a call or one of `calls` (by thread, then start) in a gap between ranges of the
/// engine. O(R + calls).
std::vector<BackwardBurst> FindBackwardBursts(const parse::Joined& joined,
                                              std::span<const ThreadIndex> callers,
                                              std::span<const LaunchIndex> calls);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_BACKWARD_BURSTS_H_
