#include <gtest/gtest.h>

#include "ops/op_model.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::view_gradient_test {
namespace {

// x[4,6]: 96 bytes of dX.
TEST(ViewGradientTest, OfParts) {
  const char* t = "T=(4,6),fp32";
  CheckCases({
      // A row of 6: 24 + 96; a column of 4.
      {"torch.select", "[4,6]float32 0 2", t, {}, {Back({0, 0, 120})}},
      {"Tensor.select", "[4,6]float32 dim=-1 index=2", t, {}, {Back({0, 0, 112})}},
      {"torch.narrow", "[4,6]float32 1 2 3", t, {}, {Back({0, 0, 144})}},
      // Columns 1 and 4; all; the last two; none.
      {"torch.slice", "[4,6]float32 1 1 6 3", t, {}, {Back({0, 0, 128})}},
      {"torch.slice", "[4,6]float32", t, {}, {Back({0, 0, 192})}},
      {"torch.slice", "[4,6]float32 1 -2 9223372036854775807", t, {}, {Back({0, 0, 128})}},
      {"torch.slice", "[4,6]float32 1 5 2", t, {}, {Back({0, 0, 96})}},
      {"torch.diagonal", "[4,6]float32", t, {}, {Back({0, 0, 112})}},
      {"torch.diagonal", "[4,6]float32 offset=5", t, {}, {Back({0, 0, 100})}},
      {"torch.diagonal", "[4,6]float32 -9", t, {}, {Back({0, 0, 96})}},
      {"torch.as_strided", "[4,6]float32 (2,2) (1,6)", t, {}, {Back({0, 0, 112})}},
      // All parts.
      {"torch.split", "[4,6]float32 2 1", t, {}, {Back({0, 0, 192})}},
      {"torch.chunk", "[4,6]float32 3", t, {}, {Back({0, 0, 192})}},
      {"torch.unbind", "[4,6]float32", t, {}, {Back({0, 0, 192})}},
      // Not known.
      {"torch.select", "[4,6]float32 2 0", t, {}, {}},
      {"torch.select", "[4,6]float32 ? ?", t, {}, {}},
      {"torch.narrow", "[4,6]float32 1 2 7", t, {}, {}},
      {"torch.slice", "[4,6]float32 1 0 6 0", t, {}, {}},
      {"torch.diagonal", "[4,6]float32 0 1 1", t, {}, {}},
      {"torch.as_strided", "[4,6]float32 (-2,2) (1,6)", t, {}, {}},
      {"torch.select", "[0,6]float32 0 2", "T=(0,6),fp32", {}, {}},
  });
}

TEST(ViewGradientTest, OfRepeatedElements) {
  CheckCases({
      // 24 of dY are added to 4 of dX: 96 + 16.
      {"Tensor.expand", "[4,1]float32 4 6", "T=(4,1),fp32", {}, {Back({0, 24, 112})}},
      {"Tensor.expand", "[4,1]float32 (-1,6)", "T=(4,1),fp32", {}, {Back({0, 24, 112})}},
      {"Tensor.expand", "[6]float32 (4,6)", "T=(6,),fp32", {}, {Back({0, 24, 120})}},
      {"Tensor.expand", "[4,6]float32 (4,6)", "T=(4,6),fp32", {}, {Back({})}},
      {"Tensor.expand_as", "[4,1]float32 [4,6]int64", "T=(4,1),fp32", {}, {Back({0, 24, 112})}},
      {"torch.broadcast_to", "[4,1]float32 (4,6)", "T=(4,1),fp32", {}, {Back({0, 24, 112})}},
      // 4 windows of 3 in each row: 48 of dY.
      {"Tensor.unfold", "[4,6]float32 1 3 1", "T=(4,6),fp32", {}, {Back({0, 48, 288})}},
      {"Tensor.unfold", "[4,6]float32 1 7 1", "T=(4,6),fp32", {}, {}},
      {"Tensor.expand", "[4,2]float32 (4,6)", "T=(4,2),fp32", {}, {}},
      {"Tensor.expand", "[6]float32 (-1,6)", "T=(6,),fp32", {}, {}},
      {"Tensor.expand", "[4,1]float32", "T=(4,1),fp32", {}, {}},
  });
}

TEST(ViewGradientTest, GradientFunctions) {
  CheckCases({
      {"aten::slice_backward", "[4,2]float32 [4,6] 1 0 2 1", "T=(4,2),fp32", {0, 0, 128}, {}},
      {"aten::select_backward", "[6]float32 [4,6] 0 2", "T=(6,),fp32", {0, 0, 120}, {}},
      {"aten::unfold_backward", "[4,4,3]float32 [4,6] 1 3 1", "T=(4,4,3),fp32", {0, 48, 288}, {}},
      {"aten::slice_backward", "[4,2]float32 ? 1 0 2 1", Reason::kUnsupportedArgs},
      {"aten::slice_backward", "[4,2]float32 [4,-6] 1 0 2 1", Reason::kUnsupportedArgs},
      {"aten::slice_backward", "[4,2]float32", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::view_gradient_test
