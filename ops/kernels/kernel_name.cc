#include "ops/kernels/kernel_name.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace oplens::ops {
namespace {

// The set of characters of a text, folded to 64 bits: a text can only contain a word if it has all
// its letters. Saves most searches.
constexpr uint64_t LettersOf(std::string_view text) {
  uint64_t letters = 0;
  for (const char c : text) letters |= uint64_t{1} << (static_cast<unsigned char>(c) % 64);
  return letters;
}

struct NameRule {
  constexpr NameRule(std::string_view rule_text, KernelKind rule_kind)
      : text(rule_text), kind(rule_kind), letters(LettersOf(rule_text)) {}
  std::string_view text;
  KernelKind kind;
  uint64_t letters;
};

// Parts of a function's own name, without template arguments. The first match decides, so
// accessories precede the kernels that they serve.
constexpr NameRule kHeadRules[] = {
    // By far the most frequent
    {"elementwise", KernelKind::kPointwise},
    {"elementWise", KernelKind::kPointwise},
    // The rest of its name is fused behind the product.
    {"triton_tem_", KernelKind::kMatrix},
    // Sums of partial results
    {"splitKreduce", KernelKind::kSecondStage},
    {"gemm::split_k_kernel", KernelKind::kSecondStage},
    // Of cuBLAS and cuDNN: no matrix instructions, by counters (docs/accuracy.md)
    {"execute_split_k_kernel__", KernelKind::kSecondStage},
    {"execute_split_k_kernel_cublas", KernelKind::kSecondStage},
    {"execute_split_k_kernel_cudnn", KernelKind::kSecondStage},
    {"reduce_1Block", KernelKind::kSecondStage},
    {"kernelReduceAllPass2", KernelKind::kSecondStage},
    {"splitkv_combine", KernelKind::kSecondStage},
    {"mla_combine", KernelKind::kSecondStage},
    {"FlashAttnFwdCombine", KernelKind::kSecondStage},
    {"reduce_wgrad", KernelKind::kSecondStage},
    {"nhwc_reduction_kernel", KernelKind::kSecondStage},
    {"_post_execute_kernel", KernelKind::kSecondStage},  // cuDNN's, of depthwise wgrad
    {"write_indices", KernelKind::kSecondStage},  // nonzero's: coordinates along each dimension
    // Preparation for library kernels
    {"OffsetsKernel", KernelKind::kHelper},
    {"generateWinogradTiles", KernelKind::kHelper},
    {"winograd_nonfused", KernelKind::kHelper},
    {"winogradForward", KernelKind::kHelper},
    {"winogradWgrad", KernelKind::kHelper},
    {"fft1d_", KernelKind::kHelper},
    {"fft2d_", KernelKind::kHelper},
    {"flip_filter", KernelKind::kHelper},
    {"im2col", KernelKind::kHelper},
    {"col2im", KernelKind::kHelper},
    {"vol2col", KernelKind::kHelper},
    {"compute_gemm_pointers", KernelKind::kHelper},
    {"prepare_grouped_gemm_data", KernelKind::kHelper},
    {"kernel_helper_stage", KernelKind::kHelper},    // cuDNN's, for strided_dgrad_indexed
    {"init_device_workspace", KernelKind::kHelper},  // cuDNN's, for wgrad_indexed
    {"SubTensor", KernelKind::kHelper},              // MIOpen's fill, scale and cast of tensors
    {"precompute_indices", KernelKind::kHelper},
    {"scalePackedTensor", KernelKind::kHelper},
    {"scaleTensor", KernelKind::kHelper},
    {"prepare_varlen", KernelKind::kHelper},
    {"flash_bwd_dot_do_o", KernelKind::kHelper},
    {"flash_bwd_convert_d", KernelKind::kHelper},
    {"flash_bwd_clear_dkv", KernelKind::kHelper},
    {"FlashAttnBwdPreprocess", KernelKind::kHelper},
    {"FlashAttnBwdPostprocess", KernelKind::kHelper},
    {"ComputeGradientFusedParams", KernelKind::kHelper},
    {"routingIndices", KernelKind::kHelper},
    {"quantize_with_block_size", KernelKind::kHelper},
    {"find_long_segments", KernelKind::kHelper},
    {"linearize_index", KernelKind::kHelper},
    {"permute_2D_lengths", KernelKind::kHelper},
    {"cub::", KernelKind::kHelper},
    {"memset", KernelKind::kHelper},
    {"Memset", KernelKind::kHelper},
    // Layout
    {"nchwToNhwc", KernelKind::kLayout},
    {"nhwcToNchw", KernelKind::kLayout},
    {"foldedNhwcToNhwc", KernelKind::kLayout},
    {"nhwcToFoldedNhwc", KernelKind::kLayout},
    {"convertTensor", KernelKind::kLayout},
    {"batched_transpose", KernelKind::kLayout},
    {"nchwAddPadding", KernelKind::kLayout},
    {"nhwcAddPadding", KernelKind::kLayout},
    {"permutationKernel", KernelKind::kLayout},
    {"genericReformat", KernelKind::kLayout},
    {"copyPackedKernel", KernelKind::kLayout},
    {"transpose_kernel", KernelKind::kLayout},
    {"genericTranspose", KernelKind::kLayout},
    {"transposeKernel", KernelKind::kLayout},
    {"SwapDimension", KernelKind::kLayout},
    // Norms in several kernels
    {"batch_norm_collect_statistics", KernelKind::kNormStatistics},
    {"batch_norm_transform_input", KernelKind::kNormApply},
    {"batch_norm_backward_reduce", KernelKind::kNormGradSums},
    {"batch_norm_backward_elemt", KernelKind::kNormGradInput},
    {"RowwiseMoments", KernelKind::kNormStatistics},
    {"LayerNormForward", KernelKind::kNormApply},
    {"ComputeInternalGradients", KernelKind::kNormGradSums},
    {"LayerNormBackward", KernelKind::kNormGradInput},
    {"layer_norm_grad_input", KernelKind::kNormGradInput},
    {"cuComputeGradInput", KernelKind::kNormGradInput},
    {"GammaBeta", KernelKind::kNormGradWeights},
    // Matrix products, convolutions, attention
    {"fbgemm_gpu", KernelKind::kSpecial},  // An embedding library despite its name
    {"gemm", KernelKind::kMatrix},
    {"Gemm", KernelKind::kMatrix},
    {"gemv", KernelKind::kMatrix},
    {"dot_kernel", KernelKind::kMatrix},
    {"nvjet", KernelKind::kMatrix},
    {"xmma_fprop", KernelKind::kMatrix},
    {"xmma_dgrad", KernelKind::kMatrix},
    {"xmma_wgrad", KernelKind::kMatrix},
    {"scudnn", KernelKind::kMatrix},
    {"hcudnn", KernelKind::kMatrix},
    {"icudnn", KernelKind::kMatrix},
    {"884cudnn", KernelKind::kMatrix},
    {"684cudnn", KernelKind::kMatrix},
    {"688cudnn", KernelKind::kMatrix},
    {"816cudnn", KernelKind::kMatrix},
    {"832cudnn", KernelKind::kMatrix},
    {"convolve", KernelKind::kMatrix},
    {"wgrad_alg", KernelKind::kMatrix},
    {"wgrad2d_", KernelKind::kMatrix},
    {"dgrad2d_", KernelKind::kMatrix},
    {"dgrad_engine", KernelKind::kMatrix},
    {"dgrad_1x1", KernelKind::kMatrix},
    {"first_layer_", KernelKind::kMatrix},
    {"conv1x1", KernelKind::kMatrix},
    {"conv2d_", KernelKind::kMatrix},
    {"conv_depthwise", KernelKind::kMatrix},
    {"direct_group", KernelKind::kMatrix},
    {"xmma_depthwise", KernelKind::kMatrix},
    {"flash_fwd_", KernelKind::kMatrix},
    {"flash_bwd_dq_dk_dv", KernelKind::kMatrix},
    {"FlashAttnFwd", KernelKind::kMatrix},
    {"FlashAttnBwd", KernelKind::kMatrix},
    {"compute_attn", KernelKind::kMatrix},
    {"fmha", KernelKind::kMatrix},
    {"native_sdpa", KernelKind::kMatrix},
    {"RNN_blockPersist", KernelKind::kMatrix},
    {"Marlin", KernelKind::kMatrix},
    {"marlin", KernelKind::kMatrix},
    {"bmm_", KernelKind::kMatrix},
    // Elementwise
    {"PointwiseApply", KernelKind::kPointwise},
    {"fused_dropout", KernelKind::kPointwise},
    {"triton_poi_", KernelKind::kPointwise},
    {"nvfuser_pointwise", KernelKind::kPointwise},
    {"op_generic_tensor", KernelKind::kPointwise},
    {"op_tensor", KernelKind::kPointwise},
    {"epilogue::impl::globalKernel", KernelKind::kPointwise},
    {"finalizeKernel", KernelKind::kPointwise},
    {"add_bias", KernelKind::kPointwise},
    {"addBias", KernelKind::kPointwise},
    {"act_and_mul", KernelKind::kPointwise},
    {"scal_kernel", KernelKind::kPointwise},
    {"activation_fw", KernelKind::kPointwise},
    {"activation_bw", KernelKind::kPointwise},
    {"fused_rope", KernelKind::kPointwise},
    {"rotary_embedding", KernelKind::kPointwise},
    {"EigenMetaKernel", KernelKind::kPointwise},
    {"mshadow::cuda::MapPlan", KernelKind::kPointwise},
    // Kernels of one kind of op
    {"oftmax", KernelKind::kSpecial},
    {"oftMax", KernelKind::kSpecial},
    {"layer_norm", KernelKind::kSpecial},
    {"LayerNorm", KernelKind::kSpecial},
    {"layernorm", KernelKind::kSpecial},
    {"rms_norm", KernelKind::kSpecial},
    {"rmsnorm", KernelKind::kSpecial},
    {"RMSNorm", KernelKind::kSpecial},
    {"groupnorm_kernel", KernelKind::kSpecial},
    {"batch_norm", KernelKind::kSpecial},
    {"bn_fw_", KernelKind::kSpecial},
    {"bn_bw_", KernelKind::kSpecial},
    {"mbedding", KernelKind::kSpecial},
    {"indexSelect", KernelKind::kSpecial},
    {"gather", KernelKind::kSpecial},
    {"scatter", KernelKind::kSpecial},
    {"pool", KernelKind::kSpecial},
    {"upsample", KernelKind::kSpecial},
    {"ClassNLLCriterion", KernelKind::kSpecial},
    {"nll_loss", KernelKind::kSpecial},
    {"CatArrayBatchedCopy", KernelKind::kSpecial},
    {"topk", KernelKind::kSpecial},
    {"TopK", KernelKind::kSpecial},
    {"sort", KernelKind::kSpecial},
    {"Sort", KernelKind::kSpecial},
    {"multi_tensor_apply", KernelKind::kSpecial},
    {"tensor_kernel_scan", KernelKind::kSpecial},
    {"nccl", KernelKind::kSpecial},
    // Reductions
    {"reduce_kernel", KernelKind::kReduction},
    {"kernelReduce", KernelKind::kReduction},
    {"triton_red_", KernelKind::kReduction},
    {"triton_per_", KernelKind::kReduction},
    {"nvfuser_reduction", KernelKind::kReduction},
    {"nvfuser_inner", KernelKind::kReduction},
    {"nvfuser_outer", KernelKind::kReduction},
    {"reduction_kernel", KernelKind::kReduction},
    {"block_reduce", KernelKind::kReduction},
};

// Parts of the whole name, for functions that say nothing: CUTLASS's Kernel<Traits>, mangled names.
constexpr NameRule kWholeRules[] = {
    {"ReduceSplitK", KernelKind::kSecondStage},
    {"splitKreduce", KernelKind::kSecondStage},
    {"cutlass", KernelKind::kMatrix},
    {"gemm", KernelKind::kMatrix},
    {"Gemm", KernelKind::kMatrix},
    {"gemv", KernelKind::kMatrix},
};

// Elementwise kernels are distinguished by the functor in their template arguments.
constexpr NameRule kFunctorRules[] = {
    {"FillFunctor", KernelKind::kFill}, {"fill_kernel", KernelKind::kFill},
    {"copy_kernel", KernelKind::kCopy}, {"copy_device_to_device", KernelKind::kCopy},
    {"CopyFunctor", KernelKind::kCopy},
};

// The functor is at the start of the arguments; later its name is repeated.
constexpr size_t kFunctorReach = 256;

// Only this many bytes of a name are searched.
constexpr size_t kKernelNameReach = 4096;

template <size_t N>
KernelKind FirstMatch(const NameRule (&rules)[N], std::string_view text) {
  const uint64_t missing = ~LettersOf(text);
  const auto* rule =
      std::find_if(std::begin(rules), std::end(rules), [&](const NameRule& candidate) {
        return (candidate.letters & missing) == 0 &&
               text.find(candidate.text) != std::string_view::npos;
      });
  return rule == std::end(rules) ? KernelKind::kUnknown : rule->kind;
}

// The function's own name with namespaces, without return type, template arguments and parameters:
// "void at::native::(anonymous namespace)::f<int>(long)" -> "at::native::f".
std::string_view Head(std::string_view name) {
  constexpr std::string_view kVoid = "void ";
  constexpr std::string_view kAnonymous[] = {"(anonymous namespace)::", "<unnamed>::"};
  // After a return type that is a template comes the function.
  constexpr std::string_view kEnableIf = "std::enable_if<";
  if (name.starts_with(kEnableIf)) {
    const size_t end = name.find(">::type ");
    if (end != std::string_view::npos) name.remove_prefix(end + 8);
  }
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  size_t end = name.find_first_of("<(");
  for (const std::string_view anonymous : kAnonymous) {
    if (end == std::string_view::npos || !name.substr(end).starts_with(anonymous)) continue;
    name.remove_prefix(end + anonymous.size());
    end = name.find_first_of("<(");
  }
  return name.substr(0, end);
}

}  // namespace

KernelKind KernelKindOf(std::string_view long_name) {
  long_name = long_name.substr(0, kKernelNameReach);
  const std::string_view head = Head(long_name);
  const KernelKind kind = FirstMatch(kHeadRules, head);
  if (kind == KernelKind::kUnknown) return FirstMatch(kWholeRules, long_name);
  if (kind != KernelKind::kPointwise) return kind;
  const KernelKind functor = FirstMatch(kFunctorRules, long_name.substr(0, kFunctorReach));
  return functor == KernelKind::kUnknown ? kind : functor;
}

Role RoleOf(KernelKind kind) {
  switch (kind) {
    case KernelKind::kUnknown:
      return Role::kUnknown;
    case KernelKind::kLayout:
      return Role::kLayout;
    case KernelKind::kSecondStage:
      return Role::kReduce;
    case KernelKind::kHelper:
      return Role::kHelper;
    default:
      return Role::kMain;
  }
}

Role RoleOf(std::string_view long_name) { return RoleOf(KernelKindOf(long_name)); }

bool IsFastConvolution(std::string_view long_name) {
  const auto holds = [&](std::string_view word) {
    return long_name.find(word) != std::string_view::npos;
  };
  return holds("winograd") || holds("Winograd") || holds("fft") || holds("FFT");
}

bool ReadsStrided(std::string_view long_name) {
  // Excludes vectorized_ and unrolled_elementwise_kernel.
  return long_name.find("::elementwise_kernel") != std::string_view::npos;
}

std::string_view RoleWord(Role role) {
  switch (role) {
    case Role::kMain:
      return "main";
    case Role::kHelper:
      return "helper";
    case Role::kLayout:
      return "layout";
    case Role::kReduce:
      return "reduce";
    case Role::kEpilogue:
      return "epilogue";
    case Role::kUnknown:
      break;
  }
  return "";
}

}  // namespace oplens::ops
