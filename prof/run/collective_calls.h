#ifndef OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_
#define OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "prof/run/host_collectives.h"

namespace oplens::prof {

class Run;

/// What the time of a call measures.
enum class CollectiveTime : uint8_t {
  kKernel,   ///< Its kernels.
  kHost,     ///< A host library's range, which spans the work.
  kEnqueue,  ///< The host call that enqueued it; unrelated to the duration of the work.
};

/// One call of a collective on one rank.
struct CollectiveCall {
  CollectiveFacts facts;
  int64_t start_ns = 0;     ///< Of the first kernel, or of the range; on the file's clock.
  int64_t end_ns = 0;       ///< Of the last.
  int64_t latency_ns = -1;  ///< Time in which one of its kernels ran; -1: kEnqueue.
  /// The part of the latency without any compute kernel or replay; -1: kEnqueue or kHost.
  int64_t exposed_ns = -1;
  std::optional<int64_t> step;  ///< Number; nullopt: in no step.
  CollectiveTime time = CollectiveTime::kKernel;
};

/// The selected collective calls of a run, by start: communication kernels (DeviceWork), grouped by
/// host call and, for graphs, by replay; and host calls of a known kind without a kernel. Facts are
/// taken from the kernel's own record, otherwise from the host call's records, the arguments of its
/// ops, or its labels; the kind finally from the kernel's name or the enclosing range that names a
/// pass ("dispatch(F)").
///
/// O((K + R) log (K + R)) for K kernels of collectives and R ranges.
std::vector<CollectiveCall> FindCollectives(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_
