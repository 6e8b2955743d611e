#ifndef OPLENS_OPS_KERNELS_COMMUNICATION_H_
#define OPLENS_OPS_KERNELS_COMMUNICATION_H_

#include <string_view>

namespace oplens::ops {

/// Whether a kernel moves data between GPUs, by its full name: NCCL, RCCL, MSCCL, NVSHMEM, oneCCL,
/// HCCL, DeepEP, and the all-reduces that inference engines write themselves or fuse with what
/// follows. What a trace tells besides the name is not asked here.
bool IsCommunicationKernel(std::string_view name);

/// Whether an operator or range is a collective's, by its name: "c10d::allreduce_",
/// "record_param_comms", "nccl:all_reduce".
bool IsCommunicationRange(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_COMMUNICATION_H_
