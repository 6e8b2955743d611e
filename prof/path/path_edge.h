#ifndef OPLENS_PROF_PATH_PATH_EDGE_H_
#define OPLENS_PROF_PATH_PATH_EDGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

/// What the time of an edge of the critical path goes to. Causes that a GPU may wait for have the
/// names and words of IdleCause.
enum class PathCause : uint8_t {
  kCompute,        ///< Kernels except communication; graph replays.
  kCommunication,  ///< Kernels that move data between GPUs.
  kCopy,           ///< Copies and memsets.
  kQueued,  ///< Work that is launched has not begun: from the return of its launch (its start,
            ///< if that is later), from the end of the work before it in its stream, or of work of
            ///< another stream that it waited for.
  kSync,    ///< From the end of work until the host that waited for it continues.
  kLaunch,  ///< API calls that launch work.
  kPageableCopy,  ///< API calls that copy from or to pageable memory.
  kApiCall,       ///< Other API calls that do not wait for work.
  kDataLoader,    ///< The data loader.
  kHostOp,        ///< Calls of operators and backward nodes.
  kPython,        ///< A thread outside of all these: Python, labels, nothing recorded.
  kUnknown,       ///< Nothing is recorded.
};
inline constexpr size_t kPathCauseCount = 12;

/// "compute", "queued", ...
std::string_view PathCauseWord(PathCause cause);

enum class PathLink : uint8_t {
  kStart,       ///< On the start of the step: nothing else is known.
  kHost,        ///< On an earlier moment of its thread.
  kThread,      ///< On another thread that wakes it or that it waits for.
  kLaunch,      ///< Work on the call that launched it.
  kGraph,       ///< Work on other work of the same graph replay.
  kStream,      ///< Work on the previous work of its stream.
  kStreamWait,  ///< Work on work of another stream.
  kHostWait,    ///< The host on work that it waits for.
  kEnd,         ///< The end of the step on what precedes it.
  kWork,        ///< The end of work on its start;
  kCollective,  ///< likewise for communication. These two are in no graph: see MomentGraph.
};
inline constexpr size_t kPathLinkCount = 11;

/// "host", "stream_wait", ...
std::string_view PathLinkWord(PathLink link);

struct PathSubject {
  enum class Kind : uint8_t { kNothing, kRange, kCall, kWork };
  Kind kind = Kind::kNothing;
  uint32_t index = 0;  ///< In Trace::ranges, Trace::launches or Run::device_work().events().

  friend bool operator==(const PathSubject&, const PathSubject&) = default;
};

struct PathEdge {
  int64_t start_ns = 0;
  int64_t time_ns = 0;  ///< > 0.
  PathSubject subject;
  ThreadIndex thread = kNoThread;  ///< Of host edges; kNoThread for GPU edges, which have
  int32_t device_id = -1;          ///< this
  int32_t stream_id = -1;          ///< and this.
  PathLink link = PathLink::kHost;
  PathCause cause = PathCause::kUnknown;
};

struct StepPath {
  int64_t number = 0;      ///< Of the step.
  Interval span;           ///< Of the step, including its device work.
  int64_t length_ns = 0;   ///< Sum of the edges' times.
  int64_t what_if_ns = 0;  ///< The length with changed times; length_ns without changes.
  int64_t cut = 0;         ///< Impossible recorded dependencies.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_PATH_EDGE_H_
