#ifndef OPLENS_OPS_KERNELS_NAME_VARIANT_H_
#define OPLENS_OPS_KERNELS_NAME_VARIANT_H_

#include <string>
#include <string_view>

namespace oplens::ops {

/// What tells a kernel from others of the same function: the functor, kernel or epilogue among its
/// template arguments, or the tile that only they say. "" if the function alone says as much.
///
///     at::native::elementwise_kernel<128, 4, ...BinaryFunctor<..., MulFunctor<float>>...>
///         -> "MulFunctor"
///     cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4>
///         -> "cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4"
///     flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, ...>, ...>  -> "tile=128x64x?"
///
/// `kernel_name`: full and demangled; others say nothing. Linear in the name; never throws.
std::string NameVariantOf(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_NAME_VARIANT_H_
