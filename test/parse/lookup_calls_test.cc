// FBGEMM's look-ups and their nodes, which no number of their own links.
#include "parse/join/lookup_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "test/parse/hand_trace.h"

namespace oplens::parse::lookup_calls_test {
namespace {

constexpr const char* kForward = "fbgemm::split_embedding_codegen_lookup_adagrad_function";
constexpr const char* kNode = "torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>";

TEST(LookupNamesTest, SaysWhichFunction) {
  EXPECT_EQ(LookupOfForward(kForward), "adagrad");
  EXPECT_EQ(LookupOfForward("fbgemm::dense_embedding_codegen_lookup_function"), "dense");
  EXPECT_EQ(LookupOfForward("fbgemm::split_embedding_codegen_lookup__function"), "");
  EXPECT_EQ(LookupOfForward("aten::embedding"), "");
  EXPECT_EQ(LookupOfNode(kNode), "adagrad");
  EXPECT_EQ(LookupOfNode("torch::autograd::CppNode<SplitLookupFunction_Dense_Op>"), "dense");
  EXPECT_EQ(LookupOfNode("autograd::engine::evaluate_function: torch::autograd::CppNode<"
                         "SplitLookupFunction_adagrad_Op>"),
            "");
  EXPECT_EQ(LookupOfNode("torch::autograd::CppNode<SplitLookupFunction_adagrad"), "");
}

std::string CallText(std::string_view op, int64_t rows) {
  return "{'mod': 'x', 'op': '" + std::string(op) +
         "', 'args': [{'name': '', 'type': 'tensor', 'shape': (" + std::to_string(rows) +
         ", 24), 'dtype': 'float32'}]}";
}

class LookupCallsTest : public HandTrace {
 protected:
  /// A node with its dY.
  void Node(int64_t start, int64_t rows, int64_t sequence) {
    Op(start, start + 50, kNode, CallText(kNode, rows), sequence, 1);
    trace_.operators.back().backward = true;
    Kernel(start + 10, 1);
  }
};

TEST_F(LookupCallsTest, NumberLiesBetweenThoseAround) {
  Op(0, 10, "aten::to", "{'mod': 'a', 'op': 'to', 'args': []}", 7);
  Op(20, 40, kForward, CallText("lookup", 100));
  Kernel(30);
  Op(50, 60, "aten::view", "{'mod': 'a', 'op': 'view', 'args': []}", 8);
  Op(70, 90, kForward, CallText("lookup", 200));
  Kernel(80);
  Op(100, 110, "aten::view", "{'mod': 'a', 'op': 'view', 'args': []}", 9);
  Node(1000, 5, 8);
  Node(1100, 4, 7);
  Join();
  // Each has its own dY as its result.
  EXPECT_NE(Record(0).markers.at(0).find("(4, 24)"), std::string_view::npos)
      << Record(0).markers[0];
  EXPECT_NE(Record(1).markers.at(0).find("(5, 24)"), std::string_view::npos);
  EXPECT_NE(Record(0).markers.at(0).find("output"), std::string_view::npos);
  const KernelRecord node = Record(2);
  EXPECT_NE(node.markers.at(0).find("SplitLookupFunction_adagrad_Op"), std::string_view::npos);
  EXPECT_NE(node.markers.at(0).find("(5, 24)"), std::string_view::npos);
  EXPECT_NE(node.markers.at(0).find("(200, 24)"), std::string_view::npos);
}

TEST_F(LookupCallsTest, TwoThatFitTellNothing) {
  Op(0, 10, "aten::to", "{'mod': 'a', 'op': 'to', 'args': []}", 7);
  Op(20, 40, kForward, CallText("lookup", 100));
  Kernel(30);
  Op(50, 60, kForward, CallText("lookup", 200));
  Op(100, 110, "aten::view", "{'mod': 'a', 'op': 'view', 'args': []}", 9);
  Node(1000, 5, 8);
  Join();
  EXPECT_EQ(Record(0).markers.at(0).find("output"), std::string_view::npos);
}

}  // namespace
}  // namespace oplens::parse::lookup_calls_test
