// What PyProf gets wrong and only whole programs can show; see test/ops/pyprof_errors_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::pyprof_errors_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

std::string Record(const std::string& marker, const std::string& direction = "fprop") {
  return "{'kShortName': 'k', 'kDuration': 1000, 'layer': [], 'trace': [], 'reprMarkers': [], "
         "'marker': [" +
         marker + "], 'seqMarker': [], 'seqId': [], 'subSeqId': 0, 'altSeqId': [], 'dir': '" +
         direction +
         "', 'mod': ['torch'], 'op': ['x'], 'tid': 1, 'device': 0, 'stream': 7, 'grid': (1, 1, 1), "
         "'block': (1, 1, 1), 'kLongName': 'k'}\n";
}

const std::string kStride =
    "\"{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', "
    "'shape': (1, 4, 7, 7), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (4, 2, 3, "
    "3), 'dtype': 'float16'}, {'name': '', 'type': 'NoneType', 'value': None}, {'name': '', "
    "'type': 'int', 'value': 2}, {'name': '', 'type': 'int', 'value': 0}, {'name': '', 'type': "
    "'int', 'value': 1}, {'name': '', 'type': 'int', 'value': 2}]}\"";

RunResult Prof(const std::string& records) {
  const fs::path file = TestDir() / "records.dict";
  WriteFile(file, records);
  return RunProf({"--csv", "-c", "idx,op,flops,bytes,reason", file.string()});
}

// 10: strides and groups made floats.
TEST(PyProfErrors, E10FiguresAreIntegers) {
  const RunResult result = Prof(Record(kStride));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr(".0\"")));
  EXPECT_THAT(result.out, HasSubstr("\"conv2d\",\"1296\""));
}

// 36: lines were evaluated.
TEST(PyProfErrors, E36LinesAreLiterals) {
  const fs::path witness = TestDir() / "witness";
  const RunResult result = Prof("__import__('pathlib').Path('" + witness.string() +
                                "').write_text('x')\n" + Record(kStride));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(fs::exists(witness));
  EXPECT_THAT(result.err, HasSubstr("bad-line"));
}

// 38: one odd row ended the report.
TEST(PyProfErrors, E38OneOddRowIsOneRow) {
  const std::string odd =
      "\"{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), "
      "'dtype': 'float32'}]}\"";
  const RunResult result = Prof(Record(odd) + Record("'garbage'") + Record(kStride));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\"1\",\"mm\",\"\",\"\",\"unsupported-args\""));
  EXPECT_THAT(result.out, HasSubstr("\"3\",\"conv2d\",\"1296\""));
}

}  // namespace
}  // namespace oplens::test::pyprof_errors_test
