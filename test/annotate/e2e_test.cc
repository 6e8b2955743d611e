// From the annotated program to the priced table: what the tool saw, as a database, through the
// programs of this build.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "test/annotate/annotate_fixture.h"
#include "test/support/dict_text.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::e2e_test {
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

/// Runs the program with a kind of tool and makes a database of what it captured.
std::filesystem::path Record(const std::string& command, const std::string& mode) {
  const std::filesystem::path capture_path = TestDir() / (mode + ".nvtx");
  RunAnnotatedProgram(command, mode, capture_path);
  const NvtxCapture capture = ReadCapture(capture_path);
  std::filesystem::path database = TestDir() / (mode + ".sql");
  WriteNvprofCapture(RangesOf(capture), capture.process_id, database);
  return database;
}

/// A kernel of the program's step, see annotated_program.cc.
struct Expected {
  const char* mod;
  const char* op;
  const char* params;
  const char* dir;
  const char* phase;
  std::vector<std::string> layer;
  std::vector<std::string> trace;
  int64_t flops;
  int64_t bytes;
};

const std::vector<Expected>& Step() {
  static const auto* const rows = new std::vector<Expected>{
      // 2 * 32 * 128 * 64, and a sum for each element of the bias' addition;
      // 2 * (64 + 32 * 128 + 128 * 64 + 32 * 64) bytes.
      {"torch",
       "addmm",
       "M=64,N=32,K=128,fp16",
       "fprop",
       "forward",
       {"net", "net.fc1"},
       {"net.py:20"},
       526336,
       28800},
      {"torch",
       "relu",
       "[32,64]fp16",
       "fprop",
       "forward",
       {"net", "net.act"},
       {"net.py:21"},
       32 * 64,
       2 * 2 * 32 * 64},
      {"torch",
       "relu",
       "[32,64]fp16",
       "bprop",
       "backward",
       {"net", "net.act"},
       {"net.py:21"},
       32 * 64,
       3 * 2 * 32 * 64},
      // The one kernel of the node is priced as one of its two products.
      {"torch",
       "addmm",
       "M=64,N=128,K=32,fp16",
       "bprop",
       "backward",
       {"net", "net.fc1"},
       {"net.py:20"},
       524288,
       28672},
      {"Tensor",
       "__iadd__",
       "[64,128]fp32;[64,128]fp32",
       "fprop",
       "optimizer",
       {},
       {"train.py:9"},
       64 * 128,
       3 * 4 * 64 * 128}};
  return *rows;
}

class EndToEndTest : public ::testing::Test {
 protected:
  void SetUp() override { database_ = Record("train", RecorderMode()); }

  std::filesystem::path database_;
};

TEST_F(EndToEndTest, Records) {
  const std::vector<json> records =
      JsonLines({Program("parse"), "--format", "jsonl", database_.string()});
  ASSERT_EQ(records.size(), 2 * Step().size());
  const int64_t main_thread = records[0]["tid"];
  EXPECT_EQ(records[0]["pid"], main_thread);
  for (size_t i = 0; i < records.size(); ++i) {
    const bool backward = i % 5 == 2 || i % 5 == 3;
    EXPECT_EQ(records[i]["step"], i / 5) << i;
    EXPECT_EQ(records[i]["tid"] == main_thread, !backward) << i;
    EXPECT_EQ(records[i]["dir"], backward ? "bprop" : "fprop") << i;
    EXPECT_EQ(records[i]["phase"], Step()[i % 5].phase) << i;
  }
  // The nodes run in the opposite order of the ops.
  const int64_t numbers[] = {0, 1, 1, 0, -1, 2, 3, 3, 2, -1};
  for (size_t i = 0; i < records.size(); ++i) {
    const json expected = numbers[i] < 0 ? json::array() : json::array({numbers[i]});
    EXPECT_EQ(records[i]["seqId"], expected) << i;
  }
}

/// Expects the two steps of training in the table of a database.
void ExpectSteps(const std::filesystem::path& database) {
  const std::vector<json> rows =
      JsonLines({Program("prof"), "--json", "-c", "all", database.string()});
  ASSERT_EQ(rows.size(), 2 * Step().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Expected& expected = Step()[i % 5];
    EXPECT_EQ(rows[i]["mod"], expected.mod) << i;
    EXPECT_EQ(rows[i]["op"], expected.op) << i;
    EXPECT_EQ(rows[i]["params"], expected.params) << i;
    EXPECT_EQ(rows[i]["dir"], expected.dir) << i;
    EXPECT_EQ(rows[i]["phase"], expected.phase) << i;
    EXPECT_EQ(rows[i]["layer"], expected.layer) << i;
    EXPECT_EQ(rows[i]["trace"], expected.trace) << i;
    EXPECT_EQ(rows[i]["flops"], expected.flops) << i;
    EXPECT_EQ(rows[i]["bytes"], expected.bytes) << i;
    EXPECT_EQ(rows[i]["reason"], json::array()) << i;
  }
}

TEST_F(EndToEndTest, Rows) { ExpectSteps(database_); }

TEST_F(EndToEndTest, BackwardOnTheSameThread) {
  ExpectSteps(Record("train-on-one-thread", RecorderMode()));
}

TEST(OddValuesTest, AreRead) {
  const std::filesystem::path database = Record("odd", RecorderMode());
  const std::vector<json> records =
      JsonLines({Program("parse"), "--format", "jsonl", database.string()});
  const char* const ops[] = {"a \"name\"\n",       "floats", "ints", "tensors", "long", "lists",
                             "op_args_type=1, {x}"};
  ASSERT_EQ(records.size(), std::size(ops) + 1);
  for (size_t i = 0; i < records.size(); ++i) {
    if (i < std::size(ops)) {
      EXPECT_EQ(records[i]["op"], json::array({ops[i]}));
    }
    EXPECT_EQ(records[i]["dir"], i < std::size(ops) ? "fprop" : "bprop");
    EXPECT_EQ(records[i]["layer"], json::array({"model.op.args.type: 'x'\n"}));
    EXPECT_EQ(records[i]["trace"],
              json::array({"/x/modules/optim/args_types.py:1", "it's \"quoted\"\\.py:2"}));
    EXPECT_EQ(records[i]["reason"], json::array());
  }
  EXPECT_EQ(records[6]["seqId"], records[7]["seqId"]);
}

TEST(EveryToolTest, GivesTheSameTable) {
  const auto table = [](const std::string& mode) {
    const RunResult result =
        RunProgram({Program("prof"), "--csv", "-c",
                    "seq,altseq,layer,trace,dir,sub,mod,op,kernel,params,flops,bytes,path,phase,"
                    "grad,grad_conf,reason",
                    Record("train", mode).string()});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string text = table("text");
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(table("payload"), text);
  EXPECT_EQ(table("foreign"), text);
}

}  // namespace
}  // namespace oplens::test::e2e_test
