#include "ops/kernels/kernel_name.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::ops::kernel_name_test {
namespace {

TEST(KernelNameTest, KindsAndRoles) {
  using K = KernelKind;
  struct Row {
    const char* name;
    K kind;
    Role role;
  };
  const Row rows[] = {
      {"volta_sgemm_64x64_tn", K::kMatrix, Role::kMain},
      {"void gemv2T_kernel_val<int, float>(int)", K::kMatrix, Role::kMain},
      {"void gemmSN_TN_kernel<float, 128>(float*)", K::kMatrix, Role::kMain},
      {"void dot_kernel<float, 128, 0>(float*)", K::kMatrix, Role::kMain},
      {"nvjet_tst_128x64_64x8_2x1_v_bz_TNT", K::kMatrix, Role::kMain},
      {"void cutlass::Kernel<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(P)", K::kMatrix,
       Role::kMain},
      {"void cutlass::Kernel2<some::Traits<int> >(P)", K::kMatrix, Role::kMain},
      {"_ZN7cutlass6KernelI9SomethingE", K::kMatrix, Role::kMain},
      {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", K::kMatrix, Role::kMain},
      {"volta_scudnn_128x64_relu_small_nn_v1", K::kMatrix, Role::kMain},
      {"turing_fp16_s1688cudnn_fp16_128x64_relu", K::kMatrix, Role::kMain},
      {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, float>(P)", K::kMatrix,
       Role::kMain},
      {"void flash_fwd_kernel<Traits<64> >(P)", K::kMatrix, Role::kMain},
      {"void flash_bwd_dq_dk_dv_loop_kernel<Traits<64> >(P)", K::kMatrix, Role::kMain},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80", K::kMatrix, Role::kMain},

      {"void splitKreduce_kernel<float, 32>(P)", K::kSecondStage, Role::kReduce},
      {"void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<X> >(P)", K::kSecondStage,
       Role::kReduce},
      {"void reduce_1Block_kernel<float, 128, 7>(P)", K::kSecondStage, Role::kReduce},
      {"sm90_xmma_depthwise_convolution_wgrad_tiling_f16f16_f32f32_f32_stage2_g64_betaTrue_post_"
       "execute_kernel__5x_cudnn",
       K::kSecondStage, Role::kReduce},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_ffma_execute_split_k_kernel__5x_"
       "cublas",
       K::kSecondStage, Role::kReduce},
      {"sm80_xmma_wgrad_implicit_gemm_tf32f32_execute_split_k_kernel_cudnn_train", K::kSecondStage,
       Role::kReduce},
      {"void "
       "cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<X::implicit_gemm>(P)",
       K::kHelper, Role::kHelper},
      {"sm90_xmma_wgrad_indexed_implicit_gemm_f16f16_execute_segment_k_on_kernel__5x_cudnn",
       K::kMatrix, Role::kMain},
      {"void kernelReduceAllPass2<long, Min<long> >(int)", K::kSecondStage, Role::kReduce},
      {"void flash::flash_fwd_splitkv_combine_kernel<T>(P)", K::kSecondStage, Role::kReduce},

      {"cudnn::gemm::computeOffsetsKernel(P)", K::kHelper, Role::kHelper},
      {"cask_cudnn::computeWgradSplitKOffsetsKernel(P)", K::kHelper, Role::kHelper},
      {"compute_gemm_pointers(float2**)", K::kHelper, Role::kHelper},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4<float>(P)", K::kHelper,
       Role::kHelper},
      {"void fft2d_r2c_32x32<float>(P)", K::kHelper, Role::kHelper},
      {"void im2col4d_kernel<float, int>(P)", K::kHelper, Role::kHelper},
      {"void cudnn::cnn::kern_precompute_indices<false>(int*, int)", K::kHelper, Role::kHelper},
      {"cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel(P)", K::kHelper,
       Role::kHelper},
      {"triton_tem_fused_addmm_native_layer_norm_0", K::kMatrix, Role::kMain},
      {"void flash_bwd_dot_do_o_kernel<true>(P)", K::kHelper, Role::kHelper},
      {"void cub::DeviceRadixSortUpsweepKernel<P>(x)", K::kHelper, Role::kHelper},

      {"void cudnn::ops::nchwToNhwcKernel<float>(P)", K::kLayout, Role::kLayout},
      {"void transpose_kernel<float>(P)", K::kLayout, Role::kLayout},
      {"void cudnn::engines_precompiled::genericTranspose_kernel<float>(P)", K::kLayout,
       Role::kLayout},

      {"void at::native::elementwise_kernel<512, 1, at::native::add_kernel_cuda(X)>(int)",
       K::kPointwise, Role::kMain},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >(int)",
       K::kPointwise, Role::kMain},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)",
       K::kFill, Role::kMain},
      {"void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(X)>(int)",
       K::kCopy, Role::kMain},
      {"void at::native::unrolled_elementwise_kernel<at::native::copy_device_to_device(X)>(int)",
       K::kCopy, Role::kMain},
      {"void at::cuda::(anonymous namespace)::kernelPointwiseApply3<F, float>(P)", K::kPointwise,
       Role::kMain},
      {"void at::native::(anonymous namespace)::fused_dropout_kernel<float>(P)", K::kPointwise,
       Role::kMain},
      {"void at::native::<unnamed>::fused_dropout_kernel<float>(P)", K::kPointwise, Role::kMain},
      {"triton_poi_fused_add_0", K::kPointwise, Role::kMain},
      {"void LSTM_elementWise_fp<float>(P)", K::kPointwise, Role::kMain},

      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(P)", K::kReduction,
       Role::kMain},
      {"void kernelReduceAllPass1<long>(P)", K::kReduction, Role::kMain},
      {"triton_per_fused_sum_1", K::kReduction, Role::kMain},

      {"void (anonymous namespace)::softmax_warp_forward<float>(P)", K::kSpecial, Role::kMain},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<2>(P)", K::kSpecial,
       Role::kMain},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(P)",
       K::kSpecial, Role::kMain},
      {"void indexSelectLargeIndex<float>(P)", K::kSpecial, Role::kMain},
      {"void multi_tensor_apply_kernel<Meta<4>, Adam<float> >(P)", K::kSpecial, Role::kMain},
      {"void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(P)",
       K::kNormStatistics, Role::kMain},
      {"void at::native::(anonymous namespace)::LayerNormForwardCUDAKernel<float>(P)",
       K::kNormApply, Role::kMain},
      {"void at::native::(anonymous namespace)::ComputeInternalGradientsCUDAKernel<float>(P)",
       K::kNormGradSums, Role::kMain},
      {"void at::native::(anonymous namespace)::LayerNormBackwardCUDAKenrel<float>(P)",
       K::kNormGradInput, Role::kMain},
      {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float>(P)",
       K::kNormGradWeights, Role::kMain},

      {"void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel_helper_stage_0<Traits>(P)",
       K::kHelper, Role::kHelper},
      {"void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel<Traits>(P)", K::kMatrix,
       Role::kMain},
      {"void xmma_cudnn::gemm::split_k_kernel<Traits>(P)", K::kSecondStage, Role::kReduce},
      {"void at::cuda::detail::prepare_grouped_gemm_data<T>(P)", K::kHelper, Role::kHelper},
      {"SubTensorOpWithScalar1d", K::kHelper, Role::kHelper},
      {"SubTensorOpWithCastTensor1d", K::kHelper, Role::kHelper},
      {"batched_transpose_32x16_half", K::kLayout, Role::kLayout},
      {"void foldedNhwcToNhwcKernel<float, float, float, true, 1>(P)", K::kLayout, Role::kLayout},
      {"void cudnn::ops::convertTensor_kernel<float, float, float, 0>(P)", K::kLayout,
       Role::kLayout},
      {"void at::native::write_indices<long>(long*, TensorDims<long>, int, int)", K::kSecondStage,
       Role::kReduce},

      // Template arguments of others do not count.
      {"void mine<elementwise, softmax>(reduce_kernel*)", K::kUnknown, Role::kUnknown},
      {"saxpy(float*, float*)", K::kUnknown, Role::kUnknown},
      {"", K::kUnknown, Role::kUnknown},
      {"<", K::kUnknown, Role::kUnknown},
      {"(anonymous namespace)::", K::kUnknown, Role::kUnknown},
      {"void ", K::kUnknown, Role::kUnknown},
      {"std::enable_if<", K::kUnknown, Role::kUnknown},
      {"std::enable_if<x>::type ", K::kUnknown, Role::kUnknown},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(static_cast<int>(KernelKindOf(row.name)), static_cast<int>(row.kind)) << row.name;
    EXPECT_EQ(static_cast<int>(RoleOf(row.name)), static_cast<int>(row.role)) << row.name;
  }
}

TEST(KernelNameTest, FastConvolutions) {
  for (const char* name :
       {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
        "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(P)",
        "void fft2d_r2c_32x32<float, false, 1u, false>(P)", "void cudnn::cnn::GeneralFFT<1>(P)"}) {
    EXPECT_TRUE(IsFastConvolution(name)) << name;
  }
  EXPECT_FALSE(IsFastConvolution("volta_sgemm_64x64_nt"));
}

TEST(KernelNameTest, StridedOperands) {
  EXPECT_TRUE(ReadsStrided("void at::native::elementwise_kernel<128, 4, at::native::F>(int, P)"));
  EXPECT_TRUE(ReadsStrided("void at::native::elementwise_kernel_manual_unroll<128, 8, F>(int, P)"));
  EXPECT_FALSE(ReadsStrided("void at::native::vectorized_elementwise_kernel<4, F, P>(int, F, P)"));
  EXPECT_FALSE(ReadsStrided("void at::native::unrolled_elementwise_kernel<F, P>(int, F, P)"));
}

TEST(KernelNameTest, AnyBytes) {
  EXPECT_EQ(KernelKindOf(std::string("volta\0_sgemm_64x64", 18)), KernelKind::kMatrix);
  EXPECT_EQ(KernelKindOf("\xff\xfe gemm"), KernelKind::kMatrix);
  EXPECT_EQ(KernelKindOf(std::string(1 << 20, '(')), KernelKind::kUnknown);
  EXPECT_EQ(KernelKindOf(std::string(1 << 20, 'g')), KernelKind::kUnknown);
}

}  // namespace
}  // namespace oplens::ops::kernel_name_test
