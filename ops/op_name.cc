#include "ops/op_name.h"

#include <algorithm>
#include <iterator>

#include "ops/op_model.h"
#include "parse/model/compiled_call.h"

namespace oplens::ops {
namespace {

struct OpNameAlias {
  std::string_view from;
  std::string_view to;
};

// Stripped repeatedly.
constexpr std::string_view kOpNamePrefixes[] = {
    "torch.distributed.",
    "torch.nn.functional.",
    "torch.ops.",
    "torch.",
    "Tensor.",
    "aten::",
    "at::",
    "prims::",
    "aten.",
    "prims.",
    "c10d::",
    "_c10d_functional::",
    "c10d_functional::",
    "nccl:",
    "flash_attn::",
    "xformers::",
    "customflash::",
    // TorchInductor's calls of external kernels.
    "extern_kernels.",
    "aoti_torch_cuda_",
    "aoti_torch_cpu_",
    "aoti_torch_xpu_",
};

// Python's operator methods; a leading 'i' or 'r' of the inner word is stripped before the look-up.
constexpr OpNameAlias kOperators[] = {
    {"abs", "abs"},
    {"add", "add"},
    {"and", "bitwise_and"},
    {"div", "div"},
    {"eq", "eq"},
    {"floordiv", "floor_divide"},
    {"ge", "ge"},
    {"gt", "gt"},
    {"invert", "bitwise_not"},
    {"le", "le"},
    {"lshift", "bitwise_left_shift"},
    {"lt", "lt"},
    {"matmul", "matmul"},
    {"mod", "remainder"},
    {"mul", "mul"},
    {"ne", "ne"},
    {"neg", "neg"},
    {"or", "bitwise_or"},
    {"pos", "positive"},
    {"pow", "pow"},
    {"rshift", "bitwise_right_shift"},
    {"sub", "sub"},
    {"truediv", "div"},
    {"xor", "bitwise_xor"},
};

// Synonyms, and gradients that are not named after their op.
constexpr OpNameAlias kAliases[] = {
    {"_efficient_attention_forward", "_efficient_attention"},
    {"_flash_attention_forward", "_flash_attention"},
    {"_flash_attn_forward", "_flash_attn"},
    {"_flash_attn_varlen_forward", "_flash_attn_varlen"},
    {"_adaptive_avg_pool2d", "adaptive_avg_pool2d"},
    {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward"},
    {"_adaptive_avg_pool3d", "adaptive_avg_pool3d"},
    {"_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward"},
    {"_fused_dropout", "dropout"},
    {"_fused_rms_norm", "rms_norm"},
    {"_groupnorm_run", "group_norm"},
    {"_log_softmax", "log_softmax"},
    {"_log_softmax_backward_data", "log_softmax_backward"},
    {"_masked_scale", "dropout_backward"},
    {"_reshape_alias", "view"},
    {"_slow_conv2d_forward", "_slow_conv2d"},
    {"_softmax", "softmax"},
    {"_softmax_backward_data", "softmax_backward"},
    {"_to_copy", "to"},
    {"_unsafe_view", "view"},
    {"absolute", "abs"},
    {"adaptive_max_pool1d_with_indices", "adaptive_max_pool1d"},
    {"adaptive_max_pool2d_with_indices", "adaptive_max_pool2d"},
    {"adaptive_max_pool3d_with_indices", "adaptive_max_pool3d"},
    {"affine_grid_generator", "affine_grid"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"clip", "clamp"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"cudnn_convolution_backward_input", "cudnn_convolution_backward"},
    {"cudnn_convolution_backward_weight", "cudnn_convolution_backward"},
    {"cudnn_convolution_backward_bias", "cudnn_convolution_backward"},
    {"cudnn_convolution_transpose_backward_input", "cudnn_convolution_transpose_backward"},
    {"cudnn_convolution_transpose_backward_weight", "cudnn_convolution_transpose_backward"},
    {"divide", "div"},
    {"embedding_dense_backward", "embedding_backward"},
    {"embedding_sparse_backward", "embedding_backward"},
    {"expit", "sigmoid"},
    {"fused_dropout", "dropout"},
    {"fused_rope_forward", "fused_rope"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"grid_sampler", "grid_sample"},
    {"grid_sampler_2d", "grid_sample"},
    {"grid_sampler_2d_backward", "grid_sample_backward"},
    {"grid_sampler_3d", "grid_sample"},
    {"grid_sampler_3d_backward", "grid_sample_backward"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"linalg_matmul", "matmul"},
    {"linalg_vector_norm", "vector_norm"},
    {"masked_scale", "dropout_backward"},
    {"max_pool1d_with_indices", "max_pool1d"},
    {"max_pool2d_with_indices", "max_pool2d"},
    {"max_pool2d_with_indices_backward", "max_pool2d_backward"},
    {"max_pool3d_with_indices", "max_pool3d"},
    {"max_pool3d_with_indices_backward", "max_pool3d_backward"},
    {"miopen_convolution_backward_bias", "miopen_convolution_backward"},
    {"miopen_convolution_backward_input", "miopen_convolution_backward"},
    {"miopen_convolution_backward_weight", "miopen_convolution_backward"},
    {"miopen_convolution_transpose_backward_weight", "miopen_convolution_transpose_backward"},
    {"miopen_depthwise_convolution_backward_input", "miopen_depthwise_convolution_backward"},
    {"miopen_depthwise_convolution_backward_weight", "miopen_depthwise_convolution_backward"},
    {"mkldnn_convolution_backward_input", "mkldnn_convolution_backward"},
    {"mkldnn_convolution_backward_weights", "mkldnn_convolution_backward"},
    {"mkldnn_linear_backward", "linear_backward"},
    {"multiply", "mul"},
    {"native_batch_norm", "batch_norm"},
    {"native_batch_norm_backward", "batch_norm_backward"},
    {"native_dropout", "dropout"},
    {"native_dropout_backward", "dropout_backward"},
    {"native_group_norm", "group_norm"},
    {"native_group_norm_backward", "group_norm_backward"},
    {"native_layer_norm", "layer_norm"},
    {"native_layer_norm_backward", "layer_norm_backward"},
    {"native_norm", "norm"},
    {"negative", "neg"},
    {"not_equal", "ne"},
    {"slow_conv3d_forward", "slow_conv3d"},
    {"subtract", "sub"},
    {"thnn_conv2d_forward", "thnn_conv2d"},
    {"thnn_conv_depthwise2d_forward", "thnn_conv_depthwise2d"},
    {"threshold_backward", "relu_backward"},
    {"true_divide", "div"},
    {"value_selecting_reduction_backward", "sort_backward"},
};

constexpr std::string_view kListPrefix = "_foreach_";
constexpr std::string_view kFusedPrefix = "_fused_";
constexpr std::string_view kFusedOptimizers[] = {"adam", "adamw", "sgd", "adagrad"};
constexpr std::string_view kSpecialPrefix = "special_";
constexpr std::string_view kBackwardSuffix = "_backward";
constexpr std::string_view kOutSuffix = "_out";

template <size_t N>
std::string_view OpNameLookup(const OpNameAlias (&table)[N], std::string_view from) {
  const auto* row = std::find_if(std::begin(table), std::end(table),
                                 [&](const OpNameAlias& alias) { return alias.from == from; });
  return row == std::end(table) ? std::string_view() : row->to;
}

bool ConsumeOpName(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix) || text->size() == prefix.size()) return false;
  text->remove_prefix(prefix.size());
  return true;
}

bool ConsumeEnd(std::string_view* text, std::string_view suffix) {
  if (!text->ends_with(suffix) || text->size() == suffix.size()) return false;
  text->remove_suffix(suffix.size());
  return true;
}

void RemovePrefixes(std::string_view* op) {
  while (std::any_of(std::begin(kOpNamePrefixes), std::end(kOpNamePrefixes),
                     [&](std::string_view prefix) { return ConsumeOpName(op, prefix); })) {
  }
}

// "__iadd__", "__rsub__", "__lt__". False for any other name.
bool ParseOperator(std::string_view op, OpName* result) {
  if (op.size() <= 4 || !op.starts_with("__") || !op.ends_with("__")) return false;
  std::string_view inner = op.substr(2, op.size() - 4);
  std::string_view name = OpNameLookup(kOperators, inner);
  if (name.empty()) {
    result->in_place = inner.front() == 'i';
    result->reversed = inner.front() == 'r';
    if (result->in_place || result->reversed) name = OpNameLookup(kOperators, inner.substr(1));
  }
  if (name.empty()) return false;
  result->name = result->reversed && name == "sub" ? "rsub" : name;
  return true;
}

}  // namespace

OpName ParseOpName(std::string_view op) {
  OpName result;
  if (IsCompiledKernelName(op)) {
    result.name = kCompiledOp;
    return result;
  }
  RemovePrefixes(&op);
  const size_t overload = op.find('.');
  if (overload != 0) op = op.substr(0, overload);
  if (ParseOperator(op, &result)) return result;
  result = OpName();
  if (op.starts_with("__")) {
    result.name = op;
    return result;
  }

  result.list = ConsumeOpName(&op, kListPrefix);
  result.in_place = ConsumeEnd(&op, "_");
  ConsumeEnd(&op, kOutSuffix);
  ConsumeOpName(&op, kSpecialPrefix);
  if (op.starts_with(kFusedPrefix)) {
    const std::string_view optimizer = op.substr(kFusedPrefix.size());
    if (std::find(std::begin(kFusedOptimizers), std::end(kFusedOptimizers), optimizer) !=
        std::end(kFusedOptimizers)) {
      op = optimizer;
    }
  }
  if (const std::string_view alias = OpNameLookup(kAliases, op); !alias.empty()) op = alias;
  result.backward = ConsumeEnd(&op, kBackwardSuffix);
  result.name = op;
  return result;
}

std::string NormalizeOpName(std::string_view op) { return ParseOpName(op).name; }

}  // namespace oplens::ops
