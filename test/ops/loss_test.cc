#include <gtest/gtest.h>

#include <string>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::loss_test {
namespace {

TEST(LossTest, OfElements) {
  CheckCases({
      // n = 6. Subtract, square, add 18 and a division; 24 + 24 + 4. Backward 2*6: g 4, both, dX.
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32",
       {0, 19, 52},
       {Back({0, 12, 76})}},
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32 reduction='sum'",
       "[2,3]fp32;[2,3]fp32",
       {0, 18, 52},
       {Back({0, 12, 76})}},
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32 reduction='none'",
       "[2,3]fp32;[2,3]fp32",
       {0, 12, 72},
       {Back({0, 12, 96})}},
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32 None None 'sum'",
       "[2,3]fp32;[2,3]fp32",
       {0, 18, 52},
       {Back({0, 12, 76})}},
      // The older parameters win.
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32 False True 'mean'",
       "[2,3]fp32;[2,3]fp32",
       {0, 18, 52},
       {Back({0, 12, 76})}},
      {"F.mse_loss",
       "[2,3]float32 [2,3]float32 reduce=False",
       "[2,3]fp32;[2,3]fp32",
       {0, 12, 72},
       {Back({0, 12, 96})}},
      // By PyTorch's number.
      {"aten::mse_loss",
       "[2,3]float32 [2,3]float32 2",
       "[2,3]fp32;[2,3]fp32",
       {0, 18, 52},
       {Back({0, 12, 76})}},
      // An input that was broadcast: 2*6 + 6; g 4, X 12, target 24, dX 12.
      {"F.mse_loss",
       "[3]float32 [2,3]float32",
       "[3]fp32;[2,3]fp32",
       {0, 19, 40},
       {Back({0, 18, 52})}},
      {"F.l1_loss",
       "[2,3]float16 [2,3]float16",
       "[2,3]fp16;[2,3]fp16",
       {0, 13, 26},
       {Back({0, 12, 38})}},
      {"F.smooth_l1_loss",
       "[6]float32 [6]float32 reduction='mean' beta=0.5",
       "[6]fp32;[6]fp32",
       {0, 31, 52},
       {Back({0, 24, 76})}},
      {"F.huber_loss",
       "[6]float32 [6]float32 'none' 0.5",
       "[6]fp32;[6]fp32",
       {0, 24, 72},
       {Back({0, 24, 96})}},
      {"F.binary_cross_entropy",
       "[6]float32 [6]float32",
       "[6]fp32;[6]fp32",
       {0, 258, 52},
       {Back({0, 36, 76})}},
      {"F.binary_cross_entropy",
       "[6]float32 [6]float32 [6]float32",
       "[6]fp32;[6]fp32;[6]fp32",
       {0, 258, 76},
       {Back({0, 36, 100})}},
      {"F.binary_cross_entropy_with_logits",
       "[2,3]float32 [2,3]float32 pos_weight=[3]float32",
       "[2,3]fp32;[2,3]fp32;[3]fp32",
       {0, 390, 64},
       {Back({0, 138, 88})}},
      {"aten::binary_cross_entropy_with_logits",
       "[2,3]float32 [2,3]float32 None [3]float32 1",
       "[2,3]fp32;[2,3]fp32;[3]fp32",
       {0, 390, 64},
       {Back({0, 138, 88})}},
      {"F.kl_div",
       "[6]float32 [6]float32 reduction='batchmean'",
       "[6]fp32;[6]fp32",
       {0, 132, 52},
       {Back({0, 12, 76})}},
      {"F.mse_loss", "[0]float32 [0]float32", "[0]fp32;[0]fp32", {0, 1, 4}, {Back({0, 0, 4})}},

      {"F.mse_loss", "[2,3]float32 [2,4]float32", Reason::kShapeMismatch},
      {"F.mse_loss", "[2,3]float32", Reason::kUnsupportedArgs},
      {"F.mse_loss", "[2,3]float32 [2,3]float32 reduction='x'", Reason::kUnsupportedArgs},
      {"aten::mse_loss", "[2,3]float32 [2,3]float32 3", Reason::kUnsupportedArgs},
      {"aten::mse_loss", "[2,3]float32 [2,3]float32 ?", Reason::kUnsupportedArgs},
      {"F.mse_loss", "[1]float32 [1]float32 1 1 1 [1]float32 1 1", Reason::kUnsupportedArgs},
      {"F.mse_loss", "[2,3]what [2,3]what", Reason::kUnknownDType},
  });
}

TEST(LossTest, GradientFunctions) {
  CheckCases({
      {"aten::mse_loss_backward",
       "[]float32 [2,3]float32 [2,3]float32 1",
       "[2,3]fp32;[2,3]fp32",
       {0, 12, 76},
       {}},
      // A gradient an element tells that the losses were not added up.
      {"aten::mse_loss_backward",
       "[2,3]float32 [2,3]float32 [2,3]float32 0",
       "[2,3]fp32;[2,3]fp32",
       {0, 12, 96},
       {}},
      {"aten::smooth_l1_loss_backward",
       "[]float32 [6]float32 [6]float32 1 1.0",
       "[6]fp32;[6]fp32",
       {0, 24, 76},
       {}},
      {"aten::binary_cross_entropy_backward",
       "[]float32 [6]float32 [6]float32 [6]float32 1",
       "[6]fp32;[6]fp32;[6]fp32",
       {0, 36, 100},
       {}},
      {"aten::nll_loss_backward",
       "[]float32 [2,3]float32 [2]int64 None 1 -100 []float32",
       "[2,3]fp32;[2]int64",
       {0, 2, 44},
       {}},
      {"aten::nll_loss2d_backward",
       "[2,5]float32 [2,3,5]float32 [2,5]int64 [3]float32 0 -100 []float32",
       "[2,3,5]fp32;[2,5]int64;[3]fp32",
       {0, 10, 252},
       {}},
      {"aten::mse_loss_backward", "[5]float32 [2,3]float32 [2,3]float32 1", Reason::kShapeMismatch},
      {"aten::mse_loss_backward", "[]float32 [2,3]float32", Reason::kUnsupportedArgs},
      {"aten::nll_loss_backward", "[]float32 [2,3]float32 [3]int64", Reason::kShapeMismatch},
      {"aten::nll_loss_backward", "[7]float32 [2,3]float32 [2]int64", Reason::kShapeMismatch},
  });
}

TEST(LossTest, NegativeLogLikelihood) {
  CheckCases({
      // Two rows: 2 + 1; targets 16, picked 8, loss and total weight 8. Backward 2: g 4, targets
      // 16, dX 24.
      {"F.nll_loss", "[2,3]float32 [2]int64", "[2,3]fp32;[2]int64", {0, 3, 32}, {Back({0, 2, 44})}},
      // A loss a row and no total: 16 + 8 + 8.
      {"F.nll_loss",
       "[2,3]float32 [2]int64 reduction='none'",
       "[2,3]fp32;[2]int64",
       {0, 2, 32},
       {Back({0, 2, 48})}},
      {"F.nll_loss",
       "[2,3]float32 [2]int64 [3]float32 None -100 None 'sum'",
       "[2,3]fp32;[2]int64;[3]fp32",
       {0, 2, 44},
       {Back({0, 2, 56})}},
      // Five positions of each sample: 10 rows.
      {"aten::nll_loss2d",
       "[2,3,5]float32 [2,5]int64 None 1 -100",
       "[2,3,5]fp32;[2,5]int64",
       {0, 11, 128},
       {Back({0, 10, 204})}},
      // Without a batch the target is one class.
      {"F.nll_loss", "[3]float32 []int64", "[3]fp32;[]int64", {0, 2, 20}, {Back({0, 1, 24})}},
      {"F.nll_loss", "[2,3]float32 [3]int64", Reason::kShapeMismatch},
      {"F.nll_loss", "[2,3]float32 [2]float32", Reason::kShapeMismatch},
      {"F.nll_loss", "[2,3]float32 [2]int64 [2]float32", Reason::kShapeMismatch},
      {"F.nll_loss", "[]float32 []int64", Reason::kShapeMismatch},
      {"F.nll_loss", "[2,3]float32", Reason::kUnsupportedArgs},
  });
}

TEST(LossTest, CrossEntropy) {
  CheckCases({
      // log_softmax 24*6 + 20*2, nll 3. Bytes 48 + 32. Backward 23*6 + 2; 72 + 44.
      {"F.cross_entropy",
       "[2,3]float32 [2]int64",
       "[2,3]fp32;[2]int64",
       {0, 187, 80},
       {Back({0, 140, 116})}},
      {"aten::cross_entropy_loss",
       "[2,3]float32 [2]int64 None 1 -100 0.0",
       "[2,3]fp32;[2]int64",
       {0, 187, 80},
       {Back({0, 140, 116})}},
      // Smoothing: 2*6 more.
      {"F.cross_entropy",
       "[2,3]float32 [2]int64 label_smoothing=0.1",
       "[2,3]fp32;[2]int64",
       {0, 199, 80},
       {Back({0, 140, 116})}},
      // Probabilities: 184 + 2*6 + 1; 48 + 24 + 24 + 4. Backward 138 + 6; 72 + 4 + 24 + 24.
      {"F.cross_entropy",
       "[2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32",
       {0, 197, 100},
       {Back({0, 144, 124})}},
      // x[2,3,5]: n = 30, 10 rows: 720 + 200 + 11; 240 + 128.
      {"F.cross_entropy",
       "[2,3,5]float32 [2,5]int64",
       "[2,3,5]fp32;[2,5]int64",
       {0, 931, 368},
       {Back({0, 700, 564})}},
      {"F.cross_entropy", "[3]float32 2", "[3]fp32;[]int64", {0, 94, 44}, {Back({0, 70, 60})}},
      {"F.cross_entropy", "[2,3]float32 [2,4]float32", Reason::kShapeMismatch},
      {"F.cross_entropy", "[2,3]float32 [2,3]int64", Reason::kShapeMismatch},
      {"F.cross_entropy", "[2,3]float32 [2]int64 label_smoothing='x'", Reason::kUnsupportedArgs},
  });
}

TEST(LossTest, CrossEntropyIsLogSoftmaxAndLikelihood) {
  const auto work = [](const char* op, const char* args) {
    return *PriceCall(MakeCall(op, args)).price;
  };
  const PricedOp whole = work("F.cross_entropy", "[64,1000]float16 [64]int64");
  const PricedOp softmax = work("F.log_softmax", "[64,1000]float16 1");
  const PricedOp likelihood = work("F.nll_loss", "[64,1000]float16 [64]int64");
  EXPECT_EQ(whole.forward[0].work.vec,
            softmax.forward[0].work.vec + likelihood.forward[0].work.vec);
  EXPECT_EQ(whole.forward[0].work.bytes,
            softmax.forward[0].work.bytes + likelihood.forward[0].work.bytes);
  EXPECT_EQ(whole.backward[0].work.vec,
            softmax.backward[0].work.vec + likelihood.backward[0].work.vec);
  EXPECT_EQ(whole.backward[0].work.bytes,
            softmax.backward[0].work.bytes + likelihood.backward[0].work.bytes);
}

TEST(LossTest, OfRowsAndSequences) {
  CheckCases({
      // Two rows of 3: 6*6 + 26*2, and a sum of 2 with a division. 24 + 24 + 8 + 4.
      {"F.cosine_embedding_loss",
       "[2,3]float32 [2,3]float32 [2]float32",
       "[2,3]fp32;[2,3]fp32;[2]fp32",
       {0, 91, 60},
       {}},
      // Two distances of 3*6 + 20*2, 3 a row, and 3 for the mean.
      {"F.triplet_margin_loss",
       "[2,3]float32 [2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32;[2,3]fp32",
       {0, 125, 76},
       {}},
      {"F.triplet_margin_loss",
       "[2,3]float32 [2,3]float32 [2,3]float32 swap=True reduction='none'",
       "[2,3]fp32;[2,3]fp32;[2,3]fp32",
       {0, 182, 80},
       {}},
      {"F.margin_ranking_loss",
       "[6]float32 [6]float32 [6]float32 reduction='sum'",
       "[6]fp32;[6]fp32;[6]fp32",
       {0, 30, 76},
       {}},
      {"F.gaussian_nll_loss",
       "[2,3]float32 [2,3]float32 [2,3]float32",
       "[2,3]fp32;[2,3]fp32;[2,3]fp32",
       {0, 144, 76},
       {}},
      {"F.gaussian_nll_loss",
       "[2,3]float32 [2,3]float32 [2]float32",
       "[2,3]fp32;[2,3]fp32;[2]fp32",
       {0, 144, 60},
       {}},
      // 4 steps, 2 samples, 2*3+1 states: 60*4*2*7. 160 + 48 + 4.
      {"F.ctc_loss",
       "[4,2,5]float32 [2,3]int64 [2]int64 [2]int64",
       "[4,2,5]fp32;[2,3]int64",
       {0, 3360, 212},
       {}},
      {"F.ctc_loss",
       "[4,2,5]float32 [4]int64 (4,4) (1,3) 0 'none'",
       "[4,2,5]fp32;[4]int64",
       {0, 3360, 200},
       {}},
      // The lengths of targets in one row are not known.
      {"F.ctc_loss", "[4,2,5]float32 [4]int64 [2]int64 [2]int64", Reason::kUnsupportedArgs},
      {"F.ctc_loss", "[4]float32 [4]int64 (4,) (1,)", Reason::kShapeMismatch},
      {"F.cosine_embedding_loss", "[2,3]float32 [2,3]float32 [3]float32", Reason::kShapeMismatch},
      {"F.triplet_margin_loss", "[2,3]float32 [2,4]float32 [2,3]float32", Reason::kShapeMismatch},
  });
}

}  // namespace
}  // namespace oplens::ops::test::loss_test
