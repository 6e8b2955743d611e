// FBGEMM's look-ups in tables, and what prepares their lists.
#include <gtest/gtest.h>

#include <string>

#include "test/ops/cases.h"

namespace oplens::ops::test::fbgemm_test {
namespace {

// Three tables, four samples, 30 indices; rows of 8, 8 and 8.
std::string Split(const std::string& total, const std::string& widest) {
  return "[0]fp32 [800]fp32 [0]fp32 [0,0]fp32 [3]int32 [3]int64 [4]int32 " + total + " " + widest +
         " [4]int64 ? [30]int64 [13]int64 0 None";
}

constexpr const char* kSplit = "split_embedding_codegen_lookup_adagrad_function";

TEST(FbgemmTest, Lookups) {
  // Each of 30 indices adds 8 elements.
  int64_t additions = 0;
  for (int index = 0; index < 30; ++index) additions += 8;
  const int64_t lists = 30 * 8 + 13 * 8;
  CheckCases({
      {kSplit,
       Split("24", "8"),
       "tables=3,B=4,L=30,D=24,fp32",
       {0, additions, lists + 240 * 4 + 4 * 24 * 4},
       {}},
      // The result tells the width that was not recorded, and its type.
      {kSplit,
       Split("?", "?") + " output=[4,24]fp16",
       "tables=3,B=4,L=30,D=24,fp32",
       {0, additions, lists + 240 * 4 + 4 * 24 * 2},
       {}},
      {"dense_embedding_codegen_lookup_function",
       "[112]fp32 [2]int64 [3]int32 32 16 [3]int64 ? [32]int64 [33]int64 0 None",
       "tables=2,B=16,L=32,D=32,fp32",
       // 512 elements are picked, of 112 that there are.
       {0, 512, 32 * 8 + 33 * 8 + 112 * 4 + 16 * 32 * 4},
       {}},
      {kSplit, Split("?", "?"), Reason::kUnsupportedArgs},
      {kSplit, Split("?", "?") + " output=[5,24]fp32", Reason::kUnsupportedArgs},
      {kSplit, "[0]fp32 [800]fp32", Reason::kUnsupportedArgs},
  });
}

TEST(FbgemmTest, UnevenRowsAreAnEstimate) {
  EXPECT_FALSE(PriceCall(MakeCall(kSplit, Split("24", "8"))).price->vec_estimated);
  EXPECT_TRUE(PriceCall(MakeCall(kSplit, Split("24", "16"))).price->vec_estimated);
  EXPECT_TRUE(PriceCall(MakeCall(kSplit, Split("24", "?"))).price->vec_estimated);
}

TEST(FbgemmTest, NewerFunctionsHaveAnArgumentInFront) {
  const PriceResult old = PriceCall(MakeCall(kSplit, Split("24", "8")));
  const PriceResult shifted = PriceCall(MakeCall(kSplit, "[0]fp32 " + Split("24", "8")));
  ASSERT_TRUE(shifted.price);
  EXPECT_EQ(FiguresOf(shifted.price->forward[0].work), FiguresOf(old.price->forward[0].work));
}

TEST(FbgemmTest, Gradients) {
  const int64_t lists = 30 * 8 + 13 * 8;
  CheckCases({
      // dY, rows read and written, the state of each element too; 1 + 25 an element.
      {"SplitLookupFunction_adagrad_Op",
       "[4,24]fp32 " + Split("24", "8"),
       "tables=3,B=4,L=30,D=24,fp32",
       {0, 240 * 26, 4 * 24 * 4 + lists + 240 * 4 * 2 + 240 * 4 * 2},
       {}},
      // One number of state a row.
      {"SplitLookupFunction_rowwise_adagrad_Op",
       "[4,24]fp32 " + Split("?", "?"),
       "tables=3,B=4,L=30,D=24,fp32",
       {0, 240 * 5, 4 * 24 * 4 + lists + 240 * 4 * 2 + 30 * 4 * 2},
       {}},
      {"SplitLookupFunction_dense_Op",
       "[16,32]fp32 [112]fp32 [2]int64 [3]int32 ? ? [3]int64 ? [32]int64 [33]int64 ?",
       "tables=2,B=16,L=32,D=32,fp32",
       {0, 512, 16 * 32 * 4 + 32 * 8 + 33 * 8 + 112 * 4},
       {}},
      {"SplitLookupFunction_adagrad_Op", "[4,24]fp32", Reason::kUnsupportedArgs},
      {"SplitLookupFunction_nosuch_Op", "[4,24]fp32 " + Split("24", "8"), Reason::kUnknownOp},
  });
}

TEST(FbgemmTest, ListsOfIndices) {
  CheckCases({
      // Order 12, lengths 3*4 read and written, 30 values read and written.
      {"permute_2D_sparse_data",
       "[3]int32 [3,4]int32 [30]int64 None None",
       "[3,4]int32;[30]int64",
       {0, 0, 12 + 96 + 480},
       {}},
      {"permute_2D_sparse_data",
       "[2]int32 [3,4]int32 [30]int64 None 21",
       "[3,4]int32;[30]int64",
       {0, 0, 8 + 64 + 336},
       {}},
      {"asynchronous_complete_cumsum", "[5]int32", "T=(5,),int32", {0, 5, 44}, {}},
      {"bounds_check_indices",
       "[3]int64 [30]int64 [13]int64 ? [1]int64",
       "T=(30,),int64",
       {0, 60, 24 + 240 + 104},
       {}},
      {"permute_pooled_embs_auto_grad", "[4,24]fp32 [4]int64", "T=(4,24),fp32", {0, 0, 768}, {}},
      {"permute_2D_sparse_data", "[2]int32", Reason::kUnsupportedArgs},
  });
  // Which lists are left out is not known, nor are their values then.
  const PriceResult some =
      PriceCall(MakeCall("permute_2D_sparse_data", "[2]int32 [3,4]int32 [30]int64 None ?"));
  ASSERT_TRUE(some.price);
  EXPECT_FALSE(some.price->bytes_known);
}

TEST(FbgemmTest, RowFormats) {
  CheckCases({
      // 3 rows of 16, 8 bytes more each.
      {"FloatToFP8RowwiseQuantized", "[3,16]fp32 ?", "T=(3,16),fp32", {0, 144, 192 + 72}, {}},
      {"FP8RowwiseQuantizedToFloat", "[3,24]uint8 ?", "T=(3,24),uint8", {0, 48, 72 + 192}, {}},
      {"FP8RowwiseQuantizedToFloat", "[3,4]uint8 ?", Reason::kShapeMismatch},
      {"FloatToHFP8Quantized", "[48]fp32", "T=(48,),fp32", {0, 48, 192 + 48}, {}},
  });
}

}  // namespace
}  // namespace oplens::ops::test::fbgemm_test
