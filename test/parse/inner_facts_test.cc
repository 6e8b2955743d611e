// What calls inside an op tell of its own call.
#include "parse/join/inner_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "test/parse/hand_trace.h"

namespace oplens::parse::inner_facts_test {
namespace {

OpArg TensorArg(std::vector<int64_t> shape, std::string dtype) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = std::move(dtype);
  return arg;
}

OpArg ListArg(std::vector<int64_t> list) {
  OpArg arg;
  arg.kind = OpArg::Kind::kIntList;
  arg.type = "list";
  arg.int_list = std::move(list);
  return arg;
}

OpArg Unknown() {
  OpArg arg;
  arg.type = "object";
  return arg;
}

std::string TextOf(const OpCall& call) {
  std::string text;
  AppendOpCall(call, &text);
  return text;
}

const OpArg kX = TensorArg({8, 4, 6}, "bfloat16");
const OpCall kIndex{"aten", "index", {kX, Unknown()}};
const OpCall kRestride{"torch", "as_strided", {kX, ListArg({5, 4, 6}), ListArg({0, 6, 1})}};
const OpCall kReshape{"Tensor", "reshape", {TensorArg({5}, "int64"), ListArg({5, 1, 1})}};

TEST(AddInnerFactsTest, ResultOfAnIndex) {
  OpCall call = kIndex;
  ASSERT_TRUE(AddInnerFacts(std::vector{kRestride, kReshape}, &call));
  ASSERT_EQ(call.args.size(), 3u);
  EXPECT_EQ(call.args[1].name, "output");
  EXPECT_EQ(call.args[1].shape, (std::vector<int64_t>{5, 4, 6}));
  EXPECT_EQ(call.args[1].dtype, "bfloat16");
  EXPECT_EQ(call.args[2].name, "indices");
  EXPECT_EQ(call.args[2].shape, std::vector<int64_t>{5});
}

TEST(AddInnerFactsTest, OtherViewsTellNothing) {
  const OpCall all{"torch", "as_strided", {kX, ListArg({8, 4, 6}), ListArg({24, 6, 1})}};
  const OpCall of_another{
      "torch", "as_strided", {TensorArg({8, 4}, "bfloat16"), ListArg({5, 4}), ListArg({0, 1})}};
  for (const OpCall& inner : {all, of_another, kReshape}) {
    OpCall call = kIndex;
    EXPECT_FALSE(AddInnerFacts(std::vector{inner}, &call));
    EXPECT_EQ(TextOf(call), TextOf(kIndex));
  }
  // Indices that are recorded.
  OpCall call{"aten", "index", {kX, TensorArg({5}, "int64")}};
  EXPECT_FALSE(AddInnerFacts(std::vector{kRestride}, &call));
}

OpCall Empty(std::vector<int64_t> shape) { return {"torch", "empty", {ListArg(std::move(shape))}}; }

TEST(AddInnerFactsTest, BuffersOfExperts) {
  const OpCall layer{"vllm",
                     "moe_forward",
                     {TensorArg({10, 64}, "bfloat16"), TensorArg({10, 16}, "bfloat16"), Unknown()}};
  const std::vector<OpCall> buffers = {Empty({10, 64}), Empty({640}),    Empty({10, 2}),
                                       Empty({10, 2}),  Empty({96, 24}), Empty({96, 64})};
  OpCall call = layer;
  ASSERT_TRUE(AddInnerFacts(buffers, &call));
  ASSERT_EQ(call.args.size(), 5u);
  EXPECT_EQ(call.args[3].name, "topk");
  EXPECT_EQ(call.args[3].int_value, 2);
  EXPECT_EQ(call.args[4].name, "intermediate");
  EXPECT_EQ(call.args[4].int_value, 24);
  // Fewer rows than are routed; two that fit.
  call = layer;
  EXPECT_FALSE(AddInnerFacts(std::vector{Empty({10, 2}), Empty({19, 24}), Empty({19, 64})}, &call));
  std::vector<OpCall> two = buffers;
  two.push_back(Empty({96, 32}));
  EXPECT_FALSE(AddInnerFacts(two, &call));
  EXPECT_EQ(TextOf(call), TextOf(layer));
}

class InnerFactsTest : public HandTrace {};

TEST_F(InnerFactsTest, OfTheInnermostCallAround) {
  Op(0, 100, "aten::index", TextOf(kIndex));
  Op(10, 20, "aten::as_strided", TextOf(kRestride));
  Kernel(30);
  // Not inside any more.
  Op(200, 300, "aten::index", TextOf(kIndex));
  Op(310, 320, "aten::as_strided", TextOf(kRestride));
  Kernel(250);
  Join();
  EXPECT_NE(Record(0).markers.at(0).find("output"), std::string_view::npos);
  EXPECT_EQ(Record(1).markers.at(0), TextOf(kIndex));
}

}  // namespace
}  // namespace oplens::parse::inner_facts_test
