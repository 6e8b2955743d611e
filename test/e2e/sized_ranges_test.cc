// PyTorch's own ranges with sizes (record_shapes): their operators are priced, FLOPs only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::sized_ranges_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// parse, then prof with every column.
std::vector<json> RowsOf(const std::filesystem::path& profile) {
  const std::filesystem::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({profile.string(), "-o", dict.string()}).exit_code, 0);
  return ProfRows(dict, {"-c", "all"});
}

constexpr const char* kGemm = "ampere_sgemm_128x64_tn";

TEST(SizedRanges, GiveOpsTheirFlopsAndSequenceNumbers) {
  SmallProfile profile;
  {
    const ScriptRange linear(&profile.thread,
                             "aten::linear, seq = 5, op_id = 1, sizes = [[8, 3], [4, 3], [4]]");
    const ScriptRange addmm(&profile.thread,
                            "aten::addmm, seq = 5, op_id = 3, sizes = [[4], [8, 3], [3, 4], [], "
                            "[]], input_op_ids = [(0,-1), (0,-1), (2,0), (0,-1), (0,-1)]");
    profile.thread.Launch({.name = kGemm});
  }
  {
    const ScriptRange mul(&profile.thread, "aten::mul, op_id = 4, sizes = [[8, 4], []]");
    profile.thread.Launch({});
  }
  {
    const ScriptRange node(&profile.thread,
                           "autograd::engine::evaluate_function: AddmmBackward0, op_id = 8, "
                           "sizes = [[8, 4]]");
    const ScriptRange inner(&profile.thread,
                            "AddmmBackward0, seq = 5, op_id = 9, sizes = [[8, 4]]");
    const ScriptRange mm(&profile.thread, "aten::mm, op_id = 11, sizes = [[4, 8], [8, 3]]");
    profile.thread.Launch({.name = kGemm});
  }
  const std::filesystem::path file = profile.Write();
  const std::vector<json> records = Records(file);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0]["seqMarker"].size(), 2u);
  EXPECT_EQ(records[0]["seqId"], json({5}));
  ASSERT_EQ(records[0]["marker"].size(), 2u);
  EXPECT_EQ(records[1]["range"], json::array());
  EXPECT_EQ(records[2]["marker"].size(), 1u);
  EXPECT_EQ(records[2]["seqId"], json({5}));

  const std::vector<json> rows = RowsOf(file);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["op"], "addmm");
  EXPECT_EQ(rows[0]["flops"], 2 * 8 * 3 * 4 + 8 * 4);
  EXPECT_EQ(rows[1]["op"], "mul");
  EXPECT_EQ(rows[1]["flops"], 8 * 4);
  EXPECT_EQ(rows[1]["dir"], "fprop");
  EXPECT_EQ(rows[2]["op"], "mm");
  EXPECT_EQ(rows[2]["dir"], "bprop");
  EXPECT_EQ(rows[2]["flops"], 2 * 4 * 8 * 3);
  for (const json& row : rows) EXPECT_TRUE(row["bytes"].is_null()) << row;
}

// Without record_shapes the texts say the op and nothing of its arguments.
TEST(NamedRanges, GiveOpsWithoutCosts) {
  SmallProfile profile;
  for (const char* text : {"aten::mm, op_id = 314307", "aten::mm", "aten::mm, seq = 7",
                           "aten::mm, seq = 7, op_id = 3", "aten::mm, seq = 7, sizes = []"}) {
    const ScriptRange mm(&profile.thread, text);
    profile.thread.Launch({.name = kGemm});
  }
  const std::vector<json> rows = RowsOf(profile.Write());
  ASSERT_EQ(rows.size(), 5u);
  for (const json& row : rows) {
    EXPECT_EQ(row["op"], "mm") << row;
    EXPECT_EQ(row["mod"], "torch") << row;
    EXPECT_TRUE(row["flops"].is_null()) << row;
    EXPECT_EQ(row["reason"], json({"no-arguments"})) << row;
  }
}

TEST(NamedRanges, LabelsOfTheUserAreNoOps) {
  SmallProfile profile;
  for (const char* text : {"add", "Engine::run", "my block, op_id = 3"}) {
    const ScriptRange label(&profile.thread, text);
    profile.thread.Launch({.name = kGemm});
  }
  for (const json& row : RowsOf(profile.Write())) {
    EXPECT_EQ(row["evidence"], "name") << row;
    EXPECT_EQ(row["op"], "mm") << row;
  }
}

TEST(NamedRanges, AGradientFunctionIsBackward) {
  SmallProfile profile;
  {
    const ScriptRange step(&profile.thread, "ProfilerStep#3, op_id = 4");
    const ScriptRange inner(&profile.thread, "aten::threshold_backward, op_id = 10");
    profile.thread.Launch({});
  }
  const std::filesystem::path file = profile.Write();
  const std::vector<json> rows = RowsOf(file);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["dir"], "bprop");
  EXPECT_EQ(rows[0]["phase"], "backward");
  EXPECT_EQ(Records(file)[0]["step"], 3) << "emit_nvtx numbers its labels";
}

// PyProf's annotation of the forward op says more of its backward kernel than a name inside the
// node.
TEST(NamedRanges, TheForwardOpWithArgumentsPricesItsNode) {
  SmallProfile profile;
  {
    const ScriptRange mm(&profile.thread, OpText("relu"));
    const ScriptRange seq(&profile.thread, "aten::relu, seq = 5, op_id = 1");
    profile.thread.Launch({});
  }
  {
    const ScriptRange node(&profile.thread, "ReluBackward0, seq = 5, op_id = 9");
    const ScriptRange inner(&profile.thread, "aten::threshold_backward, op_id = 10");
    profile.thread.Launch({});
  }
  const std::vector<json> rows = RowsOf(profile.Write());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["flops"], 1024);
  EXPECT_EQ(rows[1]["dir"], "bprop");
  EXPECT_EQ(rows[1]["op"], "relu");
  EXPECT_EQ(rows[1]["flops"], 1024);
}

TEST(SizedRanges, ACallWithDataTypesAroundThemGoesFirst) {
  SmallProfile profile;
  {
    const ScriptRange mm(&profile.thread,
                         "{'mod': 'torch', 'op': 'mm', 'args': ["
                         "{'name': '', 'type': 'tensor', 'shape': (8, 3), 'dtype': 'float16'}, "
                         "{'name': '', 'type': 'tensor', 'shape': (3, 4), 'dtype': 'float16'}]}");
    const ScriptRange inner(&profile.thread, "aten::mm, seq = 5, sizes = [[8, 3], [3, 4]]");
    profile.thread.Launch({.name = kGemm});
  }
  const std::vector<json> rows = RowsOf(profile.Write());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["flops"], 2 * 8 * 3 * 4);
  EXPECT_EQ(rows[0]["bytes"], 2 * (8 * 3 + 3 * 4 + 8 * 4));
  EXPECT_THAT(rows[0].dump(), HasSubstr("fp16"));
}

}  // namespace
}  // namespace oplens::test::sized_ranges_test
