#include "ops/kernels/family_rules.h"

namespace oplens::ops {
namespace {

using enum KernelFamily;

// The first match decides, so specific names precede common words: generated code, then families
// whose names contain words of others (attention written with products, norms that quantise).
constexpr FamilyRule kFamilyRules[] = {
    // Inductor's templates: products with fused pointwise code
    {kAttention, "^_triton_tem_&flex_|^_triton_tem_&attention|^_triton_flex_|^_flex_attention"},
    {kConv, "^_triton_tem_&convolution|^_triton_convolution|^_triton_conv"},
    {kGroupedGemm, "^_triton_tem_&grouped_mm"},
    {kGemm, "^_triton_tem_|^_triton_mm|^_triton_bmm|^_triton_addmm|^_triton_scaled_mm"},
    // Inductor's other kernels, by the ops fused in them; a product named here is only an input
    {kOptimizer, "^_triton_&_fused&_adam|^_triton_&_fused&_sgd_|^_triton_&_fused&adagrad"},
    {kSoftmax, "^_triton_&_fused&softmax|^_triton_&_fused&nll_loss"},
    {kNorm,
     "^_triton_&_fused&layer_norm|^_triton_&_fused&batch_norm|^_triton_&_fused&group_norm|"
     "^_triton_&_fused&rms_norm|^_triton_&_fused&instance_norm|^_triton_&_fused&_mean_&_rsqrt_|"
     "^_triton_&_fused&_var_mean_"},
    {kSortScan,
     "^_triton_&_fused&_sort_|^_triton_&_fused&_topk_|^_triton_&_fused&_cumsum_|"
     "^_triton_&_fused&_cumprod_"},
    {kReduction, "^_triton_red_|^_triton_per_"},
    {kQuantise, "^_triton_poi_&quantize"},
    {kEmbedding,
     "^_triton_poi_&_embedding|^_triton_poi_&_gather_|^_triton_poi_&_scatter|"
     "^_triton_poi_&_index_put|^_triton_poi_&_index_select_"},
    {kRandom,
     "^_triton_poi_&_rand_|^_triton_poi_&_randn_|^_triton_poi_&_randint|^_triton_poi_&bernoulli|"
     "^_triton_poi_&inductor_seeds|^_triton_poi_&inductor_random",
     {},
     "dropout"},
    {kElementwise, "^_triton_poi_|^_triton_for_"},
    // XLA
    {kGemm, "^_gemm_fusion|^_triton_gemm|^_wrapped_dot"},
    {kSoftmax, "^_triton_softmax"},
    {kFill, "^_wrapped_broadcast_|^_wrapped_iota|^_loop_broadcast_fusion"},
    {kEmbedding, "^_wrapped_gather|^_loop_gather_fusion|^_loop_scatter|^_wrapped_scatter"},
    {kLayout,
     "^_wrapped_transpose|^_wrapped_concatenate|^_wrapped_copy|^_wrapped_slice|^_wrapped_convert|"
     "^_wrapped_pad|^_input_transpose_fusion|^_loop_transpose_fusion|^_loop_convert_fusion|"
     "^_loop_copy_fusion|^_input_concatenate|^_loop_concatenate_fusion|^_loop_slice_fusion|"
     "^_loop_dynamic_slice|^_loop_dynamic_update_slice|^_loop_pad_fusion"},
    {kReduction, "^_input_&reduce&fusion|^_loop_&reduce&fusion|^_wrapped_reduce"},
    // Other fusions, after the kinds that are named
    {kElementwise, "^_loop_&fusion|^_wrapped_|^_fusion_"},
    // nvFuser
    {kGemm, "_nvfuser_matmul"},
    {kReduction, "_nvfuser_reduction|_nvfuser_inner|_nvfuser_outer"},
    {kLayout, "_nvfuser_transpose|_nvfuser_resize"},
    {kElementwise, "_nvfuser_pointwise"},
    // TensorRT's Myelin lists what is fused, three letters per op: "__myl_CasMulMeaAddSqrDivMul"
    {kGemm, "^_myl_&_fc|^_myl_&_gemm|^_myl_&_mat_mul"},
    {kAttention, "^_myl_&_mha"},
    {kNorm, "^_myl_&_mea_&_sqr|^_myl_&norm"},
    {kSoftmax, "^_myl_&_max&_exp&_sum|^_myl_&softm"},
    {kReduction, "^_myl_&_sum_|^_myl_&_mea_|^_myl_&_red"},
    {kElementwise,
     "^_myl_&_mul_|^_myl_&_add_|^_myl_&_sub_|^_myl_&_div_|^_myl_&_exp_|^_myl_&_tan|^_myl_&_sig|"
     "^_myl_&_max|^_myl_&_min|^_myl_&_sqr|^_myl_&_erf|^_myl_&_neg_|^_myl_&_pow"},
    {kLayout,
     "^_myl_&_mov|^_myl_&_tra_|^_myl_&_cas|^_myl_&_con|^_myl_&_sli|^_myl_&_res_|^_myl_&_rep|"
     "^_myl_&_gat"},

    // Embedding tables (FBGEMM), before the optimizers and products in their names
    {kEmbedding,
     "split_embedding_|dense_embedding_codegen|_ssd_embedding|embedding_&codegen|"
     "bounds_check_indices|linearize_index|offsets_range|bucketize_sparse|_tbe_"},
    {kQuantise, "_fbgemm_gpu_&quant|_fbgemm_gpu_&_fp8|_fbgemm_gpu_&qparam"},
    {kLayout, "permute_pooled_embs|permute_1d_|permute_2d_|permute_indices|recat_"},

    // Experts: token routing, then the products
    {kRouting,
     "gating_softmax|_topk_softmax|topk_gating|_moe_topk|topk_moe|grouped_topk|biased_topk|"
     "moe_fused_gate|routing|moe_align|align_block_size|_moe_sum|moe_permute|moe_unpermute|"
     "permute_tokens|expert_token|expert_map|expert_offset|expand_input_rows|moe_finalize|"
     "finalize_moe|finalize_kernel&_moe_|finalize_matmul|_moe_dev_permute|bitmatrix|_ep_scatter|_"
     "ep_gather|"
     "compute_expert|count_expert|mm_ids_helper|token_permut|_permute_&_moe|_deep_ep_|"
     "moe_prepare|moe_weighted_reduction|expert_prefix_sum|compute_strides_tma|deepseek_v3_topk|_"
     "expt_data|expt_hist|prefix_sum_expert|build_expert|_moe_sort|moe_sorting|"
     "compute_problem_sizes|problem_sizes&expert|shuffle_rows|reduce_grouped"},
    {kElementwise, "_moe_dev_activation"},
    {kGroupedGemm,
     "grouped_gemm|group_gemm|gemm_grouped|grouped_mm|moe_gemm|fused_moe|matmul_ogs|^_bmm_e2m1|^_"
     "bmm_e4m3|^_bmm_mx|^_bmm_bfloat|^_bmm_fp|"
     "_moe_mmk|mfma_moe|_moe_sm|moe_wna16|moe_mm|_moe&gemm|_sgmv|_bgmv|marlin_moe|segment_gemm"},
    {kGroupedGemm, "_deep_gemm_", "_gemm_type_1_|_gemm_type_2_|_gemm_type_3_|m_grouped|k_grouped"},
    {kRouting, "ck_tile|_kentry_", "moe_sorting"},
    {kGroupedGemm, "cutlass|_ck_|ck_tile|_kentry_|device_kernel",
     "gemm_grouped|_group_problem_shape_|grouped_gemm|_moe_gemm"},

    // Before attention: moves or rotates keys and values
    {kElementwise, "_rope|rotary"},
    {kLayout,
     "reshape_and_cache|concat_and_cache|append_paged_kv|set_kv_buffer|set_mla_kv|store_kv|"
     "update_kv_cache|copy_blocks|swap_blocks|gather_cache|gather_paged_kv|copy_page|kv_cache_copy|"
     "cache_copy|transfer_kv"},
    {kAttention,
     "flash_fwd|flash_bwd|flash_attn|flashattn|flash_mla|fmha|attention|attn|sdpa|_mla_|_mha_|"
     "gated_delta|_chunk_scan|_chunk_state|state_passing|selective_scan|ssm_scan|_wkv|"
     "with_paged_kv_cache|with_ragged_kv_cache|prefill_with|decode_with|merge_state|"
     "prepare_varlen|flashinfer_kv_indices|kv_indices|^_fwd_kernel|^_bwd_kernel|"
     "fwd_grouped_kernel_stage|fwd_kernel_stage|_bwd_preprocess|delta_rule|_gla_|"
     "sparse_indexer|mqa_logits|_softmax_reducev"},
    {kAttention, "ck_tile|_kentry_|cutlass|device_kernel", "fmha|flash_attn|_fa3_|sdpa|_mla_"},

    {kSampling,
     "_sampling|sample_multinomial|_penalt|top_p_|_min_p_|top_k_renorm|top_k_mask|"
     "logits_process|apply_logits|gumbel|speculat|rejection|verify_tree|build_tree|beam_search|"
     "next_token|air_top|_eagle_|ngram",
     {},
     "up_sampling|down_sampling"},

    {kNorm,
     "layer_norm|layernorm|rms_norm|rmsnorm|batch_norm|batchnorm|group_norm|groupnorm|"
     "instance_norm|_bn_fw_|_bn_bw_|_bn_fwd|_bn_bwd|bn_finalize|bnorm|_ln_fwd|_ln_bwd|gamma_beta|"
     "rowwise_moments|compute_internal_gradients|compute_gradient_fused_params|"
     "compute_fused_params|compute_backward_fused_params|cu_compute_grad_input|"
     "cu_compute_part_grad|welford|weight_norm|l2_norm_f32|^_norm_f32|norm_fwd|norm_bwd|"
     "_norm_quant|normalization|qk_norm"},
    {kNorm, "ck_tile|_kentry_|cutlass|device_kernel", "rmsnorm|layernorm|rms_norm|layer_norm"},
    {kSoftmax, "softmax|soft_max|cross_entropy|log_soft"},

    // Convolutions, before the products they are made of
    {kConv,
     "winograd|fft1d_|fft2d_|im2col|col2im|im2d2_col|col2_im2d|vol2col|flip_filter|"
     "implicit_gemm|implicit_convolve|explicit_convolve|xmma_fprop|xmma_dgrad|xmma_wgrad|"
     "fprop|dgrad|wgrad|scudnn|hcudnn|icudnn|884cudnn|1688cudnn|8816cudnn|16816cudnn|16832cudnn|"
     "first_layer_|_conv_|conv1d|conv2d|conv3d|conv1x1|convolution|convolve|naive_conv|asm_conv|"
     "open_conv|deconv|_cudnn_cnn_|gcgemm|igemm_fwd|igemm_bwd|igemm_wrw|direct_group|"
     "offsets_kernel&cudnn|cask_cudnn|kern_precompute_indices|cutlass_cudnn|_ssm_conv"},
    {kConv, "cutlass|_ck_|ck_tile|_kernel", "implicit_gemm_conv|grouped_conv|_conv_fwd|_conv_bwd"},
    {kConv, "cutlass", "fprop|dgrad|wgrad"},

    // Products
    {kQuantise,
     "dequantize_block|_requant|get_qparam|quantize_mmq|quantize_q8|"
     "kernel_cutlass_kernel&quantiz"},
    {kGemm,
     "gemm|gemv|nvjet|^_cijk_|matmul|mat_mul|mul_mat|_mmq|_mmvq|_mmvf|split_kreduce|split_k_reduce|"
     "splitk|marlin|machete|allspark|exllama|scaled_mm|_w8a8_|_w8a16_|_w4a16_|_w4a8_|wv_split_k|"
     "lora_shrink|lora_expand|"
     "_mm_kernel|_bmm_|_dot_kernel|reduce_1_block|compute_gemm_pointers|"
     "compute_batched_ptrs|rnn_block|spmm|csrmm|sddmm|_gemmk1|bitlinear|_awq_&_mul|stream_k",
     {},
     "_fbgemm_gpu_"},
    {kGemm, "cutlass|_ck_|ck_tile|_kentry_|_cute_|device_kernel", "cutlass|gemm|gemv"},

    // Inference engines
    {kQuantise,
     "quantize|quantise|_quant_|_quant|dequant|scaled_fp8|_to_fp8|fp8_to|_fp8rowwise|nvfp4|mxfp|"
     "block_scale_interleave|_scale_swizzle|per_token_cast"},
    {kOptimizer,
     "_adam|adam_|_lamb_|_sgd_|adagrad|rmsprop|adadelta|novograd|_muon_|apply_momentum|"
     "apply_gradient_descent|apply_ftrl|apply_rms_prop|apply_adam|fused_optim|optimizer"},
    {kOptimizer, "multi_tensor_apply",
     "adam|_sgd|_lamb_|lamb_|adagrad|novo_grad|_lars|fused_optim|rmsprop"},
    {kReduction, "multi_tensor_apply", "l2_norm|lp_norm|l2norm|max_norm|lp_max"},
    {kLayout, "multi_tensor_apply", "_copy_functor_|_native_copy_", ""},
    {kElementwise, "multi_tensor_apply|amp_update_scale"},

    // Random numbers; dropout is elementwise
    {kElementwise, "dropout"},
    {kRandom,
     "random|curand|philox|bernoulli|distribution_|randperm|gen_sequenced|generate_seed|"
     "_rand_|_rand_state|_uniform_|hiprand|rocrand|truncated_normal"},

    // cuBLASLt's, beside a product; repeat_interleave's
    {kElementwise, "epilogue_impl"},
    {kLayout, "^_compute_cuda_kernel_"},

    // Kernels of PyTorch and others that run any functor: by the functor
    {kSortScan, "elementwise", "_nonzero_"},
    {kElementwise, "elementwise", "masked_fill|masked_scatter"},
    {kFill, "elementwise", "fill_functor|fill_kernel"},
    {kLayout, "elementwise",
     "direct_copy_kernel|copy_device_to_device|_copy_functor|bfloat16_copy_kernel|"
     "float16_copy_kernel|float8_copy_kernel|_conj_kernel|flip_kernel|roll_cuda"},
    {kEmbedding, "index_elementwise|scatter_gather_elementwise|_index_kernel|vectorized_gather"},
    {kRandom, "elementwise", "philox|_random_|bernoulli|_uniform_kernel|_normal_kernel"},
    {kElementwise, "elementwise|element_wise|pointwise"},
    {kReduction, "eigen_meta_kernel", "tensor_reduction_op|tensor_tuple_reducer"},
    {kLayout, "eigen_meta_kernel",
     "tensor_shuffling_op|tensor_padding_op|tensor_slicing_op|tensor_striding|tensor_reverse_op|"
     "tensor_concatenation_op|tensor_chipping_op|tensor_conversion_op"},
    {kRandom, "eigen_meta_kernel", "random_generator"},
    {kElementwise, "eigen_meta_kernel|map_plan"},
    {kSortScan, "_kernel_agent_|trampoline_kernel|_agent_launcher",
     "sort|_scan_agent|scan_config|scan_impl|_copy_if|_unique|partition|select|by_key|histogram|"
     "_lookback_scan|set_op"},
    {kReduction, "_kernel_agent_|trampoline_kernel|_agent_launcher", "reduce"},
    {kFill, "_kernel_agent_|thrust|_cub_|static_kernel|_bulk_",
     "_fill_functor|_uninitialized_fill"},
    {kElementwise, "_kernel_agent_|trampoline_kernel", "parallel_for|transform|for_each"},
    {kLayout, "^_cast_gpu_dt_"},
    {kFill, "^_zeros_like_gpu_dt_|^_ones_like_gpu_dt_"},
    {kElementwise, "_gpu_dt_"},

    // By index, in order
    {kSortScan,
     "sort|topk|top_k|_scan|device_select|device_compact|_compact|unique|histogram|searchsorted|"
     "bucketize|nonzero|write_indices|cumsum|cumprod|bitonic|radix|run_length|by_key|kth_value|"
     "bincount|_nms_|merge_path|_mode_kernel"},
    {kEmbedding,
     "embedding|index_select|gather|scatter|index_put|indexing_backward|index_func|index_add|"
     "index_copy|get_rows|set_rows|_lookup|hash_table|"
     "_take_|index_kernel|compute_grad_weight|krn_partials|sum_and_scatter"},
};

// Words common in anybody's kernel names.
constexpr FamilyRule kWordRules[] = {
    {kFill, "memset|fill|set_zero|_zeros_|zero_kernel|_zero_|set_value"},
    {kLayout, "token_pool"},
    {kReduction, "pool|bias_grad"},
    {kElementwise, "scale_packed_tensor|scale_tensor|bias_nhwc|bias_nchw"},
    {kLayout,
     "copy|transpos|permut|concat|_cat_|cat_array|_pad_|padding|reshape|nchw|nhwc|swap_dimension|"
     "shuffle|_split_|split_v|_cast_|convert|slice|_flip|_roll_|repeat|_pack_|_unpack_|copy_packed|"
     "packbits|reformat|reorder|"
     "unfold|_cpy_|_dup_|jagged|to_dense_representation|interleave|pad_input|"
     "req_to_token|space_to_depth|depth_to_space|_fold_|batch_to_space"},
    {kReduction,
     "reduce|reduction|argmax|argmin|_sum_|sum_rows|_mean_|loss|criterion|logsumexp|nrm2|"
     "_asum_|_cupy_sum|_cupy_min|_cupy_max|_cupy_mean|_amax|max_kernel|count_nonzero"},
    {kElementwise,
     "activation|act_and_mul|_act_|silu|gelu|relu|swiglu|swigelu|sigmoid|_tanh|_bias|bias_|"
     "_add_|_mul_|add_kernel|mul_kernel|scale_|_scale|scal_kernel|axpy|unary|binary|bin_bcast|"
     "upsample|interpolat|upscale|grid_sampl|_resize|lerp|op_tensor|op_generic_tensor|tensor_op|"
     "triu_tril|parallel_for|for_each|_transform_|_cupy_|clamp_|position|_where_|"
     "eltwise|diag_mask|_mask_|saxpy|residual|_gated_|masked|_glu_|future_token_ids"},
};

constexpr std::string_view kMovingOps[] = {
    "_to_copy",
    "_unsafe_view",
    "alias",
    "as_strided",
    "cat",
    "clone",
    "constant_pad_nd",
    "contiguous",
    "convert_element_type",
    "copy",
    "copy_",
    "detach",
    "expand",
    "flip",
    "lift_fresh_copy",
    "permute",
    "repeat",
    "reshape",
    "roll",
    "select",
    "select_scatter",
    "slice",
    "slice_scatter",
    "split",
    "split_with_sizes",
    "squeeze",
    "stack",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
};

constexpr std::string_view kFillingOps[] = {
    "fill", "full",      "full_like", "new_full", "new_ones",   "new_zeros",
    "ones", "ones_like", "zero",      "zeros",    "zeros_like",
};

}  // namespace

std::span<const FamilyRule> FamilyRules() { return kFamilyRules; }

std::span<const FamilyRule> FamilyWordRules() { return kWordRules; }

std::span<const std::string_view> MovingOps() { return kMovingOps; }

std::span<const std::string_view> FillingOps() { return kFillingOps; }

}  // namespace oplens::ops
