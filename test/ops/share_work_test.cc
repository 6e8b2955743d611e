// How an op's work is divided over the kernels that computed it.
#include "ops/kernels/share_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "test/ops/cases.h"

namespace oplens::ops::test::share_work_test {
namespace {

struct Kernel {
  std::string name;
  int64_t blocks = 1;
  int64_t duration_ns = 1000;
};

struct Share {
  Role role;
  std::optional<int64_t> flops;
  std::optional<int64_t> bytes;
  std::optional<Reason> reason = std::nullopt;
};

std::vector<KernelShare> SharesOf(const PricedOp& op, Direction direction,
                                  const std::vector<Kernel>& kernels) {
  std::vector<InstanceKernel> instance;
  for (const Kernel& kernel : kernels) {
    instance.push_back({kernel.name, {kernel.blocks, 1, 1}, kernel.duration_ns});
  }
  std::vector<KernelShare> shares(kernels.size());
  ShareWork(op, direction, instance, shares);
  return shares;
}

void Check(const PricedOp& op, Direction direction, const std::vector<Kernel>& kernels,
           const std::vector<Share>& expected) {
  const std::vector<KernelShare> shares = SharesOf(op, direction, kernels);
  ASSERT_EQ(shares.size(), expected.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    SCOPED_TRACE(kernels[i].name);
    EXPECT_EQ(static_cast<int>(shares[i].role), static_cast<int>(expected[i].role));
    EXPECT_EQ(shares[i].flops, expected[i].flops);
    EXPECT_EQ(shares[i].bytes, expected[i].bytes);
    ReasonSet reasons;
    if (expected[i].reason) reasons.Add(*expected[i].reason);
    EXPECT_TRUE(shares[i].reasons == reasons);
  }
}

PricedOp Price(const char* op, const char* args) { return *PriceCall(MakeCall(op, args)).price; }

constexpr Direction kForward = Direction::kForward;
constexpr Direction kBackward = Direction::kBackward;

// Shorter than what profiles hold, with the parts that count.
const char* const kGemm = "volta_sgemm_64x64_tn";
const char* const kGemmNn = "volta_sgemm_64x64_nn";
const char* const kGemmNt = "volta_sgemm_64x64_nt";
const char* const kSplitK = "void splitKreduce_kernel<float>(P)";
const char* const kAdd = "void at::native::elementwise_kernel<512, 1, add_kernel_cuda>(int)";
const char* const kCopy =
    "void at::native::elementwise_kernel<512, 1, direct_copy_kernel_cuda>(int)";
const char* const kFill = "void at::native::vectorized_elementwise_kernel<4, FillFunctor>(int)";
const char* const kReduce = "void at::native::reduce_kernel<512, 1, Sum>(P)";
const char* const kOwn = "my_kernel(float*)";
const char* const kOffsets = "cudnn::gemm::computeOffsetsKernel(P)";

TEST(ShareWorkTest, MatrixForward) {
  // mma 240, bias 30; 316 bytes.
  const PricedOp linear = Price("F.linear", "[2,3,4]float32 [5,4]float32 [5]float32");
  // A fused bias stays with the product.
  Check(linear, kForward, {{kGemm}}, {{Role::kMain, 270, 316}});
  // A kernel of its own takes it.
  Check(linear, kForward, {{kGemm}, {kAdd}}, {{Role::kMain, 240, 316}, {Role::kEpilogue, 30, 0}});
  Check(linear, kForward, {{kGemm}, {kAdd}, {kAdd}},
        {{Role::kMain, 240, 316}, {Role::kEpilogue, 30, 0}, {Role::kEpilogue, 0, 0}});
  // A copy of the bias before a product that adds to it: the product adds.
  Check(linear, kForward, {{kCopy}, {kGemm}}, {{Role::kLayout, 0, 0}, {Role::kMain, 270, 316}});
  // The sum of a split-K product is part of the product.
  Check(linear, kForward, {{kOffsets}, {kGemm}, {kSplitK}},
        {{Role::kHelper, 0, 0}, {Role::kMain, 270, 316}, {Role::kReduce, 0, 0}});
  // An unknown kernel must have computed it, but not beside one that did.
  Check(linear, kForward, {{kOwn}}, {{Role::kMain, 270, 316}});
  Check(linear, kForward, {{kOwn}, {kGemm}},
        {{Role::kUnknown, std::nullopt, std::nullopt, Reason::kUnknownRole},
         {Role::kMain, 270, 316}});
  // The longest of several unknown ones did.
  Check(linear, kForward, {{"a(int)", 1, 5}, {"b(int)", 1, 9}},
        {{Role::kUnknown, std::nullopt, std::nullopt, Reason::kUnknownRole},
         {Role::kMain, 270, 316}});
  // Only the bias is left when the product runs under an op nested in this one.
  Check(linear, kForward, {{kAdd}}, {{Role::kEpilogue, 30, std::nullopt, Reason::kUnknownRole}});
  Check(linear, kForward, {{kCopy}}, {{Role::kLayout, 0, 0}});
  // Without a bias, the elementwise kernel can only be the product.
  Check(Price("torch.mm", "[2,3]float32 [3,4]float32"), kForward, {{kAdd}},
        {{Role::kMain, 48, 104}});
}

TEST(ShareWorkTest, SeveralMainKernels) {
  const PricedOp mm = Price("torch.mm", "[2,3]float32 [3,4]float32");  // 48, 104
  // Launches of one kernel share by grid: 48 * 1/4 and 3/4.
  Check(mm, kForward, {{kGemm, 1, 7000}, {kGemm, 3, 1}},
        {{Role::kMain, 12, 26}, {Role::kMain, 36, 78}});
  // Different kernels share by duration: 1/8 and 7/8 of 48 and 104.
  Check(mm, kForward, {{kGemm, 5, 100}, {kGemmNn, 5, 700}},
        {{Role::kMain, 6, 13}, {Role::kMain, 42, 91}});
  // Without either, equally; what does not divide goes to the earlier ones: 48 = 10+10+10+9+9.
  Check(mm, kForward, {{kGemm, 0, 0}, {kGemm, 0, 0}, {kGemm, 0, 0}, {kGemm, 0, 0}, {kGemm, 0, 0}},
        {{Role::kMain, 10, 21},
         {Role::kMain, 10, 21},
         {Role::kMain, 10, 21},
         {Role::kMain, 9, 21},
         {Role::kMain, 9, 20}});
  // The largest remainder is served first: 48 over 1, 1, 5 is 6.86, 6.86, 34.29.
  Check(mm, kForward, {{kGemm, 1}, {kGemm, 1}, {kGemm, 5}},
        {{Role::kMain, 7, 15}, {Role::kMain, 7, 15}, {Role::kMain, 34, 74}});
}

TEST(ShareWorkTest, MatrixBackward) {
  // Each gradient 240 and 296; bias 30 and 140.
  const PricedOp linear = Price("F.linear", "[2,3,4]float32 [5,4]float32 [5]float32");
  Check(linear, kBackward, {{kGemmNt}, {kGemmNn}},
        {{Role::kMain, 240, 296}, {Role::kMain, 240, 296}});
  Check(linear, kBackward, {{kReduce}, {kGemmNt}, {kSplitK}, {kGemmNn}},
        {{Role::kEpilogue, 30, 140},
         {Role::kMain, 240, 296},
         {Role::kReduce, 0, 0},
         {Role::kMain, 240, 296}});
  // One product: the other operand needs no gradient. A part without a kernel costs nothing.
  Check(linear, kBackward, {{kGemmNt}}, {{Role::kMain, 240, 296}});
  Check(linear, kBackward, {{kReduce}}, {{Role::kEpilogue, 30, 140}});
  // More products than gradients: they share.
  Check(linear, kBackward, {{kGemm, 2}, {kGemm, 1}, {kGemm, 1}},
        {{Role::kMain, 240, 296}, {Role::kMain, 120, 148}, {Role::kMain, 120, 148}});
  Check(linear, kBackward, {{kOwn, 1, 9}}, {{Role::kMain, 240, 296}});
}

TEST(ShareWorkTest, GradientsThatDifferGoToTheKernelsThatNameThem) {
  // A is broadcast: its gradient sums 30 FLOPs more.
  const PricedOp matmul = Price("torch.matmul", "[2,3]float32 [5,3,4]float32");
  const std::vector<Share> dgrad_first = {{Role::kMain, 270, 424}, {Role::kMain, 240, 424}};
  const std::vector<Share> wgrad_first = {{Role::kMain, 240, 424}, {Role::kMain, 270, 424}};
  Check(matmul, kBackward, {{kGemmNn}, {kGemmNt}}, dgrad_first);
  Check(matmul, kBackward, {{kGemmNt}, {kGemmNn}}, wgrad_first);
  Check(matmul, kBackward, {{kGemm}, {kGemm}}, dgrad_first);
  Check(matmul, kBackward, {{kGemm}, {kGemmNn}}, wgrad_first);
  Check(matmul, kBackward, {{"sm80_xmma_wgrad_gemm_x"}, {"sm80_xmma_dgrad_gemm_x"}}, wgrad_first);
  Check(matmul, kBackward, {{kGemmNn}}, {{Role::kMain, 270, 424}});
  Check(matmul, kBackward, {{kGemmNt}}, {{Role::kMain, 240, 424}});
  // The sum in a kernel of its own.
  Check(matmul, kBackward, {{kGemmNn}, {kReduce}, {kGemmNt}},
        {{Role::kMain, 240, 424}, {Role::kEpilogue, 30, 0}, {Role::kMain, 240, 424}});
}

TEST(ShareWorkTest, TheFunctionAKernelRunsUnderNamesItsGradient) {
  const PricedOp both = Price("aten::cudnn_convolution_backward",
                              "[2,3,8,8]float32 [2,4,6,6]float32 [4,3,3,3]float32");
  const std::string name = "volta_scudnn_128x64_relu_interior_nn_v1";
  const std::vector<InstanceKernel> kernels = {{name, {1, 1, 1}, 100, {}, Part::kWgrad},
                                               {name, {1, 1, 1}, 100, {}, Part::kDgrad},
                                               {name, {1, 1, 1}, 100, {}, Part::kWgrad}};
  std::vector<KernelShare> shares(kernels.size());
  ShareWork(both, kForward, kernels, shares);
  // 2 x 2 x 36 positions x 108 weights each: 15552.
  const std::optional<int64_t> flops[] = {7776, 15552, 7776};
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(shares[i].flops, flops[i]);
    EXPECT_EQ(shares[i].part, kernels[i].part);
    EXPECT_EQ(shares[i].part_confidence, 1);
  }
}

// The sum of split-K parts does none of the product; counters of a GPU say so too. Two products of
// one gradient share it, whether or not the call says that the other one was not wanted.
TEST(ShareWorkTest, KernelsOfOneGradientShareIt) {
  const std::string args =
      "[2,4,6,6]float32 [2,3,8,8]float32 [4,3,3,3]float32 [4] [1,1] [0,0] [1,1] False [0,0] 1 ";
  const Kernel main = {"sm80_xmma_wgrad_implicit_gemm_x_execute_kernel__5x_cudnn", 16, 300};
  const Kernel sum = {"sm80_xmma_wgrad_implicit_gemm_x_execute_split_k_kernel__5x_cudnn", 2, 100};
  const Kernel other = {"sm80_xmma_wgrad_implicit_gemm_y_execute_kernel__5x_cudnn", 2, 100};
  // 2 x 2 x 36 positions x 108 weights each: 15552.
  for (const char* mask : {"[0,1,1]", "[1,1,1]"}) {
    SCOPED_TRACE(mask);
    const PricedOp both = Price("aten::convolution_backward", (args + mask).c_str());
    const auto split = SharesOf(both, kForward, {main, sum});
    EXPECT_EQ(split[0].flops, 15552);
    EXPECT_EQ(split[1].flops, 0);
    EXPECT_EQ(split[1].role, Role::kReduce);
    const auto shared = SharesOf(both, kForward, {main, other});
    EXPECT_EQ(shared[0].flops, 11664);
    EXPECT_EQ(shared[1].flops, 3888);
    for (const KernelShare& share : shared) {
      EXPECT_EQ(share.part, Part::kWgrad);
      EXPECT_GE(share.part_confidence, .95);
    }
  }
}

// What no kernel names is left for those that are not told apart.
TEST(ShareWorkTest, GradientsOfKernelsNotToldApartAreCountedOnce) {
  const PricedOp both = Price("aten::cudnn_convolution_backward",
                              "[2,3,8,8]float32 [2,4,6,6]float32 [4,3,3,3]float32");
  const std::string name = "volta_scudnn_128x64_relu_interior_nn_v1";
  const std::vector<InstanceKernel> kernels = {
      {name, {1, 1, 1}, 100, {}, Part::kWgrad}, {name, {1, 1, 1}, 100}, {name, {1, 1, 1}, 100}};
  std::vector<KernelShare> shares(kernels.size());
  ShareWork(both, kForward, kernels, shares);
  EXPECT_EQ(shares[0].flops, 15552);
  EXPECT_EQ(shares[1].flops, 7776);
  EXPECT_EQ(shares[2].flops, 7776);
}

TEST(ShareWorkTest, OtherOps) {
  const PricedOp add = Price("torch.add", "[6]float32 [6]float32");  // 6, 72; backward 0
  Check(add, kForward, {{kAdd}}, {{Role::kMain, 6, 72}});
  Check(add, Direction::kUnknown, {{kAdd}}, {{Role::kMain, 6, 72}});
  Check(add, kBackward, {{kAdd}}, {{Role::kMain, 0, 0}});
  // A copy is the work where nothing else is.
  Check(add, kForward, {{kCopy}, {kAdd}}, {{Role::kLayout, 0, 0}, {Role::kMain, 6, 72}});
  Check(Price("Tensor.clone", "[6]float32"), kForward, {{kCopy}}, {{Role::kMain, 0, 48}});
  Check(Price("torch.zeros", "6"), kForward, {{kFill}}, {{Role::kMain, 0, 24}});
  // A fill before the kernel that adds into the gradient. 30 adds, 368 bytes.
  const PricedOp embedding = Price("F.embedding", "[2,3]int64 [10,5]float32");
  Check(embedding, kBackward, {{kFill, 9, 9000}, {"void embedding_backward_feature_kernel<F>(P)"}},
        {{Role::kHelper, 0, 0}, {Role::kMain, 30, 368}});
  // A scan is a helper unless it is all there is.
  const PricedOp cumsum = Price("torch.cumsum", "[6]float32 0");
  Check(
      cumsum, kForward,
      {{"void cub::DeviceScanInitKernel<X>(P)", 1, 1}, {"void cub::DeviceScanKernel<X>(P)", 1, 9}},
      {{Role::kHelper, 0, 0}, {Role::kMain, 6, 48}});
  Check(Price("torch.sum", "[6]float32"), kForward,
        {{"void kernelReduceAllPass1<X>(P)"}, {"void kernelReduceAllPass2<X>(P)"}},
        {{Role::kMain, 6, 28}, {Role::kReduce, 0, 0}});
  Check(add, kForward, {{kOwn}}, {{Role::kMain, 6, 72}});
  Check(add, kForward, {{kOwn}, {kAdd}},
        {{Role::kUnknown, std::nullopt, std::nullopt, Reason::kUnknownRole}, {Role::kMain, 6, 72}});
  Check(add, kForward, {}, {});
}

TEST(ShareWorkTest, ZerosAreNotOfTheKernelThatAddsToThem) {
  // dX 2 x 3 of zeros but for an element a row: 16 of 24 bytes; loss 4, targets 16, elements 8.
  const char* const kernel = "void nll_loss_backward_reduce_cuda_kernel_2d<float>(P)";
  const PricedOp loss = Price("F.nll_loss", "[2,3]float32 [2]int64");
  Check(loss, kBackward, {{kernel}}, {{Role::kMain, 2, 28}});
  Check(loss, kBackward, {{kFill}, {kernel}}, {{Role::kHelper, 0, 16}, {Role::kMain, 2, 28}});
  const PricedOp gradient = Price("aten::nll_loss_backward", "[]float32 [2,3]float32 [2]int64");
  Check(gradient, kForward, {{kernel}}, {{Role::kMain, 2, 28}});
}

TEST(ShareWorkTest, ConvolutionsInFewerFlops) {
  const PricedOp conv = Price("F.conv2d", "[2,3,8,8]float32 [4,3,3,3]float32");
  const auto fast = [&](const PricedOp& op, const std::vector<Kernel>& kernels) {
    std::vector<bool> flags;
    for (const KernelShare& share : SharesOf(op, kForward, kernels)) {
      flags.push_back(share.fast_convolution);
    }
    return flags;
  };
  EXPECT_EQ(fast(conv, {{"volta_scudnn_winograd_128x128_nt_v1"}}), std::vector<bool>{true});
  EXPECT_EQ(fast(conv, {{"volta_scudnn_128x64_relu_interior_nn_v1"}}), std::vector<bool>{false});
  // The product between the transforms has a name like any other.
  EXPECT_EQ(fast(conv, {{"void cudnn::winograd_nonfused::winogradForwardData4x4<F>(P)"},
                        {"volta_sgemm_64x64_nn"},
                        {kOwn}}),
            (std::vector<bool>{true, true, false}));
  EXPECT_EQ(fast(conv, {{"volta_sgemm_64x64_nn"}}), std::vector<bool>{false});
  const PricedOp mm = Price("torch.mm", "[2,3]float32 [3,4]float32");
  EXPECT_EQ(fast(mm, {{"void fft2d_x<F>(P)"}, {"volta_sgemm_64x64_nn"}}),
            (std::vector<bool>{false, false}));
}

TEST(ShareWorkTest, ViewsCostWhatTheyCopy) {
  const PricedOp reshape = Price("Tensor.reshape", "[2,3]float32 (6,)");
  Check(reshape, kForward, {{kCopy}}, {{Role::kMain, 0, 48}});
  Check(reshape, kBackward, {{kCopy}}, {{Role::kMain, 0, 0}});
  Check(Price("Tensor.view", "[2,3]float32 6"), kForward, {{kCopy}}, {{Role::kMain, 0, 0}});
}

TEST(ShareWorkTest, LayerNormInParts) {
  // 48 and 88 forward, 96 and 124 backward.
  const PricedOp norm = Price("F.layer_norm", "[2,3]float32 [3] [3]float32 [3]float32");
  // 3/8 and 5/8 of the FLOPs; a third and two of the bytes: 29.33 and 58.67.
  Check(
      norm, kForward,
      {{"void RowwiseMomentsCUDAKernel<float>(P)"}, {"void LayerNormForwardCUDAKernel<float>(P)"}},
      {{Role::kMain, 18, 29}, {Role::kMain, 30, 59}});
  Check(norm, kForward, {{"void vectorized_layer_norm_kernel<float>(P)"}}, {{Role::kMain, 48, 88}});
  // 10/16 and 6/16: 60, 36; bytes 3 and 2 fifths: 74.4, 49.6.
  Check(norm, kBackward,
        {{"void layer_norm_grad_input_kernel<float>(P)"},
         {"void GammaBetaBackwardCUDAKernel<float>(P)"}},
        {{Role::kMain, 60, 74}, {Role::kMain, 36, 50}});
  // The sums in a kernel of their own: 4, 6, 6 sixteenths; 2, 3, 2 sevenths of 124.
  Check(
      norm, kBackward,
      {{"void ComputeInternalGradientsCUDAKernel<float>(P)"},
       {"void ComputeGradientFusedParamsCUDAKernel<float>(P)"},
       {"void LayerNormBackwardCUDAKenrel<float>(P)"},
       {"void GammaBetaBackwardCUDAKernel<float>(P)"}},
      {{Role::kMain, 24, 36}, {Role::kHelper, 0, 0}, {Role::kMain, 36, 53}, {Role::kMain, 36, 35}});
  // One of the two.
  Check(norm, kBackward, {{"void GammaBetaBackwardCUDAKernel<float>(P)"}},
        {{Role::kMain, 96, 124}});
}

TEST(ShareWorkTest, WithoutAPrice) {
  // No model of the backward.
  const PricedOp argmax = Price("torch.argmax", "[6]float32");
  Check(argmax, kBackward, {{kAdd}},
        {{Role::kMain, std::nullopt, std::nullopt, Reason::kUnknownOp}});
  PricedOp huge = Price("torch.add", "[6]float32 [6]float32");
  huge.forward[0].work.vec = Checked(INT64_MAX) + 1;
  Check(huge, kForward, {{kAdd}},
        {{Role::kMain, std::nullopt, std::nullopt, Reason::kCostOverflow}});
  huge.forward[0].work.vec = INT64_MAX;
  Check(huge, kForward, {{kAdd, INT64_MAX, INT64_MAX}, {kAdd, INT64_MAX, INT64_MAX}},
        {{Role::kMain, (INT64_MAX / 2) + 1, 36}, {Role::kMain, INT64_MAX / 2, 36}});
}

TEST(ShareWorkTest, WhatNestedCallsCover) {
  const PricedOp linear = Price("F.linear", "[4,5]float32 [6,5]float32 [6]float32");
  const PricedOp matmul = Price("torch.matmul", "[4,5]float32 [5,6]float32");
  const PricedOp add = Price("Tensor.add", "[4,6]float32 [6]float32");
  const PricedOp copy = Price("Tensor.contiguous", "[4,5]float32");
  const PricedOp softmax = Price("F.softmax", "[4,5]float32 1");
  const auto covered = [](const PricedOp& outer, const PricedOp& inner) {
    const CoveredWork work = CoveredBy(outer, inner);
    return std::array<bool, 2>{work.main, work.epilogue};
  };
  EXPECT_EQ(covered(linear, matmul), (std::array{true, false}));
  EXPECT_EQ(covered(linear, linear), (std::array{true, true}));
  EXPECT_EQ(covered(linear, add), (std::array{false, true}));
  EXPECT_EQ(covered(linear, copy), (std::array{false, false}));
  EXPECT_EQ(covered(softmax, copy), (std::array{false, false}));
  EXPECT_EQ(covered(softmax, softmax), (std::array{true, true}));
}

TEST(ShareWorkTest, CoveredWorkIsNotGivenAgain) {
  const PricedOp linear = Price("F.linear", "[4,5]float32 [6,5]float32 [6]float32");
  const auto flops = [&](const PricedOp& op, Direction direction, const char* kernel,
                         CoveredWork covered) {
    const InstanceKernel kernels[] = {{kernel, {1, 1, 1}, 1000}};
    KernelShare shares[1];
    ShareWork(op, direction, kernels, shares, covered);
    EXPECT_EQ(shares[0].flops.has_value() && shares[0].bytes.has_value(),
              shares[0].reasons.Empty());
    return shares[0].flops.value_or(-1);
  };
  EXPECT_EQ(flops(linear, kForward, kGemm, {}), 264);
  EXPECT_EQ(flops(linear, kForward, kGemm, {false, true}), 240) << "the bias was added inside";
  EXPECT_EQ(flops(linear, kForward, kGemm, {true, false}), -1);
  EXPECT_EQ(flops(linear, kForward, kOwn, {true, false}), -1);
  EXPECT_EQ(flops(linear, kForward, kAdd, {true, false}), 24);
  EXPECT_EQ(flops(linear, kForward, kAdd, {true, true}), -1);
  EXPECT_EQ(flops(linear, kForward, kCopy, {true, true}), 0);
  EXPECT_EQ(flops(linear, kBackward, kGemmNn, {true, false}), -1);
  EXPECT_EQ(flops(linear, kBackward, kReduce, {true, false}), 24);
  EXPECT_EQ(flops(linear, kBackward, kReduce, {true, true}), -1);
  const PricedOp norm = Price("F.layer_norm", "[4,8]float32 (8,)");
  const char* const kNorm = "void cuApplyLayerNorm<float>(int)";
  EXPECT_EQ(flops(norm, kForward, kNorm, {true, true}), -1);
  EXPECT_EQ(flops(norm, kForward, kAdd, {true, true}), -1);
}

TEST(ShareWorkTest, SpansOfDifferentSizesAreLeftAlone) {
  const PricedOp add = Price("torch.add", "[6]float32 [6]float32");
  const std::array<InstanceKernel, 1> kernels{{{kAdd, {1, 1, 1}, 1}}};
  std::array<KernelShare, 2> shares;
  ShareWork(add, kForward, kernels, shares);
  EXPECT_EQ(shares[0].flops, std::nullopt);
}

// ---- properties ----

const std::vector<std::string> kNames = {kGemm,
                                         kGemmNn,
                                         kGemmNt,
                                         kSplitK,
                                         kAdd,
                                         kCopy,
                                         kFill,
                                         kReduce,
                                         kOwn,
                                         kOffsets,
                                         "",
                                         "\xff<(",
                                         "void RowwiseMomentsCUDAKernel<float>(P)",
                                         "void LayerNormForwardCUDAKernel<float>(P)",
                                         "void GammaBetaBackwardCUDAKernel<float>(P)",
                                         "void softmax_warp_forward<float>(P)"};

std::vector<Kernel> AnyKernels() {
  return *rc::gen::container<std::vector<Kernel>>(rc::gen::construct<Kernel>(
      rc::gen::elementOf(kNames), rc::gen::arbitrary<int64_t>(), rc::gen::arbitrary<int64_t>()));
}

struct Total {
  int64_t flops = 0;
  int64_t bytes = 0;
  bool complete = true;
};

Total TotalOf(const std::vector<KernelShare>& shares) {
  Total total;
  for (const KernelShare& share : shares) {
    total.flops += share.flops.value_or(0);
    total.bytes += share.bytes.value_or(0);
    RC_ASSERT(share.flops.value_or(0) >= 0);
    RC_ASSERT(share.bytes.value_or(0) >= 0);
    RC_ASSERT(share.flops.has_value() || !share.reasons.Empty());
  }
  return total;
}

bool HasMain(const std::vector<KernelShare>& shares) {
  for (const KernelShare& share : shares) {
    if (share.role == Role::kMain) return true;
  }
  return false;
}

RC_GTEST_PROP(ShareWorkProperty, ForwardSharesAddUpToTheOp, ()) {
  const std::vector<PricedOp> ops = {
      Price("F.linear", "[7,11]float32 [13,11]float32 [13]float32"),
      Price("torch.mm", "[7,11]float32 [11,13]float32"),
      Price("F.layer_norm", "[7,11]float32 [11] [11]float32 [11]float32"),
      Price("F.softmax", "[7,11]float32 1"),
      Price("torch.add", "[7,11]float32 [11]float32"),
  };
  const PricedOp op = *rc::gen::elementOf(ops);
  const std::vector<Kernel> kernels = AnyKernels();
  const std::vector<KernelShare> shares = SharesOf(op, kForward, kernels);
  const Total total = TotalOf(shares);
  const Work& work = op.forward[0].work;
  if (HasMain(shares)) {
    RC_ASSERT(total.flops == (work.mma + work.vec).Value());
    RC_ASSERT(total.bytes == work.bytes.Value());
  } else {
    RC_ASSERT(total.flops == 0 || (op.matmul_like && total.flops == work.vec.Value()));
    RC_ASSERT(total.bytes == 0);
  }
}

RC_GTEST_PROP(ShareWorkProperty, BackwardSharesNeverExceedTheOp, ()) {
  const std::vector<PricedOp> ops = {
      Price("F.linear", "[7,11]float32 [13,11]float32 [13]float32"),
      Price("torch.matmul", "[2,3]float32 [5,3,4]float32"),
      Price("F.layer_norm", "[7,11]float32 [11] [11]float32 [11]float32"),
      Price("F.softmax", "[7,11]float32 1"),
  };
  const PricedOp op = *rc::gen::elementOf(ops);
  const std::vector<KernelShare> shares = SharesOf(op, kBackward, AnyKernels());
  const Total total = TotalOf(shares);
  Checked flops;
  Checked bytes;
  for (const PartWork& part : op.backward) {
    flops += part.work.mma + part.work.vec;
    bytes += part.work.bytes;
  }
  RC_ASSERT(total.flops <= *flops.Value());
  RC_ASSERT(total.bytes <= *bytes.Value());
  if (!op.matmul_like && HasMain(shares)) {
    RC_ASSERT(total.flops == *flops.Value());
    RC_ASSERT(total.bytes == *bytes.Value());
  }
}

RC_GTEST_PROP(ShareWorkProperty, CuttingAKernelInLaunchesChangesNothing, ()) {
  const PricedOp mm = Price("torch.mm", "[64,32]float32 [32,16]float32");
  const auto blocks =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(1, 1000)));
  std::vector<Kernel> kernels;
  for (const int64_t count : blocks) kernels.push_back({kGemm, count, 5});
  const Total cut = TotalOf(SharesOf(mm, kForward, kernels));
  const Total whole = TotalOf(SharesOf(mm, kForward, {{kGemm}}));
  RC_ASSERT(cut.flops == whole.flops);
  RC_ASSERT(cut.bytes == whole.bytes);
}

TEST(ShareWork, BoundsAreNoFlops) {
  const PricedOp op = Price("moe_forward", "[5,16]bf16 [5,4]bf16 ? topk=2 intermediate=8");
  const std::vector<KernelShare> shares =
      SharesOf(op, kForward, {{"bmm_one"}, {"moe::dev::routing::routingIndicesOffsetsKernel"}});
  EXPECT_EQ(shares[0].flops_kind, FlopsKind::kBound);
  EXPECT_FALSE(shares[0].flops);
  EXPECT_FALSE(shares[0].flops_mma);
  EXPECT_FALSE(shares[0].bytes);
  EXPECT_TRUE(shares[0].reasons.Has(Reason::kUnsupportedArgs));
  const Work& work = op.forward[0].work;
  EXPECT_EQ(shares[0].flops_bound, (work.mma + work.vec).Value());
  EXPECT_EQ(FlopsKindWord(shares[0].flops_kind), "bound");
  // What does no work of the op has none, which is known.
  EXPECT_EQ(shares[1].flops_kind, FlopsKind::kNone);
  EXPECT_EQ(shares[1].flops, 0);
  EXPECT_FALSE(shares[1].flops_bound);
}

TEST(ShareWork, NamesTellTheBytesOfWhatIsMoved) {
  OpCall call = MakeCall("torch.cat", "1:[2,3]float32 1:[4,3]float32 0");
  for (OpArg& arg : call.args) arg.dtype.clear();
  const PricedOp op = *PriceCall(call).price;
  const char* const kCat =
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
      "namespace)::OpaqueType<4u>, unsigned int, 2, 64, 64>(char*)";
  ASSERT_FALSE(op.bytes_known);
  // 18 elements are read and written, of 4 bytes each.
  EXPECT_EQ(SharesOf(op, kForward, {{kCat}})[0].bytes, 144);
  const std::vector<KernelShare> two = SharesOf(op, kForward, {{kCat, 1}, {kCat, 2}});
  EXPECT_EQ(two[0].bytes, 48);
  EXPECT_EQ(two[1].bytes, 96);
  const KernelShare other = SharesOf(op, kForward, {{"CatArrayBatchedCopy<Odd, 2>"}})[0];
  EXPECT_FALSE(other.bytes);
  EXPECT_TRUE(other.reasons.Has(Reason::kUnknownDType));
}

}  // namespace
}  // namespace oplens::ops::test::share_work_test
