#include "ops/families/multi_head_attention.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::multi_head_attention_test {
namespace {

constexpr const char* kOp = "F.multi_head_attention_forward";

struct Sizes {
  int64_t batch, m, n, k;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.batch << " x " << s.m << ' ' << s.n << ' ' << s.k;
}

std::vector<Sizes> ProductsOf(const std::string& args) {
  std::vector<Sizes> sizes;
  for (const MatrixProduct& p : ProductsOfMultiHeadAttention(MakeCall(kOp, args))) {
    sizes.push_back({p.batch, p.m, p.n, p.k});
  }
  return sizes;
}

// A layer of a language model: 35 steps of 20 sequences, one head of 200.
const std::string kSelf =
    "[35,20,200]float32 [35,20,200]float32 [35,20,200]float32 200 1 [600,200]float32 [600]float32 "
    "None None False 0.2 [200,200]float32 [200]float32 training=True need_weights=True "
    "attn_mask=[35,35]float32";

TEST(MultiHeadAttention, IsTheSumOfItsParts) {
  // In fp32: linear 140000 + 120000 + 600 + 420000; scale 2 x 140000; bmm 140000 + 140000 + 24500;
  // mask 2 x 24500 + 1225; softmax 2 x 24500; dropout 2 x 24500 and 24500 bytes; bmm as before;
  // linear 140000 + 40000 + 200 + 140000; mean 24500 + 3 x 24500.
  const int64_t elements = 140000 + 120000 + 600 + 420000 + 2 * 140000 + 2 * 304500 + 50225 +
                           49000 + 49000 + 320200 + 24500 + 3 * 24500;
  // Gradients: products twice; bias sums 420000 + 600 and 140000 + 200; scale; softmax 3 x 24500;
  // dropout.
  const int64_t gradients =
      2 * (680000 + 609000 + 320000) + 420600 + 140200 + 280000 + 73500 + 49000;
  CheckCases(
      {{kOp,
        kSelf,
        "B=20,H=1,Sq=35,Sk=35,E=200,fp32",
        {243600000, 140000 + 24500 * (24 + 1 + 4 + 2) + 420000 + 140000, 4 * elements + 24500},
        {Back({487200000, 140000 + 24500 * (4 + 2) + 420000 + 140000, 4 * gradients + 24500})}}});
}

TEST(MultiHeadAttention, ProductsInTheOrderOfTheirLaunches) {
  EXPECT_EQ(ProductsOf(kSelf),
            (std::vector<Sizes>{
                {1, 700, 600, 200}, {20, 35, 35, 200}, {20, 35, 200, 35}, {1, 700, 200, 200}}));
  // Key and value are one tensor: 5 queries, 7 keys, 2 sequences, 4 heads of 8.
  EXPECT_EQ(ProductsOf("[5,2,32]half [7,2,32]half [7,2,32]half 32 4 [96,32]half [96]half None None "
                       "False 0.0 [32,32]half [32]half"),
            (std::vector<Sizes>{
                {1, 10, 32, 32}, {1, 14, 64, 32}, {8, 5, 7, 8}, {8, 5, 8, 7}, {1, 10, 32, 32}}));
  // Widths of their own, one more key by bias_k and one of zeros.
  EXPECT_EQ(
      ProductsOf("[5,2,32]half [7,2,16]half [7,2,24]half 32 4 None [96]half [1,1,32]half "
                 "[1,1,32]half True 0.0 [32,32]half [32]half use_separate_proj_weight=True "
                 "q_proj_weight=[32,32]half k_proj_weight=[32,16]half v_proj_weight=[32,24]half"),
      (std::vector<Sizes>{{1, 10, 32, 32},
                          {1, 14, 32, 16},
                          {1, 14, 32, 24},
                          {8, 5, 9, 8},
                          {8, 5, 8, 9},
                          {1, 10, 32, 32}}));
  EXPECT_TRUE(ProductsOf("[5,2,32]half").empty());
}

TEST(MultiHeadAttention, ItsMmaIsThatOfItsProducts) {
  const std::string args =
      "[5,2,32]half [7,2,32]half [7,2,32]half 32 4 [96,32]half [96]half None None False 0.0 "
      "[32,32]half [32]half need_weights=False";
  const PriceResult result = PriceCall(MakeCall(kOp, args));
  ASSERT_TRUE(result.price.has_value());
  Checked mma = 0;
  for (const Sizes& p : ProductsOf(args)) mma += Checked(2) * p.batch * p.m * p.n * p.k;
  EXPECT_EQ(result.price->forward[0].work.mma, mma);
  EXPECT_EQ(result.price->backward[0].work.mma, mma * 2);
  // The scores and the biases; no mask, no dropout, no mean.
  EXPECT_EQ(result.price->forward[0].work.vec.Value(), 24 * 280 + 320 + (320 + 2 * 448) + 320);
}

TEST(MultiHeadAttention, OneSequenceNeedsNoBatch) {
  const auto price = [](const std::string& args) {
    return PriceCall(MakeCall(kOp, args + " 32 4 [96,32]half [96]half None None False 0.0 "
                                          "[32,32]half [32]half"))
        .price;
  };
  const auto plain = price("[5,32]half [7,32]half [7,32]half");
  const auto batched = price("[5,1,32]half [7,1,32]half [7,1,32]half");
  ASSERT_TRUE(plain && batched);
  EXPECT_EQ(FiguresOf(plain->forward[0].work), FiguresOf(batched->forward[0].work));
  EXPECT_EQ(FiguresOf(plain->backward[0].work), FiguresOf(batched->backward[0].work));
}

TEST(MultiHeadAttention, ArgumentsThatContradict) {
  const std::string tail = " None None False 0.0 [32,32]half [32]half";
  const std::string operands = "[5,2,32]half [7,2,32]half [7,2,32]half ";
  CheckCases({
      {kOp, operands + "32 5 [96,32]half [96]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "31 4 [96,32]half [96]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "32 0 [96,32]half [96]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "32 4 [64,32]half [96]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "32 4 [96,32]half [95]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "32 4 [96,32]half [96]half" + tail + " attn_mask=[5,8]half",
       Reason::kShapeMismatch},
      {kOp, operands + "32 4 [96,32]half [96]half" + tail + " key_padding_mask=[2,5]bool",
       Reason::kShapeMismatch},
      {kOp, operands + "32 4 None [96]half" + tail, Reason::kUnsupportedArgs},
      {kOp, operands + "32 4 [96,32]half [96]half" + tail + " static_k=[8,7,8]half",
       Reason::kUnsupportedArgs},
      {kOp, "[5,2,32]half [7,3,32]half [7,3,32]half 32 4 [96,32]half [96]half" + tail,
       Reason::kShapeMismatch},
      {kOp, "[5,2,32]half [7,2,32]half [6,2,32]half 32 4 [96,32]half [96]half" + tail,
       Reason::kShapeMismatch},
      {kOp, "[32]half [32]half [32]half 32 4 [96,32]half [96]half" + tail, Reason::kShapeMismatch},
      {kOp, operands + "32 4 [96,32]half", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::multi_head_attention_test
