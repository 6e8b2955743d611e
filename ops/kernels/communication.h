#ifndef OPLENS_OPS_KERNELS_COMMUNICATION_H_
#define OPLENS_OPS_KERNELS_COMMUNICATION_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::ops {

/// What a kernel that moves data between GPUs does.
enum class CommunicationKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
  kBroadcast,
  kReduce,
  kBarrier,
  kOther,  ///< Its name does not say.
};

/// "all_reduce", ..., "other".
std::string_view CommunicationWord(CommunicationKind kind);

/// Of the rules below; a number more for every change of what they answer.
inline constexpr int kCommunicationRulesVersion = 2;

/// What a kernel that moves data between GPUs does, by its full name, mangled or not; nullopt for
/// every other kernel. Knows NCCL, RCCL, MSCCL, NVSHMEM, oneCCL, HCCL, DeepEP and its like, the
/// collectives that PyTorch and inference engines write themselves, and those fused with what
/// follows them: docs/communication.md has the names and where they were read. A product of
/// matrices that is fused with a collective is a product. What a trace tells besides the name is
/// not asked here.
std::optional<CommunicationKind> CommunicationKindOf(std::string_view kernel_name);

inline bool IsCommunicationKernel(std::string_view kernel_name) {
  return CommunicationKindOf(kernel_name).has_value();
}

/// Whether an operator or range is a collective's, by its name: "c10d::allreduce_",
/// "record_param_comms", "nccl:all_reduce".
bool IsCommunicationRange(std::string_view name);

/// Whether a kernel is known to be no communication whatever launched it: PyTorch's own kernels for
/// tensors, and what its compiler makes. Collectives launch such to fill and copy their buffers.
bool IsTensorKernel(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_COMMUNICATION_H_
