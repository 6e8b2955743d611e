#include "parse/model/compiled_call.h"

#include <gtest/gtest.h>

#include "parse/model/torch_call.h"

namespace oplens::compiled_call_test {
namespace {

TEST(CompiledCallTest, KeepsWhatTheCompilerTells) {
  CompiledFacts facts;
  facts.kwargs = "XBLOCK=16";
  facts.grid = "grid(100,)";
  facts.flops = 12;
  facts.bytes = 0;
  const OpCall call =
      MakeCompiledCall("triton_poi_fused_add_0", {TorchTensor({4}, "float")}, facts);
  std::string text;
  AppendOpCall(call, &text);
  EXPECT_EQ(
      text,
      "{'mod': 'triton', 'op': 'triton_poi_fused_add_0', 'args': [{'name': '', 'type': "
      "'tensor', 'shape': (4,), 'dtype': 'float32'}, {'name': 'kernel_kwargs', 'type': 'str', "
      "'value': 'XBLOCK=16'}, {'name': 'grid', 'type': 'str', 'value': 'grid(100,)'}, "
      "{'name': 'kernel_flop', 'type': 'int', 'value': 12}, {'name': 'kernel_bytes', 'type': "
      "'int', 'value': 0}]}");
}

TEST(CompiledCallTest, WithoutArgumentsHasAName) {
  CompiledFacts facts;
  facts.kwargs = "XBLOCK=16";
  const OpCall call = MakeCompiledCall("triton_poi_fused_add_0", {}, facts);
  EXPECT_EQ(call.op, "triton_poi_fused_add_0");
  EXPECT_EQ(call.mod, "triton");
  EXPECT_TRUE(call.args.empty());
}

TEST(CompiledCallTest, ExpandedTensorsHaveWhatIsStored) {
  using Extents = std::vector<int64_t>;
  EXPECT_EQ(StoredExtents({8, 16, 4}, {0, 4, 1}), (Extents{1, 16, 4}));
  EXPECT_EQ(StoredExtents({1, 16}, {0, 1}), (Extents{1, 16}));
  EXPECT_EQ(StoredExtents({8, 16}, {128, 1}), (Extents{8, 16}));
  EXPECT_EQ(StoredExtents({0, 16}, {0, 0}), (Extents{0, 1}));
  EXPECT_EQ(StoredExtents({8, 16}, {0}), (Extents{8, 16}));  // Of another tensor.
  EXPECT_EQ(StoredExtents({}, {}), Extents{});
}

TEST(CompiledCallTest, NamesOfTheCompiler) {
  EXPECT_TRUE(IsCompiledKernelName("triton_poi_fused_add_0"));
  EXPECT_TRUE(IsCompiledKernelName("triton__0d1d2de"));
  EXPECT_FALSE(IsCompiledKernelName("triton"));
  EXPECT_FALSE(IsCompiledKernelName("aten::triton_x"));
}

}  // namespace
}  // namespace oplens::compiled_call_test
