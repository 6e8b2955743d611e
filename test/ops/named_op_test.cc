#include "ops/kernels/named_op.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "ops/kernels/named_op_rules.h"

namespace oplens::ops::named_op_test {
namespace {

struct Case {
  std::string_view op;
  Confidence confidence;
  std::string_view name;
};

NamedOp Of(std::string_view name, int64_t rows = 1) {
  return NamedOpOf(name, KernelFamilyOf(name), rows);
}

constexpr Confidence kHigh = Confidence::kHigh;
constexpr Confidence kMedium = Confidence::kMedium;
constexpr Confidence kLow = Confidence::kLow;

// Names as profilers write them; the long ones are cut behind what decides.
constexpr Case kCases[] = {
    // Functors of PyTorch's general kernels, of several versions
    {"add", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::CUDAFunctor_add<c10::BFloat16>, "
     "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
     "3ul>)"},
    {"add", kHigh,
     "void at::native::elementwise_kernel<512, 1, "
     "at::native::gpu_kernel_impl<at::native::add_kernel"
     "_cuda(at::TensorIterator&, c10::Scalar)::{lambda()#1}::operator()() "
     "const::{lambda()#8}>(X)>"},
    {"mul", kHigh,
     "void at::native::elementwise_kernel<128, 2, "
     "at::native::gpu_kernel_impl<at::native::BUnaryFunct"
     "or<float, float, float, at::native::binary_internal::MulFunctor<float> > "
     ">(at::TensorIteratorBa"
     "se&, X)::{lambda(int)#1}>(int, X)"},
    {"div", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
     "float,"
     " at::native::binary_internal::DivFunctor<float> >, at::detail::Array<char*, 3> >(int, X)"},
    {"threshold_backward", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
     "float,"
     " at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, "
     "float)"
     "::{lambda(float, float)#1}>, at::detail::Array<char*, 3> >(int, X)"},
    {"gelu", kHigh,
     "void at::native::vectorized_elementwise_kernel<8, "
     "at::native::GeluCUDAKernelImpl(at::TensorItera"
     "torBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}>(int, X)"},
    {"pow", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
     "namespace)::pow_tensor_"
     "scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}>(int, "
     "X)"},
    {"sigmoid_backward", kHigh,
     "void at::native::elementwise_kernel<128, 2, "
     "at::native::gpu_kernel_impl<at::native::sigmoid_back"
     "ward_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}>(X)>(int, X)"},
    {"clamp", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
     "namespace)::launch_clam"
     "p_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar)::{lambda()#1}>(int, X)"},
    {"mse_loss_backward", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::mse_backward_cuda_kernel(at::Tenso"
     "rIterator&, c10::Scalar const&)::{lambda()#1}>(int, X)"},
    {"eq", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, "
     "bool, at"
     "::native::CompareEqFunctor<long> >, at::detail::Array<char*, 2> >(int, X)"},
    // Which comparison is decided at run time
    {"comparison", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::compare_scalar_kernel<float>(at::T"
     "ensorIteratorBase&, at::native::OpType, float)::{lambda(float)#1}>(int, X)"},
    {"copy_", kHigh,
     "void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direc"
     "t_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(X)>(int, X)"},
    {"fill_", kHigh,
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
     "at::detail::Ar"
     "ray<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)"},
    {"arange", kHigh,
     "void (anonymous namespace)::elementwise_kernel_with_index<int, "
     "at::native::arange_cuda_out(c10::"
     "Scalar const&, X)::{lambda(long)#1}>(int, X)"},
    {"sum", kHigh,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::func_wrapper_t<fl"
     "oat, at::native::sum_functor<float, float, float>::operator()(X)> > >(X)"},
    {"mean", kHigh,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::MeanOps<float, fl"
     "oat, float, float>, unsigned int, float, 4> >(X)"},
    {"uniform_", kHigh,
     "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4, at"
     "::native::templates::cuda::uniform_and_transform<float, float, 4ul>(X)>(int, X)"},
    {"_fused_adamw_", kHigh,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespa"
     "ce)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
     "namespace)::FusedAdamMathFuncto"
     "r<float, 4, (at::native::(anonymous namespace)::ADAM_MODE)1, false, adamw> >(X)"},
    {"_foreach_mul_", kHigh,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespa"
     "ce)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, "
     "1, 1"
     ", 0>, std::multiplies<float>, float>(X)"},
    {"scatter_add_", kHigh,
     "void at::native::_scatter_gather_elementwise_kernel<128, 4, "
     "at::native::_cuda_scatter_gather_int"
     "ernal_kernel<true, float>::operator()<at::native::ReduceAdd>(X)>(int, X)"},
    {"log_softmax", kHigh,
     "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, "
     "false>(float*, f"
     "loat const*, int, int, int, bool const*, int, bool)"},
    {"softmax", kHigh,
     "void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, float, 7, false, "
     "false>(X)"},
    // Generated code lists what is fused in it
    {"triton_red_fused_add_mean_pow_rsqrt_0", kHigh, "triton_red_fused_add_mean_pow_rsqrt_0"},
    {"triton_tem_fused_addmm_relu_3", kHigh, "triton_tem_fused_addmm_relu_3"},
    // Before the names: only what they are like
    {"elementwise", kLow, "triton__0d1d2d3de"},
    {"mm", kLow, "triton__0d1d2d"},
    // Libraries
    {"mm", kMedium, "ampere_sgemm_128x64_tn"},
    {"mm", kMedium, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT"},
    {"mm", kMedium, "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0"},
    {"convolution", kMedium,
     "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4"},
    {"convolution_backward", kHigh,
     "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x32x32_stage4"},
    {"cudnn_batch_norm_backward", kHigh,
     "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, X)"},
    {"batch_norm", kHigh, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true>(X)"},
    {"layer_norm", kHigh,
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, X)"},
    {"native_layer_norm_backward", kHigh,
     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, float>(X)"},
    {"fused_add_rms_norm", kHigh,
     "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, X)"},
    {"rms_norm", kHigh, "void flashinfer::norm::RMSNormKernel<8, __nv_bfloat16>(X)"},
    {"_flash_attention_forward", kHigh,
     "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<32, 128, "
     "128>>(X)"},
    {"_efficient_attention_forward", kHigh,
     "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<X>::"
     "Params)"},
    {"rotary_embedding", kHigh,
     "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
    {"silu_and_mul", kHigh,
     "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>(X)"},
    {"cat", kHigh,
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<float, unsigned "
     "int"
     ", 2, 128, 1>(X)"},
    {"index_select", kHigh,
     "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, "
     "2, -"
     "2, true>(X)"},
    {"max_pool2d_with_indices", kHigh,
     "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float "
     "const*)"},
    {"all_reduce", kHigh,
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"send_recv", kHigh, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"},
    {"grouped_mm", kMedium, "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1"},
    {"attention_metadata", kHigh, "create_flashinfer_kv_indices_triton"},
    {"scaled_dot_product_attention", kMedium,
     "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, 128, 256>(X)"},
    {"moe_routing", kHigh, "_combined_routing_compute"},
    {"sort", kMedium, "void cub::DeviceRadixSortHistogramKernel<cub::X>(X)"},
    {"reduce_by_key", kMedium, "void cub::DeviceReduceByKeyKernel<cub::X>(X)"},
    {"rms_norm", kHigh,
     "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_"},
    {"fused_add_rms_norm", kHigh,
     "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_"},
    {"", Confidence::kUnknown, "(anonymous namespace)::nvfuser_none_f0_c0_r0_g0(X)"},
    // Mangled, and those that no demangler knows
    {"silu_and_mul", kHigh,
     "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_"
     "S5_E"
     "EEEvPS3_PS4_i"},
    // A user's, by a common word only
    {"axpy", kLow, "saxpy(int, float, float*, float*)"},
    {"fill_", kLow, "set_zero(float*, int)"},
    // Nothing
    {"", Confidence::kUnknown, "main_69_gpu"},
    {"", Confidence::kUnknown, "kernel"},
    {"", Confidence::kUnknown, ""},
};

TEST(NamedOpTest, RealNames) {
  for (const Case& one : kCases) {
    const NamedOp named = Of(one.name);
    EXPECT_EQ(named.op, one.op) << one.name;
    EXPECT_EQ(static_cast<int>(named.confidence), static_cast<int>(one.confidence)) << one.name;
  }
}

TEST(NamedOpTest, SeveralRowsOfBlocksMakeAnUnnamedReductionElementwise) {
  constexpr std::string_view kName = "triton__0d1d2d3d4de5de";
  EXPECT_EQ(Of(kName, 1).op, "reduction");
  EXPECT_EQ(Of(kName, 7).op, "elementwise");
}

TEST(NamedOpTest, EveryFamilyHasAnOp) {
  std::set<KernelFamily> general;
  for (const NamedOpRule& rule : NamedOpRules()) {
    EXPECT_FALSE(rule.op.empty());
    EXPECT_FALSE(general.contains(rule.family)) << "after the last rule of its family: " << rule.op;
    if (rule.function.empty() && rule.anywhere.empty()) general.insert(rule.family);
  }
  EXPECT_EQ(general.size(), static_cast<size_t>(kKernelFamilyCount) - 1);  // All but kOther.
  for (const NamedOpRule& rule : FunctorRules()) {
    EXPECT_FALSE(rule.op.empty());
    EXPECT_FALSE(rule.function.empty() && rule.anywhere.empty()) << rule.op;
  }
}

TEST(NamedOpTest, HostileNames) {
  const std::string deep = "void at::native::elementwise_kernel<" + std::string(50000, '<');
  const std::string iterators = [] {
    std::string text = "void at::native::elementwise_kernel<4, ";
    for (int i = 0; i < 5000; ++i) text += ">(at::TensorIterator";
    return text;
  }();
  const std::string zero("mm\0(at::TensorIterator&)", 24);
  for (const std::string& name :
       {deep, iterators, zero, std::string("(at::TensorIterator"), std::string("_Z"),
        std::string("\xff\xfe<(at::TensorIteratorBase&)>"), std::string(1 << 20, 'a'),
        std::string("softmax_warp_forward<"), std::string("softmax_warp_forward<a, b, c, d, ")}) {
    EXPECT_LT(Of(name).op.size(), 100u) << name.substr(0, 60);
  }
  // What a compiler fused may be long: it is the kernel's own name.
  const std::string fused = "triton_poi_fused_" + std::string(5000, 'x');
  EXPECT_EQ(Of(fused).op, fused);
}

}  // namespace
}  // namespace oplens::ops::named_op_test
