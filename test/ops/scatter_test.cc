#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::scatter_test {
namespace {

TEST(ScatterTest, ByElement) {
  CheckCases({
      // 4 indices 32, 4 of src 16, 4 written 16; copying self first 48 more. Backward: the source
      // picks (32 + 16 + 16), the target copies and writes 4 zeros (48 + 16).
      {"Tensor.scatter_",
       "[2,3]float32 1 [2,2]int64 [2,2]float32",
       "T=(2,3),fp32",
       {0, 0, 64},
       {Back({0, 0, 128})}},
      {"torch.scatter",
       "[2,3]float32 dim=1 index=[2,2]int64 src=[2,3]float32",
       "T=(2,3),fp32",
       {0, 0, 112},
       {Back({0, 0, 128})}},
      // A number: no source. Backward 48 + 32 + 16.
      {"Tensor.scatter_",
       "[2,3]float32 1 [2,2]int64 0.5",
       "T=(2,3),fp32",
       {0, 0, 48},
       {Back({0, 0, 96})}},
      // Elements that are added to are read too; the target's gradient is dY.
      {"Tensor.scatter_add_",
       "[2,3]float32 1 [2,2]int64 [2,2]float32",
       "T=(2,3),fp32",
       {0, 4, 80},
       {Back({0, 0, 64})}},
      {"torch.scatter_reduce",
       "[2,3]float32 1 [2,2]int64 [2,2]float32 'amax'",
       "T=(2,3),fp32",
       {0, 4, 128},
       {Back({0, 0, 64})}},
      {"Tensor.scatter_",
       "[2,3]float32 1 [2,2]int64 [2,2]float32 reduce='add'",
       "T=(2,3),fp32",
       {0, 4, 80},
       {Back({0, 0, 64})}},
      // 100 indices for 5 elements: 800 + 400, each of the 5 read and written once.
      {"Tensor.scatter_add_",
       "[5]float32 0 [100]int64 [100]float32",
       "T=(5,),fp32",
       {0, 100, 1240},
       {Back({0, 0, 1600})}},
      {"Tensor.scatter_add_", "[5]int64 0 [3]int64 [3]int64", "T=(5,),int64", {0, 3, 96}, {}},
      // The dimension was not recorded.
      {"Tensor.scatter_add_",
       "[5]float32 ? [3]int64 [3]float32",
       "T=(5,),fp32",
       {0, 3, 60},
       {Back({0, 0, 48})}},
      {"torch.scatter", "[2,3]float32 2 [2,2]int64 [2,2]float32", Reason::kShapeMismatch},
      {"torch.scatter", "[2,3]float32 1 [4]int64 [4]float32", Reason::kShapeMismatch},
      {"torch.scatter", "[2,3]float32 1 [2,2]int64 [2,1]float32", Reason::kShapeMismatch},
      {"torch.scatter", "[2,3]float32 1 [2,2]float32 [2,2]float32", Reason::kUnsupportedArgs},
      {"torch.scatter_add", "[2,3]float32 1 [2,2]int64", Reason::kUnsupportedArgs},
      {"torch.scatter_add", "[2,3]float32 1", Reason::kUnsupportedArgs},
  });
}

TEST(ScatterTest, BySlice) {
  CheckCases({
      // 4 rows of 3: 32 + 48 + 2*24 (self has only 6 elements).
      {"Tensor.index_add_",
       "[2,3]float32 0 [4]int64 [4,3]float32",
       "T=(2,3),fp32",
       {0, 12, 128},
       {Back({0, 0, 128})}},
      {"Tensor.index_add_",
       "[9,3]float32 0 [4]int64 [4,3]float32 alpha=2",
       "T=(9,3),fp32",
       {0, 24, 176},
       {Back({0, 0, 128})}},
      {"torch.index_copy",
       "[9,3]float32 0 [4]int64 [4,3]float32",
       "T=(9,3),fp32",
       {0, 0, 344},
       {Back({0, 0, 392})}},
      {"Tensor.index_fill_",
       "[9,3]float32 -1 [2]int64 0",
       "T=(9,3),fp32",
       {0, 0, 88},
       {Back({0, 0, 304})}},
      {"torch.index_add", "[9,3]float32 0 [4]int64 [5,3]float32", Reason::kShapeMismatch},
      {"torch.index_add", "[9,3]float32 2 [4]int64 [4,3]float32", Reason::kShapeMismatch},
      {"torch.index_add", "[9,3]float32 0 [4,1]int64 [4,3]float32", Reason::kShapeMismatch},
      {"torch.index_add", "[9,3]float32 0 [4]int64", Reason::kUnsupportedArgs},
      {"torch.index_fill", "[9,3]float32 ? [4]int64 0", Reason::kUnsupportedArgs},
  });
}

TEST(ScatterTest, ByIndexTensors) {
  CheckCases({
      // 5 elements: indices 80, values 20, written 20. Backward: target 2*24 + 80 + 20, values
      // 20 + 20.
      {"aten::index_put_",
       "[2,3]float32 [5]int64 [5]int64 [5]float32 False",
       "T=(2,3),fp32",
       {0, 0, 120},
       {Back({0, 0, 188})}},
      {"aten::_index_put_impl_",
       "[2,3]float32 [5]int64 [5]int64 [5]float32 True True",
       "T=(2,3),fp32",
       {0, 5, 140},
       {Back({0, 0, 120})}},
      // One value for 15 elements; self is copied first.
      {"aten::index_put",
       "[9,3]float32 [5]int64 []float32 False",
       "T=(9,3),fp32",
       {0, 0, 320},
       {Back({0, 15, 380})}},
      // A mask: at most all 6.
      {"aten::index_put_",
       "[2,3]float32 [2,3]bool []float32 False",
       "T=(2,3),fp32",
       {0, 0, 34},
       {Back({0, 6, 106})}},
      {"Tensor.put_",
       "[2,3]float32 [4]int64 [4]float32 accumulate=True",
       "T=(2,3),fp32",
       {0, 4, 80},
       {Back({0, 0, 64})}},
      {"Tensor.masked_scatter_",
       "[6]float32 [6]bool [4]float32",
       "T=(6,),fp32",
       {0, 0, 38},
       {Back({0, 0, 102})}},
      {"aten::index_put_", "[2,3]float32 [5]float32", Reason::kUnsupportedArgs},
      {"aten::index_put_", "[2,3]float32 None [5]float32 False", Reason::kUnsupportedArgs},
      {"aten::index_put_", "[2,3]float32 [5]int64 [5]float32 ?", Reason::kUnsupportedArgs},
      {"Tensor.put_", "[6]float32 [4]int64 [3]float32", Reason::kShapeMismatch},
      {"Tensor.masked_scatter_", "[6]float32 [5]bool [4]float32", Reason::kShapeMismatch},
  });
}

OpArg NotRecorded(const char* type) {
  OpArg arg;
  arg.type = type;
  return arg;
}

// As profilers without values write them: only shapes and types.
TEST(ScatterTest, WithoutValues) {
  const auto price = [](const char* name, const char* args) {
    std::vector<OpArg> given = MakeCall(name, args).args;
    for (OpArg& arg : given) {
      if (arg.kind == OpArg::Kind::kOther) arg = NotRecorded("Scalar");
    }
    return PriceCall(MakeTorchCall(name, given));
  };
  const PriceResult added = price("aten::scatter_add_", "[50]float32 ? [900]int64 [900]float32");
  ASSERT_TRUE(added.price.has_value());
  EXPECT_EQ(FiguresOf(added.price->forward[0].work), (Figures{0, 900, 11200}));
  const PriceResult gathered =
      price("aten::gather_backward", "[900]float32 [50]float32 ? [900]int64 ?");
  ASSERT_TRUE(gathered.price.has_value());
  EXPECT_EQ(FiguresOf(gathered.price->forward[0].work), (Figures{0, 900, 11000}));
  // Whether values are added up decides.
  EXPECT_FALSE(price("aten::index_put_", "[50]float32 [9]int64 [9]float32 ?").price.has_value());
}

}  // namespace
}  // namespace oplens::ops::test::scatter_test
