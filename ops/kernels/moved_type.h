#ifndef OPLENS_OPS_KERNELS_MOVED_TYPE_H_
#define OPLENS_OPS_KERNELS_MOVED_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::ops {

/// Bytes of an element of what a kernel moves, as its demangled name has it: PyTorch's
/// CatArrayBatchedCopy<OpaqueType<4u>, ..> and CatArrayBatchedCopy<float, ..>. nullopt for other
/// kernels, and for types that are not known.
std::optional<int64_t> MovedElementBytes(std::string_view long_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_MOVED_TYPE_H_
