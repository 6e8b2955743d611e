#include "parse/model/node_name.h"

#include <gtest/gtest.h>

namespace oplens::node_name_test {
namespace {

TEST(NodeNameTest, SequenceIsCut) {
  EXPECT_EQ(WithoutSequence("mm, seq = 72"), "mm");
  EXPECT_EQ(WithoutSequence("mm, stashed seq=72"), "mm");
  EXPECT_EQ(WithoutSequence("aten::mm"), "aten::mm");
}

TEST(NodeNameTest, OpAndNodeHaveOneBareName) {
  EXPECT_EQ(BareName("aten::_softmax"), "softmax");
  EXPECT_EQ(BareName("SoftmaxBackward0, seq = 5"), "softmax");
  EXPECT_EQ(BareName("torch::autograd::CopyBackwards"), "copy");
  EXPECT_EQ(BareName("NativeLayerNormBackward0"), BareName("aten::native_layer_norm"));
  EXPECT_EQ(BareName(""), "");
}

TEST(NodeNameTest, FitsWhereOneEndsWithTheOther) {
  EXPECT_TRUE(NamesFit("nativelayernorm", "layernorm"));
  EXPECT_TRUE(NamesFit("mm", "addmm"));
  EXPECT_FALSE(NamesFit("addmm", "relu"));
  EXPECT_FALSE(NamesFit("", "relu"));
  EXPECT_FALSE(NamesFit("relu", ""));
}

}  // namespace
}  // namespace oplens::node_name_test
