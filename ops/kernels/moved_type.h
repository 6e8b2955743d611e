#ifndef OPLENS_OPS_KERNELS_MOVED_TYPE_H_
#define OPLENS_OPS_KERNELS_MOVED_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::ops {

/// Bytes per element moved, by the demangled name of PyTorch's CatArrayBatchedCopy<OpaqueType<4u>,
/// ..> or CatArrayBatchedCopy<float, ..>. nullopt for other kernels and unknown types.
std::optional<int64_t> MovedElementBytes(std::string_view long_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_MOVED_TYPE_H_
