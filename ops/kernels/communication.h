#ifndef OPLENS_OPS_KERNELS_COMMUNICATION_H_
#define OPLENS_OPS_KERNELS_COMMUNICATION_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::ops {

/// What a communication kernel does.
enum class CommunicationKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
  kBroadcast,
  kReduce,
  kBarrier,
  kOther,  ///< Not named.
};

/// "all_reduce", ..., "other".
std::string_view CommunicationWord(CommunicationKind kind);

/// Version of the rules; incremented whenever an answer changes.
inline constexpr int kCommunicationRulesVersion = 2;

/// Classifies a kernel that moves data between GPUs by its full name, mangled or not; nullopt for
/// any other kernel. Covers NCCL, RCCL, MSCCL, NVSHMEM, oneCCL, HCCL, DeepEP and derivatives, and
/// collectives of PyTorch and inference engines, also fused ones (names and sources:
/// docs/communication.md). A matrix product fused with a collective counts as a product.
std::optional<CommunicationKind> CommunicationKindOf(std::string_view kernel_name);

inline bool IsCommunicationKernel(std::string_view kernel_name) {
  return CommunicationKindOf(kernel_name).has_value();
}

/// Whether an operator or range is a collective by its name: "c10d::allreduce_",
/// "record_param_comms", "nccl:all_reduce".
bool IsCommunicationRange(std::string_view name);

/// Whether a kernel is certainly no communication, whatever launched it: PyTorch's tensor kernels
/// and its compiler's. Collectives launch them to fill and copy their buffers.
bool IsTensorKernel(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_COMMUNICATION_H_
