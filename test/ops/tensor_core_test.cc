#include "ops/kernels/tensor_core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace oplens::ops::tensor_core_test {
namespace {

TEST(TensorCoreTest, MathTypes) {
  struct Row {
    const char* name;
    const char* math;
    bool half_sums = false;
  };
  const Row rows[] = {
      {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "fp16"},
      {"volta_h884gemm_128x256_ldg8_nn", "fp16", true},
      {"turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_tn", "fp16"},
      {"trt_turing_h1688gemm_128x128_ldg8_relu_tn_v1", "fp16", true},
      {"turing_fp16_i8816cudnn_int8_256x64_ldg16_relu_small_nt_v1", "int8"},
      {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_nn", "bf16"},
      {"cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align4", "tf32"},
      {"cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4", "tf32"},
      {"cutlass_80_tensorop_d884gemm_64x64_16x3_nt_align1", "fp64"},
      {"cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16", "int8"},
      {"cutlass_80_tensorop_i16864gemm_s4_256x128_128x3_tn_align32", "int4"},
      {"cutlass_80_tensorop_b168256xorgemm_b1_256x128_512x3_tn_align128", "b1"},
      {"cutlass_80_wmma_tensorop_i161616gemm_s8_128x128_32x2_tn_align4", "int8"},
      {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8", "bf16"},
      {"sm80_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize32x32x64_tensor16x8x16_trt", "fp16", true},
      {"sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize96x64x32_tensor16x8x16_kernel", "fp16"},
      {"sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwc_tensor16x8x8_kernel", "tf32"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1", "bf16"},
      {"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x64_tensor16x8x32_x", "fp8"},
      {"sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_tensor16x8x8_cublas", "fp64"},
      {"sm80_xmma_sparse_gemm_i8i8_i8i32_f32_tn_n_sptensor16x8x64_cusparse", "int8"},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x128x64", "fp16"},
      {"cutlass3x_sm90_tensorop_h64x128x16gemm_f16_f16_f16_void_f16_128x128x64", "fp16", true},
      {"cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128", "fp8"},
      {"nvjet_hsh_448x128_64x2_1x2_h_bz_bias_NNT", "fp16"},
      {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NTN", "bf16"},
      {"nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_TNT", "fp8"},
      {"nvjet_sm100_xyz_64x8_64x16_1x1_h_bz_NNT", ""},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80", "3xtf32"},
      {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "bf16"},
      {"fmha_cutlassB_f16_aligned_64x64_k64_sm70", "fp16"},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, cutlass::half_t> >(P)",
       "fp16"},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >(P)",
       "bf16"},
      {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0, 0u>", "fp8"},
      {"bmm_E2m1_E2m1E2m1_Fp32_t128x8x512", "fp4"},
      {"bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x8x128", "bf16"},
      {"triton_tem_fused__int_mm_3", "int8"},
      {"_w8a8_block_int8_matmul", "int8"},
      {"_w8a8_block_fp8_matmul", "fp8"},
      {"_int8_matmul_rowwise_dequantize", "int8"},
      {"void cutlass::device_kernel<GemmUniversal<CollectiveMma<X, signed char, "
       "cute::SM90::GMMA::MMA_64x128x32_S32S8S8_SS_TN> > >(P)",
       "int8"},
      {"void cutlass::Kernel2<X<cute::SM80_16x8x32_S32S8S8S32_TN> >(P)", "int8"},
      // References to earlier types in a mangled name, S7_ and S8_, are no int8.
      {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockIDF16bDF16bff"
       "NS5_IJLi32ELi16EEEES7_S8_Lb1EEEvT_",
       "bf16"},
      {"_ZN2ck24kernel_gemm_xdl_cshuffleINS_1XIDF16_S3_S4_S4_Lb1EEEvT_", "fp16"},
      {"_ZN7cutlass6KernelI43cutlass_80_tensorop_i16832gemm_s8_64x64_128EEvT_", "int8"},
      {"Cijk_Alik_Bljk_BBS_BH_MT128x256x32_MI16x16x1_SN", "bf16"},
      {"Cijk_Alik_Bljk_HHS_BH_MT128x256x32_MI16x16x1_SN", "fp16"},
      {"Cijk_Alik_Bljk_F8BS_BH_MT128x256x32_MI16x16x1_SN", "fp8"},
      {"Cijk_Alik_Bljk_DB_MT128x256x32_MI16x16x4x1_SN", "fp64"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1", "bf16"},
      {"igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x128x32", "fp16"},
      {"void marlin::Marlin<256, 1, 8, 8, 4, 8>(int4 const*, int4 const*, int4*)", ""},
      // Only Tensor Cores have one.
      {"maxwell_fp16_sgemm_fp16_64x64_nn", ""},
      {"volta_sgemm_128x64_nn", ""},
  };
  for (const Row& row : rows) {
    const TensorCoreVerdict verdict = TensorCoreVerdictOf(row.name);
    EXPECT_EQ(MathTypeWord(verdict.math), row.math) << row.name;
    EXPECT_EQ(verdict.half_sums, row.half_sums) << row.name;
  }
}

TEST(TensorCoreTest, TokenIsWhatTheRuleWentBy) {
  const auto token = [](const char* name) { return TensorCoreVerdictOf(name).token; };
  EXPECT_EQ(token("volta_fp16_s884gemm_fp16_128x128"), "s884gemm");
  EXPECT_EQ(token("volta_sgemm_128x64_nn"), "sgemm");
  EXPECT_EQ(token("sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_ffma_execute"), "ffma");
  EXPECT_EQ(token("void splitKreduce_kernel<float>(P)"), "splitKreduce");
  EXPECT_EQ(token("nvjet_tst_192x160"), "nvjet");
  EXPECT_EQ(token("my_kernel"), "");
  EXPECT_FALSE(TensorCoreRulesVersion().empty());
}

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
      {"sm80_xmma_wgrad_implicit_gemm_f16f16_tensor16x8x16_execute_split_k_kernel__5x_cudnn", "0",
       "N2"},
      {"void cutlass::Kernel<cutlass::ReduceSplitK<OpClassTensorOp> >(P)", "0", "N2"},
      {"void flash_fwd_splitkv_combine_kernel<Traits<64> >(P)", "0", "N3"},
      {"void cudnn::ops::nchwToNhwcKernel<__half>(P)", "0", "N4"},
      {"void xmma__5x_cudnn::init_device_workspace_kernel<tensor16x8x16>(P)", "0", "N4"},
      {"void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel_helper_stage_0<Hmma_fp16>(P)",
       "0", "N4"},
      {"void foldedNhwcToNhwcKernel<float, float, float, true, 1>(P)", "0", "N4"},
      {"SubTensorOpWithScalar1d", "0", "N4"},
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
      // Matrix Cores of AMD; products of fp32 are left open, which have such instructions too
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN", "1", "P13"},
      {"Cijk_Ailk_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN", "?", ""},
      {"Cijk_Ailk_Bljk_HHS_BH_MT64x64x8_SN_1LDSB0_TT8_8", "?", ""},
      {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "1", "P14"},
      {"igemm_fwd_gtcx3_nhwc_fp32_bx0_ex1_bt128x128x32", "?", ""},
      {"void paged_attention_ll4mi_QKV_mfma16_kernel<0>(P)", "1", "P15"},
      {"void ck::kernel_gemm_xdl_cshuffle_v3<X>(P)", "1", "P15"},
      {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40Block", "1", "P16"},
      {"aiter::fmha_fwd_hd128_bf16_rtz", "1", "P16"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "1", "P17"},
      {"_matmul_ogs_NNT_fp32xfp32xfp32_128x128x128x1", "?", ""},
      // ggml
      {"void flash_attn_ext_f16<128, 128, 16, 1, false, false>(P)", "1", "P18"},
      {"void mul_mat_vec_q<(ggml_type)2, 1, false>(P)", "0", "D6"},
      {"void mul_mat_q<(ggml_type)2, 64, false>(P)", "?", ""},
      // No product by a library's naming; a word that anybody may use says nothing of instructions
      {"triton__0d1d2de3de", "0", "F1"},
      {"void fbgemm_gpu::_compute_FP8_quantize_cuda_kernel<float>(P)", "0", "F1"},
      {"void vllm::moe::moe_align_block_size_kernel<int>(P)", "0", "F1"},
      {"triton__0d1d2d3d", "?", "U3"},
      {"my_shuffle(float*)", "?", ""},
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
}  // namespace oplens::ops::tensor_core_test
