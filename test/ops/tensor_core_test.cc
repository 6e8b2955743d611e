#include "ops/tensor_core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace oplens::ops {
namespace {

TEST(TensorCoreTest, NamesThatMislead) {
  struct Row {
    const char* name;
    const char* word;
    const char* rule;
  };
  const Row rows[] = {
      // xmma and CUTLASS kernels for CUDA cores
      {"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_ffma_execute_cublas", "0",
       "N5"},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_ffma", "0", "N5"},
      {"void cutlass::Kernel<cutlass_80_simt_sgemm_64x128_8x5_tt_align1>(P)", "0", "N5"},
      {"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_32x64x16", "0", "N5"},
      {"sm50_xmma_pooling_fw_4d_FP16_Max", "0", "N5"},
      {"sm50_xmma_cublas_gemvx_f16f16_f32_f32_tt_n", "0", "N5"},
      {"sm80_xmma_depthwise_convolution_f16f16_nhwc", "0", "N5"},
      // The instruction is in the name, in the template argument, in a mangled name
      {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwc_tilesize64x64x32_tensor16x8x16_cudnn",
       "1", "P3"},
      {"sm80_xmma_sparse_gemm_i8i8_i8i32_f32_tn_n_sptensor16x8x64_cusparse", "1", "P3"},
      {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_64x32_64x2_tn_align8", "1", "P1"},
      {"void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_64x64_32x6_tn_align4>(P)", "1",
       "P1"},
      {"_ZN7cutlass6KernelINS_4gemm15OpClassTensorOpE", "1", "P4"},
      {"void cutlass::Kernel", "?", "U3"},
      // FFMA, DFMA, HFMA2, DP4A whatever the GPU
      {"ampere_sgemm_64x128_tt", "0", "N6"},
      {"volta_sgemm_32x64_sliced1x4_nt", "0", "N6"},
      {"ampere_dgemm_64x64_nn", "0", "N6"},
      {"maxwell_fp16_sgemm_fp16_64x64_nn", "0", "N6"},
      {"maxwell_hcudnn_128x64_relu", "0", "N6"},
      {"volta_sgemm_int8_64x64_nt", "0", "N6"},
      {"trt_volta_int8x4_icudnn_int8x4_64x64_relu", "0", "N6"},
      {"void magma_sgemmEx_kernel<float, float, float, true>(int)", "0", "D3"},
      // fp64 and fp32 by Tensor Cores
      {"cutlass_80_tensorop_d884gemm_64x64_16x3_nt_align1", "1", "P1"},
      {"sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_tensor16x8x8_cublas", "1", "P3"},
      {"fmha_cutlassF_f32_aligned_64x128_rf_sm80", "1", "P8"},
      {"fmha_cutlassF_f32_aligned_64x128_rf_sm70", "0", "N8"},
      {"fmha_cutlassF_f16_aligned_64x128_rf_sm50", "0", "N8"},
      {"fmha_cutlassB_f16_aligned_128x64_k64_sm75", "1", "P8"},
      // Accessories of ops that use them
      {"void splitKreduce_kernel<float, 16, int>(P)", "0", "N2"},
      {"void cutlass::Kernel<cutlass::ReduceSplitK<OpClassTensorOp> >(P)", "0", "N2"},
      {"void flash_fwd_splitkv_combine_kernel<Traits<64> >(P)", "0", "N3"},
      {"void cudnn::ops::nchwToNhwcKernel<__half>(P)", "0", "N4"},
      {"ncclDevKernel_AllGather_RING_LL(args)", "0", "N1"},
      // Digits and letters inside other words
      {"f16816a9be0hmmac", "?", ""},
      {"plan_216884gemm", "?", ""},
      {"my_commadmmall_kernel(int)", "?", ""},
      {"void k<416816>(P)", "?", ""},
      // Newer libraries
      {"nvjet_tst_64x64_64x10_2x1_v_bz_NNT", "1", "P6"},
      {"my_nvjet_like", "?", ""},
      {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<X> >(P)", "1", "P8"},
      {"cudnn_generated_fort_native_sdpa_sm90_knob_3", "1", "P8"},
      {"void deep_gemm::fp8_m_grouped_gemm<1u>(P)", "1", "P9"},
      {"void marlin::Marlin<256, 1, 8>(int4 const*)", "1", "P10"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_warpgroupsize1x1x1_cublas", "1", "P7"},
      {"cutlass3x_sm90_s64x128x16gemm_f16", "1", "P2"},
      {"void RNN_blockPersist_fp_GRU_HMMA(P)", "1", "P5"},
      {"bmm_E4m3_E4m3E4m3_Fp32_t128x8x64", "1", "P11"},
      {"void at::native::tinygemm_m16n8k16_chunk_kernel<X>(P)", "1", "P12"},
      // Names that leave it open, and what their types settle
      {"void conv2d_c1_k1_nhwc_kernel<__half, float>(P)", "?", "U2"},
      {"void conv2d_c1_k1_nhwc_kernel<float, float>(P)", "0", "U1"},
      {"void RNN_blockPersist_fp_LSTM<float, float>(P)", "0", "U1"},
      {"void RNN_blockPersist_fp_LSTM<__half, float>(P)", "?", "U2"},
      {"triton_tem_fused_mm_3", "?", "U3"},
      {"triton_poi_fused_add_3", "0", "N7"},
      {"saxpy(float*)", "?", ""},
      {"", "?", ""},
      // By library
      {"void at::native::elementwise_kernel<512, 1, F>(int)", "0", "D1"},
      {"void at::native::vectorized_elementwise_kernel<4, CompareEq<c10::Half> >(int)", "0", "D1"},
      {"void indexSelectSmallIndex<float>(P)", "0", "D2"},
      {"void (anonymous namespace)::softmax_warp_forward<float>(P)", "0", "D2"},
      {"void gemv2N_kernel<int, int, __half>(P)", "0", "D3"},
  };
  for (const Row& row : rows) {
    const TensorCoreVerdict verdict = TensorCoreVerdictOf(row.name);
    EXPECT_EQ(TensorCoreWord(verdict.use), row.word) << row.name << " by " << verdict.rule;
    EXPECT_EQ(verdict.rule, row.rule) << row.name;
    EXPECT_EQ(TensorCoreUseOf(row.name), verdict.use);
  }
}

TEST(TensorCoreTest, AnyBytes) {
  EXPECT_EQ(TensorCoreUseOf(std::string("volta_\0_s884gemm_", 17)), TensorCoreUse::kYes);
  EXPECT_EQ(TensorCoreUseOf("\xff\xfe_s16816gemm_\xc3"), TensorCoreUse::kYes);
  EXPECT_EQ(TensorCoreUseOf(std::string(1 << 20, '_')), TensorCoreUse::kUnknown);
  EXPECT_EQ(TensorCoreUseOf(std::string(1 << 20, 'g') + "gemm_"), TensorCoreUse::kUnknown);
  EXPECT_EQ(TensorCoreUseOf("x\n_s16816gemm_"), TensorCoreUse::kYes);
}

}  // namespace
}  // namespace oplens::ops
