#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::layout_test {
namespace {

TEST(LayoutTest, Padding) {
  CheckCases({
      // [2,3] to [2,6]: 24 + 48.
      {"F.pad", "[2,3]float32 (1,2)", "[2,3]fp32", {0, 0, 72}, {Back({0, 0, 48})}},
      {"F.pad", "[2,3]float32 (1,2,0,1) 'constant' 0", "[2,3]fp32", {0, 0, 96}, {Back({0, 0, 48})}},
      // Repeated elements are added up in the backward.
      {"F.pad", "[2,3]float32 (1,2) 'reflect'", "[2,3]fp32", {0, 0, 72}, {Back({0, 12, 72})}},
      {"aten::reflection_pad1d",
       "[2,3]float32 [1,2]",
       "[2,3]fp32",
       {0, 0, 72},
       {Back({0, 12, 72})}},
      // Of a crop, what is left of x is read: 4 of 6 elements.
      {"aten::constant_pad_nd",
       "[2,3]float32 [-1,0] 0",
       "[2,3]fp32",
       {0, 0, 32},
       {Back({0, 0, 40})}},
      {"F.pad", "[2,3]float32 (-1,4)", "[2,3]fp32", {0, 0, 64}, {Back({0, 0, 40})}},
      {"F.pad", "[2,3]float32 (-2,-2)", Reason::kShapeMismatch},
      {"F.pad", "[2,3]float32 (1,)", Reason::kShapeMismatch},
      {"F.pad", "[2,3]float32 (1,1,1,1,1,1)", Reason::kShapeMismatch},
      {"F.pad", "[2,3]float32 (9223372036854775807,9223372036854775807)", Reason::kShapeMismatch},
      {"F.pad", "[2,3]float32", Reason::kUnsupportedArgs},
  });
}

TEST(LayoutTest, RepeatsAndGrids) {
  CheckCases({
      {"torch.repeat_interleave", "[2,3]float32 2", "[2,3]fp32", {0, 0, 72}, {Back({0, 12, 72})}},
      {"torch.repeat_interleave",
       "[2,3]float32 [2]int64 dim=0 output_size=5",
       "[2,3]fp32",
       {0, 0, 100},
       {Back({0, 15, 100})}},
      {"torch.repeat_interleave", "[2]int64 [2]int64", Reason::kUnsupportedArgs},
      {"torch.repeat_interleave", "[2,3]float32 -1", Reason::kUnsupportedArgs},
      {"torch.repeat_interleave", "[2,3]float32 2 5", Reason::kShapeMismatch},
      // Two grids of 6 points: 8 + 12 + 48.
      {"torch.meshgrid", "[2]float32 [3]float32 indexing='ij'", "[2]fp32;[3]fp32", {0, 0, 68}, {}},
      {"torch.meshgrid", "[2,2]float32", Reason::kShapeMismatch},
      // 5 classes: 24 + 120.
      {"F.one_hot", "[3]int64 5", "[3]int64", {0, 0, 144}, {}},
      {"F.one_hot", "[3]int64", Reason::kUnsupportedArgs},
      {"torch.diag", "[3]float32", "[3]fp32", {0, 0, 48}, {Back({0, 0, 24})}},
      {"torch.diag", "[3]float32 -1", "[3]fp32", {0, 0, 76}, {Back({0, 0, 24})}},
      {"torch.diag", "[2,3]float32 1", "[2,3]fp32", {0, 0, 16}, {Back({0, 0, 32})}},
      {"torch.diag_embed", "[2,3]float32", "[2,3]fp32", {0, 0, 96}, {Back({0, 0, 48})}},
      {"torch.diag", "[2,3,4]float32", Reason::kShapeMismatch},
  });
}

// Against counting every place.
TEST(LayoutTest, TriangleIndices) {
  for (int64_t rows = 0; rows < 6; ++rows) {
    for (int64_t columns = 0; columns < 6; ++columns) {
      for (int64_t offset = -8; offset <= 8; ++offset) {
        int64_t lower = 0;
        int64_t upper = 0;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            lower += j - i <= offset;
            upper += j - i >= offset;
          }
        }
        const std::string args =
            std::to_string(rows) + ' ' + std::to_string(columns) + ' ' + std::to_string(offset);
        SCOPED_TRACE(args);
        const auto bytes = [&](const char* op) {
          return PriceCall(MakeCall(op, args)).price->forward[0].work.bytes.Value();
        };
        EXPECT_EQ(bytes("torch.tril_indices"), lower * 16);
        EXPECT_EQ(bytes("torch.triu_indices"), upper * 16);
        // The triangle is read, all is written.
        const std::string matrices = fmt::format("[3,{},{}]float32 {}", rows, columns, offset);
        for (const auto& [op, places] : {std::pair("torch.tril", lower), {"torch.triu", upper}}) {
          const PricedOp price = *PriceCall(MakeCall(op, matrices)).price;
          EXPECT_EQ(price.forward[0].work.bytes.Value(), 3 * 4 * (places + rows * columns)) << op;
          EXPECT_EQ(price.backward[0].work.bytes.Value(), 3 * 4 * (places + rows * columns)) << op;
        }
      }
    }
  }
  CheckCases({
      {"torch.tril_indices", "-1 2", Reason::kUnsupportedArgs},
      {"torch.tril", "[3]float32", Reason::kShapeMismatch},
      {"torch.triu",
       "[2,2]float32 -9223372036854775808",
       "[2,2]fp32",
       {0, 0, 32},
       {Back({0, 0, 32})}},
      {"torch.tril_indices", "3 3 9223372036854775807", "[3,3]int64", {0, 0, 144}, {}},
      {"torch.tril_indices", "3 3 -9223372036854775808", "[3,3]int64", {0, 0, 0}, {}},
      {"torch.triu_indices", "3 3 -9223372036854775808", "[3,3]int64", {0, 0, 144}, {}},
      {"torch.triu_indices", "3 3 9223372036854775807", "[3,3]int64", {0, 0, 0}, {}},
  });
}

TEST(EmbeddingBagTest, Prices) {
  CheckCases({
      // 6 indices in 2 bags, rows of 4: 24 adds. 48 + 16 + 96 + 32; backward 48 + 16 + 32 + 160.
      {"F.embedding_bag",
       "[6]int64 [10,4]float32 [2]int64",
       "[6]int64;[10,4]fp32",
       {0, 24, 192},
       {Back({0, 24, 256})}},
      {"torch.embedding_bag",
       "[10,4]float32 [6]int64 [2]int64 False 0 True",
       "[6]int64;[10,4]fp32",
       {0, 24, 192},
       {Back({0, 24, 192})}},
      // The last offset is only an end.
      {"aten::_embedding_bag",
       "[10,4]float32 [6]int64 [3]int64 False 0 False None True -1",
       "[6]int64;[10,4]fp32",
       {0, 24, 200},
       {Back({0, 24, 264})}},
      // Rows of indices are bags; a weight each 24.
      {"F.embedding_bag",
       "[2,3]int64 [10,4]float32 per_sample_weights=[2,3]float32",
       "[2,3]int64;[10,4]fp32",
       {0, 24, 200},
       {Back({0, 24, 264})}},
      {"aten::_embedding_bag_backward",
       "[2,4]float32 [6]int64 [2]int64 [6]int64 [2]int64 [2]int64 10 False 0 False None -1",
       "[2,4]fp32;[6]int64",
       {0, 24, 256},
       {}},
      {"aten::_embedding_bag_dense_backward",
       "[2,4]float32 [6]int64 [6]int64 [2]int64 [2]int64 10 False 0 None -1",
       "[2,4]fp32;[6]int64",
       {0, 24, 288},
       {}},
      {"F.embedding_bag", "[6]int64 [10,4]float32", Reason::kShapeMismatch},
      {"F.embedding_bag", "[6]float32 [10,4]float32 [2]int64", Reason::kUnsupportedArgs},
      {"F.embedding_bag", "[6]int64 [10]float32 [2]int64", Reason::kShapeMismatch},
      {"aten::_embedding_bag_backward", "[2,4]float32 [6]int64 [2]int64", Reason::kUnsupportedArgs},
      {"aten::_embedding_bag_dense", "[2,4]float32", Reason::kUnknownOp},
  });
}

TEST(FeatureDropoutTest, MasksWholeFeatureMaps) {
  CheckCases({
      // 24 elements, 6 maps: 24 + 3*6 FLOPs, 192 + 6 bytes.
      {"F.dropout2d", "[2,3,2,2]float32 0.5", "[2,3,2,2]fp32", {0, 42, 198}, {Back({0, 48, 198})}},
      {"aten::feature_dropout",
       "[2,3,2,2]float32 0.5 True",
       "[2,3,2,2]fp32",
       {0, 42, 198},
       {Back({0, 48, 198})}},
      {"aten::feature_dropout", "[2,3,2,2]float32 0.5 False", "[2,3,2,2]fp32", {}, {Back({})}},
      {"F.dropout2d", "[4]float32 0.5", Reason::kShapeMismatch},
  });
}

TEST(EmbeddingTypeTest, TypesThatWereNotRecordedLeaveThePlace) {
  const PricedOp price = *PriceCall(MakeCall("F.embedding", "[2,3]what [10,4]what")).price;
  EXPECT_EQ(price.params, "[2,3]?;[10,4]?");
  EXPECT_EQ(price.backward[0].work.vec.Value(), 24);
  const PricedOp native = *PriceCall(MakeCall("torch.embedding", "[10,4]what [2,3]what")).price;
  EXPECT_EQ(native.params, price.params);
}

}  // namespace
}  // namespace oplens::ops::test::layout_test
