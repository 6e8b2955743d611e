#include "nvtx_annotate/torch/node_names.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::annotate::torch::node_names_test {
namespace {

constexpr char kMul[] = "autograd::engine::evaluate_function: MulBackward0";

TEST(NodeNamesTest, OneForEachText) {
  static auto* const names = new NodeNames;  // For ever, as that of the observer.
  const NodeName* const mul = names->Find(kMul);
  ASSERT_NE(mul, nullptr);
  EXPECT_EQ(names->Find(std::string(kMul)), mul) << "wherever the text lies";
  EXPECT_STREQ(mul->evaluate.text, kMul);
  EXPECT_STREQ(mul->node.names.op, "MulBackward0");
  EXPECT_NE(names->Find("autograd::engine::evaluate_function: MulBackward1"), mul);
  EXPECT_NE(names->Find("autograd::engine::evaluate_function: XulBackward0"), mul);
}

TEST(NodeNamesTest, OddTexts) {
  static auto* const names = new NodeNames;  // For ever, as that of the observer.
  EXPECT_STREQ(names->Find("autograd::engine::evaluate_function")->node.names.op, "");
  EXPECT_STREQ(names->Find("")->node.names.op, "");
  EXPECT_STREQ(names->Find("x: a\nb")->evaluate.text, "x: a\\nb") << "as a marker has it";
  EXPECT_STREQ(names->Find("x: a\nb")->node.names.op, "a\nb");
  EXPECT_EQ(names->Find(std::string(10'000, 'x')), nullptr);
}

TEST(NodeNamesTest, NoMoreThanThereIsRoomFor) {
  static auto* const names = new NodeNames;  // For ever, as that of the observer.
  for (int i = 0; i < 4096; ++i) ASSERT_NE(names->Find("node " + std::to_string(i)), nullptr) << i;
  EXPECT_EQ(names->Find("one more"), nullptr);
  EXPECT_NE(names->Find("node 4095"), nullptr);
}

}  // namespace
}  // namespace oplens::annotate::torch::node_names_test
