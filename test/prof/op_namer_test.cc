#include "prof/price/op_namer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof::op_namer_test {
namespace {

constexpr const char* kGemm = "volta_sgemm_64x64_nt";
constexpr const char* kBatchNorm = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int>(X)";
constexpr const char* kBatchNormBackward = "void cudnn::bn_bw_1C11_kernel_new<float, float>(X)";
constexpr const char* kRelu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
    "launch_clamp_scalar(at::TensorIteratorBase&)::{lambda()#1}>(int, X)";
constexpr const char* kMean =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float> "
    "> "
    ">(X)";
constexpr const char* kWinograd =
    "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(X)";
constexpr const char* kFft = "void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*)";
constexpr const char* kTranspose =
    "void transpose_readWrite_alignment_kernel<float2, float2, 1, false, 6, 4, 4>(X)";
constexpr const char* kLayerNorm =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, X)";

class OpNamerTest : public testing::Test {
 protected:
  OpNamerTest() : facts_(&epochs_, nullptr) {}

  std::string Next(const char* name, int64_t stream = 7, const char* recorded = "") {
    pins_.push_back(epochs_.Current());
    KernelRecord record;
    record.long_name = name;
    record.stream_id = stream;
    PricedKernel row;
    row.record = &record;
    row.op = recorded;
    row.facts = facts_.Of(name);
    namer_.Name(&row);
    EXPECT_EQ(row.op_by_name, !row.op.empty() && *recorded == '\0');
    EXPECT_EQ(EvidenceOf(row), row.op_by_name   ? Evidence::kName
                               : row.op.empty() ? Evidence::kNone
                                                : Evidence::kRange);
    last_ = ConfidenceOf(row);
    return std::string(row.op);
  }

  Epochs epochs_;
  std::vector<Epochs::Pin> pins_;
  KernelFactsCache facts_;
  OpNamer namer_;
  Confidence last_ = Confidence::kUnknown;
};

TEST_F(OpNamerTest, ARecordedOpStays) {
  EXPECT_EQ(Next(kGemm, 7, "aten::linear"), "aten::linear");
  EXPECT_EQ(last_, Confidence::kUnknown);
  EXPECT_EQ(Next("main_69_gpu"), "");
}

TEST_F(OpNamerTest, AProductAlone) {
  EXPECT_EQ(Next(kGemm), "mm");
  EXPECT_EQ(last_, Confidence::kMedium);
  EXPECT_EQ(Next(kLayerNorm), "layer_norm");
  EXPECT_EQ(Next(kGemm), "mm");
}

TEST_F(OpNamerTest, AProductAfterABatchNormIsAConvolution) {
  Next(kBatchNorm);
  Next(kRelu);
  EXPECT_EQ(Next(kGemm), "convolution");
  EXPECT_EQ(last_, Confidence::kLow);
  // The head of the network, after pooling.
  Next(kBatchNorm);
  Next(kRelu);
  Next(kMean);
  EXPECT_EQ(Next(kGemm), "mm");
}

TEST_F(OpNamerTest, BothGradientsAfterABatchNormsGradient) {
  Next(kBatchNormBackward);
  EXPECT_EQ(Next(kGemm), "convolution_backward");
  EXPECT_EQ(Next(kGemm), "convolution_backward");
}

TEST_F(OpNamerTest, OtherStreamsAndInputsDoNotCount) {
  Next(kBatchNorm, 7);
  EXPECT_EQ(Next(kGemm, 8), "mm");
  Next(kBatchNorm, 7);
  namer_.Restart();
  EXPECT_EQ(Next(kGemm, 7), "mm");
}

TEST_F(OpNamerTest, TransformsSurroundTheProduct) {
  EXPECT_EQ(Next(kWinograd), "convolution");
  EXPECT_EQ(Next(kGemm), "convolution");
  EXPECT_EQ(Next(kFft), "convolution");
  EXPECT_EQ(Next(kTranspose), "convolution");
  // A transposition elsewhere is what it is.
  Next(kLayerNorm);
  EXPECT_EQ(Next(kTranspose), "copy_");
  EXPECT_EQ(Next(kGemm), "mm");
}

TEST_F(OpNamerTest, AGradientOfDataIsForwardUnlessABackwardPassRuns) {
  constexpr const char* kDgrad =
      "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x32x32_stage4";
  EXPECT_EQ(Next(kDgrad), "convolution");
  EXPECT_EQ(last_, Confidence::kMedium);
  Next(kBatchNormBackward);
  EXPECT_EQ(Next(kDgrad), "convolution_backward");
  EXPECT_EQ(Next(kLayerNorm), "layer_norm");
  EXPECT_EQ(Next(kDgrad), "convolution_backward");
}

TEST_F(OpNamerTest, TooFarAfterABatchNorm) {
  Next(kBatchNorm);
  for (int i = 0; i < 5; ++i) Next(kRelu);
  EXPECT_EQ(Next(kGemm), "mm");
}

}  // namespace
}  // namespace oplens::prof::op_namer_test
