#include "nvtx_annotate/vocabulary/torch_schema.h"

#include <algorithm>
#include <array>

namespace oplens {
namespace {

constexpr std::string_view kTorch = "torch";
constexpr std::string_view kTensor = "Tensor";
constexpr std::string_view kFunctional = "torch.nn.functional";

// The out= argument of an operator is the last in its schema.
constexpr TorchSchema kSchemas[] = {
    // Matrix products
    {"linear", kFunctional, "", "_ _ _"},
    {"mm bmm mv dot vdot matmul outer ger linalg_matmul", kTorch, "", "_ _ out"},
    {"addmm addmv baddbmm addbmm addr", kTorch, "", "_ _ _ beta alpha out"},
    {"_addmm_activation", "aten", "", "_ _ _ beta alpha use_gelu! out"},
    {"inner kron", kTorch, "", "_ _ out"},
    {"tensordot", kTorch, "", "_ _ _!! _!! out"},
    {"chain_matmul linalg_multi_dot", kTorch, "", "@ out"},
    {"bilinear", kFunctional, "", "_ _ _ _"},
    {"linear_backward mkldnn_linear_backward", "aten", "", "_ _ _ _!"},
    {"einsum", kTorch, "", "_! @ -"},
    {"_scaled_mm", kTorch, "", "_ _ scale_a scale_b bias scale_result dtype -"},
    {"_scaled_mm_v2", kTorch, "", "_ _ @ _! _! @ _! _! bias dtype -"},
    {"_weight_int4pack_mm", kTorch, "", "_ _ _ _"},
    {"_weight_int4pack_mm_with_scales_and_zeros", kTorch, "", "_ _ _ _ _"},
    {"_weight_int8pack_mm", kTorch, "", "_ _ _"},
    {"_cslt_sparse_mm", kTorch, "", "_ _ _ _ dtype -"},
    {"_sparse_semi_structured_linear", kTorch, "", "_ _ _ bias - dtype"},
    {"_sparse_semi_structured_mm", kTorch, "", "_ _ _ dtype"},
    {"_sparse_semi_structured_addmm", kTorch, "", "_ _ _ _ alpha! beta! dtype"},
    {"_int_mm", kTorch, "", "_ _ out"},
    {"_grouped_mm", kTorch, "", "_ _ offs bias dtype"},
    {"_scaled_grouped_mm", kTorch, "", "_ _ scale_a scale_b offs bias scale_result dtype -"},
    // Elementwise functions
    {"add sub rsub subtract", kTorch, "", "_ _!! alpha out"},
    {"div divide true_divide", kTorch, "", "_ _!! rounding_mode out", 4},
    {"div divide true_divide", kTorch, "", "_ _!! out"},
    {"mul multiply floor_divide remainder fmod maximum minimum fmax fmin eq ne lt le gt ge "
     "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
     "bitwise_right_shift atan2 logaddexp __and__ __or__ __xor__",
     kTorch, "", "_ _!! out"},
    {"pow", kTorch, "", "_ _ out"},
    {"logaddexp2 copysign", kTorch, "", "_ _ out"},
    {"sgn isposinf isneginf signbit", kTorch, "", "_ out"},
    {"nan_to_num", kTorch, "", "_ - - - out"},
    {"mvlgamma", kTorch, "", "_ _ out"},
    {"clamp_min clamp_max", kTorch, "", "_ _! out"},
    {"clamp clip", kTorch, "", "_ _ _ out"},
    {"where", kTorch, "", "_ _ _ out"},
    {"masked_fill", kTorch, "", "_ _ _!"},
    {"lerp", kTorch, "", "_ _ _! out"},
    {"addcmul addcdiv", kTorch, "", "_ _ _ value out"},
    {"reciprocal neg negative positive abs absolute sign floor ceil trunc frac square isnan isinf "
     "isfinite logical_not bitwise_not sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan "
     "asin acos atan sinh cosh tanh asinh acosh atanh sigmoid erf erfc erfinv digamma lgamma relu "
     "selu celu",
     kTorch, "", "_ out"},
    {"round", kTorch, "", "_ decimals out"},
    {"relu6 silu mish hardswish hardsigmoid log_sigmoid logsigmoid softsign tanhshrink",
     kFunctional, "", "_ out"},
    {"gelu", kFunctional, "", "_ approximate out"},
    {"hardtanh threshold softplus", kFunctional, "", "_ _ _ out"},
    {"leaky_relu hardshrink softshrink glu", kFunctional, "", "_ _ out"},
    {"elu", kFunctional, "", "_ _ _ _ out"},
    {"rrelu", kFunctional, "", "_ _ _ training"},
    {"prelu _prelu_kernel", kFunctional, "prelu", "_ _"},
    // The same for lists of tensors
    {"_foreach_add _foreach_sub", kTorch, "", "@ @ alpha"},
    {"_foreach_mul _foreach_div _foreach_pow _foreach_maximum _foreach_minimum "
     "_foreach_clamp_max _foreach_clamp_min",
     kTorch, "", "@ @"},
    {"_foreach_addcmul _foreach_addcdiv", kTorch, "", "@ @ @ value"},
    {"_foreach_lerp", kTorch, "", "@ @ @"},
    {"_foreach_norm", kTorch, "", "@ _! dtype"},
    {"_foreach_copy", kTorch, "", "@ @ -"},
    // Optimizers
    {"_fused_adam _fused_adamw", kTorch, "",
     "@ @ @ @ @ @ lr beta1 beta2 weight_decay eps amsgrad -"},
    {"_fused_sgd", kTorch, "", "@ @ @ weight_decay momentum lr dampening nesterov -"},
    {"_fused_adagrad", kTorch, "", "@ @ @ @ lr lr_decay weight_decay eps -"},
    {"_amp_foreach_non_finite_check_and_unscale", kTorch, "", "@ _ _"},
    {"_amp_update_scale", kTorch, "", "_ _ _ -"},
    // Networks
    {"softmax _safe_softmax", kFunctional, "softmax", "_ _! dtype"},
    {"_softmax", kFunctional, "softmax", "_ _! half_to_float out"},
    {"log_softmax", kFunctional, "", "_ _! dtype"},
    {"_log_softmax", kFunctional, "log_softmax", "_ _! half_to_float out"},
    {"layer_norm native_layer_norm", kFunctional, "layer_norm", "_ shape~2 _ _ eps -"},
    {"rms_norm _fused_rms_norm", kFunctional, "rms_norm", "_ shape~2 _ eps"},
    {"dropout native_dropout", kFunctional, "dropout", "_ _ _"},
    {"_fused_dropout", kFunctional, "dropout", "_ p -"},
    {"alpha_dropout feature_dropout feature_alpha_dropout", kFunctional, "", "_ _ _"},
    {"embedding_bag _embedding_bag _embedding_bag_forward_only", kTorch, "embedding_bag",
     "_ _ _ _ _ _! _ _! -"},
    {"_embedding_bag_backward", "aten", "", "_ _ _ _ _ _ _! _ _ _! _ _"},
    {"_embedding_bag_dense_backward", "aten", "", "_ _ _ _ _ _! _ _ _ _"},
    {"pad", kFunctional, "", "_ _! _ _"},
    {"constant_pad_nd", "aten", "", "_ _! _"},
    {"one_hot", kFunctional, "", "_ _!"},
    {"repeat_interleave", kTorch, "", "_ _! _! output_size"},
    {"meshgrid", kTorch, "", "@ -"},
    {"tril_indices triu_indices", kTorch, "", "_! _! _! dtype -"},
    {"diag", kTorch, "", "_ _! out"},
    {"diag_embed", kTorch, "", "_ _! _! _!"},
    {"embedding", kFunctional, "", "weight input padding_idx scale_grad_by_freq sparse"},
    // Convolutions
    {"conv1d conv2d conv3d", kFunctional, "", "_ _ _ _! _!! _! _!"},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", kFunctional, "", "_ _ _ _! _! _! _! _!"},
    {"convolution convolution_overrideable", "aten", "", "_ _ _ _! _! _! _! _! _!"},
    {"_convolution", "aten", "", "_ _ _ _! _! _! _! _! _! -"},
    {"_convolution_mode", "aten", "", "_ _ _ _! _!! _! _!"},
    {"cudnn_convolution", "aten", "", "_ _ _! _! _! _! -"},
    {"cudnn_convolution_transpose", "aten", "", "_ _ _! _! _! _! _! -"},
    {"cudnn_convolution_relu miopen_convolution_relu", "aten", "", "_ _ _ _! _! _! _!"},
    {"miopen_convolution miopen_depthwise_convolution mkldnn_convolution", "aten", "",
     "_ _ _ _! _! _! _! -"},
    {"miopen_convolution_transpose", "aten", "", "_ _ _ _! _! _! _! _! -"},
    {"thnn_conv2d thnn_conv2d_forward _slow_conv2d_forward slow_conv3d slow_conv3d_forward", "aten",
     "", "_ _ _ _ _! _! -"},
    {"slow_conv_dilated2d slow_conv_dilated3d thnn_conv_depthwise2d thnn_conv_depthwise2d_forward "
     "_conv_depthwise2d conv_depthwise3d",
     "aten", "", "_ _ _ _ _! _! _! -"},
    {"slow_conv_transpose2d slow_conv_transpose3d", "aten", "", "_ _ _ _ _! _! _! _! -"},
    {"_native_batch_norm_legit", kTorch, "batch_norm", "_ _ _ _! _ _", 6},
    {"batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm _batch_norm_impl_index "
     "_native_batch_norm_legit _native_batch_norm_legit_functional",
     kTorch, "batch_norm", "_ _ _ _ _ _! _ _ -"},
    {"instance_norm", kTorch, "", "_ _ _ _ _ _! _ _ -"},
    {"group_norm", kTorch, "", "_ _! _ _ _ -"},
    {"native_group_norm", kTorch, "group_norm", "_ weight bias - - - num_groups! eps"},
    // Pooling
    {"max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices "
     "max_pool3d_with_indices",
     kFunctional, "", "_ _! _! _! _! _! out out"},
    {"avg_pool1d avg_pool2d avg_pool3d", kFunctional, "", "_ _! _! _! _! _ _ out"},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
     "adaptive_max_pool2d adaptive_max_pool3d",
     kFunctional, "", "_ _! out out"},
    {"_adaptive_avg_pool2d _adaptive_avg_pool3d", "aten", "", "_ _! out"},
    {"pixel_shuffle pixel_unshuffle cosine_similarity normalize", kFunctional, "", ""},
    {"hinge_embedding_loss multi_margin_loss soft_margin_loss", kFunctional, "", ""},
    // Attention
    {"scaled_dot_product_attention", kFunctional, "", "_ _ _ _ - is_causal! - enable_gqa!"},
    {"_scaled_dot_product_flash_attention", "aten", "", "_ _ _ - is_causal! - -"},
    {"_scaled_dot_product_efficient_attention", "aten", "",
     "_ _ _ _ compute_log_sumexp! - is_causal! -"},
    {"_scaled_dot_product_cudnn_attention", "aten", "",
     "_ _ _ _ compute_log_sumexp! - is_causal! - -"},
    {"_scaled_dot_product_fused_attention_overrideable", "aten", "", "_ _ _ _ - is_causal! - -"},
    {"_scaled_dot_product_flash_attention_for_cpu", "aten", "", "_ _ _ - is_causal! attn_mask -"},
    {"_scaled_dot_product_attention_math", "aten", "", "_ _ _ _ - is_causal! - - enable_gqa!"},
    {"_flash_attention_forward", "aten", "",
     "_ _ _ _ _ _ _ - is_causal! - - window_size_left window_size_right seqused_k - -"},
    {"_efficient_attention_forward", "aten", "",
     "_ _ _ _ _ _ _ _ - custom_mask_type! compute_log_sumexp! - seqlen_k local_size"},
    // Gradients
    {"_scaled_dot_product_flash_attention_backward", "aten", "",
     "_ _ _ _ - - - - - - - is_causal! - - -"},
    {"_scaled_dot_product_efficient_attention_backward", "aten", "",
     "_ _ _ _ _ - - - - - - is_causal! -"},
    {"_scaled_dot_product_cudnn_attention_backward", "aten", "",
     "_ _ _ _ - - - - attn_mask - - - - - is_causal! -"},
    {"_scaled_dot_product_fused_attention_overrideable_backward", "aten", "",
     "_ _ _ _ _ - - - - - - - - is_causal! - - -"},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", "aten", "",
     "_ _ _ _ - - - is_causal! attn_mask -"},
    {"_flash_attention_backward", "aten", "",
     "_ _ _ _ - - cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - is_causal! - - - "
     "window_size_left window_size_right -"},
    {"_efficient_attention_backward", "aten", "",
     "_ _ _ _ _ - cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - - - - "
     "custom_mask_type! "
     "- - - local_size -"},
    // Sampled images
    {"upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
     "_upsample_nearest_exact2d _upsample_nearest_exact3d",
     "aten", "", "_ _! _! _! _!"},
    {"upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d", "aten", "",
     "_ _! - _! _! _!"},
    {"grid_sampler grid_sampler_2d grid_sampler_3d", kFunctional, "grid_sample", "_ _ _! -"},
    {"cudnn_grid_sampler", kFunctional, "grid_sample", "_ _"},
    {"affine_grid_generator", kFunctional, "affine_grid", "_ _! -"},
    {"im2col", "aten", "", "_ _! _! _! _! out"},
    {"col2im", "aten", "", "_ _! _! _! _! _! out"},
    // Fourier transforms
    {"fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 "
     "fft_irfft2 fft_hfft2 fft_ihfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn "
     "fft_ihfftn",
     kTorch, "", "_ _! _! - out"},
    {"_fft_c2c _fft_r2c _fft_c2r", "aten", "", "_ _! _! _! out"},
    // Without the argument "center", nothing is padded.
    {"stft", "aten", "", "_ _! _! _! _ - onesided! return_complex -", 8},
    {"stft", "aten", "", "_ _! _! _! _ - onesided! return_complex -", 9},
    {"stft", kTorch, "", "_ _! _! _! _ center! - - onesided! return_complex -"},
    // Gradients
    {"avg_pool2d_backward avg_pool3d_backward", "aten", "", "_ _ _! _! _! _! _ _"},
    {"max_pool2d_with_indices_backward max_pool3d_with_indices_backward", "aten", "",
     "_ _ _! _! _! _! _! _"},
    {"upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward "
     "upsample_linear1d_backward upsample_bilinear2d_backward upsample_trilinear3d_backward "
     "upsample_bicubic2d_backward _upsample_nearest_exact1d_backward "
     "_upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward",
     "aten", "", "_ _! _! -"},
    {"convolution_backward", "aten", "", "_ _ _ _! _! _! _! _! _! _! _!"},
    {"cudnn_convolution_backward_input cudnn_convolution_backward_weight "
     "miopen_convolution_backward_input miopen_convolution_backward_weight "
     "miopen_depthwise_convolution_backward_input miopen_depthwise_convolution_backward_weight "
     "mkldnn_convolution_backward_input mkldnn_convolution_backward_weights",
     "aten", "", "_! _ _ _! _! _! _! -"},
    {"cudnn_convolution_transpose_backward miopen_convolution_transpose_backward", "aten", "",
     "_ _ _ _! _! _! _! _! _! _! _! _!"},
    {"cudnn_convolution_transpose_backward_weight miopen_convolution_transpose_backward_weight",
     "aten", "", "_! _ _ _! _! _! _! -"},
    {"cudnn_convolution_backward miopen_convolution_backward "
     "miopen_depthwise_convolution_backward mkldnn_convolution_backward "
     "convolution_backward_overrideable thnn_conv2d_backward _slow_conv2d_backward "
     "slow_conv3d_backward slow_conv_dilated2d_backward slow_conv_dilated3d_backward "
     "slow_conv_transpose2d_backward slow_conv_transpose3d_backward "
     "thnn_conv_depthwise2d_backward _conv_depthwise2d_backward conv_depthwise3d_backward",
     "aten", "", "_ _ _ _! _! _! _! _! _! _! _!"},
    {"mse_loss l1_loss smooth_l1_loss huber_loss kl_div", kFunctional, "", "_ _ reduction! - -"},
    {"binary_cross_entropy", kFunctional, "", "_ _ weight reduction! out"},
    {"binary_cross_entropy_with_logits", kFunctional, "", "_ _ weight pos_weight reduction!"},
    {"nll_loss nll_loss_nd nll_loss2d nll_loss_forward nll_loss2d_forward", kFunctional, "nll_loss",
     "_ _ weight reduction! - out out"},
    {"cross_entropy_loss", kFunctional, "cross_entropy",
     "_ _ weight reduction! - label_smoothing!"},
    {"cosine_embedding_loss margin_ranking_loss", kFunctional, "", "_ _ _ margin reduction!"},
    {"triplet_margin_loss", kFunctional, "", "_ _ _ margin p eps swap! reduction!"},
    {"ctc_loss", kFunctional, "", "_ _ _ _ _ reduction! -"},
    // Gradients
    {"native_batch_norm_backward batch_norm_backward", "aten", "", "_ _ _ _ _ _ _ _! _ _ _"},
    {"_batch_norm_impl_index_backward", "aten", "", "_ _ _ _ _ _ _ _ _! _ _ _"},
    {"value_selecting_reduction_backward", "aten", "", "_ _ _ _! _"},
    {"gather_backward", "aten", "", "_ _ _! _ _"},
    {"nll_loss_backward nll_loss2d_backward", "aten", "", "_ _ _ _ - - -"},
    {"native_group_norm_backward", "aten", "", "_ _ _ _ _ _ _ _ _ _"},
    {"native_layer_norm_backward", "aten", "", "_ _ shape~5 _ _ _ _ _"},
    {"_fused_rms_norm_backward", "aten", "", "_ _ shape~4 _ _ _"},
    {"gelu_backward", "aten", "", "_ _ approximate"},
    // Reductions
    {"sum mean prod nansum", kTorch, "", "_ dtype", 2},
    {"sum mean prod nansum", kTorch, "", "_ dim! keepdim dtype out"},
    {"amax amin aminmax logsumexp argmax argmin", kTorch, "", "_ dim! keepdim out"},
    {"max min any all", kTorch, "", "_ _! keepdim out out"},
    {"count_nonzero", kTorch, "", "_ dim!"},
    {"cumsum cumprod", kTorch, "", "_ dim! dtype out"},
    {"cummax cummin", kTorch, "", "_ dim! out out"},
    {"var std var_mean std_mean", kTorch, "", "_ _!", 2},
    {"var std var_mean std_mean", kTorch, "", "_ dim! correction keepdim out"},
    {"norm linalg_vector_norm linalg_norm", kTorch, "", "_ _! dim! keepdim dtype out"},
    {"equal", kTorch, "", "_ _"},
    // Layout and copies
    {"cat concat concatenate", kTorch, "", "@ _! out"},
    {"stack", kTorch, "", "@ _! out"},
    {"clone", kTorch, "", "_ -"},
    {"contiguous pin_memory", kTensor, "", "_ -"},
    {"copy", kTensor, "", "_ _ -"},
    {"_to_copy", kTensor, "to", "_ dtype~ -"},
    {"to", kTensor, "", "_ dtype -", 5},
    {"to", kTensor, "", "_ - dtype~ -", 6},
    {"to", kTensor, "", "_ dtype~ -"},
    {"type_as", kTensor, "", "_ _"},
    {"slice", kTorch, "", "_ _! _! _! _!"},
    {"select", kTorch, "", "_ _! _!"},
    {"narrow", kTorch, "", "_ _! _! _!"},
    {"diagonal", kTorch, "", "_ _! _! _!"},
    {"as_strided", kTorch, "", "_ _! _! _"},
    {"unfold", kTensor, "", "_ _! _! _!"},
    {"expand", kTensor, "", "_ _! -"},
    {"repeat expand_as view view_as reshape reshape_as permute t detach", kTensor, "", ""},
    {"flip fliplr flipud roll rot90 tile transpose squeeze unsqueeze split "
     "chunk unbind flatten",
     kTorch, "", ""},
    {"index_select", kTorch, "", "_ _! _ out"},
    {"gather", kTorch, "", "_ _! _ - out"},
    {"take", kTorch, "", "_ _ out"},
    {"take_along_dim", kTorch, "", "_ _ _! out"},
    {"index _unsafe_index", "aten", "", "@ _! _! _! _! _! _! _! _!"},
    {"masked_select", kTorch, "", "_ _ out"},
    {"nonzero argwhere", kTorch, "", "_ out"},
    {"scatter", kTorch, "", "_ _! _ _! reduce!"},
    {"scatter_add", kTorch, "", "_ _! _ _ out"},
    {"scatter_reduce", kTorch, "", "_ _! _ _ - -"},
    {"index_add", kTorch, "", "_ _! _ _ alpha! out"},
    {"index_copy", kTorch, "", "_ _! _ _ out"},
    {"index_fill", kTorch, "", "_ _! _ _!"},
    {"index_reduce", kTorch, "", "_ _! _ _ - -"},
    {"index_put _index_put_impl _unsafe_index_put", "aten", "", "@ _! _! _! _! _! _! _! _! _!"},
    {"put", kTensor, "", "_ _ _ _!"},
    {"masked_scatter", kTensor, "", "_ _ _"},
    {"topk", kTorch, "", "_ _! _! - - out out"},
    {"sort", kTorch, "", "_ - _! - out out", 4},
    {"sort argsort", kTorch, "", "_ _! - - out out"},
    {"msort", kTorch, "", "_ out"},
    {"kthvalue", kTorch, "", "_ _! _! - out out"},
    {"median nanmedian", kTorch, "", "_ _! - out out"},
    {"mode", kTorch, "", "_ _! - out out"},
    {"_unique2 _unique unique_dim unique_consecutive", "aten", "", "_ _! _! _! _!"},
    {"bincount", kTorch, "", "_ _ _!"},
    {"histc", kTorch, "", "_ _! _ _ out"},
    {"searchsorted", kTorch, "", "_ _ _! - - - out"},
    {"bucketize", kTorch, "", "_ _ _! - out"},
    {"multinomial", kTorch, "", "_ _! - - out"},
    {"tril triu", kTorch, "", "_ _ out"},
    // Creation
    {"zeros ones", kTorch, "", "_! dtype -"},
    {"full", kTorch, "", "_! _ dtype -"},
    {"zeros_like ones_like empty_like rand_like randn_like", kTorch, "", "_ dtype -"},
    {"rand randn", kTorch, "", "_! dtype -", 5},
    {"rand randn", kTorch, "", "_! - dtype -"},
    {"randint", kTorch, "", "_! _! dtype -", 6},
    {"randint", kTorch, "", "_! _! _! dtype -"},
    {"randint_like", kTorch, "", "_ _ dtype -", 7},
    {"randint_like", kTorch, "", "_ _ _ dtype -"},
    {"randperm", kTorch, "", "_! dtype -", 5},
    {"randperm", kTorch, "", "_! - dtype -"},
    {"uniform exponential cauchy log_normal geometric random", kTensor, "", "_ -"},
    {"normal", kTorch, "", "_ _ _ -"},
    {"bernoulli", kTorch, "", "_ _ -"},
    {"full_like", kTorch, "", "_ _ dtype -"},
    {"new_zeros new_ones new_empty", kTensor, "", "_ _! dtype -"},
    {"new_full", kTensor, "", "_ _! _ dtype -"},
    {"empty", kTorch, "", "_! dtype -"},
    {"zero", kTorch, "", "_"},
    {"fill", kTorch, "", "_ _"},
    {"arange", kTorch, "", "end! out", 2},
    {"arange", kTorch, "", "_! _! _! out", 4},
    {"arange", kTorch, "", "end! dtype -", 5},
    {"arange", kTorch, "", "_! _! dtype -", 6},
    {"arange", kTorch, "", "_! _! _! dtype -", 7},
    {"linspace", kTorch, "", "_! _! _! out", 4},
    {"linspace", kTorch, "", "_! _! _! dtype -"},
    {"logspace", kTorch, "", "_! _! _! base out", 5},
    {"logspace", kTorch, "", "_! _! _! base dtype -"},
    {"eye", kTorch, "", "_! dtype -", 5},
    {"eye", kTorch, "", "_! _! dtype -"},
};

/// Calls take(word) for the words of a list.
template <typename Take>
constexpr void ForEachWord(std::string_view words, const Take& take) {
  while (!words.empty()) {
    const size_t blank = std::min(words.find(' '), words.size());
    if (blank > 0) take(words.substr(0, blank));
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
}

constexpr size_t CountNames() {
  size_t count = 0;
  for (const TorchSchema& schema : kSchemas) {
    ForEachWord(schema.names, [&](std::string_view) { ++count; });
  }
  return count;
}

struct SchemaName {
  std::string_view name;
  const TorchSchema* schema;
};

using SchemaNames = std::array<SchemaName, CountNames()>;

/// By name, those of one name in the order of kSchemas.
SchemaNames SortedNames() {
  SchemaNames names;
  size_t count = 0;
  for (const TorchSchema& schema : kSchemas) {
    ForEachWord(schema.names, [&](std::string_view name) { names[count++] = {name, &schema}; });
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const SchemaName& a, const SchemaName& b) { return a.name < b.name; });
  return names;
}

}  // namespace

const TorchSchema* FindTorchSchema(std::string_view op, size_t arguments) {
  const bool in_place = op.size() > 1 && op.back() == '_' && op[op.size() - 2] != '_';
  if (in_place) op.remove_suffix(1);
  if (op.empty() || op.find(' ') != std::string_view::npos) return nullptr;
  static const SchemaNames names = SortedNames();
  auto known = std::lower_bound(
      names.begin(), names.end(), op,
      [](const SchemaName& one, std::string_view name) { return one.name < name; });
  for (; known != names.end() && known->name == op; ++known) {
    const TorchSchema& schema = *known->schema;
    if (schema.count == 0 || schema.count == arguments) return &schema;
  }
  return nullptr;
}

}  // namespace oplens
