#include "ops/kernels/name_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace oplens::ops::name_facts_test {
namespace {

struct Case {
  std::string_view name;
  std::string_view text;
};

// The facts are read off the names by hand, by how each library builds them.
constexpr Case kCases[] = {
    // nvjet: A, sums and D, or A, B, C, sums and D; tile; depth x stages; T or N of A, B, D.
    {"nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT",
     "A=bf16,B=bf16,D=bf16,tile=64x16x64,layout=tn"},
    {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", "A=fp16,B=fp16,D=fp16,tile=128x256x64,layout=nt"},
    {"nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT",
     "A=fp8,B=fp8,D=bf16,tile=128x256x128,layout=tn"},
    {"nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN",
     "A=bf16,B=bf16,D=bf16,tile=64x64x128,layout=tn"},
    {"nvjet_sm100_yst_64x16_64x16_1x1_h_bz_TNT", "D=bf16,tile=64x16x64,layout=tn"},
    // CUTLASS 2: the result's type in front where it is not that of the sums, then A's.
    {"void "
     "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>(P)",
     "A=bf16,B=bf16,D=bf16,tile=128x64x64,layout=tn"},
    {"cutlass_80_tensorop_s16816gemm_bf16_128x64_64x4_tn_align8",
     "A=bf16,B=bf16,D=fp32,tile=128x64x64,layout=tn"},
    {"cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align1",
     "A=fp32,B=fp32,D=fp32,tile=128x128x32,layout=nn"},
    {"cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1",
     "A=fp64,B=fp64,D=fp64,tile=128x64x16,layout=nn"},
    {"cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4",
     "A=fp32,B=fp32,D=fp32,tile=128x128x16,layout=nhwc"},
    {"cutlass_80_simt_sgemm_128x32_8x5_nn_align1", "A=fp32,B=fp32,D=fp32,tile=128x32x8,layout=nn"},
    {"cutlass3x_sm100_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x256x64_0_tnn_align8",
     "A=bf16,B=bf16,D=bf16,tile=128x256x64,layout=tn"},
    {"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaPipelined<"
     "cutlass::gemm::GemmShape<(int)128, (int)64, (int)8>, X>>>(P)",
     "tile=128x64x8"},
    // cuBLAS and cuDNN: the result's type, then the factors'.
    {"volta_sgemm_64x32_sliced1x4_nt", "A=fp32,B=fp32,D=fp32,tile=64x32x?,layout=nt"},
    {"volta_s884gemm_fp16_64x64_ldg8_nn", "A=fp16,B=fp16,D=fp32,tile=64x64x?,layout=nn"},
    {"volta_h884gemm_256x128_ldg8_nn", "A=fp16,B=fp16,D=fp16,tile=256x128x?,layout=nn"},
    {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_relu_f2f_stages_64x3_tn",
     "A=bf16,B=bf16,D=bf16,tile=128x256x64,layout=tn"},
    {"volta_scudnn_128x64_relu_small_nn_v1", "A=fp32,B=fp32,D=fp32,tile=128x64x?,layout=nn"},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize192x128x32_stage3_warpsize4x2x1_tensor16x8x16",
     "A=fp16,B=fp16,D=fp16,tile=192x128x32,layout=tn"},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5",
     "A=fp32,B=fp32,D=fp32,tile=64x128x32,layout=nhwc"},
    {"sm80_xmma_sparse_gemm_i8i8_i8i32_f32_tn_n_tilesize128x64x128_stage4",
     "A=int8,B=int8,D=int8,tile=128x64x128,layout=tn"},
    // Triton
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x64x256x1_swiglu",
     "A=bf16,B=mxfp4,D=bf16,tile=128x64x256,layout=nt"},
    {"_gemm_a8w8_blockscale_kernel_GROUP_K_128_GROUP_N_128_BLOCK_SIZE_M_16_BLOCK_SIZE_N_128"
     "_BLOCK_SIZE_K_64_GROUP_SIZE_M_1",
     "tile=16x128x64"},
    // TensorRT-LLM: D, A, B.
    {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_Ab32_Bb32_t128x16x256u2_s6_et128x16_m256x16x32",
     "A=mxfp4,B=mxfp8,D=bf16,tile=128x16x256"},
    {"fmhaSm100aKernel_QE4m3KvE2m1OE4m3H128PagedKvDenseP16VarSeqQ8Kv128PersistentSwapsAbForGen",
     "A=fp8,B=fp4,D=fp8,tile=8x128x?,H=128"},
    {"fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausalP64VarSeqQ128Kv128PersistentContext",
     "A=bf16,B=bf16,D=bf16,tile=128x128x?,H=64"},
    {"fmha_v2_flash_attention_bf16_64_32_S_qkv_128_causal_tma_ws_sm90_kernel",
     "A=bf16,B=bf16,tile=64x32x?,H=128"},
    // Attention
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, (int)32, (int)4, (bool)0, "
     "(bool)0, cutlass::bfloat16_t>>(P)",
     "A=bf16,B=bf16,tile=64x32x?,H=128"},
    {"fmha_cutlassF_f16_aligned_64x128_rf_sm80(P)", "A=fp16,B=fp16,tile=64x128x?"},
    // Products that were compiled for their sizes; 0 is not known before they run.
    {"void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 160u, 64u, 0u>(P)",
     "A=fp8,B=fp8,tile=128x160x64,N=4096,K=7168"},
    {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 5120u, 17408u, 1u, 64u, "
     "128u, 32u>(P)",
     "A=fp8,B=fp8,tile=64x128x32,N=5120,K=17408"},
    {"void flashinfer::trtllm_dsv3_router_gemm::router_gemm_kernel<__nv_bfloat16, float, 128, 8, "
     "16, "
     "256, 7168>(P)",
     "A=bf16,B=bf16,D=fp32,M=16,N=256,K=7168"},
    {"void fused_a_gemm_kernel<1, 2112, 7168, 16, 8, 256, 16>(P)", "N=2112,K=7168"},
    // ggml's types by number
    {"void mul_mat_q<(ggml_type)12, (int)64, (bool)0>(P)", "A=q4_K,B=q8_1,tile=?x64x?"},
    {"void mul_mat_q<(ggml_type)39, 128, false>(P)", "A=mxfp4,B=q8_1,tile=?x128x?"},
    {"void mul_mat_vec_q<(ggml_type)2, 1, false>(P)", "A=q4_0,B=q8_1"},
    {"void mul_mat_vec_q<(ggml_type)4000, 1, false>(P)", ""},
    // Routing: the experts of the model, not those that a token is sent to
    {"void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, int>(P)", "experts=128"},
    {"void vllm::moe::topkGating<(int)8, (int)256, (int)4, (int)16, 32, int, X>(P)", "experts=256"},
    {"void vllm::moe::topkGatingSoftmax<4>(P)", ""},
    // ROCm
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN",
     "A=bf16,B=bf16,tile=128x256x32,layout=tn"},
    {"Cijk_Ailk_Bjlk_SB_MT64x16x8_SN_1LDSB0", "A=fp32,B=fp32,tile=64x16x8,layout=nt"},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32_wt32x32x8",
     "A=bf16,B=bf16,tile=128x64x32,layout=nhwc"},
    // Names that tell nothing
    {"void at::native::vectorized_elementwise_kernel<4, X>(P)", ""},
    {"triton_poi_fused_add_0", ""},
    {"", ""},
};

TEST(NameFactsTest, OfEachLibrary) {
  for (const Case& c : kCases) EXPECT_EQ(NameFactsOf(c.name).Text(), c.text) << c.name;
}

TEST(NameFactsTest, WhoseTermsTheTileIsIn) {
  using Order = NameFacts::Order;
  const auto order = [](std::string_view name) { return NameFactsOf(name).order; };
  EXPECT_EQ(order("nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT"), Order::kBlas);
  EXPECT_EQ(order("volta_sgemm_64x32_sliced1x4_nt"), Order::kBlas);
  EXPECT_EQ(order("Cijk_Ailk_Bjlk_SB_MT64x16x8_SN_1LDSB0"), Order::kBlas);
  EXPECT_EQ(order("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x64x256x1_swiglu"), Order::kRows);
  EXPECT_EQ(order("void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 160u, 64u, 0u>(P)"),
            Order::kRows);
  EXPECT_EQ(order("void cutlass::Kernel<cutlass::gemm::kernel::Gemm<"
                  "cutlass::gemm::GemmShape<(int)128, (int)64, (int)8>, X>>(P)"),
            Order::kUnknown);
  EXPECT_EQ(order("triton_poi_fused_add_0"), Order::kUnknown);
}

TEST(NameFactsTest, NumbersThatFitNothing) {
  EXPECT_EQ(NameFactsOf("volta_sgemm_99999999999999999999x64_nn").Text(),
            "A=fp32,B=fp32,D=fp32,tile=?x64x?,layout=nn");
  EXPECT_TRUE(NameFactsOf(std::string(1 << 20, 'x')).empty());
  EXPECT_TRUE(NameFactsOf("\xff\xfe nvjet_").empty());
}

}  // namespace
}  // namespace oplens::ops::name_facts_test
