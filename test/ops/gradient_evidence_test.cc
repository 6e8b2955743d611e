// Which kernel computes which gradient.
#include "ops/kernels/gradient_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplens::ops::test::gradient_evidence_test {
namespace {

// Y[700,33278] = X[700,200] W^T, with W stored [33278,200].
MatrixProduct Linear(int64_t rows, int64_t outputs, int64_t inputs) {
  MatrixProduct product;
  product.m = rows;
  product.n = outputs;
  product.k = inputs;
  product.right_transposed = true;
  return product;
}

struct Kernel {
  const char* name;
  Dim3 grid = {1, 1, 1};
};

std::vector<GradientGuess> GuessOf(const MatrixProduct* product,
                                   const std::vector<Kernel>& kernels) {
  std::vector<InstanceKernel> launches;
  for (const Kernel& kernel : kernels) launches.push_back({kernel.name, kernel.grid, 1000});
  return GuessGradients(product, launches);
}

std::string Words(const std::vector<GradientGuess>& guesses) {
  std::string text;
  for (const GradientGuess& guess : guesses) {
    if (!text.empty()) text += ' ';
    text += guess.part == Part::kBackward ? "?" : std::string(GradientWord(guess.part));
    text += ':';
    text += ConfidenceWord(guess.confidence);
  }
  return text;
}

TEST(GradientEvidenceTest, TileInTheName) {
  EXPECT_EQ(TileOf("volta_sgemm_128x64_nt"), (Tile{128, 64}));
  EXPECT_EQ(TileOf("volta_sgemm_32x32_sliced1x4_nt"), (Tile{32, 32}));
  EXPECT_EQ(TileOf("volta_fp16_s884gemm_fp16_256x128_ldg8_f2f_stages_32x1_tn"), (Tile{256, 128}));
  EXPECT_EQ(TileOf("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x96x32_stage4_x"),
            (Tile{128, 96}));
  EXPECT_EQ(TileOf("cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x256x64_2x1x1_0"),
            (Tile{128, 256}));
  EXPECT_EQ(TileOf("nvjet_sm90_tst_192x208_64x3_2x1_v_bz_coopB_TNN"), (Tile{192, 208}));
  EXPECT_EQ(TileOf("void gemv2T_kernel_val<int, 128, 16>(int)"), std::nullopt);
  EXPECT_EQ(TileOf("splitKreduce_kernel"), std::nullopt);
  EXPECT_EQ(TileOf("k_99999999999999999999x64_"), std::nullopt);
  EXPECT_EQ(TileOf(""), std::nullopt);
}

TEST(GradientEvidenceTest, WordsDecide) {
  EXPECT_EQ(Words(GuessOf(nullptr, {{"xmma_dgrad_x"}, {"xmma_wgrad_x"}})), "dgrad:high wgrad:high");
  EXPECT_EQ(Words(GuessOf(nullptr, {{"cudnn::cnn::wgrad_alg0_engine"}})), "wgrad:high");
  EXPECT_EQ(Words(GuessOf(nullptr, {{"a_dgrad_b"}, {"a_dgrad_b"}})), "dgrad:high dgrad:high");
}

// A split-K product and its second kernel; one without a name takes the gradient that is left.
TEST(GradientEvidenceTest, WordsOfTwoKernelsMayAgree) {
  EXPECT_EQ(Words(GuessOf(nullptr, {{"xmma_wgrad_x"}, {"xmma_wgrad_x_split_k"}})),
            "wgrad:high wgrad:high");
  EXPECT_EQ(Words(GuessOf(nullptr, {{"xmma_dgrad_x"}, {"xmma_dgrad_y"}})), "dgrad:high dgrad:high");
  EXPECT_EQ(Words(GuessOf(nullptr, {{"xmma_wgrad_x"}, {"x"}, {"xmma_wgrad_y"}})),
            "wgrad:high dgrad:high wgrad:high");
}

// The order of a real profile: wgrad first. One of the tiles covers one output only.
TEST(GradientEvidenceTest, OutputThatTileAndGridFit) {
  const MatrixProduct decoder = Linear(700, 33278, 200);
  EXPECT_EQ(Words(GuessOf(&decoder, {{"volta_sgemm_32x32_sliced1x4_nt", {7, 1040, 1}},
                                     {"volta_sgemm_32x128_nn", {7, 6, 8}}})),
            "wgrad:high dgrad:high");
  // Names without a layout.
  EXPECT_EQ(Words(GuessOf(&decoder, {{"my_gemm_32x32_", {7, 1040, 1}}})), "wgrad:high");
  EXPECT_EQ(Words(GuessOf(&decoder, {{"my_gemm_32x128_", {7, 6, 8}}})), "dgrad:high");
  // A grid that fits neither says nothing.
  EXPECT_EQ(Words(GuessOf(&decoder, {{"my_gemm_32x128_", {132, 1, 1}}})), "wgrad:medium");
}

TEST(GradientEvidenceTest, LayoutOfAStoredWeight) {
  const MatrixProduct square = Linear(128, 128, 128);
  EXPECT_EQ(Words(GuessOf(&square, {{"sgemm_64x64_nt", {2, 2, 1}}, {"sgemm_64x64_nn", {2, 2, 1}}})),
            "wgrad:high dgrad:high");
  MatrixProduct views = square;
  views.right_transposed = false;
  EXPECT_EQ(Words(GuessOf(&views, {{"sgemm_64x64_nt", {2, 2, 1}}, {"sgemm_64x64_nn", {2, 2, 1}}})),
            "wgrad:low dgrad:low");
}

TEST(GradientEvidenceTest, NothingToGoBy) {
  const MatrixProduct square = Linear(128, 128, 128);
  EXPECT_EQ(Words(GuessOf(&square, {{"nvjet_x"}, {"nvjet_x"}})), "dgrad:low wgrad:low");
  EXPECT_EQ(Words(GuessOf(&square, {{"nvjet_x"}})), "wgrad:medium");
  EXPECT_EQ(Words(GuessOf(&square, {{"x"}, {"x"}, {"x"}, {"x"}})), "?:low ?:low ?:low ?:low");
  EXPECT_EQ(Words(GuessOf(nullptr, {})), "");
}

// Both gradients are computed, though the names of both kernels say the same.
TEST(GradientEvidenceTest, EachOfTwoKernelsHasAGradient) {
  const MatrixProduct wide = Linear(100000, 64, 256);
  const std::vector<GradientGuess> guesses =
      GuessOf(&wide, {{"gemm_nt_a", {1, 1, 16}}, {"gemm_nt_b", {400, 1, 1}}});
  EXPECT_EQ(guesses[0].part, Part::kWgrad);
  EXPECT_EQ(guesses[1].part, Part::kDgrad);
}

TEST(GradientEvidenceTest, InnerProducts) {
  const MatrixProduct linear = Linear(700, 33278, 200);
  const auto inner = [&](int64_t m, int64_t n, int64_t k) {
    MatrixProduct product;
    product.m = m;
    product.n = n;
    product.k = k;
    return GradientOfInner(linear, product);
  };
  EXPECT_EQ(inner(700, 200, 33278)->part, Part::kDgrad);
  EXPECT_EQ(inner(33278, 200, 700)->part, Part::kWgrad);
  EXPECT_EQ(inner(200, 33278, 700)->part, Part::kWgrad);
  EXPECT_FALSE(inner(700, 33278, 200).has_value()) << "the forward product itself";
  const MatrixProduct square = Linear(8, 8, 8);
  EXPECT_EQ(GradientOfInner(square, square)->part, Part::kBackward);
}

}  // namespace
}  // namespace oplens::ops::test::gradient_evidence_test
