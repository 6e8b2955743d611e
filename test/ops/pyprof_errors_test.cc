// What PyProf gets wrong (docs/costs.md, "Where PyProf differs"), one test an error: the right
// number or behaviour. Errors 10, 36 and 38 are of whole programs: test/e2e/pyprof_errors_test.cc;
// so is 35, the time to find forward ops: test/e2e/scale_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/kernels/kernel_name.h"
#include "ops/kernels/share_work.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::pyprof_errors_test {
namespace {

constexpr Direction kForward = Direction::kForward;
constexpr Direction kBackward = Direction::kBackward;

PricedOp Price(const char* op, const char* args) {
  PriceResult result = PriceCall(MakeCall(op, args));
  EXPECT_TRUE(result.price.has_value()) << op << ": " << ReasonWord(result.reason);
  return result.price.value_or(PricedOp());
}

Figures Forward(const char* op, const char* args) {
  const PricedOp price = Price(op, args);
  return price.forward.empty() ? Figures() : FiguresOf(price.forward[0].work).value_or(Figures());
}

Figures Backward(const char* op, const char* args) {
  Work sum;
  for (const PartWork& part : Price(op, args).backward) {
    sum.mma += part.work.mma;
    sum.vec += part.work.vec;
    sum.bytes += part.work.bytes;
  }
  return FiguresOf(sum).value_or(Figures());
}

Reason WhyNot(const char* op, const char* args) { return PriceCall(MakeCall(op, args)).reason; }

std::vector<KernelShare> Shares(const PricedOp& op, Direction direction,
                                const std::vector<std::string>& names) {
  std::vector<InstanceKernel> kernels;
  for (const std::string& name : names) kernels.push_back({name, {4, 1, 1}, 1000});
  std::vector<KernelShare> shares(kernels.size());
  ShareWork(op, direction, kernels, shares);
  return shares;
}

int64_t SumOfFlops(const std::vector<KernelShare>& shares) {
  int64_t sum = 0;
  for (const KernelShare& share : shares) sum += share.flops.value_or(0);
  return sum;
}

TEST(PyProfErrors, E01LinearCountsEveryTensorInItsSize) {
  EXPECT_EQ(Forward("F.linear", "[32,128,768]fp16 [3072,768]fp16 [3072]fp16").bytes, 36182016);
}

TEST(PyProfErrors, E02SplitKCountsTheOpOnce) {
  const PricedOp linear = Price("F.linear", "[64,32]fp16 [16,32]fp16");
  const auto shares = Shares(linear, kForward,
                             {"volta_sgemm_64x64_tn", "void splitKreduce_kernel<float>(P)",
                              "void reduce_1Block_kernel<float>(P)"});
  EXPECT_EQ(shares[0].flops, 65536);
  EXPECT_EQ(SumOfFlops(shares), 65536);
}

TEST(PyProfErrors, E03UnknownKernelsKeepTheirRow) {
  const PricedOp linear = Price("F.linear", "[64,32]fp16 [16,32]fp16");
  EXPECT_EQ(Shares(linear, kForward, {"nvjet_hsh_448x128_64x2_1x2_h_bz_bias_NNT"})[0].flops, 65536);
  EXPECT_EQ(Shares(linear, kForward, {"a_kernel_of_tomorrow"})[0].flops, 65536);
}

TEST(PyProfErrors, E04ModernDataTypes) {
  EXPECT_EQ(Forward("torch.mm", "[2,3]bf16 [3,4]bf16").bytes, 52);
  EXPECT_EQ(Forward("torch.mm", "[2,3]float8_e4m3fn [3,4]float8_e4m3fn").mma, 48);
  EXPECT_EQ(Forward("torch.mm", "[2,3]complex64 [3,4]complex64").mma, 192);
  EXPECT_EQ(Forward("torch.mm", "[2,3]posit16 [3,4]posit16").mma, 48) << "bytes alone are unknown";
}

TEST(PyProfErrors, E05MatmulBytesHoldTheBatch) {
  EXPECT_EQ(Forward("torch.matmul", "[4,16,128,64]fp16 [4,16,64,128]fp16").bytes, 4194304);
}

TEST(PyProfErrors, E06OneClassifierOfKernels) {
  const std::string name =
      "void cutlass::Kernel<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(P)";
  EXPECT_EQ(KernelKindOf(name), KernelKind::kMatrix);
  EXPECT_EQ(RoleOf(name), RoleOf(KernelKindOf(name)));
}

constexpr const char* kConv = "[4,64,56,56]fp16 [128,8,3,3]fp16 None 2 1 1 8";

TEST(PyProfErrors, E07ConvolutionKernelsOfAnyGpu) {
  const PricedOp conv = Price("F.conv2d", kConv);
  for (const char* name : {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc",
                           "cutlass__5x_cudnn::Kernel<cutlass_tensorop_s16816fprop>",
                           "nvjet_tst_64x64", "cudnn::cnn::implicit_convolve_sgemm<float>"}) {
    EXPECT_EQ(Shares(conv, kForward, {name})[0].flops, 57802752) << name;
  }
}

TEST(PyProfErrors, E08GroupsAreNotLaunches) {
  const PricedOp conv = Price("F.conv2d", kConv);
  EXPECT_EQ(SumOfFlops(Shares(conv, kForward, {"xmma_fprop_x"})), 57802752);
  const auto launches = Shares(conv, kForward, std::vector<std::string>(8, "scudnn_128x64_x"));
  EXPECT_EQ(launches[0].flops, 7225344);
  EXPECT_EQ(SumOfFlops(launches), 57802752);
}

TEST(PyProfErrors, E09WinogradInPartsCountsOnce) {
  const PricedOp conv = Price("F.conv2d", kConv);
  const auto shares = Shares(conv, kForward,
                             {"void cudnn::winograd_nonfused::winogradForwardData4x4<float>(P)",
                              "void cudnn::winograd_nonfused::winogradForwardFilter4x4<float>(P)",
                              "volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn",
                              "void cudnn::winograd_nonfused::winogradForwardOutput4x4<float>(P)"});
  EXPECT_EQ(SumOfFlops(shares), 57802752);
  EXPECT_EQ(shares[0].role, Role::kHelper);
}

TEST(PyProfErrors, E11FormsOfConvolution) {
  EXPECT_EQ(Forward("F.conv2d", "[1,2,8,8]fp32 [4,2,3,3]fp32 padding='same'").mma,
            2 * 4 * 64 * 2 * 9);
  EXPECT_EQ(Forward("F.conv2d", "[1,2,8,8]fp32 [4,2,3,3]fp32 None [2,2] [1,1]").mma,
            2 * 4 * 16 * 2 * 9);
  EXPECT_EQ(Forward("F.conv1d", "[1,4,8]fp32 [4,2,3]fp32 groups=2").mma, 2 * 4 * 6 * 2 * 3);
  EXPECT_EQ(Forward("F.conv3d", "[1,1,4,4,4]fp32 [1,1,2,2,2]fp32").mma, 2 * 27 * 8);
  EXPECT_EQ(Forward("F.conv_transpose1d", "[1,2,5]fp32 [2,3,4]fp32").mma, 2 * 2 * 5 * 3 * 4);
  EXPECT_EQ(Forward("F.conv2d", "[1,2,1,8]fp32 [4,2,1,1]fp32 padding=1").mma, 2 * 4 * 3 * 10 * 2);
}

TEST(PyProfErrors, E12ConvolutionsWithoutTensorCoresSaySo) {
  EXPECT_EQ(TensorCoreUseOf("volta_scudnn_128x64_relu_interior_nn_v1"), TensorCoreUse::kNo);
}

TEST(PyProfErrors, E13GradientsByEvidenceNotByOrder) {
  const PricedOp linear = Price("F.linear", "[700,200]fp32 [33278,200]fp32");
  std::vector<KernelShare> shares(3);
  const std::vector<InstanceKernel> kernels = {{"volta_sgemm_32x32_sliced1x4_nt", {7, 1040, 1}, 9},
                                               {"void splitKreduce_kernel<float>(P)", {1, 1, 1}, 1},
                                               {"volta_sgemm_32x128_nn", {7, 6, 8}, 9}};
  ShareWork(linear, kBackward, kernels, shares);
  EXPECT_EQ(shares[0].part, Part::kWgrad);
  EXPECT_EQ(shares[2].part, Part::kDgrad);
  EXPECT_EQ(shares[2].flops, 9317840000);
}

TEST(PyProfErrors, E14BiasOnce) {
  const PricedOp linear = Price("F.linear", "[6,4]fp32 [5,4]fp32 [5]fp32");
  const auto shares = Shares(linear, kBackward,
                             {"sgemm_nt", "sgemm_nn", "void reduce_kernel<512, 1, Sum>(P)",
                              "void reduce_kernel<512, 1, Sum>(P)"});
  EXPECT_EQ(shares[2].flops.value_or(0) + shares[3].flops.value_or(0), 30);
  EXPECT_EQ(shares[2].bytes.value_or(0) + shares[3].bytes.value_or(0), 140);
}

TEST(PyProfErrors, E15AddmmReadsItsAddend) {
  EXPECT_EQ(Forward("torch.addmm", "[512]fp32 [64,256]fp32 [256,512]fp32 beta=1 alpha=1"),
            (Figures{16777216, 32768, 722944}));
  EXPECT_EQ(Forward("torch.addmm", "[64,512]fp32 [64,256]fp32 [256,512]fp32 beta=0").vec, 0);
}

TEST(PyProfErrors, E16GradientsPrintTheirOwnSizes) {
  const PricedOp mm = Price("torch.mm", "[2,3]fp32 [3,4]fp32");
  EXPECT_EQ(ParamsOf(mm, kForward, Part::kForward), "M=4,N=2,K=3,fp32");
  EXPECT_EQ(ParamsOf(mm, kBackward, Part::kDgrad), "M=3,N=2,K=4,fp32");
  EXPECT_EQ(ParamsOf(mm, kBackward, Part::kWgrad), "M=4,N=3,K=2,fp32");
}

TEST(PyProfErrors, E17MethodsAndOut) {
  EXPECT_EQ(Forward("Tensor.mm", "[2,3]fp32 [3,4]fp32").mma, 48);
  EXPECT_EQ(Forward("Tensor.bmm", "[2,2,3]fp32 [2,3,4]fp32").mma, 96);
  EXPECT_EQ(Forward("torch.mm", "[2,3]fp32 [3,4]fp32 out=[2,4]fp32").mma, 48);
}

TEST(PyProfErrors, E18SoftmaxInEverySpelling) {
  for (const char* op : {"F.softmax", "torch.softmax", "Tensor.softmax"}) {
    EXPECT_EQ(Forward(op, "[4,8]fp16 dim=-1"), (Figures{0, 768, 128})) << op;
    EXPECT_EQ(Backward(op, "[4,8]fp16 dim=-1"), (Figures{0, 128, 192})) << op;
  }
  EXPECT_EQ(Forward("torch.softmax", "[4,8]fp16 dim=-1 dtype='float32'").bytes, 192);
}

TEST(PyProfErrors, E19NormAndSumCountOnce) {
  const PricedOp norm =
      Price("F.batch_norm", "[2,4,8,8]fp32 [4]fp32 [4]fp32 [4]fp32 [4]fp32 training=True");
  const auto shares = Shares(norm, kForward,
                             {"void batch_norm_collect_statistics_kernel<float>(P)",
                              "void batch_norm_transform_input_kernel<float>(P)"});
  EXPECT_EQ(SumOfFlops(shares), 4096);
  EXPECT_EQ(shares[0].flops, 4096 * 3 / 8);
  const PricedOp sum = Price("torch.sum", "[64]fp32");
  EXPECT_EQ(SumOfFlops(Shares(sum, kForward, {"void reduce_kernel<1>(P)", "kernelReduceAllPass2"})),
            64);
}

TEST(PyProfErrors, E20ReductionsWriteTheirResult) {
  EXPECT_EQ(Forward("torch.sum", "[1024,1000]fp32").bytes, 4096004);
  EXPECT_EQ(Forward("torch.mean", "[4,6]fp32 dim=1"), (Figures{0, 28, 112}));
}

TEST(PyProfErrors, E21ArgumentsOfEveryKind) {
  EXPECT_EQ(Forward("torch.add", "[4]fp32 True").vec, 4);
  EXPECT_EQ(Forward("torch.clamp", "[4]fp32 None 1").vec, 4);
  EXPECT_EQ(Forward("torch.atan2", "[4]fp32 [4]fp32").vec, 80);
  EXPECT_GT(Forward("torch.lerp", "[4]fp32 [4]fp32 0.5").vec, 0);
  EXPECT_GT(Forward("torch.digamma", "[4]fp32").vec, 0);
  EXPECT_EQ(Forward("torch.expm1", "[4]fp32").vec, 80);
}

TEST(PyProfErrors, E22BackwardOfEverySpelling) {
  EXPECT_EQ(Backward("Tensor.mul", "[4]fp32 [4]fp32"), (Figures{0, 8, 96}));
  EXPECT_EQ(Backward("Tensor.mul_", "[4]fp32 [4]fp32"), (Figures{0, 8, 96}));
  EXPECT_TRUE(PriceCall(MakeCall("Tensor.__iadd__", "[4]fp32 [4]fp32")).price.has_value());
  EXPECT_TRUE(PriceCall(MakeCall("Tensor.__rsub__", "[4]fp32 1")).price.has_value());
}

TEST(PyProfErrors, E23Promotion) {
  EXPECT_EQ(Forward("torch.add", "[10]fp16 [10]fp32").bytes, 100);
  EXPECT_EQ(Forward("torch.add", "[10]fp16 1").bytes, 40) << "a number is no tensor";
}

TEST(PyProfErrors, E24OneTableOfWeights) {
  for (const char* op : {"torch.tanh", "Tensor.tanh", "F.tanh", "tanh_"}) {
    EXPECT_EQ(Forward(op, "[4]fp32").vec, 80) << op;
  }
}

TEST(PyProfErrors, E25GatherReadsWhatItPicks) {
  EXPECT_EQ(Forward("torch.gather", "[128,1000]fp32 dim=1 index=[128,5]int64").bytes, 10240);
}

TEST(PyProfErrors, E26BoolMasks) {
  EXPECT_TRUE(PriceCall(MakeCall("torch.masked_select", "[4]fp32 [4]bool")).price.has_value());
  EXPECT_TRUE(
      PriceCall(MakeCall("Tensor.masked_scatter_", "[4]fp32 [4]bool [4]fp32")).price.has_value());
}

TEST(PyProfErrors, E27ReshapeMayCopyAndToConverts) {
  const PricedOp reshape = Price("Tensor.reshape", "[4,4]fp32 16");
  EXPECT_EQ(
      Shares(reshape, kForward, {"void elementwise_kernel<direct_copy_kernel_cuda>(P)"})[0].bytes,
      128);
  EXPECT_EQ(Forward("Tensor.to", "[4]fp32 'float16'").bytes, 24);
  EXPECT_EQ(Forward("Tensor.to", "[4]fp32 'cuda:0' 'float16'").bytes, 24);
}

TEST(PyProfErrors, E28TypesOfCreatedTensors) {
  EXPECT_EQ(Forward("torch.full", "(4,) 7").bytes, 32);
  EXPECT_EQ(Forward("torch.zeros", "(4,) dtype='float16'").bytes, 8);
  EXPECT_EQ(Forward("torch.zeros_like", "[4]fp32 dtype='float16'").bytes, 8);
}

TEST(PyProfErrors, E29EmbeddingReadsIndicesAndFillsDw) {
  EXPECT_EQ(Backward("F.embedding", "[35,20]int64 [33278,200]fp32"),
            (Figures{0, 140000, 27188000}));
}

TEST(PyProfErrors, E30AdamCosts) {
  EXPECT_EQ(Forward("adam",
                    "param=[100]fp32 grad=[100]fp16 exp_avg=[100]fp32 "
                    "exp_avg_sq=[100]fp32 half_copy=[100]fp16"),
            (Figures{0, 3100, 2800}));
}

TEST(PyProfErrors, E31RecurrentLayers) {
  OpCall cell = MakeCall("forward",
                         "[64,256]fp16 [64,512]fp16 [64,512]fp16 weight_ih=[2048,256]fp16 "
                         "weight_hh=[2048,512]fp16 bias_ih=[2048]fp16 bias_hh=[2048]fp16");
  cell.mod = "LSTMCell";
  const PriceResult result = PriceCall(cell);
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(FiguresOf(result.price->forward[0].work), (Figures{201326592, 3801088, 3448832}));
  EXPECT_EQ(
      Forward("torch.lstm", "[50,16,128]fp16 hidden_size=256 num_layers=2 bidirectional=False").mma,
      1468006400);
}

TEST(PyProfErrors, E32DropoutWritesAMask) {
  EXPECT_EQ(Forward("F.dropout", "[10]fp32 0.5 True").bytes, 90);
}

TEST(PyProfErrors, E33OpsThatCostNothingThere) {
  EXPECT_GT(
      Forward("F.scaled_dot_product_attention", "[1,2,8,4]fp16 [1,2,8,4]fp16 [1,2,8,4]fp16").mma,
      0);
  EXPECT_GT(Forward("F.cross_entropy", "[4,10]fp32 [4]int64").vec, 0);
  EXPECT_GT(Forward("F.max_pool2d", "[1,2,8,8]fp32 2").vec, 0);
  EXPECT_GT(Forward("F.layer_norm", "[4,8]fp32 (8,)").vec, 0);
}

TEST(PyProfErrors, E34ZeroIsANumber) {
  EXPECT_EQ(WhyNot("torch.no_such_op", "[4]fp32"), Reason::kUnknownOp);
  EXPECT_EQ(Forward("Tensor.view", "[4]fp32 4"), (Figures{0, 0, 0}));
}

TEST(PyProfErrors, E37TheFullNameDecidesOnTensorCores) {
  EXPECT_EQ(TensorCoreUseOf("void cutlass::Kernel<cutlass_70_wmma_tensorop_f16_s161616gemm>(P)"),
            TensorCoreUse::kYes);
}

TEST(PyProfErrors, E39AnInnerProductIsChargedOnce) {
  const CoveredWork covered =
      CoveredBy(Price("F.linear", "[6,4]fp32 [5,4]fp32"), Price("torch.mm", "[6,4]fp32 [4,5]fp32"));
  EXPECT_TRUE(covered.main);
}

}  // namespace
}  // namespace oplens::ops::test::pyprof_errors_test
