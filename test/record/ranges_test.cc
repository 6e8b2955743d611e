// What `record` stores of annotated programs, against what the test recorder saw of them.

#include <gmock/gmock.h>

#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::ranges_test {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// An example, and how it is called.
struct Example {
  const char* name;
  std::vector<std::string> command;
};

std::vector<Example> Examples() {
  std::vector<Example> examples = {{"MlpStep", {BuildFile("examples/mlp_step")}}};
#if defined(OPLENS_HAS_TORCH)
  examples.push_back({"TorchCnn", {BuildFile("examples/torch_cnn")}});
  examples.push_back({"TorchTransformer", {BuildFile("examples/torch_transformer")}});
#endif
  return examples;
}

class RangesTest : public ::testing::TestWithParam<Example> {};

TEST_P(RangesTest, AreThoseOfTheProgram) {
  const std::filesystem::path database = TestDir() / "net.sql";
  const RunResult run = Record({.database = database, .program = GetParam().command});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> seen = SeenOutlines(GetParam().command, "payload");
  EXPECT_THAT(Outlines(database), ElementsAreArray(seen));
  ASSERT_FALSE(seen.empty());
  EXPECT_THAT(seen.back() + seen.front(), HasSubstr("'op': ")) << "annotated at all";
  const std::filesystem::path dict = TestDir() / "net.dict";
  const RunResult parse =
      RunProgram({Program("parse"), "-v", database.string(), "-o", dict.string()});
  EXPECT_EQ(parse.exit_code, 0) << parse.err;
  const int64_t ranges =
      Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 2");
  EXPECT_THAT(parse.err, HasSubstr(" 0 kernels, " + std::to_string(ranges) + " ranges"));
  EXPECT_FALSE(std::filesystem::exists(database.string() + ".spool"));
  EXPECT_FALSE(std::filesystem::exists(database.string() + ".part"));
}

INSTANTIATE_TEST_SUITE_P(Example, RangesTest, ::testing::ValuesIn(Examples()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace oplens::test::ranges_test
