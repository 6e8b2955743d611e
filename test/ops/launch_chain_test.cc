#include "ops/kernels/launch_chain.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernels/launch_sizes.h"

namespace oplens::ops::launch_chain_test {
namespace {

constexpr std::string_view kGelu =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
    "const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, X, at::detail::Array<char*, 2>)";
constexpr std::string_view kMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int, "
    "X)";
constexpr std::string_view kReluGradient =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
    "float, at::native::(anonymous "
    "namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, "
    "float, float)::{lambda(float, float)#1}>, at::detail::Array<char*, 3> >(int, X)";
constexpr std::string_view kRelu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
    "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, "
    "at::native::detail::ClampLimits)::{lambda()#1}::operator()() "
    "const::{lambda()#7}::operator()() "
    "const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, X)";
constexpr std::string_view kFill =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, "
    "1>)";
constexpr std::string_view kProduct = "ampere_sgemm_128x64_tn";
constexpr std::string_view kSplitSum =
    "void splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(X)";
constexpr std::string_view kMean =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4> >(X)";
constexpr std::string_view kNorm =
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(X)";
constexpr std::string_view kNormGradient =
    "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(X)";

/// A stream of which each name has one rule.
class Stream {
 public:
  Stream& Add(std::string_view name, const Dim3& grid, const Dim3& block, int64_t duration_ns = 0) {
    size_t at = 0;
    while (at < names_.size() && names_[at] != name) ++at;
    if (at == names_.size()) {
      names_.emplace_back(name);
      rules_.push_back(std::make_unique<LaunchRule>(LaunchRuleOf(name)));
    }
    kernels_.push_back({rules_[at].get(), grid, block, duration_ns});
    return *this;
  }
  /// So many elements at 512 a block.
  Stream& Elementwise(std::string_view name, int64_t elements) {
    return Add(name, {(elements + 511) / 512, 1, 1}, {128, 1, 1});
  }

  std::vector<ChainedKernel> Chained() const { return ChainedKernelsOf(kernels_); }
  LaunchSizes Sizes(const ChainedKernel& chained) const {
    return SizesOfChained(kernels_[chained.kernel], chained.elements);
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<LaunchRule>> rules_;
  std::vector<StreamKernel> kernels_;
};

TEST(LaunchProductTest, GridsShowMAndN) {
  struct Row {
    std::string_view name;
    Dim3 grid;
    std::string_view params;
  };
  // Recorded launches: M=5120,N=4096; M=256,N=1024; M=1440,N=1024; M=320,N=2048 (five tiles, four
  // at a time); 14 products of M=14,N=5600.
  for (const Row& row : {
           Row{kProduct, {40, 64, 1}, "M=4993..5120,N=4033..4096,fp32"},
           Row{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(P)",
               {128, 2, 1},
               "M=513..2048,N=961..2048,fp32"},
           Row{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_32x3_tn_align1>(P)",
               {64, 5, 1},
               "M=8193..10240,N=897..1024,fp32"},
           Row{"ampere_sgemm_128x128_tn", {1, 44, 14}, "B=1..14,M=1..128,N=5505..5632,fp32"},
           Row{"nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", {132, 1, 1}, ""},
           Row{"cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4",
               {64, 1, 1},
               ""},
       }) {
    const LaunchSizes sizes = SizesOfLaunch(row.name, row.grid, {128, 1, 1});
    EXPECT_EQ(sizes.params, row.params) << row.name;
    EXPECT_EQ(sizes.flops, std::nullopt) << row.name;
  }
  EXPECT_EQ(SizesOfLaunch(kProduct, {INT64_MAX, 1, 1}, {128, 1, 1}).params, "");
  EXPECT_EQ(SizesOfLaunch(kProduct, {0, 1, 1}, {128, 1, 1}).params, "");
}

TEST(LaunchChainTest, AProductTakesWhatAnActivationWrote) {
  Stream stream;
  stream.Elementwise(kGelu, 5120 * 4096).Add(kProduct, {10, 64, 1}, {128, 1, 1});
  const auto chained = stream.Chained();
  ASSERT_EQ(chained.size(), 1U);
  EXPECT_EQ(chained[0].kernel, 1U);
  const LaunchSizes sizes = stream.Sizes(chained[0]);
  EXPECT_EQ(sizes.params, "M=1153..1280,N=4033..4096,K=5120..5199,fp32");
  EXPECT_EQ(sizes.flops_estimate, int64_t{2} * 1280 * 4096 * 5120);
  ASSERT_TRUE(sizes.flops.has_value());
  EXPECT_EQ(sizes.flops->low, int64_t{2} * 1153 * (4096 * 5120 - 511));
  EXPECT_EQ(sizes.bytes_estimate, int64_t{4} * (4096 * 5120 + 1280 * 5120 + 1280 * 4096));
  EXPECT_TRUE(sizes.is_mma);
}

TEST(LaunchChainTest, OtherTensorsAreNoFactors) {
  // Read already; of another size than any K; written by another function; several products or a
  // split one.
  EXPECT_TRUE(
      Stream().Elementwise(kGelu, 1000).Add(kProduct, {10, 64, 1}, {128, 1, 1}).Chained().empty());
  EXPECT_TRUE(Stream()
                  .Elementwise(kGelu, int64_t{1} << 40)
                  .Add(kProduct, {1, 1, 1}, {128, 1, 1})
                  .Chained()
                  .empty());
  EXPECT_TRUE(Stream()
                  .Elementwise(kMul, 5120 * 4096)
                  .Add(kProduct, {10, 64, 1}, {128, 1, 1})
                  .Chained()
                  .empty());
  EXPECT_TRUE(Stream()
                  .Elementwise(kGelu, 5120 * 4096)
                  .Add(kProduct, {10, 64, 5}, {128, 1, 1})
                  .Chained()
                  .empty());
  EXPECT_TRUE(Stream()
                  .Elementwise(kGelu, 5120 * 4096)
                  .Add("someone's kernel", {1, 1, 1}, {32, 1, 1})
                  .Add(kProduct, {10, 64, 1}, {128, 1, 1})
                  .Chained()
                  .empty());
  EXPECT_TRUE(Stream().Add(kProduct, {10, 64, 1}, {128, 1, 1}).Chained().empty());
  EXPECT_TRUE(Stream().Chained().empty());
  // The sum after it shows that z splits K.
  EXPECT_EQ(Stream()
                .Elementwise(kGelu, 5120 * 4096)
                .Add(kProduct, {10, 64, 5}, {128, 1, 1})
                .Add(kSplitSum, {40, 128, 1}, {32, 16, 1})
                .Chained()
                .size(),
            1U);
}

TEST(LaunchChainTest, AGuessNeedsAProductThatTookAsLongForItsFlops) {
  // K = 2560 and 10240 at 15 TFLOP/s.
  const int64_t small = int64_t{2} * 2560 * 2048 * 2560 / 15000;
  const auto stream = [&](int64_t small_ns, int64_t large_ns) {
    Stream made;
    made.Elementwise(kMul, 2560 * 2048).Add(kProduct, {20, 32, 1}, {128, 1, 1}, small_ns);
    made.Elementwise(kMul, 10240 * 2048).Add(kProduct, {20, 32, 1}, {128, 1, 1}, large_ns);
    return made;
  };
  EXPECT_EQ(stream(small, 4 * small).Chained().size(), 2U);
  EXPECT_TRUE(stream(small, small).Chained().empty());
  EXPECT_TRUE(stream(small / 1000, 4 * small / 1000).Chained().empty());  // Too short to compare.
  // A known product decides: by the time of the second, it took the tensor before the last one.
  Stream known = stream(small, small);
  known.Elementwise(kGelu, 2560 * 2048).Add(kProduct, {40, 32, 1}, {128, 1, 1}, 2 * small);
  const auto chained = known.Chained();
  ASSERT_EQ(chained.size(), 3U);
  EXPECT_EQ(chained[1].kernel, 3U);
  EXPECT_EQ(chained[1].elements.high, 2560 * 2048);
  EXPECT_EQ(chained[2].kernel, 5U);
  // Nothing written lately fits the time of the second.
  Stream strange = stream(small, 2 * small);
  strange.Elementwise(kGelu, 2560 * 2048).Add(kProduct, {40, 32, 1}, {128, 1, 1}, 2 * small);
  EXPECT_EQ(strange.Chained().size(), 2U);
}

TEST(LaunchChainTest, TheOtherFactorOfAGateDoesNotReadTheActivation) {
  Stream gate;
  gate.Add(kProduct, {80, 32, 1}, {128, 1, 1}).Elementwise(kGelu, 10240 * 2048);
  gate.Add(kProduct, {80, 32, 1}, {128, 1, 1}).Elementwise(kMul, 10240 * 2048);
  EXPECT_TRUE(gate.Chained().empty());
  Stream mlp;
  mlp.Add(kProduct, {80, 32, 1}, {128, 1, 1}).Elementwise(kGelu, 10240 * 2048);
  mlp.Add(kProduct, {20, 32, 1}, {128, 1, 1});
  EXPECT_EQ(mlp.Chained().size(), 1U);
}

TEST(LaunchChainTest, NormsAndReductionsAreAsLargeAsTheirNeighbours) {
  Stream stream;
  stream.Add(kNorm, {64, 1, 1}, {512, 1, 1}).Elementwise(kRelu, 1 << 20);
  stream.Add(kMean, {64, 1, 1}, {32, 16, 1});
  stream.Elementwise(kReluGradient, 1 << 20).Add(kNormGradient, {64, 1, 1}, {512, 1, 1});
  const auto chained = stream.Chained();
  ASSERT_EQ(chained.size(), 3U);
  constexpr int64_t kLow = (1 << 20) - 511;
  EXPECT_EQ(stream.Sizes(chained[0]).flops, (Bounds{8 * kLow, 8 << 20}));
  EXPECT_EQ(stream.Sizes(chained[1]).flops, (Bounds{kLow, 2 << 20}));
  EXPECT_EQ(stream.Sizes(chained[2]).flops, (Bounds{11 * kLow, 11 << 20}));
  // Not after a constant, not before anything else.
  EXPECT_TRUE(Stream()
                  .Elementwise(kFill, 1 << 20)
                  .Add(kMean, {64, 1, 1}, {32, 16, 1})
                  .Add(kNorm, {64, 1, 1}, {512, 1, 1})
                  .Elementwise(kMul, 1 << 20)
                  .Add(kNormGradient, {64, 1, 1}, {512, 1, 1})
                  .Chained()
                  .empty());
}

TEST(LaunchChainTest, RowsOfALayerNormDivideItsNeighbour) {
  constexpr std::string_view kLayerNorm =
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, "
      "float, float const*, float const*, float const*, float*, float*, float*)";
  Stream stream;
  stream.Elementwise(kMul, 2048 * 160).Add(kLayerNorm, {2048, 1, 1}, {32, 4, 1});
  const auto chained = stream.Chained();
  ASSERT_EQ(chained.size(), 1U);
  EXPECT_EQ(chained[0].elements, (Bounds{2048 * 160, 2048 * 160}));
  EXPECT_EQ(stream.Sizes(chained[0]).flops, (Bounds{6 * 2048 * 160, 8 * 2048 * 160}));
  EXPECT_EQ(stream.Sizes(chained[0]).flops_estimate, 8 * 2048 * 160);
  // Rows of 100; few rows, of which many lengths fit; neighbours that disagree.
  EXPECT_TRUE(Stream()
                  .Elementwise(kMul, 204800)
                  .Add(kLayerNorm, {2048, 1, 1}, {32, 4, 1})
                  .Chained()
                  .empty());
  EXPECT_TRUE(
      Stream().Elementwise(kMul, 160).Add(kLayerNorm, {1, 1, 1}, {32, 4, 1}).Chained().empty());
  EXPECT_TRUE(Stream()
                  .Elementwise(kMul, 2048 * 160)
                  .Add(kLayerNorm, {2048, 1, 1}, {32, 4, 1})
                  .Elementwise(kMul, 2048 * 320)
                  .Chained()
                  .empty());
}

TEST(LaunchChainTest, HostileStreams) {
  std::vector<StreamKernel> none(3);
  EXPECT_TRUE(ChainedKernelsOf(none).empty());
  EXPECT_EQ(SizesOfChained(none[0], {1, 1}).kind, LaunchSizes::Kind::kNone);
  const LaunchRule rule = LaunchRuleOf(kProduct);
  const StreamKernel product{&rule, {INT64_MAX, INT64_MAX, 1}, {128, 1, 1}, INT64_MAX};
  EXPECT_EQ(SizesOfChained(product, {1, INT64_MAX}).kind, LaunchSizes::Kind::kNone);
  const StreamKernel small{&rule, {10, 64, 1}, {128, 1, 1}, -5};
  EXPECT_EQ(SizesOfChained(small, {0, 0}).flops, std::nullopt);
  EXPECT_EQ(SizesOfChained(small, {INT64_MAX - 1, INT64_MAX}).flops, std::nullopt);
  const LaunchRule norm = LaunchRuleOf(kNorm);
  const StreamKernel rows{&norm, {64, 1, 1}, {512, 1, 1}, 0};
  EXPECT_EQ(SizesOfChained(rows, {INT64_MAX / 2, INT64_MAX}).flops, std::nullopt);
}

}  // namespace
}  // namespace oplens::ops::launch_chain_test
