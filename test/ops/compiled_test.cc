// Kernels of TorchInductor: names taken apart, weights that are those of the ops' own models, and
// counts of loops that run here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/families/compiled_flops.h"
#include "ops/families/compiled_name.h"
#include "ops/kernels/share_work.h"
#include "ops/pricing.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::compiled_test {
namespace {

std::string OpsOf(std::string_view kernel) {
  std::string text;
  for (const CompiledName::Fused& fused : ParseCompiledName(kernel).ops) {
    text += (text.empty() ? "" : " ") + fused.op + (fused.backward ? "'" : "");
  }
  return text;
}

TEST(CompiledNameTest, TellsOpsApartThatHaveTheDividerInTheirNames) {
  EXPECT_EQ(OpsOf("triton_poi_fused_add_cos_sin_0"), "add cos sin");
  EXPECT_EQ(OpsOf("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0"),
            "add bitwise_and bitwise_not bitwise_or ge lt mul sub");
  EXPECT_EQ(OpsOf("triton_red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_5"),
            "add addmm mul layer_norm split unsqueeze view");
  EXPECT_EQ(OpsOf("triton_per_fused__to_copy_addmm_mean_pow_view_7"), "to addmm mean pow view");
  EXPECT_EQ(OpsOf("triton_poi_fused_constant_pad_nd_of_nobody_0"), "constant_pad_nd");
  EXPECT_EQ(OpsOf("triton_per_fused__softmax__softmax_backward_data_mul_3"),
            "softmax softmax' mul");
  EXPECT_EQ(OpsOf("triton_poi_fused_native_dropout_backward_threshold_backward_12"),
            "dropout' relu'");
  EXPECT_EQ(OpsOf("triton_tem_fused_addmm_relu_2"), "addmm relu");
  EXPECT_EQ(OpsOf("triton_poi_fused_0"), "");
  EXPECT_EQ(OpsOf("triton__0d1d2de"), "");
  EXPECT_EQ(OpsOf("triton_"), "");
  EXPECT_EQ(OpsOf("void gemm"), "");
}

TEST(CompiledNameTest, Kinds) {
  EXPECT_EQ(ParseCompiledName("triton_poi_fused_add_0").kind, CompiledKind::kPointwise);
  EXPECT_EQ(ParseCompiledName("triton_red_fused_sum_1").kind, CompiledKind::kReduction);
  EXPECT_EQ(ParseCompiledName("triton_per_fused_sum_1").kind, CompiledKind::kPersistent);
  EXPECT_EQ(ParseCompiledName("triton_tem_fused_mm_0").kind, CompiledKind::kTemplate);
  EXPECT_EQ(ParseCompiledName("triton_mm_7").kind, CompiledKind::kTemplate);
  EXPECT_EQ(ParseCompiledName("triton_for_fused_1").kind, CompiledKind::kOther);
  EXPECT_EQ(ParseCompiledName("triton_fused_add_1").kind, CompiledKind::kOther);
  EXPECT_EQ(ParseCompiledName("triton_poiint_0").kind, CompiledKind::kOther);
}

TEST(CompiledNameTest, NodesOfTheGraph) {
  const auto op = [](std::string_view node) {
    CompiledName::Fused fused;
    return ParseNodeName(node, &fused) ? fused.op + (fused.backward ? "'" : "") : "-";
  };
  EXPECT_EQ(op("add"), "add");
  EXPECT_EQ(op("add_tensor_1"), "add");
  EXPECT_EQ(op("mul_12"), "mul");
  EXPECT_EQ(op("mm_default_1"), "mm");
  EXPECT_EQ(op("bitwise_and_3"), "bitwise_and");
  EXPECT_EQ(op("sum_1"), "sum");
  EXPECT_EQ(op("var_mean"), "var_mean");
  EXPECT_EQ(op("primals_1"), "-");
  EXPECT_EQ(op("buf12"), "-");
  EXPECT_EQ(op(""), "-");
  EXPECT_EQ(op("_"), "-");
}

TEST(CompiledFlopsTest, AreThoseOfTheOwnModelForAPoint) {
  struct Row {
    std::string kernel;
    std::string op;    // The same op alone,
    std::string args;  // of 64 x 1024 points.
    bool backward = false;
  };
  const std::vector<Row> rows = {
      {"triton_poi_fused_gelu_0", "F.gelu", "[64,1024]float32"},
      {"triton_poi_fused_gelu_backward_0", "F.gelu", "[64,1024]float32", true},
      {"triton_poi_fused_mul_0", "torch.mul", "[64,1024]float32 [64,1024]float32"},
      {"triton_per_fused__softmax_0", "F.softmax", "[64,1024]float32 -1"},
      {"triton_per_fused__softmax_backward_data_0", "F.softmax", "[64,1024]float32 -1", true},
      {"triton_per_fused__log_softmax_0", "F.log_softmax", "[64,1024]float32 -1"},
      {"triton_red_fused_native_layer_norm_0", "F.layer_norm",
       "[64,1024]float32 (1024,) [1024]float32 [1024]float32"},
      {"triton_red_fused_native_layer_norm_backward_0", "F.layer_norm",
       "[64,1024]float32 (1024,) [1024]float32 [1024]float32", true},
      {"triton_red_fused__fused_rms_norm_0", "F.rms_norm",
       "[64,1024]float32 (1024,) [1024]float32"},
      {"triton_red_fused_sum_0", "torch.sum", "[64,1024]float32"},
      {"triton_red_fused_var_mean_0", "torch.var_mean", "[64,1024]float32"},
      {"triton_red_fused_amax_0", "torch.amax", "[64,1024]float32"},
      {"triton_poi_fused_native_dropout_0", "F.dropout", "[64,1024]float32"},
      {"triton_red_fused_native_group_norm_0", "F.group_norm",
       "[64,1024]float32 8 [1024]float32 [1024]float32"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kernel);
    const PriceResult price = PriceCall(MakeCall(row.op, row.args));
    ASSERT_TRUE(price.price.has_value());
    const Work work = SumOf(row.backward ? price.price->backward : price.price->forward);
    const int64_t flops = WeightsOf(ParseCompiledName(row.kernel)).point;
    EXPECT_GT(flops, 0);
    EXPECT_EQ((work.vec / (64 * 1024)).Value(), flops);
  }
}

TEST(CompiledFlopsTest, OfAProductThatRanElsewhereTheBiasIsLeft) {
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_addmm_0")).point, 1);
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_convolution_relu_0")).point, 2);
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_mm_0")).point, 0);
  // Became a multiplication and a sum.
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_red_fused_mv_0")).point, 2);
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_cat_clone_view_0")).point, 0);
}

Figures PriceOf(const std::string& kernel, const std::string& args) {
  const PriceResult result = PriceCall(MakeCall(kernel, args));
  if (!result.price) return {-1, -1, -1};
  return FiguresOf(SumOf(result.price->forward)).value_or(Figures{-2, -2, -2});
}

std::string ParamsOf(const std::string& kernel, const std::string& args) {
  const PriceResult result = PriceCall(MakeCall(kernel, args));
  return result.price ? result.price->params : fmt::format("{}", ReasonWord(result.reason));
}

// What runs of "add cos sin": each element of two inputs is read, one is written.
TEST(CompiledTest, LoopsOfAPointwiseKernel) {
  Figures counted;
  std::set<const float*> touched;
  std::vector<float> x(100), y(100), z(100);
  for (size_t i = 0; i < 100; ++i) {
    counted.vec += 1 + 20 + 20;  // An addition, a cosine, a sine.
    touched.insert({&x[i], &y[i], &z[i]});
  }
  counted.bytes = static_cast<int64_t>(touched.size() * sizeof(float));
  EXPECT_EQ(PriceOf("triton_poi_fused_add_cos_sin_0",
                    "[10,10]float32 [10,10]float32 [10,10]float32 100 grid='grid(100,)'"),
            counted);
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_cos_sin_0",
                     "[10,10]float32 [10,10]float32 [10,10]float32 100 grid='grid(100,)'"),
            "X=100,fp32");
}

TEST(CompiledTest, LoopsOfAReduction) {
  Figures counted;
  for (int64_t row = 0; row < 7; ++row) {
    for (int64_t column = 0; column < 33; ++column) {
      counted.vec += 1 + 1;  // A product, and its part of the sum.
      counted.bytes += 2;    // bf16
    }
    counted.bytes += 4;
  }
  for (const char* kwargs : {"XBLOCK=1,R0_BLOCK=64", "XBLOCK=8,RBLOCK=64,waves_per_eu=2"}) {
    EXPECT_EQ(PriceOf("triton_red_fused_mul_sum_3",
                      fmt::format("[7,33]bfloat16 [7]float32 7 33 kernel_kwargs='{}'", kwargs)),
              counted);
  }
  // A persistent one has no block for what it reduces.
  EXPECT_EQ(PriceOf("triton_per_fused_mul_sum_3",
                    "[7,33]bfloat16 [7]float32 7 33 kernel_kwargs='XBLOCK=8'"),
            counted);
  EXPECT_EQ(ParamsOf("triton_per_fused_mul_sum_3",
                     "[7,33]bfloat16 [7]float32 7 33 kernel_kwargs='XBLOCK=8'"),
            "X=7,R=33,bf16");
  EXPECT_EQ(ParamsOf("triton_poi_fused_mul_3",
                     "[7,33]bfloat16 [33,7]float32 7 33 kernel_kwargs='XBLOCK=8,YBLOCK=8'"),
            "Y=7,X=33,bf16");
}

// As launch hooks of Triton tell them; the tuple of the grid says nothing of loops.
TEST(CompiledTest, ArgumentsByNameAreThoseByPosition) {
  const std::string named =
      "in_ptr0=[7,33]bfloat16 out_ptr0=[7]float32 xnumel=7 r0_numel=33 XBLOCK=1 R0_BLOCK=64";
  EXPECT_EQ(ParamsOf("triton_red_fused_mul_sum_3", named), "X=7,R=33,bf16");
  EXPECT_EQ(PriceOf("triton_red_fused_mul_sum_3", named),
            PriceOf("triton_red_fused_mul_sum_3",
                    "[7,33]bfloat16 [7]float32 7 33 kernel_kwargs='XBLOCK=1,R0_BLOCK=64' "
                    "signature='in_ptr0,out_ptr0,xnumel,r0_numel'"));
  EXPECT_EQ(ParamsOf("triton_red_fused_mul_sum_3", "xnumel=7 XBLOCK=1"), "no-arguments");
}

TEST(CompiledTest, LoopsHaveTheNamesOfTheKernel) {
  const std::string three = "[4,5,6]float32 [4]float32 4 5 6 ";
  EXPECT_EQ(
      ParamsOf("triton_poi_fused_add_0", three + "kernel_kwargs='XBLOCK=1,YBLOCK=1,ZBLOCK=1'"),
      "Z=4,Y=5,X=6,fp32");
  EXPECT_EQ(
      ParamsOf("triton_red_fused_sum_0", three + "kernel_kwargs='XBLOCK=1,R0_BLOCK=1,R1_BLOCK=1'"),
      "X=4,R0=5,R1=6,fp32");
  EXPECT_EQ(ParamsOf("triton_red_fused_sum_0", "[6]float32 []float32 6 kernel_kwargs='R0_BLOCK=8'"),
            "R=6,fp32");
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "[4,5]float32 4 5 grid='grid(4,5)'"),
            "Y=4,X=5,fp32");
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "[20]float32 3 20 grid='(4,1,1)'"), "X=20,fp32");
}

// Numbers before the sizes of the loops are sizes that the graph is made for.
TEST(CompiledTest, OtherNumbersAreNoLoops) {
  EXPECT_EQ(
      ParamsOf("triton_poi_fused_add_0",
               "[888]int32 [888]int64 [888]bool 0 25136 201088 888 kernel_kwargs='XBLOCK=16'"),
      "X=888,int32");
  // Without a usable size of a loop: the largest tensor.
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "[888]int32 [16]int32 0 kernel_kwargs='XBLOCK=16'"),
            "n=888,int32");
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "[888]int32 [16]int32"), "n=888,int32");
  EXPECT_EQ(ParamsOf("triton_for_fused_add_0", "[888]int32 [16]int32 888"), "n=888,int32");
}

TEST(CompiledTest, WhatIsUpdatedIsReadAndWritten) {
  // The only tensor that is as large as the result of the product is both.
  EXPECT_EQ(PriceOf("triton_poi_fused_addmm_relu_0",
                    "[4,8]float32 [8]float32 32 kernel_kwargs='XBLOCK=32'"),
            (Figures{0, 64, 4 * 8 * 4 * 2 + 8 * 4}));
  // Two such: one is read, one is written.
  EXPECT_EQ(PriceOf("triton_poi_fused_addmm_relu_0",
                    "[4,8]float32 [8]float32 [4,8]float32 32 kernel_kwargs='XBLOCK=32'"),
            (Figures{0, 64, 4 * 8 * 4 * 2 + 8 * 4}));
  // No product: the one large tensor may be written only.
  EXPECT_EQ(
      PriceOf("triton_poi_fused_add_0", "[4,8]float32 [8]float32 32 kernel_kwargs='XBLOCK=32'"),
      (Figures{0, 32, 4 * 8 * 4 + 8 * 4}));
  // The signature says it.
  EXPECT_EQ(PriceOf("triton_poi_fused_add_0",
                    "[4,8]float32 [8]float32 32 kernel_kwargs='XBLOCK=32' "
                    "signature='in_out_ptr0,in_ptr0,xnumel'"),
            (Figures{0, 32, 4 * 8 * 4 * 2 + 8 * 4}));
}

TEST(CompiledTest, OfATableNoMoreThanIsPicked) {
  EXPECT_EQ(PriceOf("triton_poi_fused_embedding_0",
                    "[16]int64 [1000,8]float32 [16,8]float32 128 kernel_kwargs='XBLOCK=128'"),
            (Figures{0, 0, 16 * 8 + 128 * 4 + 128 * 4}));
  EXPECT_EQ(PriceOf("triton_poi_fused_0", "[16]int64 [1000,8]float32 [16,8]float32"),
            (Figures{0, 0, 16 * 8 + 128 * 4 + 128 * 4}));
  // No indices.
  EXPECT_EQ(PriceOf("triton_poi_fused_0", "[1000,8]float32 [16,8]float32"),
            (Figures{0, 0, 8000 * 4 + 128 * 4}));
}

// A kernel of so many points reads and writes no more elements of a tensor, however large the
// buffer is that it is called with.
TEST(CompiledTest, OfATensorThatIsLargerThanTheLoopsAPart) {
  EXPECT_EQ(PriceOf("triton_poi_fused_add_cos_sin_0",
                    "[20,10]float32 [10,10]float32 [30,10]float32 100 grid='grid(100,)'"),
            (Figures{0, 4100, 3 * 100 * 4}));
  // Twice where it is updated.
  EXPECT_EQ(PriceOf("triton_poi_fused_add_0",
                    "[64,8]float32 [8]float32 32 kernel_kwargs='XBLOCK=32' "
                    "signature='in_out_ptr0,in_ptr0,xnumel'"),
            (Figures{0, 32, 2 * 32 * 4 + 8 * 4}));
  // A reduction has the points of all its loops.
  EXPECT_EQ(PriceOf("triton_red_fused_sum_0",
                    "[7,66]bfloat16 [7]float32 7 33 kernel_kwargs='XBLOCK=1,R0_BLOCK=64'"),
            (Figures{0, 231, 231 * 2 + 7 * 4}));
  // Indirect reads: one a point.
  EXPECT_EQ(PriceOf("triton_poi_fused_add_embedding_0",
                    "[16]int64 [1000,8]float32 [16,8]float32 [16,8]float32 128 "
                    "kernel_kwargs='XBLOCK=128'"),
            (Figures{0, 128, 16 * 8 + 3 * 128 * 4}));
  // A point reads several elements of a window, of what is split, of what is summed in place.
  EXPECT_EQ(PriceOf("triton_poi_fused_max_pool2d_with_indices_0",
                    "[8,8]float32 [4,4]float32 16 kernel_kwargs='XBLOCK=16'")
                .bytes,
            64 * 4 + 16 * 4);
  EXPECT_EQ(PriceOf("triton_poi_fused_mul_silu_split_0",
                    "[4,16]float32 [4,8]float32 32 kernel_kwargs='XBLOCK=32'")
                .bytes,
            64 * 4 + 32 * 4);
  EXPECT_EQ(
      PriceOf("triton_poi_fused_sum_0", "[16,4]float32 [16]float32 16 kernel_kwargs='XBLOCK=16'")
          .bytes,
      64 * 4 + 16 * 4);
}

TEST(CompiledFlopsTest, ASquareIsOneProduct) {
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_add_pow_0")).point, 2);
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_per_fused__to_copy_addmm_mean_pow_view_7")).point,
            3);
  // Frequencies of a rotary embedding.
  EXPECT_EQ(WeightsOf(ParseCompiledName("triton_poi_fused_arange_cos_mul_pow_sin_0")).point,
            20 + 1 + 20 + 20);
}

// h = x + residual; h * rsqrt(mean(h ** 2) + eps) * weight: five FLOPs an element, and the root a
// row.
TEST(CompiledFlopsTest, TheRootOfARowIsComputedOnce) {
  const auto weights = [](std::string_view kernel) {
    const CompiledWeights found = WeightsOf(ParseCompiledName(kernel));
    return std::pair(found.point, found.row);
  };
  EXPECT_EQ(weights("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0"),
            (std::pair<int64_t, int64_t>{5, 20}));
  EXPECT_EQ(weights("triton_per_fused_sqrt_sub_var_mean_0").second, 20);
  // Elements of what is no reduction, or not summed.
  EXPECT_EQ(weights("triton_poi_fused_mean_mul_rsqrt_0").second, 0);
  EXPECT_EQ(weights("triton_red_fused_amax_sqrt_0").second, 0);
  const std::string tensors =
      "[7,33]float32 [7,33]float32 [33]float32 [7,33]float32 7 33 "
      "kernel_kwargs='XBLOCK=1,R0_BLOCK=64'";
  EXPECT_EQ(PriceOf("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", tensors).vec,
            5 * 7 * 33 + 20 * 7);
  // The nodes tell the epsilon apart.
  EXPECT_EQ(PriceOf("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0",
                    tensors + " fused='add,pow_1,mean,add_1,rsqrt,mul,mul_1'")
                .vec,
            5 * 7 * 33 + 21 * 7);
}

TEST(CompiledTest, WhatTheCompilerCountedItselfIsTaken) {
  EXPECT_EQ(PriceOf("triton_poi_fused_add_0",
                    "[64]float32 [64]float32 64 kernel_kwargs='XBLOCK=64' kernel_bytes=300"),
            (Figures{0, 64, 300}));
}

TEST(CompiledTest, NodesOfTheGraphCountAsOftenAsTheyAre) {
  EXPECT_EQ(PriceOf("triton_poi_fused_add_mul_0",
                    "[64]float32 [64]float32 64 kernel_kwargs='XBLOCK=64' "
                    "fused='mul_1,add_2,mul_2,add_tensor_3,primals_1'"),
            (Figures{0, 4 * 64, 512}));
}

TEST(CompiledTest, FlopsOfANameWithoutOpsAreNotKnown) {
  const PriceResult result = PriceCall(MakeCall("triton_poi_fused_0", "[8]float32 [8]float32"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_FALSE(result.price->flops_known);
  const InstanceKernel kernel{"triton_poi_fused_0", {1, 1, 1}, 1000};
  KernelShare share;
  ShareWork(*result.price, Direction::kForward, {&kernel, 1}, {&share, 1});
  EXPECT_EQ(share.bytes, 64);
  EXPECT_FALSE(share.flops.has_value());
  EXPECT_EQ(share.flops_kind, FlopsKind::kUnknown);
  EXPECT_TRUE(share.reasons.Has(Reason::kUnknownOp));
}

TEST(CompiledTest, ReasonsOfWhatCannotBePriced) {
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", ""), "no-arguments");
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "16"), "no-arguments");
  EXPECT_EQ(ParamsOf("triton_tem_fused_mm_0", "[4,8]float32 [3,5]float32 [4,5]float32"),
            "shape-mismatch");
  EXPECT_EQ(ParamsOf("triton_tem_fused_mm_0", "[4,8]float32"), "shape-mismatch");
  EXPECT_EQ(ParamsOf("triton_poi_fused_add_0", "[9223372036854775807]float32 [8]float32"),
            "cost-overflow");
  const PriceResult untyped = PriceCall(MakeCall("triton_poi_fused_add_0", "[8]odd [8]odd"));
  ASSERT_TRUE(untyped.price.has_value());
  EXPECT_FALSE(untyped.price->bytes_known);
}

// Y = A B, counted by three loops.
int64_t LoopsOfProduct(int64_t batch, int64_t m, int64_t n, int64_t k) {
  int64_t flops = 0;
  for (int64_t i = 0; i < batch * m * n; ++i) {
    for (int64_t j = 0; j < k; ++j) flops += 2;
  }
  return flops;
}

TEST(CompiledTemplateTest, ProductsAreExact) {
  struct Row {
    std::string kernel;
    std::string args;
    std::string params;
    int64_t mma;
  };
  const std::vector<Row> rows = {
      {"triton_tem_fused_mm_0", "[6,10]bfloat16 [10,14]bfloat16 [6,14]bfloat16",
       "M=14,N=6,K=10,bf16", LoopsOfProduct(1, 6, 14, 10)},
      // Buffers as the graph has them: leading dimensions, the weight of a linear layer.
      {"triton_tem_fused_mm_view_3", "[2,3,10]bfloat16 [14,10]bfloat16 [2,3,14]bfloat16",
       "M=14,N=6,K=10,bf16", LoopsOfProduct(1, 6, 14, 10)},
      {"triton_mm_7", "[6,10]float16 [10,14]float16 [6,14]float16", "M=14,N=6,K=10,fp16",
       LoopsOfProduct(1, 6, 14, 10)},
      // The bias first.
      {"triton_tem_fused_addmm_0", "[14]bfloat16 [6,10]bfloat16 [10,14]bfloat16 [6,14]bfloat16",
       "M=14,N=6,K=10,bf16", LoopsOfProduct(1, 6, 14, 10)},
      {"triton_tem_fused_bmm_0", "[5,6,10]bfloat16 [5,10,14]bfloat16 [5,6,14]bfloat16",
       "B=5,M=14,N=6,K=10,bf16", LoopsOfProduct(5, 6, 14, 10)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kernel + " " + row.args);
    const PriceResult result = PriceCall(MakeCall(row.kernel, row.args));
    ASSERT_TRUE(result.price.has_value());
    EXPECT_EQ(result.price->params, row.params);
    EXPECT_EQ(SumOf(result.price->forward).mma, row.mma);
    EXPECT_TRUE(result.price->matmul_like);
    EXPECT_FALSE(result.price->mma_estimated);
    EXPECT_TRUE(result.price->backward.empty());
  }
}

TEST(CompiledTemplateTest, AProductAloneIsExactWithItsEpilogueAnEstimate) {
  const auto kind = [](const std::string& kernel, const std::string& args) {
    const PriceResult result = PriceCall(MakeCall(kernel, args));
    const InstanceKernel one{kernel, {1, 1, 1}, 1000};
    KernelShare share;
    ShareWork(*result.price, Direction::kForward, {&one, 1}, {&share, 1});
    EXPECT_EQ(share.role, Role::kMain);
    return std::string(FlopsKindWord(share.flops_kind));
  };
  EXPECT_EQ(kind("triton_tem_fused_mm_0", "[6,10]fp16 [10,14]fp16 [6,14]fp16"), "exact");
  EXPECT_EQ(kind("triton_mm_0", "[6,10]fp16 [10,14]fp16 [6,14]fp16"), "exact");
  EXPECT_EQ(kind("triton_tem_fused_addmm_0", "[14]fp16 [6,10]fp16 [10,14]fp16 [6,14]fp16"),
            "exact");
  EXPECT_EQ(kind("triton_tem_fused_mm_relu_0", "[6,10]fp16 [10,14]fp16 [6,14]fp16"), "estimate");
  EXPECT_EQ(kind("triton_tem_fused_gelu_mm_0", "[6,10]fp16 [10,14]fp16 [6,14]fp16"), "estimate");
}

TEST(CompiledTemplateTest, Convolution) {
  // X[2,6,9,9], 8 filters of 3 x 3 in 2 groups, Y[2,8,7,7].
  int64_t flops = 0;
  for (int64_t y = 0; y < 2 * 8 * 7 * 7; ++y) {
    for (int64_t tap = 0; tap < 6 / 2 * 3 * 3; ++tap) flops += 2;
  }
  const PriceResult result = PriceCall(MakeCall(
      "triton_tem_fused_convolution_0", "[2,6,9,9]float16 [8,3,3,3]float16 [2,8,7,7]float16"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(SumOf(result.price->forward).mma, flops);
  EXPECT_EQ(result.price->product->groups, 2);
  EXPECT_EQ(result.price->product->k, 27);
}

TEST(CompiledTemplateTest, OfAttentionAllPairsAreAnEstimate) {
  const PriceResult result = PriceCall(MakeCall(
      "triton_tem_fused_flex_attention_0",
      "[1,4,16,8]float16 [1,2,32,8]float16 [1,2,32,12]float16 [1,4,16]float32 [1,4,16,12]float16"));
  ASSERT_TRUE(result.price.has_value());
  int64_t flops = 0;
  for (int64_t pair = 0; pair < 4 * 16 * 32; ++pair) flops += 2 * (8 + 12);
  EXPECT_EQ(SumOf(result.price->forward).mma, flops);
  EXPECT_TRUE(result.price->mma_estimated);
}

TEST(CompiledTemplateTest, WithoutAProductThatFitsTheCompilersCount) {
  const PriceResult result = PriceCall(
      MakeCall("triton_tem_fused_mm_0", "[4,8]float32 [3,5]float32 [4,5]float32 kernel_flop=320"));
  ASSERT_TRUE(result.price.has_value());
  EXPECT_EQ(SumOf(result.price->forward).mma, 320);
}

TEST(RelativeAttentionTest, IsAttentionOfAllPairsWithRowsOfABias) {
  const std::string qkv = "[1,2,6,4]bfloat16 [1,2,6,4]bfloat16 [1,2,6,4]bfloat16 ";
  int64_t mma = 0;
  for (int64_t query = 0; query < 2 * 6; ++query) {
    for (int64_t key = 0; key < 6; ++key) mma += 2 * 4 + 2 * 4;
  }
  // Two additions a pair; Q, K, V, Y of 48 elements, and 2 * 6 rows of 5 for the bias.
  EXPECT_EQ(PriceOf("customflash::custom_flash_aligned", qkv + "[1,2,6,5]bfloat16 0.5"),
            (Figures{mma, 2 * 2 * 6 * 6, 4 * 48 * 2 + 60 * 2}));
  EXPECT_EQ(ParamsOf("custom_flash_aligned", qkv), "unsupported-args");
  EXPECT_EQ(ParamsOf("custom_flash_aligned", qkv + "[1,2,7,5]bfloat16"), "shape-mismatch");
  EXPECT_EQ(ParamsOf("custom_flash_aligned", qkv + "'x'"), "unsupported-args");
}

TEST(CompiledTest, ExternKernelsAreWhatTheyAre) {
  EXPECT_EQ(ParamsOf("extern_kernels.mm", "[6,10]float16 [10,14]float16"), "M=14,N=6,K=10,fp16");
  EXPECT_EQ(ParamsOf("aoti_torch_cuda_mm_out", "[6,10]float16 [10,14]float16"),
            "M=14,N=6,K=10,fp16");
}

}  // namespace
}  // namespace oplens::ops::test::compiled_test
