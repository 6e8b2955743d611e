#include "ops/kernels/name_variant.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace oplens::ops::name_variant_test {
namespace {

struct Case {
  std::string_view name;
  std::string_view variant;
};

constexpr Case kCases[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
     "float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int)",
     "MulFunctor"},
    {"void at::native::elementwise_kernel<128, 2, "
     "at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, "
     "at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int, int)",
     "CUDAFunctor_add"},
    {"void at::native::elementwise_kernel<512, 1, "
     "at::native::gpu_kernel_impl<at::native::div_kernel_cuda(at::TensorIterator&)::{lambda()#1}::"
     "operator()() const::{lambda(float)#1}>(at::TensorIterator&)::{lambda(int)#2}>(int)",
     "div_kernel_cuda"},
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(float)#1}, "
     "at::detail::Array<char*, 2> >(int)",
     "GeluCUDAKernelImpl"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<int, "
     "at::native::func_wrapper_t<int, at::native::sum_functor<int, int, "
     "int>::operator()(at::TensorIterator&)::{lambda(int, int)#1}>, unsigned int, int, 4> >(int)",
     "sum_functor"},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<2, float, float, float, "
     "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float*, int)",
     "LogSoftMaxForwardEpilogue"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<1>, "
     "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, "
     "std::multiplies<float>, float>(int)",
     "BinaryOpScalarFunctor,multiplies"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4>"
     "(cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4::Params)",
     "cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4"},
    // The function says as much, or nothing is said.
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas", ""},
    {"void softmax_warp_forward<float, float, float, 11, false, false>(float*, float const*)", ""},
    {"volta_sgemm_128x64_nn", ""},
    {"void f<MulFunctor", ""},
    {"f<>()", ""},
    {"", ""},
    {"<unknown>", ""},
    {"_ZN2at6native18elementwise_kernelIfEEvi", ""},
};

TEST(NameVariantTest, SaysWhatTheFunctionDoesNot) {
  for (const auto& [name, variant] : kCases) EXPECT_EQ(NameVariantOf(name), variant) << name;
}

TEST(NameVariantTest, HostileNamesEnd) {
  const std::string deep = "f<" + std::string(100'000, '<') + std::string(100'000, '>') + ">()";
  EXPECT_EQ(NameVariantOf(deep), "");
  EXPECT_EQ(NameVariantOf("f<" + std::string(100'000, 'a') + "Functor>()"), "");
}

}  // namespace
}  // namespace oplens::ops::name_variant_test
