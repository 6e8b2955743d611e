#ifndef OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_
#define OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "prof/run/host_collectives.h"

namespace oplens::prof {

class Run;

/// What the time of a call is that of.
enum class CollectiveTime : uint8_t {
  kKernel,   ///< Of its kernels.
  kHost,     ///< Of a host library's range, which spans the work.
  kEnqueue,  ///< Of the host call that asked for it: it says nothing of how long the work took.
};

/// One call of a collective on one rank.
struct CollectiveCall {
  CollectiveFacts facts;
  int64_t start_ns = 0;         ///< Of the first kernel, or of the range; on the file's clock.
  int64_t end_ns = 0;           ///< Of the last.
  int64_t latency_ns = -1;      ///< Time in which a kernel of it ran; -1: kEnqueue.
  int64_t exposed_ns = -1;      ///< Of that the time without any compute kernel or replay; -1: the
                                ///< same, or kHost.
  std::optional<int64_t> step;  ///< Number; nullopt: it is in none.
  CollectiveTime time = CollectiveTime::kKernel;
};

/// The calls of collectives of a run that are selected, by start: each kernel that is communication
/// (DeviceWork), those of one host call (and of one replay of its graph) together; and the host
/// calls of a known kind of which there is no kernel. Facts are those of the kernel's own record,
/// else of the host call's records, else of the arguments of its ops, else of its labels; the kind
/// at last what the kernel's name says, or the range around it that names a pass ("dispatch(F)").
///
/// O((K + R) log (K + R)) for K kernels of collectives and R ranges.
std::vector<CollectiveCall> FindCollectives(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COLLECTIVE_CALLS_H_
