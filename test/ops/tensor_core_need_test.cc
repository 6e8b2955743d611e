#include "ops/gpu/tensor_core_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace oplens::ops::tensor_core_need_test {
namespace {

constexpr const char* kSimt = "volta_sgemm_128x64_nn";
constexpr const char* kTriton = "triton_tem_fused_mm_3";

MatrixProduct Gemm(DType type, int64_t m, int64_t n, int64_t k) {
  MatrixProduct product;
  product.left = product.right = product.output = type;
  product.m = m;
  product.n = n;
  product.k = k;
  product.extents = {{"M", n}, {"N", m}, {"K", k}};
  return product;
}

MatrixProduct Convolution(DType type, int64_t groups, int64_t channels, int64_t filters) {
  MatrixProduct product = Gemm(type, 1000, filters, channels * 9);
  product.kind = MatrixProduct::Kind::kConvolution;
  product.groups = groups;
  product.extents = {{"C", channels}, {"K", filters}};
  return product;
}

MatrixProduct Attention(DType type, int64_t head) {
  MatrixProduct product = Gemm(type, 512, 512, head);
  product.kind = MatrixProduct::Kind::kAttention;
  product.extents = {{"D", head}, {"Dv", head}};
  return product;
}

/// Judges a main kernel of that name under an op of that product.
TensorCoreJudgement JudgeMain(const std::string& name, const MatrixProduct& product,
                              int compute_capability, int64_t flops_mma = 0,
                              int64_t duration_ns = 0) {
  PricedOp op;
  op.matmul_like = true;
  op.product = product;
  Gpu gpu = ParseGpu("", "cc=" + std::to_string(compute_capability / 10) + "." +
                             std::to_string(compute_capability % 10) + ",sms=100,clock=1000000000");
  const TensorCoreVerdict verdict = TensorCoreVerdictOf(name);
  TensorCoreCase kernel{name, &verdict, &op, Role::kMain, &gpu};
  if (flops_mma > 0) kernel.flops_mma = flops_mma;
  if (duration_ns > 0) kernel.duration_ns = duration_ns;
  return JudgeTensorCore(kernel);
}

std::string Fitness(const MatrixProduct& product, int compute_capability,
                    const char* name = kSimt) {
  return std::string(TensorCoreFitnessWord(JudgeMain(name, product, compute_capability).fitness));
}

TEST(TensorCoreNeedTest, DataTypesByComputeCapability) {
  struct Row {
    DType type;
    const char* words;  // For 6.1, 7.0, 7.2, 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0
  };
  const int capabilities[] = {61, 70, 72, 75, 80, 86, 89, 90, 100, 120};
  const Row rows[] = {
      {DType::kFloat16, "0111111111"},    {DType::kBFloat16, "0000111111"},
      {DType::kFloat32, "0000??????"},    {DType::kComplex64, "0000??????"},
      {DType::kFloat64, "0000100110"},    {DType::kFloat8E4m3, "0000001111"},
      {DType::kFloat4E2m1, "0000000011"}, {DType::kInt8, "0011111111"},
      {DType::kInt4, "0001111000"},       {DType::kInt64, "0000000000"},
      {DType::kBool, "0000000000"},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < std::size(capabilities); ++i) {
      EXPECT_EQ(Fitness(Gemm(row.type, 64, 64, 64), capabilities[i]), std::string(1, row.words[i]))
          << DTypeWord(row.type) << " on " << capabilities[i];
    }
  }
}

TEST(TensorCoreNeedTest, AlignmentIsAdviceNotVerdict) {
  const auto judged = JudgeMain(kSimt, Gemm(DType::kFloat16, 701, 33278, 200), 80);
  EXPECT_EQ(judged.fitness, TensorCoreFitness::kYes);
  EXPECT_EQ(judged.why, "N6:sgemm; M=33278: pad to 33280");  // The rows align nothing.
  EXPECT_EQ(JudgeMain(kSimt, Gemm(DType::kFloat16, 701, 64, 33278), 80).why,
            "N6:sgemm; K=33278: pad to 33280");
  // It did before Ampere.
  EXPECT_EQ(JudgeMain(kSimt, Gemm(DType::kFloat16, 701, 64, 64), 70).why,
            "N6:sgemm; N=701: pad to 704");
  EXPECT_EQ(JudgeMain(kSimt, Gemm(DType::kFloat16, 704, 64, 64), 70).why, "N6:sgemm");
  // 16 bytes are 4 TF32, 2 fp64, 16 fp8 or int8.
  EXPECT_EQ(JudgeMain(kSimt, Gemm(DType::kFloat64, 64, 64, 63), 80).why,
            "N6:sgemm; K=63: pad to 64");
  const auto int8 = JudgeMain(kSimt, Gemm(DType::kInt8, 64, 64, 20), 80);
  EXPECT_EQ(int8.fitness, TensorCoreFitness::kYes);
  EXPECT_EQ(int8.why, "N6:sgemm; K=20: pad to 32");
  EXPECT_EQ(Fitness(Gemm(DType::kInt8, 64, 64, 18), 80), "0");
  EXPECT_EQ(Fitness(Gemm(DType::kFloat8E4m3, 64, 64, 24), 90), "0");
  EXPECT_EQ(Fitness(Gemm(DType::kFloat8E4m3, 24, 64, 32), 90), "1");
}

TEST(TensorCoreNeedTest, Fp32OnlyByTf32) {
  const auto matmul = JudgeMain(kSimt, Gemm(DType::kFloat32, 64, 64, 33278), 80);
  EXPECT_EQ(matmul.fitness, TensorCoreFitness::kUnknown);
  EXPECT_EQ(matmul.why,
            "N6:sgemm; fp32: TF32 not used; matmul.allow_tf32 is off by default since PyTorch "
            "1.12; K=33278: pad to 33280");
  EXPECT_NE(JudgeMain(kSimt, Convolution(DType::kFloat32, 1, 64, 64), 80).why.find("cudnn"),
            std::string::npos);
  const auto used = JudgeMain("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x4>(P)",
                              Gemm(DType::kFloat32, 64, 64, 66), 80);
  EXPECT_EQ(used.use, TensorCoreUse::kYes);
  EXPECT_EQ(used.math, MathType::kTf32);
  EXPECT_EQ(used.fitness, TensorCoreFitness::kYes);
  EXPECT_EQ(used.why, "P1:s1688gemm tf32; K=66: pad to 68");
  EXPECT_EQ(JudgeMain(kSimt, Gemm(DType::kFloat32, 64, 64, 64), 75).why,
            "N6:sgemm; fp32: TF32 needs sm_80");
}

TEST(TensorCoreNeedTest, Shapes) {
  constexpr DType kHalf = DType::kFloat16;
  EXPECT_EQ(Fitness(Gemm(kHalf, 1, 64, 64), 80), "0");
  EXPECT_EQ(Fitness(Gemm(kHalf, 64, 1, 64), 80), "0");
  EXPECT_EQ(Fitness(Gemm(DType::kFloat32, 64, 1, 64), 80), "0");
  EXPECT_EQ(Fitness(Gemm(kHalf, 4, 64, 64), 80), "?");
  EXPECT_EQ(Fitness(Gemm(kHalf, 5, 64, 64), 80), "1");
  for (const auto& [m, n, k] : {std::tuple(0, 64, 64), {64, 0, 64}, {64, 64, 0}}) {
    EXPECT_EQ(Fitness(Gemm(kHalf, m, n, k), 80), "-");
  }
  EXPECT_EQ(Fitness(Convolution(kHalf, 1, 3, 64), 80), "1");
  EXPECT_EQ(Fitness(Convolution(kHalf, 32, 1, 1), 80), "0");
  EXPECT_EQ(Fitness(Convolution(kHalf, 32, 3, 3), 80), "0");
  EXPECT_EQ(Fitness(Convolution(kHalf, 32, 4, 4), 80), "1");
  EXPECT_EQ(JudgeMain("k", Convolution(kHalf, 1, 3, 64), 80).why, "no rule; C=3: pad to 8");
  EXPECT_EQ(Fitness(Attention(kHalf, 64), 80), "1");
  EXPECT_EQ(Fitness(Attention(kHalf, 256), 80), "1");
  EXPECT_EQ(Fitness(Attention(kHalf, 264), 80), "?");
  EXPECT_EQ(Fitness(Attention(kHalf, 100), 80), "?");
  EXPECT_NE(JudgeMain("k", Attention(kHalf, 100), 80).why.find("D=100: pad to 104"),
            std::string::npos);
  MatrixProduct lstm = Gemm(kHalf, 20, 64, 64);
  lstm.kind = MatrixProduct::Kind::kRecurrent;
  lstm.extents = {{"batch", 20}, {"input", 64}, {"hidden", 64}};
  EXPECT_EQ(Fitness(lstm, 80), "?");
  lstm.extents[0].extent = 24;
  EXPECT_EQ(Fitness(lstm, 80), "1");
}

TEST(TensorCoreNeedTest, QuestionsThatDoNotArise) {
  PricedOp product;
  product.matmul_like = true;
  product.product = Gemm(DType::kFloat16, 64, 64, 64);
  const PricedOp other;
  const Gpu gpu = ParseGpu("", "cc=8.0,sms=1,clock=1000000000");
  const auto judge = [&](const char* name, const PricedOp* op, Role role) {
    const TensorCoreVerdict verdict = TensorCoreVerdictOf(name);
    return JudgeTensorCore({name, &verdict, op, role, &gpu});
  };
  for (const Role role : {Role::kHelper, Role::kLayout, Role::kReduce, Role::kEpilogue}) {
    EXPECT_EQ(judge("k", &product, role).fitness, TensorCoreFitness::kNotAsked);
  }
  EXPECT_EQ(judge("splitKreduce_kernel", &product, Role::kReduce).why,
            "N2:splitKreduce; beside the product");
  EXPECT_EQ(judge("k", &other, Role::kMain).fitness, TensorCoreFitness::kNotAsked);
  // Without a price the name tells.
  EXPECT_EQ(judge(kSimt, nullptr, Role::kUnknown).fitness, TensorCoreFitness::kUnknown);
  EXPECT_EQ(judge("void gemvNSP_kernel<float, 1>(P)", nullptr, Role::kUnknown).fitness,
            TensorCoreFitness::kNo);
  EXPECT_EQ(judge("nvjet_tst_64x8_64x16", nullptr, Role::kUnknown).fitness,
            TensorCoreFitness::kYes);
  EXPECT_EQ(judge("void at::native::vectorized_elementwise_kernel<4>(int)", nullptr, Role::kUnknown)
                .fitness,
            TensorCoreFitness::kNotAsked);
}

TEST(TensorCoreNeedTest, UnknownGpuAndType) {
  PricedOp op;
  op.matmul_like = true;
  op.product = Gemm(DType::kFloat16, 64, 64, 64);
  const TensorCoreVerdict verdict = TensorCoreVerdictOf(kSimt);
  TensorCoreCase kernel{kSimt, &verdict, &op, Role::kMain};
  EXPECT_EQ(JudgeTensorCore(kernel).fitness, TensorCoreFitness::kUnknown);
  EXPECT_EQ(JudgeTensorCore(kernel).why, "N6:sgemm; GPU not known: --gpu NAME");
  const Gpu amd = ParseGpu("AMD Radeon Graphics", "cc=9.0,sms=104,warp=64");
  kernel.gpu = &amd;
  EXPECT_EQ(JudgeTensorCore(kernel).fitness, TensorCoreFitness::kUnknown);
  EXPECT_EQ(JudgeTensorCore(kernel).why, "N6:sgemm; no NVIDIA GPU");
  const Gpu a100 = ParseGpu("A100 40GB", "");
  kernel.gpu = &a100;
  op.product->left = op.product->right = DType::kUnknown;
  EXPECT_EQ(JudgeTensorCore(kernel).why, "N6:sgemm; data type not known");
  kernel.dtype = DType::kBFloat16;
  EXPECT_EQ(JudgeTensorCore(kernel).fitness, TensorCoreFitness::kYes);
}

// Neither its peaks nor shapes nor alignments decide what is made for NVIDIA's GPUs.
TEST(TensorCoreNeedTest, GpusOfOthersAreJudgedByNamesOnly) {
  const Gpu amd = *FindGpu("MI300X").gpu;
  PricedOp op;
  op.matmul_like = true;
  op.product = Gemm(DType::kBFloat16, 63, 1, 65);
  const auto judge = [&](const char* name) {
    const TensorCoreVerdict verdict = TensorCoreVerdictOf(name);
    TensorCoreCase kernel{name, &verdict, &op, Role::kMain, &amd};
    kernel.flops_mma = int64_t{1} << 50;  // Faster than any unit.
    kernel.duration_ns = 1;
    return JudgeTensorCore(kernel);
  };
  const TensorCoreJudgement open = judge("attn_fwd");
  EXPECT_EQ(open.use, TensorCoreUse::kUnknown);
  EXPECT_EQ(open.fitness, TensorCoreFitness::kUnknown);
  EXPECT_EQ(open.why, "no rule; no NVIDIA GPU");
  EXPECT_EQ(judge("gemvn_kernel").fitness, TensorCoreFitness::kUnknown);
  op.product->kind = MatrixProduct::Kind::kAttention;
  for (const char* name : {"attn_fwd", "attn_fwd.kd", "bwd_kernel_dk_dv", "bwd_kernel_dq.kd"}) {
    const TensorCoreJudgement triton = judge(name);
    EXPECT_EQ(triton.use, TensorCoreUse::kYes) << name;
    EXPECT_EQ(triton.fitness, TensorCoreFitness::kYes) << name;
    EXPECT_EQ(triton.why, "no rule bf16; by data type: AOTriton's attention") << name;
  }
  EXPECT_EQ(judge("bwd_preprocess").use, TensorCoreUse::kUnknown);
  op.product->left = op.product->right = DType::kFloat32;
  EXPECT_EQ(judge("attn_fwd").use, TensorCoreUse::kUnknown) << "fp32 may be rounded or not";
  op.product = Gemm(DType::kBFloat16, 63, 1, 65);
  for (const char* name : {"Cijk_Alik_Bljk_BBS_BH_Bias_MT256x192x64_MI16x16x1_SN_ISA942",
                           "kernel_gemm_xdl_cshuffle_v3", "void f_mfma_f32_16x16()"}) {
    const TensorCoreJudgement named = judge(name);
    EXPECT_EQ(named.use, TensorCoreUse::kYes) << name;
    EXPECT_EQ(named.math, MathType::kBf16) << name;
    EXPECT_EQ(named.fitness, TensorCoreFitness::kYes) << name;
    EXPECT_THAT(named.why, testing::MatchesRegex("P1[0-9]:[^;]* bf16")) << name;
  }
  EXPECT_EQ(judge("Cijk_Ailk_Bljk_SB_MT64x64x8_SN_ISA906").use, TensorCoreUse::kUnknown);
  EXPECT_EQ(judge("Cijk_Ailk_Bljk_SB_MT64x64x8_MI0_SN").use, TensorCoreUse::kUnknown);
  op.product = Gemm(DType::kFloat32, 64, 64, 64);
  EXPECT_EQ(judge("Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x1_SN").why,
            "no rule; by name: AMD's matrix cores");
  EXPECT_EQ(judge("igemm_fwd_gtcx_nhwc_fp32_bx0_ex0_bt128x128x32").why,
            "no rule; by name: AMD's matrix cores");
  EXPECT_EQ(judge("igemm_fwd_gtc_nchw_fp32_bx0_ex0").use, TensorCoreUse::kUnknown);
}

TEST(TensorCoreNeedTest, OpenNamesAreResolvedByEvidence) {
  const auto use = [](const char* name, DType type, int capability, int64_t flops = 0,
                      int64_t duration = 0) {
    const auto product = Gemm(type, 64, 64, 64);
    return TensorCoreWord(JudgeMain(name, product, capability, flops, duration).use);
  };
  // By type
  EXPECT_EQ(use(kTriton, DType::kFloat16, 80), "1");
  EXPECT_EQ(use(kTriton, DType::kBFloat16, 80), "1");
  EXPECT_EQ(use(kTriton, DType::kBFloat16, 75), "0");
  EXPECT_EQ(use(kTriton, DType::kFloat32, 80), "?");
  EXPECT_EQ(use(kTriton, DType::kFloat32, 70), "0");
  EXPECT_EQ(use(kTriton, DType::kInt64, 80), "0");
  EXPECT_EQ(use("my_kernel", DType::kFloat16, 80), "?");
  EXPECT_EQ(use("conv2d_c1_k1_nhwc_kernel<__half, 3>", DType::kFloat16, 80), "?");
  // By the GPU
  EXPECT_EQ(use("my_kernel", DType::kFloat16, 61), "0");
  // By rate: 100 multiprocessors of 64 FMAs at 1 GHz are 12.8 TFLOP/s; x 1.05 = 13.44.
  EXPECT_EQ(use("my_kernel", DType::kFloat32, 80, 13'430'000, 1000), "?");
  EXPECT_EQ(use("my_kernel", DType::kFloat32, 80, 13'450'000, 1000), "1");
  EXPECT_EQ(use("my_winograd_kernel", DType::kFloat32, 80, 13'450'000, 1000), "?");
  EXPECT_EQ(
      JudgeMain("my_kernel", Convolution(DType::kFloat32, 1, 64, 64), 80, 99'000'000, 1000).use,
      TensorCoreUse::kUnknown);
  // Packed fp16: 256 FMAs, 51.2 TFLOP/s.
  EXPECT_EQ(use("my_kernel", DType::kFloat16, 80, 53'700'000, 1000), "?");
  EXPECT_EQ(use("my_kernel", DType::kFloat16, 80, 53'800'000, 1000), "1");
  // fp64: 32 FMAs, 6.4 TFLOP/s.
  EXPECT_EQ(use("my_kernel", DType::kFloat64, 80, 6'730'000, 1000), "1");
  // A name that answers is not asked again.
  EXPECT_EQ(use(kSimt, DType::kFloat32, 80, 100'000'000, 1000), "0");
  EXPECT_EQ(JudgeMain(kTriton, Gemm(DType::kBFloat16, 64, 64, 64), 80).math, MathType::kBf16);
  EXPECT_EQ(JudgeMain(kTriton, Gemm(DType::kBFloat16, 64, 64, 64), 80).why,
            "U3:triton bf16; by data type");
}

TEST(TensorCoreNeedTest, MixedFactors) {
  bool known = false;
  const auto math = [&](DType left, DType right) {
    return std::string(MathTypeWord(MathTypeOf(left, right, &known)));
  };
  EXPECT_EQ(math(DType::kFloat16, DType::kInt4), "fp16");
  EXPECT_EQ(math(DType::kInt8, DType::kBFloat16), "bf16");
  EXPECT_EQ(math(DType::kFloat8E4m3, DType::kFloat8E5m2), "fp8");
  EXPECT_EQ(math(DType::kFloat8E4m3, DType::kFloat4E2m1), "fp8");
  EXPECT_EQ(math(DType::kUInt8, DType::kInt8), "int8");
  EXPECT_EQ(math(DType::kInt8, DType::kInt4), "int8");
  EXPECT_EQ(math(DType::kFloat16, DType::kFloat32), "tf32");
  EXPECT_EQ(math(DType::kFloat16, DType::kBFloat16), "tf32");
  EXPECT_EQ(math(DType::kFloat16, DType::kInt64), "");
  EXPECT_TRUE(known);
  EXPECT_EQ(math(DType::kUnknown, DType::kFloat16), "");
  EXPECT_FALSE(known);
}

TEST(TensorCoreNeedTest, HugeExtentsDoNotWrap) {
  const auto judged =
      JudgeMain("k", Gemm(DType::kFloat16, INT64_MAX, INT64_MAX, INT64_MAX), 80, INT64_MAX, 1);
  EXPECT_EQ(judged.fitness, TensorCoreFitness::kYes);
  EXPECT_EQ(judged.why.find("pad to -"), std::string::npos);
  JudgeMain("k", Gemm(DType::kFloat16, INT64_MIN, -1, INT64_MIN), 80);
}

}  // namespace
}  // namespace oplens::ops::tensor_core_need_test
