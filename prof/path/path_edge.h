#ifndef OPLENS_PROF_PATH_PATH_EDGE_H_
#define OPLENS_PROF_PATH_PATH_EDGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

/// What the time of an edge of the critical path goes to.
enum class PathCause : uint8_t {
  kCompute,        ///< Kernels except communication; graph replays.
  kCommunication,  ///< Kernels that move data between GPUs.
  kCopy,           ///< Copies and memsets.
  kQueue,        ///< Between two items of work of a stream, if the later one was launched by then.
  kLaunchDelay,  ///< From the return of a launch (its start, if that is later) to the work.
  kSyncWait,     ///< From the end of work to what waited for it: the host or another stream.
  kApiCall,      ///< API calls that do not wait for work.
  kOperator,     ///< Calls of operators and backward nodes.
  kDataLoader,   ///< The data loader.
  kOtherHost,    ///< A thread outside of all these: Python, labels, nothing recorded.
  kIdle,         ///< Nothing is recorded.
};
inline constexpr size_t kPathCauseCount = 11;

/// "compute", "launch_delay", ...
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
  PathCause cause = PathCause::kIdle;
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
