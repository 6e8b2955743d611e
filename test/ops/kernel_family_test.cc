#include "ops/kernels/kernel_family.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernels/family_rules.h"
#include "ops/kernels/function_name.h"

namespace oplens::ops::kernel_family_test {
namespace {

using enum KernelFamily;

struct Case {
  KernelFamily family;
  std::string_view name;
};

// Names as profilers write them; the long ones are cut behind what decides.
constexpr Case kCases[] = {
    {kOther, "void clover::par_ranged2d_kernel<accelerate_kernel(int)::{lambda()#1}>(P)"},
    {kOther, "kernel"},
    {kOther, "main_69_gpu"},
    {kGemm,
     "void mul_mat_q<(ggml_type)12, 128, false>(char const*, int const*, int const*,"
     " float*)"},
    {kGemm,
     "void mul_mat_vec_q<(ggml_type)2, 1, false>(void const*, void const*, int const"
     "*, float*)"},
    {kGemm,
     "void mul_mat_vec_f<__half, __half, 1, 128>(__half const*, float const*, int co"
     "nst*, float*)"},
    {kGemm,
     "void mul_mat_f<__half2, 32, 8, 4, false>(__half2 const*, float const*, int con"
     "st*, float*)"},
    {kGemm, "void k_compute_batched_ptrs<float>(__half const*, __half const*, char*)"},
    {kGemm,
     "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 5120u, 17408"
     "u, 1u, 128u, 128u, 128u, (deep_gemm::GemmType)0>(float*)"},
    {kGemm,
     "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlas"
     "s::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm:"
     ":collective::CollectiveMma<X>>>>(Params)"},
    {kGemm,
     "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3"
     "_tn_align8>(Params)"},
    {kGemm,
     "void marlin::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8, false, 4, "
     "8, false>(int4 const*)"},
    {kGemm, "_lora_shrink_kernel"},
    {kGemm, "_bmm_chunk_fwd_kernel"},
    {kGemm,
     "sm80_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize32x32x64_stage6_warpsize2x2x1_te"
     "nsor16x8x16_execute_kernel_trt"},
    {kGemm, "Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0"},
    {kGemm,
     "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tens"
     "or_layout::gemm::RowMajor>>(P)"},
    {kGemm, "gemm_fusion_dot_12"},
    {kGemm, "triton_tem_fused_addmm_relu_3"},
    {kGemm, "triton_mm"},
    {kGemm, "triton__0d1d2d"},
    {kGemm,
     "void flashinfer::trtllm_dsv3_router_gemm::router_gemm_kernel<__nv_bfloat16, fl"
     "oat, 128, 8, 16, 256, 7168>(P)"},
    {kGemm,
     "kernel_cutlass_kernel_flashinfergemmkernelsdense_blockscaled_gemm_sm100Sm100Bl"
     "ockScaledPersistentDenseGemmKernel_object_at"},
    {kGemm, "void w4a16_sm90_kernel<Trait<2112, 7168>, true>(CUtensorMap, Params)"},
    {kGemm, "_gemm_a8w8_blockscale_kernel_GROUP_K_128_GROUP_N_128_BLOCK_SIZE_M_128"},
    {kGemm, "void mul_mat_q_stream_k_fixup<(ggml_type)8, (int)16, (bool)0>(P)"},
    {kGroupedGemm,
     "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 5120u, 17408"
     "u, 8u, 128u, 128u, 128u, (deep_gemm::GemmType)1>(float*)"},
    {kGroupedGemm,
     "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm"
     "::GroupProblemShape<cute::tuple<int, int, int>>, X>>(Params)"},
    {kGroupedGemm, "fused_moe_kernel"},
    {kGroupedGemm, "fused_moe_kernel_gptq_awq"},
    {kGroupedGemm,
     "void marlin_moe_wna16::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8, "
     "false, 4, 8, false>(int4 const*)"},
    {kGroupedGemm,
     "bmm_E4m3_E4m3E4m3_Fp32_Bfloat16_bA32_bB32_t128x8x128u2_s6_et64x8_m64x8x32_rM_T"
     "N_transOut_noShflA_dsFp8_schPd2x1x2x3_swiGlu_ldgsts_dynBatch_sm100f"},
    {kGroupedGemm, "void ck_tile::kentry<1, ck_tile::GroupedGemmKernel<X>>(P)"},
    {kGroupedGemm,
     "void fused_moe::run_global<fused_moe::Fused_Moe_Kernel_sm80<cutlass::bfloat16_"
     "t, 32, 128, 64, 4> >(P)"},
    {kGroupedGemm,
     "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalINS1_17GroupProblemSh"
     "apeIN4cute5tupleIJlllEEEEENS1_10collective13CollectiveMmaINS1_39MainloopSm90Ar"
     "rayTmaGmmaWarpSpecializedILi12E"},
    {kGroupedGemm, "void w4a16_moe_sm90_kernel<Trait<32>>(Params)"},
    {kGroupedGemm, "mfma_moe1_silu_mul_afp8_wfp4_fp8_t128x256x256_pm1_fp8q_sort_async_gui_v32"},
    {kConv,
     "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_12"
     "8x128_16x4_nhwc_align4>(Params)"},
    {kConv,
     "void causal_conv1d_fwd_kernel<Causal_conv1d_fwd_kernel_traits<128, 4, true, c1"
     "0::BFloat16>>(ConvParamsBase)"},
    {kConv, "trt_volta_h884cudnn_256x128_ldg8_relu_exp_small_nhwc_tn_v1"},
    {kConv,
     "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x128x"
     "32_stage4_execute_kernel_trt"},
    {kConv, "miopenGcnAsmConv1x1U"},
    {kConv, "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1"},
    {kConv, "naive_conv_ab_nonpacked_fwd_nchw_float_double_float"},
    {kConv, "gridwise_convolution_implicit_gemm_v4r1_nchw_kcyx_nkhw_lds_double_buffer"},
    {kConv, "triton_tem_fused_convolution_3"},
    {kAttention,
     "void flash_attn_ext_f16<128, 128, 16, 1, false, false>(char const*, char const"
     "*)"},
    {kAttention,
     "void flash_attn_vec_ext_f32<128, 1, (ggml_type)1, (ggml_type)1, false>(char co"
     "nst*)"},
    {kAttention, "void flash_attn_combine_results<128>(float const*, float2 const*, float*, int)"},
    {kAttention, "void flash_attn_stream_k_fixup<128, 8, 2>(float*, float2 const*, int)"},
    {kAttention,
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMod"
     "e)0, 2u, 4u, 8u>(flashinfer::BatchDecodeParams)"},
    {kAttention,
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<("
     "flashinfer::MaskMode)1, 64u>>(flashinfer::PagedParams)"},
    {kAttention,
     "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, __"
     "nv_bfloat16>(__nv_bfloat16*)"},
    {kAttention,
     "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnBwdSm90<flash::"
     "CollectiveMainloopBwdSm90<2, 2>>>>(Params)"},
    {kAttention,
     "void flash::flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, "
     "64, 8>>(Flash_fwd_mla_params)"},
    {kAttention, "get_mla_metadata_kernel(Mla_metadata_params)"},
    {kAttention, "_fwd_grouped_kernel_stage1"},
    {kAttention, "_fwd_kernel_stage2"},
    {kAttention, "kernel_unified_attention_3d"},
    {kAttention, "_attn_fwd"},
    {kAttention, "void vllm::merge_attn_states_kernel<__nv_bfloat16, 128u>(__nv_bfloat16*)"},
    {kAttention, "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"},
    {kAttention,
     "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ128Kv128Persis"
     "tentContext"},
    {kAttention, "fmha_v2_flash_attention_bf16_64_128_S_qkv_128_causal_tma_ws_sm90_kernel"},
    {kAttention,
     "void tensorrt_llm::kernels::mmha::masked_multihead_attention_kernel<unsigned s"
     "hort, unsigned short, 64u>(P)"},
    {kAttention, "_gemm_mha_v2_0x5ee3a2a0d7a8b9f0"},
    {kAttention, "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<X>>(P)"},
    {kAttention, "triton_tem_fused_flex_attention_0"},
    {kAttention, "kernel_mha"},
    {kAttention, "_sparse_attn_decode_partial_kernel"},
    {kAttention, "void gated_delta_net_tiled_cuda<128, 8, 8, 16, false>(float const*)"},
    {kNorm, "void rms_norm_f32<1024, true, false>(float const*, float*, int, long)"},
    {kNorm, "void norm_f32<1024>(float const*, float*, int, long)"},
    {kNorm,
     "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*"
     ", __nv_bfloat16*)"},
    {kNorm,
     "void vllm::rms_norm_static_fp8_quant_kernel<c10::BFloat16, c10::Float8_e4m3fn>"
     "(P)"},
    {kNorm,
     "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::"
     "type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"},
    {kNorm, "_layer_norm_fwd_1pass_kernel"},
    {kNorm, "void tensorrt_llm::kernels::generalRmsNorm<__nv_bfloat16, signed char>(P)"},
    {kNorm, "void ck_tile::kentry<256, 2, ck_tile::Rmsnorm2dFwd<X>>(P)"},
    {kNorm, "MIOpenBatchNormFwdTrainSpatial"},
    {kNorm, "triton_red_fused_native_layer_norm_native_layer_norm_backward_1"},
    {kNorm, "void transformer_engine::normalization::ln_fwd_tuned_kernel<X>(P)"},
    {kNorm,
     "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_"
     "PT_PfS4_S4_S4_diiiiiiib"},
    {kNorm, "__myl_ResTraResResTraAddAddMaxMinCasMeaSubMulMeaAddSqrDivMulCasMulAdd_0x7f"},
    {kNorm, "kernel_cutlass_kernel_flashinfernormkernelsfused_add_rmsnorm"},
    {kSoftmax, "void soft_max_f32<true, 0, 0, float>(float const*, float const*, float*)"},
    {kSoftmax, "triton_softmax_3"},
    {kSoftmax, "triton_per_fused__softmax_backward_data_2"},
    {kSoftmax, "void scaled_masked_softmax_warp_forward<__half, __half, float, 10>(P)"},
    {kElementwise,
     "void k_bin_bcast<&(op_add(float, float)), float, float, float>(float const*, f"
     "loat const*, float*)"},
    {kElementwise, "void rope_neox<true, false, float, float>(float const*, float*, int)"},
    {kElementwise,
     "void unary_gated_op_kernel<&op_silu, float>(float const*, float const*, float*"
     ", long)"},
    {kElementwise, "void scale_f32(float const*, float*, float, float, long)"},
    {kElementwise,
     "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, 128u, 8u, 16u"
     ", __nv_bfloat16, long>(__nv_bfloat16*)"},
    {kElementwise,
     "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>"
     ", true>(c10::BFloat16*)"},
    {kElementwise,
     "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__nv_bfloat16, __nv_b"
     "float16, 128>(P)"},
    {kElementwise, "__myl_AddMulSigMul_0x1b2c"},
    {kElementwise, "generatedNativePointwise"},
    {kElementwise,
     "void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::detail::tr"
     "ansform_kernel_config, X>(P)"},
    {kElementwise,
     "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::P"
     "arallelForAgent<thrust::cuda_cub::__transform::unary_transform_f<X>>>(P)"},
    {kElementwise, "AddV2_GPU_DT_FLOAT_DT_FLOAT_kernel"},
    {kElementwise,
     "void tensorflow::BiasNHWCKernel<float>(int, float const*, float const*, float*"
     ", int)"},
    {kElementwise, "void tensorflow::functor::DropoutKernel<float>(P)"},
    {kElementwise,
     "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssi"
     "gnOp<X, Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_product_op<float, f"
     "loat>, Y>>>>(P)"},
    {kElementwise, "loop_add_multiply_fusion"},
    {kElementwise, "wrapped_add"},
    {kElementwise, "triton_poi_fused_cat_clone_gelu_3"},
    {kElementwise, "triton_poi_fused_native_dropout_rand_2"},
    {kElementwise, "triton_poi_fused_2"},
    {kElementwise, "triton__0d1d2d3de"},
    {kElementwise,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
     "(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace"
     ")::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(P)"},
    {kElementwise, "transformer_engine::fused_rope_forward_kernel"},
    {kElementwise,
     "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<float>(P)"},
    {kElementwise,
     "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous names"
     "pace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#"
     "1}>(P)"},
    {kElementwise,
     "void moe::dev::activation::activationDeepSeekKernel<moe::dev::activation::Kern"
     "elParams<cutlass::float_e4m3_t, 4, true> >(P)"},
    {kElementwise, "fusion_105"},
    {kReduction, "void reduce_rows_f32<true>(float const*, float*, int)"},
    {kReduction, "mloPoolingG"},
    {kReduction,
     "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__reduce::ReduceA"
     "gent<int*, X>>(P)"},
    {kReduction, "void cub::DeviceReduceSingleTileKernel<cub::DeviceReducePolicy<int>>(P)"},
    {kReduction,
     "void tensorflow::BiasGradNHWC_SharedAtomics<float>(int, float const*, float*, "
     "int)"},
    {kReduction, "void tensorflow::functor::RowReduceKernel<float const*, float*, cub::Max>(P)"},
    {kReduction, "input_reduce_fusion"},
    {kReduction, "triton_red_fused_sum_4"},
    {kReduction, "triton__0d1d2de3de"},
    {kReduction,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
     "(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace"
     ")::LpNormFunctor<float, (at::native::NormType)1>>(P)"},
    {kReduction, "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(P)"},
    {kReduction, "input_fusion_reduce_43"},
    {kLayout,
     "void cpy_flt<&(void cpy_1_flt<float, __half>(char const*, char*))>(char const*"
     ", char*, int)"},
    {kLayout,
     "void flashinfer::AppendPagedKVCacheKernel<128u, 16u, __half, int>(flashinfer::"
     "paged_kv_t<__half, int>)"},
    {kLayout,
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm:"
     ":Fp8KVCacheDataType)0>(P)"},
    {kLayout,
     "void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp"
     "8KVCacheDataType)0>(P)"},
    {kLayout, "write_req_to_token_pool_triton"},
    {kLayout, "set_mla_kv_buffer_kernel"},
    {kLayout,
     "void genericReformat::copyPackedKernel<float, __half, true, true, genericRefor"
     "mat::IdentityCoordinateMapper<4>>(P)"},
    {kLayout, "void cuInt8::nchwTonhwc<float, 32, 32, 2>(P)"},
    {kLayout, "permutationKernelPLC3"},
    {kLayout, "batched_transpose_32x32_half"},
    {kLayout, "Cast_GPU_DT_FLOAT_DT_HALF_kernel"},
    {kLayout,
     "void tensorflow::functor::ShuffleInTensor3Simple<float, 2, 1, 0, false>(int, f"
     "loat const*, tensorflow::functor::Dimension<3>, float*)"},
    {kLayout,
     "void tensorflow::(anonymous namespace)::concat_variable_kernel<float, int, tru"
     "e>(P)"},
    {kLayout,
     "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssi"
     "gnOp<X, Eigen::TensorConversionOp<float, Y>>>>(P)"},
    {kLayout,
     "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssi"
     "gnOp<X, Eigen::TensorSlicingOp<Y>>>>(P)"},
    {kLayout, "input_transpose_fusion"},
    {kLayout, "triton_poi_fused_cat_clone_t_view_3"},
    {kLayout, "triton_poi_fused__to_copy_0"},
    {kLayout,
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned in"
     "t, 2, 128, 1>(P)"},
    {kLayout,
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast"
     "<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>("
     "P)"},
    {kLayout, "__myl_Move_0x12"},
    {kEmbedding, "void k_get_rows_float<float, float>(float const*, int const*, float*)"},
    {kEmbedding, "void k_set_rows<float, long, __half>(float const*, long const*, __half*)"},
    {kEmbedding, "void tensorflow::GatherOpKernel<float, int, true>(P)"},
    {kEmbedding, "triton_poi_fused_embedding_2"},
    {kEmbedding, "void at::native::(anonymous namespace)::compute_grad_weight<float, long>(P)"},
    {kEmbedding,
     "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel"
     "<X>>(P)"},
    {kSortScan, "void k_argsort_f32_i32<(ggml_sort_order)1>(float const*, int*, int, int)"},
    {kAttention, "_chunk_scan_fwd_kernel"},
    {kAttention,
     "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<64, 16, 1, tru"
     "e>>(SSMParamsBase)"},
    {kSortScan,
     "void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::detail::ra"
     "dix_sort_onesweep_config, X>(P)"},
    {kSortScan,
     "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__merge_sort::Blo"
     "ckSortAgent<int*, X>>(P)"},
    {kSortScan, "void cub::DeviceSegmentedRadixSortKernel<X>(P)"},
    {kSortScan, "void cub::DeviceScanKernel<X>(P)"},
    {kSortScan, "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(P)"},
    {kRandom, "void tensorflow::functor::FillPhiloxRandomKernelLaunch<X>(P)"},
    {kOptimizer, "void tensorflow::functor::ApplyAdamKernel<float>(P)"},
    {kOptimizer,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
     "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anony"
     "mous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, fals"
     "e>>(P)"},
    {kOptimizer,
     "void multi_tensor_apply_kernel<TensorListMetadata<4>, LAMBStage1Functor<float>"
     ">(P)"},
    {kQuantise, "quantize_q8_1(float const*, void*, long, long, long)"},
    {kQuantise, "void quantize_mmq_q8_1<(mmq_q8_1_ds_layout)1>(float const*, int const*, void*)"},
    {kQuantise, "void dequantize_block_q4_K<__half>(void const*, __half*)"},
    {kQuantise,
     "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<c10::BFloat16, c1"
     "0::Float8_e4m3fn>(P)"},
    {kQuantise,
     "void vllm::cvt_fp16_to_fp4_quantize<__nv_bfloat16, false>(int, int, __nv_bfloa"
     "t16 const*)"},
    {kQuantise, "_per_token_group_quant_fp8"},
    {kQuantise,
     "void per_token_group_quant_8bit_kernel<__nv_bfloat16, c10::Float8_e4m3fn, fals"
     "e>(P)"},
    {kQuantise, "void transformer_engine::(anonymous namespace)::cast_mxfp8_2d_kernel<X>(P)"},
    {kQuantise,
     "kernel_cutlass_kernel_flashinferquantizationkernelsnvfp4_quantizeNVFP4Quantize"
     "SwizzledKernel_object_at__tensorptrbf16"},
    {kRouting, "void topk_moe_cuda<128, true, false>(float const*, float*, int*, int, int)"},
    {kRouting, "void mm_ids_helper<8>(int const*, int*, int*, int*, int, int, int)"},
    {kRouting,
     "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*, int*, int*,"
     " int*, bool*)"},
    {kRouting,
     "void vllm::moe::topkGatingSoftmax<8, 256, 4, 16, 32, int>(float const*, bool c"
     "onst*, float*, int, int*)"},
    {kRouting,
     "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*,"
     " int, int, int)"},
    {kRouting,
     "void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16"
     " const*, int)"},
    {kRouting,
     "void vllm::moe::grouped_topk_fused_kernel<float, float, int>(float*, float*, i"
     "nt*)"},
    {kRouting, "void moe_fused_gate_kernel_dynamic<bfloat16_t>(void*, void*, float*)"},
    {kRouting, "_ep_scatter_1"},
    {kRouting,
     "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<__nv_bfl"
     "oat16>(P)"},
    {kRouting,
     "void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<__nv_bfloat"
     "16>(P)"},
    {kRouting, "void ck_tile::kentry<256, 2, ck_tile::MoeSortingKernel<X>>(P)"},
    {kRouting,
     "void tensorrt_llm::kernels::cutlass_kernels::fusedBuildExpertMapsSortFirstToke"
     "nKernel<32, 8, 8>(P)"},
    {kRouting,
     "void tensorrt_llm::kernels::cutlass_kernels::computeStridesTmaWarpSpecializedK"
     "ernel<__nv_bfloat16>(P)"},
    {kRouting,
     "void tensorrt_llm::kernels::customMoeRoutingKernel<__nv_bfloat16, float, int, "
     "128, 8, false>(P)"},
    {kRouting, "void aiter::mxfp4_moe_sort_kernel<256, 32, 32, 32>(unsigned char*)"},
    {kSampling,
     "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockSc"
     "anAlgorithm)2, float, int>(float*, int*)"},
    {kSampling, "void flashinfer::sampling::TopPRenormProbKernel<1024u, float>(float*, float*)"},
    {kSampling, "void vllm::apply_repetition_penalties_kernel<c10::BFloat16>(c10::BFloat16*)"},
    {kSampling, "eagle_prepare_next_token_padded_kernel"},
    {kSampling, "rejection_greedy_sample_kernel"},
    {kSampling, "void tensorrt_llm::kernels::batchApplyPenalty<__half>(__half const* const*)"},
    {kSampling, "void tensorrt_llm::kernels::airTopPSampling<float>(P)"},
    {kSampling, "void at::native::(anonymous namespace)::sampleMultinomialOnce<float, float>(P)"},
    {kCollective, "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*, long*)"},
    {kCollective,
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, vllm:"
     ":RankSignals)"},
    {kCollective,
     "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport"
     "<(tensorrt_llm::kernels::ar_fusion::AllReduceFusionPattern)1>(P)"},
    {kCollective, "void tensorrt_llm::kernels::moe_alltoall::moeA2ADispatchKernel<P>(P)"},
    {kCollective, "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"},
    {kCollective,
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamp"
     "ort<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloa"
     "t16, 8, false, false>(P)"},
    {kP2p, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"},
    {kFill,
     "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::P"
     "arallelForAgent<thrust::cuda_cub::__uninitialized_fill::functor<X>>>(P)"},
    {kFill,
     "void cub::CUB_200200_800_NS::detail::for_each::static_kernel<X, long, thrust::"
     "cuda_cub::__uninitialized_fill::functor<X>>(P)"},
    {kFill, "triton_poi_fused_zeros_like_1"},
    {kFill,
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<floa"
     "t>, std::array<char*, 1ul> >(P)"},
};

TEST(KernelFamilyTest, ByName) {
  std::set<KernelFamily> seen;
  for (const Case& c : kCases) {
    EXPECT_EQ(KernelFamilyWord(KernelFamilyOf(c.name).family), KernelFamilyWord(c.family))
        << c.name;
    seen.insert(c.family);
  }
  EXPECT_EQ(seen.size(), size_t{kKernelFamilyCount}) << "a family has no case";
}

TEST(KernelFamilyTest, WordsDiffer) {
  std::set<std::string_view> words;
  for (int i = 0; i < kKernelFamilyCount; ++i) {
    words.insert(KernelFamilyWord(static_cast<KernelFamily>(i)));
  }
  EXPECT_EQ(words.size(), size_t{kKernelFamilyCount});
  EXPECT_EQ(words.count(""), 0u);
}

// Inductor's kernels of a time when they had no names: only their arguments tell them apart, and
// whether the blocks are a line.
TEST(KernelFamilyTest, UnnamedKernelsOfInductor) {
  const auto of = [](std::string_view name, int64_t rows) {
    return std::string(KernelFamilyWord(KernelFamilyOf(name).Of(rows)));
  };
  EXPECT_EQ(of("triton__0d1d2d3d", 1), "gemm");
  EXPECT_EQ(of("triton__0d1d2d", 14), "gemm") << "a batch is in y";
  EXPECT_EQ(of("triton__0d1d2d3de", 1), "elementwise");
  EXPECT_EQ(of("triton__0d1d2de3de", 1), "reduction");
  EXPECT_EQ(of("triton__0d1d2de3de", 64), "elementwise") << "reductions have no rows of blocks";
  EXPECT_EQ(of("triton__0d1d2de3", 1), "reduction") << "a number that 16 does not divide";
  EXPECT_EQ(of("triton__0d1dx", 1), "other") << "no such mark";
  EXPECT_EQ(of("triton__", 1), "other");
}

TEST(KernelFamilyTest, TakesAnything) {
  EXPECT_EQ(KernelFamilyOf("").family, kOther);
  EXPECT_EQ(KernelFamilyOf("_Z").family, kOther);
  EXPECT_EQ(KernelFamilyOf("_ZN99999999999999999999a").family, kOther);
  EXPECT_EQ(KernelFamilyOf(std::string(1 << 20, '<')).family, kOther);
  EXPECT_EQ(KernelFamilyOf("\xff\xfe<(").family, kOther);
}

// What is spelled otherwise could match no name.
TEST(FamilyRulesTest, WordsAreAsNamesAreWritten) {
  std::vector<FamilyRule> rules(FamilyRules().begin(), FamilyRules().end());
  rules.insert(rules.end(), FamilyWordRules().begin(), FamilyWordRules().end());
  for (const FamilyRule& rule : rules) {
    EXPECT_FALSE(rule.function.empty() && rule.anywhere.empty());
    for (const std::string_view words : {rule.function, rule.anywhere, rule.unless}) {
      for (const char c : words) {
        const bool is_known = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                              c == '|' || c == '&' || c == '^';
        EXPECT_TRUE(is_known) << words;
      }
      EXPECT_EQ(words.find("||"), words.npos) << words;
      EXPECT_EQ(words.find("__"), words.npos) << words;
      EXPECT_FALSE(words.ends_with('|') || words.starts_with('|')) << words;
    }
  }
}

TEST(FamilyRulesTest, NamesOfOpsAreSorted) {
  for (const auto names : {MovingOps(), FillingOps()}) {
    for (size_t i = 1; i < names.size(); ++i) EXPECT_LT(names[i - 1], names[i]);
  }
}

TEST(FunctionNameTest, WithoutTypesAndArguments) {
  EXPECT_EQ(FunctionOf("void a::(anonymous namespace)::b<int>(int*)"), "a::_::b");
  EXPECT_EQ(FunctionOf("nvjet_tst_64x8"), "nvjet_tst_64x8");
  EXPECT_EQ(FunctionOf("std::enable_if<((8)>(0)), void>::type x::norm<1>(P)"), "x::norm");
  EXPECT_EQ(FunctionOf("_Z17gemv2T_kernel_valIiEvT_"), "gemv2T_kernel_val");
  EXPECT_EQ(FunctionOf("_ZN5aiter9norm_kernIDF16bEEvPT_cut"), "aiter::norm_kern");
  EXPECT_EQ(FunctionOf("_Zebra"), "_Zebra") << "no mangled name";
}

TEST(FunctionNameTest, Words) {
  EXPECT_EQ(AsWords("ns::LayerNormForwardCUDAKernel"), "_ns_layer_norm_forward_cuda_kernel_");
  EXPECT_EQ(AsWords("permute_2D_data"), "_permute_2d_data_");
  EXPECT_EQ(AsWords("fmhaSm100aKernel"), "_fmha_sm100a_kernel_");
  EXPECT_EQ(AsWords("triton__0d1d"), "_triton_0d1d_");
  EXPECT_EQ(AsWords(""), "_");
}

}  // namespace
}  // namespace oplens::ops::kernel_family_test
