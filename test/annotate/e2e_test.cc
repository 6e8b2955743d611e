// From the annotated program to the priced table: what the tool saw, as a database, through the
// programs of this build.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "test/annotate/annotate_fixture.h"
#include "test/support/dict_text.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

using nlohmann::json;

std::vector<json> JsonLines(const std::vector<std::string>& command) {
  const RunResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, ::testing::Not(::testing::HasSubstr("["))) << "counted rows";
  std::vector<json> values;
  for (const std::string& line : Lines(result.out)) values.push_back(json::parse(line));
  return values;
}

class EndToEndTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RunAnnotatedProgram("train", RecorderMode(), TestDir() / "run.nvtx");
    const NvtxCapture capture = ReadCapture(TestDir() / "run.nvtx");
    database_ = TestDir() / "run.sql";
    WriteNvprofCapture(RangesOf(capture), capture.process_id, database_);
  }

  std::filesystem::path database_;
};

TEST_F(EndToEndTest, Records) {
  const std::vector<json> records =
      JsonLines({Program("parse"), "--format", "jsonl", database_.string()});
  ASSERT_EQ(records.size(), 10U);
  for (const json& record : records) std::printf("%s\n", record.dump().c_str());
}

TEST_F(EndToEndTest, Rows) {
  const std::vector<json> rows = JsonLines({Program("prof"), "--json", database_.string()});
  for (const json& record : rows) std::printf("%s\n", record.dump().c_str());
}

}  // namespace
}  // namespace oplens::test
