// From the ranges of a libtorch program through a database, parse and prof to rows.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::pipeline_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The rows of prof for the ranges of a run, of which each op and node that holds no other has a
/// kernel.
std::vector<json> Rows(const TorchRun& run) {
  const std::filesystem::path database = TestDir() / "run.sql";
  std::filesystem::remove(database);
  WriteNvprofCapture(run.ranges, run.process_id, database);
  const RunResult parsed =
      RunProgram({Program("parse"), "-o", (TestDir() / "run.dict").string(), database.string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  const RunResult priced = RunProgram({Program("prof"), "--json", "-c",
                                       "seq,op,mod,dir,phase,layer,params,flops,bytes,reason",
                                       (TestDir() / "run.dict").string()});
  EXPECT_EQ(priced.exit_code, 0) << priced.err;
  std::vector<json> rows;
  std::istringstream lines(priced.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

/// The first row with that op, direction and layer ("" for any); null if there is none.
json Find(const std::vector<json>& rows, const std::string& op, const std::string& dir,
          const std::string& layer = "") {
  for (const json& row : rows) {
    const bool in_layer = layer.empty() || (!row["layer"].is_null() &&
                                            row["layer"].dump().find(layer) != std::string::npos);
    if (row["op"] == op && row["dir"] == dir && in_layer) return row;
  }
  return nullptr;
}

/// What the CNN of the example costs, whichever way it was annotated.
void ExpectClassifierCosts(const TorchRun& run) {
  const std::vector<json> rows = Rows(run);
  const json conv = Find(rows, "mkldnn_convolution", "fprop");
  ASSERT_FALSE(conv.is_null());
  // n 4, c 3, k 8, 3x3 filters, 16x16 outputs, 2 FLOPs each; and the bias.
  EXPECT_EQ(conv["flops"], 4 * 8 * 16 * 16 * (2 * 3 * 3 * 3 + 1));
  const json relu = Find(rows, "clamp_min", "fprop");
  EXPECT_EQ(relu["bytes"], 2 * 4 * (4 * 8 * 16 * 16));
  const json gradient = Find(rows, "convolution_backward", "bprop");
  ASSERT_FALSE(gradient.is_null());
  // The second convolution comes first.
  EXPECT_THAT(gradient["params"].dump(), HasSubstr("N=4,C=8,H=8,W=8,K=16,P=8,Q=8,R=3,S=3,"));
  EXPECT_FALSE(Find(rows, "add_", "fprop").is_null());
}

TEST(PipelineTest, LinkedProgram) {
  ExpectClassifierCosts(RunTorch({ExampleProgram("torch_cnn")}));
}

TEST(PipelineTest, LinkedProgramUnderAnyTool) {
  ExpectClassifierCosts(RunTorch({ExampleProgram("torch_cnn")}, {}, "text"));
}

TEST(PipelineTest, PreloadedProgram) {
  OPLENS_NEED(WhyNoPreload);
  ExpectClassifierCosts(RunTorch({ExampleProgram("torch_cnn_bare")}, {Preload()}));
}

TEST(PipelineTest, LayersOfACxxProgram) {
  const std::vector<json> rows = Rows(RunTorch({ExampleProgram("torch_transformer")}));
  const json forward = Find(rows, "mm", "fprop", "block0.attention");
  ASSERT_FALSE(forward.is_null());
  // (2, 8, 32) by (32, 96)
  EXPECT_EQ(forward["flops"], 2 * 2 * 8 * 32 * 96);
  EXPECT_FALSE(Find(rows, "mm", "bprop", "block1.attention").is_null());
  EXPECT_FALSE(Find(rows, "gelu_backward", "bprop", "block1.feed_forward").is_null());
  EXPECT_FALSE(Find(rows, "index_select", "fprop").is_null());
}

TEST(PipelineTest, PythonProgram) {
  OPLENS_NEED(WhyNoPython);
  const std::vector<json> rows = Rows(RunTorch(AnnotatedPython({SourceFile("examples/train.py")}),
                                               {"PYTHONPATH=" + BuildFile("lib")}));
  const json conv = Find(rows, "mkldnn_convolution", "fprop", "blocks.1.conv");
  ASSERT_FALSE(conv.is_null());
  EXPECT_EQ(conv["flops"], 4 * 8 * 16 * 16 * (2 * 8 * 3 * 3 + 1));
  EXPECT_FALSE(Find(rows, "convolution_backward", "bprop", "blocks.1.conv").is_null());
  const json linear = Find(rows, "mm", "bprop", "head");
  ASSERT_FALSE(linear.is_null());
  EXPECT_EQ(linear["flops"], 2 * 4 * 8 * 10);
  int optimizer = 0;
  for (const json& row : rows) optimizer += row["phase"] == "optimizer" ? 1 : 0;
  EXPECT_GT(optimizer, 0);
}

}  // namespace
}  // namespace oplens::test::pipeline_test
