// Prices of matrix products. Conventions: 1 FMA = 2 FLOPs; every tensor moves once, in its own
// type.
#include <gtest/gtest.h>

#include "test/ops/cases.h"

namespace oplens::ops::test::linear_algebra_test {
namespace {

TEST(LinearAlgebraTest, Linear) {
  CheckCases({
      // M = 2*3 = 6 rows, K = 4, N = 5. mma 2*6*5*4 = 240, bias 6*5 = 30.
      // X 24, W 20, b 5, Y 30 elements of 4 bytes: 79*4 = 316; without b 74*4 = 296.
      // dgrad and wgrad: dY, W or X, and the gradient: the same 74; bgrad: dY + db 35*4 = 140.
      {"F.linear",
       "[2,3,4]float32 [5,4]float32 [5]float32",
       "M=5,N=6,K=4,fp32",
       {240, 30, 316},
       {Dgrad({240, 0, 296}), Wgrad({240, 0, 296}), Bgrad({0, 30, 140})}},
      {"F.linear",
       "[2,3,4]float16 [5,4]float16 bias=None",
       "M=5,N=6,K=4,fp16",
       {240, 0, 148},
       {Dgrad({240, 0, 148}), Wgrad({240, 0, 148})}},
      {"F.linear",
       "input=[2,3,4]float16 weight=[5,4]float16",
       "M=5,N=6,K=4,fp16",
       {240, 0, 148},
       {Dgrad({240, 0, 148}), Wgrad({240, 0, 148})}},
      // W[K]: one output a row. X 8, W 4, Y 2 and b 1 element; db is the sum of dY.
      {"F.linear",
       "[2,4]float32 [4]float32 []float32",
       "M=1,N=2,K=4,fp32",
       {16, 2, 60},
       {Dgrad({16, 0, 56}), Wgrad({16, 0, 56}), Bgrad({0, 2, 12})}},
      {"aten::linear",
       "[2,3,4]float16 [5,4]float16 None",
       "M=5,N=6,K=4,fp16",
       {240, 0, 148},
       {Dgrad({240, 0, 148}), Wgrad({240, 0, 148})}},
      // One row: M = 1. X 4, W 20, Y 5: 29*8.
      {"F.linear",
       "[4]float64 [5,4]float64",
       "M=5,N=1,K=4,fp64",
       {40, 0, 232},
       {Dgrad({40, 0, 232}), Wgrad({40, 0, 232})}},
      // fp16 X (24*2) with fp32 W (20*4), b (5*4), Y fp32 (30*4): 48+80+20+120; bgrad 120+20.
      {"F.linear",
       "[6,4]float16 [5,4]float32 [5]float32",
       "M=5,N=6,K=4,fp16",
       {240, 30, 268},
       {Dgrad({240, 0, 248}), Wgrad({240, 0, 248}), Bgrad({0, 30, 140})}},
      // An empty batch costs its weight: W 20*4.
      {"F.linear",
       "[0,4]float32 [5,4]float32",
       "M=5,N=0,K=4,fp32",
       {0, 0, 80},
       {Dgrad({0, 0, 80}), Wgrad({0, 0, 80})}},

      {"F.linear", "[2,3,4]float32", Reason::kUnsupportedArgs},
      {"F.linear", "", Reason::kNoArguments},
      {"F.linear", "[2,3,4]float32 'w'", Reason::kUnsupportedArgs},
      {"F.linear", "[2,3,4]float32 [5,4]float32 None None", Reason::kUnsupportedArgs},
      {"F.linear", "[-2,4]float32 [5,4]float32", Reason::kUnsupportedArgs},
      {"F.linear", "[2,3,4]float32 [5,3]float32", Reason::kShapeMismatch},
      {"F.linear", "[2,3,4]float32 [5]float32", Reason::kShapeMismatch},
      {"F.linear", "[]float32 [5,4]float32", Reason::kShapeMismatch},
      {"F.linear", "[2,4]float32 []float32", Reason::kShapeMismatch},
      {"F.linear", "[2,4]float32 [4]float32 [1]float32", Reason::kShapeMismatch},
      {"F.linear", "[2,4]float32 [5,4]float32 [4]float32", Reason::kShapeMismatch},
      {"F.linear", "[2,4]posit16 [5,4]float32", Reason::kUnknownDType},
      {"F.linear", "[2,4]float32 [5,4]float32 [5]what", Reason::kUnknownDType},
      {"F.linear", "[9223372036854775807,9223372036854775807,4]float32 [5,4]float32",
       Reason::kCostOverflow},
      {"F.linear", "[9223372036854775807,4]float32 [5,4]float32", Reason::kCostOverflow},
  });
}

TEST(LinearAlgebraTest, ProductsOfTwo) {
  // 2x3 by 3x4: 2*2*4*3 = 48; 6 + 12 + 8 = 26 elements.
  const std::vector<Gradient> mm = {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})};
  CheckCases({
      {"torch.mm", "[2,3]float32 [3,4]float32", "M=4,N=2,K=3,fp32", {48, 0, 104}, mm},
      {"Tensor.mm", "[2,3]float32 [3,4]float32", "M=4,N=2,K=3,fp32", {48, 0, 104}, mm},
      {"torch.mm",
       "[2,3]float32 mat2=[3,4]float32 out=[2,4]float32",
       "M=4,N=2,K=3,fp32",
       {48, 0, 104},
       mm},
      {"aten::mm.out",
       "[2,3]float32 [3,4]float32 out=[2,4]float32",
       "M=4,N=2,K=3,fp32",
       {48, 0, 104},
       mm},
      // A complex FMA is 8 FLOPs: 4 times; 26*8 bytes.
      {"torch.mm",
       "[2,3]complex64 [3,4]complex64",
       "M=4,N=2,K=3,c64",
       {192, 0, 208},
       {Dgrad({192, 0, 208}), Wgrad({192, 0, 208})}},
      // Integers have no gradient.
      {"torch.mm", "[2,3]int32 [3,4]int32", "M=4,N=2,K=3,int32", {48, 0, 104}, {}},
      // 5 x: 240; 130 elements.
      {"torch.bmm",
       "[5,2,3]bfloat16 [5,3,4]bfloat16",
       "B=5,M=4,N=2,K=3,bf16",
       {240, 0, 260},
       {Dgrad({240, 0, 260}), Wgrad({240, 0, 260})}},
      // A vector is one column: 2*2*3 = 12; 6 + 3 + 2 = 11.
      {"torch.mv",
       "[2,3]float32 [3]float32",
       "M=1,N=2,K=3,fp32",
       {12, 0, 44},
       {Dgrad({12, 0, 44}), Wgrad({12, 0, 44})}},
      // 2*3; 3 + 3 + 1 = 7.
      {"torch.dot",
       "[3]float32 [3]float32",
       "M=1,N=1,K=3,fp32",
       {6, 0, 28},
       {Dgrad({6, 0, 28}), Wgrad({6, 0, 28})}},
      // Outer product: 2*3 multiplications; 2 + 3 + 6 = 11. Gradients: each 2*6 FLOPs and moves
      // dY 6 + other + own: (6+3+2) + (6+2+3) = 22.
      {"torch.outer", "[2]float32 [3]float32", "M=3,N=2,K=1,fp32", {0, 6, 44}, {Back({0, 24, 88})}},
      {"torch.ger",
       "[2]float32 vec2=[3]float32",
       "M=3,N=2,K=1,fp32",
       {0, 6, 44},
       {Back({0, 24, 88})}},

      {"torch.mm", "[2,3]float32 [4,3]float32", Reason::kShapeMismatch},
      {"torch.mm", "[2,2,3]float32 [3,4]float32", Reason::kShapeMismatch},
      {"torch.mm", "[2,3]float32 [3]float32", Reason::kShapeMismatch},
      {"torch.mm", "[2,3]float32", Reason::kUnsupportedArgs},
      {"torch.mm", "[2,3]float32 ?", Reason::kUnsupportedArgs},
      {"torch.bmm", "[5,2,3]float32 [6,3,4]float32", Reason::kShapeMismatch},
      {"torch.bmm", "[2,3]float32 [3,4]float32", Reason::kShapeMismatch},
      {"torch.mv", "[2,3]float32 [2]float32", Reason::kShapeMismatch},
      {"torch.dot", "[3]float32 [4]float32", Reason::kShapeMismatch},
      {"torch.dot", "[]float32 []float32", Reason::kShapeMismatch},
      {"torch.outer", "[2,2]float32 [3]float32", Reason::kShapeMismatch},
      {"torch.bmm", "[4294967296,4294967296,1]float32 [4294967296,1,1]float32",
       Reason::kCostOverflow},
  });
}

TEST(LinearAlgebraTest, Matmul) {
  CheckCases({
      // As mm.
      {"torch.matmul",
       "[2,3]float32 [3,4]float32",
       "A=(2,3),B=(3,4),fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      {"Tensor.__matmul__",
       "[2,3]float32 [3,4]float32",
       "A=(2,3),B=(3,4),fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // __rmatmul__(self, other) is other @ self.
      {"Tensor.__rmatmul__",
       "[3,4]float32 [2,3]float32",
       "A=(2,3),B=(3,4),fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // A matrix B is folded: 5*2 rows, 2*10*4*3 = 240; 30 + 12 + 40 = 82; no reduction.
      {"Tensor.matmul",
       "[5,2,3]float32 [3,4]float32",
       "A=(5,2,3),B=(3,4),fp32",
       {240, 0, 328},
       {Dgrad({240, 0, 328}), Wgrad({240, 0, 328})}},
      // A is broadcast over 5: its gradient sums 5*2*3 = 30. 6 + 60 + 40 = 106.
      {"torch.matmul",
       "[2,3]float32 [5,3,4]float32",
       "A=(2,3),B=(5,3,4),fp32",
       {240, 0, 424},
       {Dgrad({240, 30, 424}), Wgrad({240, 0, 424})}},
      // Both: batch 2x5; A (2,1,2,3) sums 60, B (5,3,4) sums 10*12 = 120. mma 10*48.
      // 12 + 60 + 80 = 152.
      {"torch.matmul",
       "[2,1,2,3]float32 [5,3,4]float32",
       "A=(2,1,2,3),B=(5,3,4),fp32",
       {480, 0, 608},
       {Dgrad({480, 60, 608}), Wgrad({480, 120, 608})}},
      // Vectors: 2*3; 3+3+1. 2*4*3; 3+12+4. 2*5*2*3; 30+3+10.
      {"torch.matmul",
       "[3]float32 [3]float32",
       "A=(3,),B=(3,),fp32",
       {6, 0, 28},
       {Dgrad({6, 0, 28}), Wgrad({6, 0, 28})}},
      {"torch.matmul",
       "[3]float32 [3,4]float32",
       "A=(3,),B=(3,4),fp32",
       {24, 0, 76},
       {Dgrad({24, 0, 76}), Wgrad({24, 0, 76})}},
      {"torch.matmul",
       "[5,2,3]float32 [3]float32",
       "A=(5,2,3),B=(3,),fp32",
       {60, 0, 172},
       {Dgrad({60, 0, 172}), Wgrad({60, 0, 172})}},

      {"torch.matmul", "[2,3]float32 [4,3]float32", Reason::kShapeMismatch},
      {"torch.matmul", "[2,2,3]float32 [5,3,4]float32", Reason::kShapeMismatch},
      {"torch.matmul", "0.5 [3,4]float32", Reason::kShapeMismatch},
      {"torch.matmul", "[3]float32 [2,4]float32", Reason::kShapeMismatch},
      {"torch.matmul", "[9223372036854775807,1,1,1]float32 [9223372036854775807,1,1]float32",
       Reason::kCostOverflow},
  });
}

TEST(LinearAlgebraTest, ProductsWithAnAddend) {
  CheckCases({
      // 2*2*4*3 = 48; C is broadcast: 1 add an output (8). 6 + 12 + 8 + C 4 = 30 elements.
      // dC is a reduction of dY: 8 FLOPs, 8 + 4 elements.
      {"torch.addmm",
       "[4]float32 [2,3]float32 [3,4]float32",
       "M=4,N=2,K=3,fp32",
       {48, 8, 120},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104}), Bgrad({0, 8, 48})}},
      // A full C: its gradient is dY itself. 26 + 8.
      {"torch.addmm",
       "[2,4]float32 [2,3]float32 [3,4]float32 beta=1 alpha=1",
       "M=4,N=2,K=3,fp32",
       {48, 8, 136},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // beta 0: C is not read.
      {"torch.addmm",
       "[4]float32 [2,3]float32 [3,4]float32 beta=0",
       "M=4,N=2,K=3,fp32",
       {48, 0, 104},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // Both factors: add, scale C, scale the product: 3 an output.
      {"Tensor.addmm_",
       "[2,4]float32 [2,3]float32 [3,4]float32 beta=0.5 alpha=-1",
       "M=4,N=2,K=3,fp32",
       {48, 24, 136},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // The factors where PyTorch once had them: (beta, C, alpha, A, B), C.addmm(beta, alpha, A,
      // B).
      {"torch.addmm",
       "0.5 [2,4]float32 -1 [2,3]float32 [3,4]float32",
       "M=4,N=2,K=3,fp32",
       {48, 24, 136},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      {"Tensor.addmm",
       "[2,4]float32 0.5 -1 [2,3]float32 [3,4]float32",
       "M=4,N=2,K=3,fp32",
       {48, 24, 136},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104})}},
      // Keywords in another order.
      {"torch.addmm",
       "[4]float32 mat2=[3,4]float32 mat1=[2,3]float32",
       "M=4,N=2,K=3,fp32",
       {48, 8, 120},
       {Dgrad({48, 0, 104}), Wgrad({48, 0, 104}), Bgrad({0, 8, 48})}},
      // 5 products; C 1x1x4: 130 + 4; dC: 40 FLOPs, 40 + 4.
      {"torch.baddbmm",
       "[1,1,4]float32 [5,2,3]float32 [5,3,4]float32",
       "B=5,M=4,N=2,K=3,fp32",
       {240, 40, 536},
       {Dgrad({240, 0, 520}), Wgrad({240, 0, 520}), Bgrad({0, 40, 176})}},
      // addbmm adds the 5 products up: Y 8 elements. 30 + 60 + 8 + C 8 = 106.
      {"torch.addbmm",
       "[2,4]float32 [5,2,3]float32 [5,3,4]float32",
       "B=5,M=4,N=2,K=3,fp32",
       {240, 8, 424},
       {Dgrad({240, 0, 392}), Wgrad({240, 0, 392})}},
      // 2*2*3 = 12; 6 + 3 + 2 + C 2 = 13.
      {"torch.addmv",
       "[2]float32 [2,3]float32 [3]float32",
       "M=1,N=2,K=3,fp32",
       {12, 2, 52},
       {Dgrad({12, 0, 44}), Wgrad({12, 0, 44})}},
      // addr: multiply and add, 2*6; 2 + 3 + 6 + C 6 = 17. Gradients as outer.
      {"torch.addr",
       "[2,3]float32 [2]float32 [3]float32",
       "M=3,N=2,K=1,fp32",
       {0, 12, 68},
       {Back({0, 24, 88})}},
      // C broadcast: one reduction more, 6 FLOPs and 6 + 3 elements.
      {"torch.addr",
       "[3]float32 [2]float32 [3]float32",
       "M=3,N=2,K=1,fp32",
       {0, 12, 56},
       {Back({0, 30, 124})}},

      {"torch.addmm", "[3]float32 [2,3]float32 [3,4]float32", Reason::kShapeMismatch},
      {"torch.addmm", "[5,2,4]float32 [2,3]float32 [3,4]float32", Reason::kShapeMismatch},
      {"torch.addmm", "[4]float32 [2,3]float32 [4,4]float32", Reason::kShapeMismatch},
      {"torch.addmm", "[4]float32 [2,3]float32", Reason::kUnsupportedArgs},
      {"torch.addmm", "1 2 [4]float32 3 [2,3]float32 [3,4]float32", Reason::kUnsupportedArgs},
      {"torch.addmm", "[4]float32 [2,3]float32 1 [3,4]float32", Reason::kUnsupportedArgs},
      {"torch.addmm", "[4]float32 [2,3]float32 [3,4]float32 alpha='x'", Reason::kUnsupportedArgs},
      {"torch.addmm", "[4]float32 [2,3]float32 [3,4]float32 [3,4]float32",
       Reason::kUnsupportedArgs},
      {"torch.addmm", "[4]float32 [2,3]float32 [3,4]x", Reason::kUnknownDType},
      {"torch.addr", "[2,3]float32 [2]float32 [3,3]float32", Reason::kShapeMismatch},
      {"torch.baddbmm", "[4]float32 [2,3]float32 [3,4]float32", Reason::kShapeMismatch},
  });
}

TEST(LinearAlgebraTest, SaysWhatTensorCoresCouldDo) {
  EXPECT_TRUE(PriceCall(MakeCall("torch.mm", "[2,3]half [3,4]half")).price->matmul_like);
  EXPECT_TRUE(PriceCall(MakeCall("F.linear", "[2,3]half [4,3]half")).price->matmul_like);
  EXPECT_TRUE(PriceCall(MakeCall("torch.addmm", "[4]half [2,3]half [3,4]half")).price->matmul_like);
  EXPECT_FALSE(PriceCall(MakeCall("torch.outer", "[2]half [3]half")).price->matmul_like);
  EXPECT_FALSE(PriceCall(MakeCall("torch.add", "[2]half [2]half")).price->matmul_like);
}

}  // namespace
}  // namespace oplens::ops::test::linear_algebra_test
