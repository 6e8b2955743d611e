// Products that are made of matrix products, and the gradient function of linear.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::product_test {
namespace {

TEST(ProductTest, Inner) {
  CheckCases({
      // 2 * 2 * 4 * 3; 6 + 12 + 8 elements, as its gradients.
      {"torch.inner",
       "[2,3]float32 [4,3]float32",
       "A=(2,3),B=(4,3),fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      {"torch.inner",
       "[3]float32 [3]float32",
       "A=(3,),B=(3,),fp32",
       {6, 0, 28},
       {Dgrad({6, 0, 28}), Wgrad({6, 0, 28})}},
      // 10 rows; 30 + 12 + 40.
      {"torch.inner",
       "[2,5,3]float32 other=[4,3]float32",
       "A=(2,5,3),B=(4,3),fp32",
       {240, 0, 328},
       {Dgrad({240, 0, 328}), Wgrad({240, 0, 328})}},
      // Scaled: 6 multiplications; 6 + 1 + 6. Gradients: 12 each; 6 + 1 + 6 each.
      {"torch.inner",
       "[2,3]float32 []float32",
       "A=(2,3),B=(),fp32",
       {0, 6, 52},
       {Back({0, 24, 104})}},
      {"torch.inner", "[2,3]float32 [3,4]float32", Reason::kShapeMismatch},
      {"torch.inner", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.inner", "[9223372036854775807,3,3]float32 [4,3]float32", Reason::kCostOverflow},
  });
}

TEST(ProductTest, Kron) {
  CheckCases({
      // 6 * 20 multiplications; 6 + 20 + 120. A gradient: 2 * 120; 120 + 20 + 6.
      {"torch.kron",
       "[2,3]float32 [4,5]float32",
       "A=(2,3),B=(4,5),fp32",
       {0, 120, 584},
       {Back({0, 480, 1168})}},
      {"torch.kron", "[2]int32 [3,3]int32", "A=(2,),B=(3,3),int32", {0, 18, 116}, {}},
      {"torch.kron", "[2,3]float32", Reason::kUnsupportedArgs},
  });
}

TEST(ProductTest, Tensordot) {
  // [2, 12] by [12, 5]: 2 * 2 * 12 * 5; 24 + 60 + 10.
  const Figures figures{240, 0, 376};
  const std::vector<Gradient> both = {Dgrad(figures), Wgrad(figures)};
  const std::string params = "A=(2,3,4),B=(3,4,5),fp32";
  CheckCases({
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 2", params, figures, both},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32", params, figures, both},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 [1,2] [0,1]", params, figures, both},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 [-1,-2] [1,0]", params, figures, both},
      {"torch.tensordot", "[4,2,3]fp32 [3,4,5]fp32 [2,0] [0,1]", "A=(4,2,3),B=(3,4,5),fp32",
       figures, both},
      // Nothing is summed: 2 * 3.
      {"torch.tensordot",
       "[2]fp32 [3]fp32 dims=0",
       "A=(2,),B=(3,),fp32",
       {0, 6, 44},
       {Back({0, 24, 88})}},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 3", Reason::kShapeMismatch},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 4", Reason::kShapeMismatch},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 -1", Reason::kShapeMismatch},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 [1] [0,1]", Reason::kShapeMismatch},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 [3] [0]", Reason::kShapeMismatch},
      {"torch.tensordot", "[3,3]fp32 [3,3]fp32 [1,1] [0,1]", Reason::kShapeMismatch},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 [1,2]", Reason::kUnsupportedArgs},
      {"torch.tensordot", "[2,3,4]fp32 [3,4,5]fp32 ?", Reason::kUnsupportedArgs},
  });
}

TEST(ProductTest, Chains) {
  CheckCases({
      // (A B) C: 2 * (10*100*5 + 10*5*50); A (B C) would be ten times that. 1000 + 500 + 250 + 500
      // elements; the gradients are two products each, and read and write all factors.
      {"torch.chain_matmul",
       "[10,100]fp32 [100,5]fp32 [5,50]fp32",
       "[10,100]fp32;[100,5]fp32;[5,50]fp32",
       {15000, 0, 9000},
       {Back({30000, 0, 16000})}},
      // A row and a column: the column first, 2 * (3*4 + 3).
      {"torch.linalg_multi_dot",
       "[3]fp32 [3,4]fp32 [4]fp32",
       "[3]fp32;[3,4]fp32;[4]fp32",
       {30, 0, 80},
       {Back({60, 0, 156})}},
      {"torch.chain_matmul", "[2,3]fp32 [4,5]fp32", Reason::kShapeMismatch},
      {"torch.chain_matmul", "[2,3]fp32 [3]fp32 [3,4]fp32", Reason::kShapeMismatch},
      {"torch.chain_matmul", "[2,3]fp32", Reason::kUnsupportedArgs},
      {"torch.chain_matmul", "[2,3]fp32 3", Reason::kUnsupportedArgs},
  });
}

int64_t CheapestOrder(const std::vector<int64_t>& d, size_t first, size_t last) {
  if (last - first < 2) return 0;
  int64_t best = INT64_MAX;
  for (size_t split = first + 1; split < last; ++split) {
    best = std::min(best, CheapestOrder(d, first, split) + CheapestOrder(d, split, last) +
                              2 * d[first] * d[split] * d[last]);
  }
  return best;
}

RC_GTEST_PROP(ProductTest, AChainTakesTheCheapestOrder, ()) {
  const int count = *rc::gen::inRange(2, 7);
  std::vector<int64_t> d;
  for (int i = 0; i <= count; ++i) d.push_back(*rc::gen::inRange<int64_t>(0, 20));
  std::string args;
  for (size_t i = 0; i + 1 < d.size(); ++i) {
    args += "[" + std::to_string(d[i]) + "," + std::to_string(d[i + 1]) + "]fp32 ";
  }
  const PriceResult result = PriceCall(MakeCall("torch.chain_matmul", args));
  RC_ASSERT(result.price.has_value());
  RC_ASSERT(result.price->forward[0].work.mma.Value() == CheapestOrder(d, 0, d.size() - 1));
}

TEST(ProductTest, Bilinear) {
  CheckCases({
      // 2 rows, 5 outputs: 2*2*5*3*4 and 2*2*5*4; 10 additions; 6 + 8 + 60 + 10 + 5.
      // dX1 240 + 2*2*5*3, dX2 240 + 80; each moves 84. dW 240, and 2*3*4 products of X1 and X2.
      {"F.bilinear",
       "[2,3]fp32 [2,4]fp32 [5,3,4]fp32 [5]fp32",
       "[2,3]fp32;[2,4]fp32;[5,3,4]fp32",
       {320, 10, 356},
       {Dgrad({620, 0, 672}), Wgrad({240, 24, 336}), Bgrad({0, 10, 60})}},
      {"F.bilinear",
       "[3]fp32 [4]fp32 [5,3,4]fp32 bias=None",
       "[3]fp32;[4]fp32;[5,3,4]fp32",
       {160, 0, 288},
       {Dgrad({310, 0, 576}), Wgrad({120, 12, 288})}},
      {"F.bilinear", "[2,3]fp32 [2,4]fp32 [5,4,3]fp32", Reason::kShapeMismatch},
      {"F.bilinear", "[2,3]fp32 [1,4]fp32 [5,3,4]fp32", Reason::kShapeMismatch},
      {"F.bilinear", "[2,3]fp32 [2,4]fp32 [5,3,4]fp32 [4]fp32", Reason::kShapeMismatch},
      {"F.bilinear", "[2,3]fp32 [2,4]fp32", Reason::kUnsupportedArgs},
  });
}

TEST(ProductTest, OfAGivenResultType) {
  CheckCases({
      // (6 + 12) * 2 and 8 * 4 bytes.
      {"torch.mm",
       "[2,3]bf16 [3,4]bf16 out_dtype='float32'",
       "M=4,N=2,K=3,bf16",
       {48, 0, 68},
       {Dgrad({48, 0, 68}), Wgrad({48, 0, 68})}},
      {"torch.mm", "[2,3]bf16 [3,4]bf16 out_dtype='x'", Reason::kUnknownDType},
  });
}

TEST(ProductTest, WithAnActivation) {
  CheckCases({
      // addmm: 48, 8 additions; relu 1 or gelu 28 an output.
      {"_addmm_activation",
       "[4]fp32 [2,3]fp32 [3,4]fp32 use_gelu=False",
       "M=4,N=2,K=3,fp32",
       {48, 16, 120},
       {}},
      {"_addmm_activation",
       "[4]fp32 [2,3]fp32 [3,4]fp32 use_gelu=True",
       "M=4,N=2,K=3,fp32",
       {48, 232, 120},
       {}},
      {"_addmm_activation",
       "[4]fp32 [2,3]fp32 [3,4]fp32 use_gelu=None",
       "M=4,N=2,K=3,fp32",
       {48, 16, 120},
       {}},
      {"_addmm_activation", "[4]fp32 [2,3]fp32 [3,4]fp32 use_gelu='x'", Reason::kUnsupportedArgs},
  });
}

TEST(ProductTest, GradientsOfLinearByMask) {
  CheckCases({
      // 6 rows, 3 inputs, 4 outputs: 144 a product, 18 + 12 + 24 elements; db 24 and 24 + 4.
      {"linear_backward",
       "[6,3]fp32 [6,4]fp32 [4,3]fp32 (1,1,1)",
       "M=4,N=6,K=3,fp32",
       {288, 24, 544},
       {}},
      {"mkldnn_linear_backward",
       "[2,3,3]fp32 [2,3,4]fp32 [4,3]fp32 (0,1,0)",
       "M=4,N=6,K=3,fp32",
       {144, 0, 216},
       {}},
      {"linear_backward",
       "[6,3]fp32 [6,4]fp32 [4,3]fp32 (0,0,1)",
       "M=4,N=6,K=3,fp32",
       {0, 24, 112},
       {}},
      {"linear_backward", "[6,3]fp32 [6,4]fp32 [4,3]fp32 (0,0,0)", Reason::kUnsupportedArgs},
      {"linear_backward", "[6,3]fp32 [6,4]fp32 [4,3]fp32 (1,1)", Reason::kUnsupportedArgs},
      {"linear_backward", "[6,3]fp32 [6,4]fp32 [4,3]fp32", Reason::kUnsupportedArgs},
      {"linear_backward", "[6,3]fp32 [6,5]fp32 [4,3]fp32 (1,1,1)", Reason::kShapeMismatch},
      {"linear_backward", "[6,3]fp32 [5,4]fp32 [4,3]fp32 (1,1,1)", Reason::kShapeMismatch},
  });
  const PricedOp bias =
      *PriceCall(MakeCall("linear_backward", "[6,3]fp32 [6,4]fp32 [4,3]fp32 (0,0,1)")).price;
  EXPECT_FALSE(bias.matmul_like);
}

TEST(ProductTest, SaysWhichProductItIs) {
  const auto product = [](const char* op, const char* args) {
    return *PriceCall(MakeCall(op, args)).price->product;
  };
  const MatrixProduct inner = product("torch.inner", "[2,5,3]half [4,3]half");
  EXPECT_EQ(inner.m, 10);
  EXPECT_EQ(inner.n, 4);
  EXPECT_EQ(inner.k, 3);
  EXPECT_TRUE(inner.right_transposed);
  const MatrixProduct dot = product("torch.tensordot", "[2,3,4]half [3,4,5]half 2");
  EXPECT_EQ(dot.m, 2);
  EXPECT_EQ(dot.n, 5);
  EXPECT_EQ(dot.k, 12);
  EXPECT_FALSE(dot.right_transposed);
}

// Additions of complex numbers are not counted one by one.
TEST(ProductTest, ComplexNumbers) {
  const auto price = [](const char* op, const char* args) {
    return *PriceCall(MakeCall(op, args)).price;
  };
  const PricedOp mixed = price("torch.mm", "[2,3]complex64 [3,4]what");
  EXPECT_EQ(mixed.forward[0].work.mma.Value(), 192);
  const PricedOp linear = price("F.linear", "[2,3]complex64 [4,3]complex64 [4]complex64");
  EXPECT_EQ(linear.forward[0].work.mma.Value(), 192);
  EXPECT_TRUE(linear.vec_estimated);
  EXPECT_FALSE(price("F.linear", "[2,3]half [4,3]half [4]half").vec_estimated);
}

/// The size of the part of a call's op, as text; "-": unknown.
std::string SizeText(const PricedOp& op, Direction direction, Part part, std::string_view key) {
  const auto size = SizeNamed(op, ExtentsOf(op, direction, part), key);
  return size ? std::to_string(*size) : "-";
}

std::string ProductSizes(const PricedOp& op, Direction direction, Part part) {
  std::string text;
  for (const std::string_view key : {"m", "n", "k", "batch"}) {
    text += SizeText(op, direction, part, key) + " ";
  }
  return text += LayoutOf(op, direction, part);
}

PricedOp PriceOf(std::string_view op, std::string_view args) {
  PriceResult result = PriceCall(MakeCall(op, args));
  EXPECT_TRUE(result.price) << op;
  return result.price.value_or(PricedOp());
}

// x [7,3] w [5,3]: M counts outputs, N rows, as params; so do the gradients' own products.
TEST(ProductSizesTest, PartsOfLinear) {
  const PricedOp op = PriceOf("F.linear", "[7,3]float32 [5,3]float32 [5]float32");
  EXPECT_EQ(ProductSizes(op, Direction::kForward, Part::kForward), "5 7 3 1 TN");
  EXPECT_EQ(ProductSizes(op, Direction::kBackward, Part::kDgrad), "3 7 5 1 NN");
  EXPECT_EQ(ProductSizes(op, Direction::kBackward, Part::kWgrad), "3 5 7 1 NT");
  EXPECT_EQ(ProductSizes(op, Direction::kBackward, Part::kBgrad), "- - - - ") << "a sum";
  EXPECT_EQ(ProductSizes(op, Direction::kBackward, Part::kBackward), "- - - - ") << "not told";
}

// How the operands of mm are stored is not in its arguments.
TEST(ProductSizesTest, ProductsOfTwoOperands) {
  EXPECT_EQ(ProductSizes(PriceOf("torch.mm", "[2,3]float32 [3,4]float32"), Direction::kForward,
                         Part::kForward),
            "4 2 3 1 ");
  EXPECT_EQ(ProductSizes(PriceOf("torch.bmm", "[8,2,3]float32 [8,3,4]float32"), Direction::kForward,
                         Part::kForward),
            "4 2 3 8 ");
  EXPECT_EQ(ProductSizes(PriceOf("torch.relu", "[8]float32"), Direction::kForward, Part::kForward),
            "- - - - ");
}

TEST(ProductSizesTest, Convolutions) {
  const PricedOp op =
      PriceOf("F.conv2d", "[4,6,20,30]float32 [10,3,5,7]float32 None (2,1) (0,0) (1,1) 2");
  EXPECT_EQ(ProductSizes(op, Direction::kForward, Part::kForward), "- - - - ");
  std::string text;
  for (const std::string_view key :
       {"conv_n", "conv_c", "conv_h", "conv_w", "conv_k", "conv_r", "conv_s", "conv_g"}) {
    text += SizeText(op, Direction::kBackward, Part::kWgrad, key) + " ";
  }
  EXPECT_EQ(text, "4 6 20 30 10 5 7 2 ");
  EXPECT_EQ(op.product->stride, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(SizeText(op, Direction::kForward, Part::kForward, "heads"), "-");
}

TEST(ProductSizesTest, Attention) {
  const std::string_view kOperands = "[2,8,16,64]float32 [2,8,32,64]float32 [2,8,32,64]float32 ";
  const auto sizes = [&](std::string_view more) {
    const PricedOp op =
        PriceOf("F.scaled_dot_product_attention", std::string(kOperands) + std::string(more));
    std::string text;
    for (const std::string_view key : {"batch", "heads", "sq", "sk", "head_dim", "causal", "m"}) {
      text += SizeText(op, Direction::kForward, Part::kForward, key) + " ";
    }
    return text;
  };
  EXPECT_EQ(sizes("None 0.0 True"), "2 8 16 32 64 1 - ");
  EXPECT_EQ(sizes("None 0.0 False"), "2 8 16 32 64 0 - ");
  EXPECT_EQ(sizes("[16,32]float32"), "2 8 16 32 64 - - ") << "a mask may be causal";
  EXPECT_EQ(sizes("None 0.0 ?"), "2 8 16 32 64 - - ") << "the flag was not recorded";
}

}  // namespace
}  // namespace oplens::ops::test::product_test
