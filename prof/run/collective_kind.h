#ifndef OPLENS_PROF_RUN_COLLECTIVE_KIND_H_
#define OPLENS_PROF_RUN_COLLECTIVE_KIND_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/kernels/communication.h"

namespace oplens::prof {

/// What a call between ranks does.
enum class CollectiveKind : uint8_t {
  kUnknown,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kSendRecv,  ///< A kernel that sends and receives, for an unknown purpose.
  kBarrier,
  kWait,  ///< Waits for another call; not a call of its own.
};

/// "all_reduce", ..., "unknown".
std::string_view CollectiveWord(CollectiveKind kind);

/// The kind by the name of an op, label or record: "c10d::allreduce_", "nccl:all_reduce",
/// "_allgather_base", "ncclAllReduce"; otherwise kUnknown.
CollectiveKind KindOfCollective(std::string_view name);

/// The kind by a kernel's name.
CollectiveKind KindOfKernel(ops::CommunicationKind kind);

/// Whether it is between two ranks rather than within a group.
constexpr bool IsPointToPoint(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv ||
         kind == CollectiveKind::kSendRecv;
}

/// Whether no rank can end before all have started, so that all end at about the same time.
/// Of all_to_all each rank ends with its own messages: at about the same time if all links are
/// alike.
constexpr bool EndsTogether(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll ||
         kind == CollectiveKind::kBarrier;
}

/// Whether no rank can end before the last messages of all others.
constexpr bool EndsAtOnce(CollectiveKind kind) {
  return EndsTogether(kind) && kind != CollectiveKind::kAllToAll;
}

/// Bytes on a rank's link per byte of the message, which makes bandwidths for any number of ranks
/// comparable with the hardware's: all_reduce 2 (n - 1) / n; all_gather, reduce_scatter,
/// all_to_all, gather, scatter (n - 1) / n; broadcast, reduce, send, recv 1 (NVIDIA's nccl-tests,
/// doc/PERFORMANCE.md). nullopt for other kinds, below two ranks, and if n is needed but unknown
/// (negative).
std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks);

/// Elements that one rank passes to a call and receives from it; negative: unknown.
struct CollectiveElements {
  int64_t input = -1;
  int64_t output = -1;
};

/// Elements of the message, as counted by nccl-tests: the whole output of gathering calls, the
/// whole input of scattering ones, what a rank sends in all_to_all, otherwise the buffer. -1 if
/// unknown, or for a barrier. `ranks`: size of the group; negative: unknown.
int64_t MessageElements(CollectiveKind kind, const CollectiveElements& elements, int64_t ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COLLECTIVE_KIND_H_
