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
  kSendRecv,  ///< A kernel that sends and receives; what for is not told.
  kBarrier,
  kWait,  ///< Waits for another: no call of its own.
};

/// "all_reduce", ..., "unknown".
std::string_view CollectiveWord(CollectiveKind kind);

/// The kind by the name of an op, a label or a record: "c10d::allreduce_", "nccl:all_reduce",
/// "_allgather_base", "ncclAllReduce". kUnknown where it says none.
CollectiveKind KindOfCollective(std::string_view name);

/// The kind by what a kernel's name says.
CollectiveKind KindOfKernel(ops::CommunicationKind kind);

/// Whether two ranks do it with each other, not a whole group.
constexpr bool IsPointToPoint(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv ||
         kind == CollectiveKind::kSendRecv;
}

/// Whether no rank can end it before all have begun: then all end at about the same moment.
constexpr bool EndsTogether(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll ||
         kind == CollectiveKind::kBarrier;
}

/// What a rank's link carries for each byte of the message, by which bandwidths of collectives on
/// any number of ranks compare with that of the hardware: all_reduce 2 (n - 1) / n; all_gather,
/// reduce_scatter, all_to_all, gather, scatter (n - 1) / n; broadcast, reduce, send, recv 1
/// (NVIDIA's nccl-tests, doc/PERFORMANCE.md). nullopt for other kinds, for fewer than two ranks,
/// and where n is needed and not known (negative).
std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks);

/// Elements that one rank puts into a call and gets out of it; negative: not known.
struct CollectiveElements {
  int64_t input = -1;
  int64_t output = -1;
};

/// Elements of the message, as nccl-tests count them: of what gathers the whole output, of what
/// scatters the whole input, of all_to_all what the rank sends, of others the buffer. -1 where it
/// is not known, or there is none (a barrier). `ranks`: of the group; negative: not known.
int64_t MessageElements(CollectiveKind kind, const CollectiveElements& elements, int64_t ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_COLLECTIVE_KIND_H_
