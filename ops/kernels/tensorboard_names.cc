#include "ops/kernels/tensorboard_names.h"

#include <algorithm>
#include <iterator>

namespace oplens::ops {
namespace {

// Case-sensitive.
constexpr std::string_view kKernelParts[] = {
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688",
};

constexpr std::string_view kEligibleOps[] = {
    "AddbmmBackward",
    "AddmmBackward",
    "AddmvBackward",
    "BmmBackward0",
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "MmBackward",
    "MvBackward",
    "aten::_convolution",
    "aten::_thnn_fused_gru_cell",
    "aten::_thnn_fused_lstm_cell",
    "aten::addbmm",
    "aten::addmm",
    "aten::addmm_",
    "aten::addmv",
    "aten::addr",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_backward_weight",
    "aten::cudnn_convolution_transpose",
    "aten::cudnn_convolution_transpose_backward",
    "aten::cudnn_convolution_transpose_backward_input",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::gru_cell",
    "aten::linalg_multi_dot",
    "aten::linear",
    "aten::lstm_cell",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::prelu",
    "aten::rnn_relu_cell",
    "aten::rnn_tanh_cell",
};
static_assert(std::is_sorted(std::begin(kEligibleOps), std::end(kEligibleOps)));

}  // namespace

bool IsTensorBoardTensorCoreKernel(std::string_view name) {
  return std::any_of(std::begin(kKernelParts), std::end(kKernelParts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool IsTensorBoardEligibleOp(std::string_view name) {
  return std::binary_search(std::begin(kEligibleOps), std::end(kEligibleOps), name);
}

}  // namespace oplens::ops
