// PyTorch's own ranges, beside the execution trace of the same process.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::execution_trace_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A matrix product of halves, and what it costs.
struct ExecutionTrace : testing::Test {
  ExecutionTrace() {
    {
      const ScriptRange mm(&profile.thread,
                           "aten::mm, seq = 3, op_id = 17, sizes = [[8, 3], [3, 4]]");
      profile.thread.Launch({.name = "ampere_h16816gemm_128x64_tn"});
    }
    file = profile.Write().string();
  }

  std::string Write(const std::string& name, const std::string& op = "aten::mm",
                    int64_t process_id = 4242) const {
    const std::filesystem::path path = TestDir() / name;
    WriteFile(path, fmt::format(R"j({{
  "schema": "1.0.1", "pid": {}, "time": "2026-01-02 03:04:05", "start_ts": 1,
  "nodes": [
    {{
      "name": "{}", "id": 9, "rf_id": 17, "parent": 2, "fw_parent": 0, "seq_id": 3, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": "",
      "inputs": [[4,5,0,24,2,"cuda:0"],[6,7,0,12,2,"cuda:0"]], "input_shapes": [[8,3],[3,4]], "input_types": ["Tensor(c10::Half)","Tensor(c10::Half)"],
      "outputs": [], "output_shapes": [], "output_types": []
    }}
  ],
  "finish_ts": 2
}})j",
                                process_id, op));
    return path.string();
  }

  SmallProfile profile;
  std::string file;
};

TEST_F(ExecutionTrace, GivesDataTypesAndBytes) {
  const std::string trace = Write("et.json");
  const RunResult result =
      RunProf({"--json", "-c", "op,flops,bytes,params,reason", "--execution-trace", trace, file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json row = json::parse(result.out);
  EXPECT_EQ(row["op"], "mm");
  EXPECT_EQ(row["flops"], 2 * 8 * 3 * 4);
  EXPECT_EQ(row["bytes"], 2 * (8 * 3 + 3 * 4 + 8 * 4));
  EXPECT_THAT(row["params"].dump(), HasSubstr("fp16"));
  // The same by way of records.
  const std::filesystem::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), "--execution-trace", trace, "--strict", file}).exit_code,
            0);
  EXPECT_EQ(ProfRows(dict, {"-c", "op,flops,bytes,params,reason"}), std::vector<json>{row});
}

TEST_F(ExecutionTrace, OfAnotherRunIsTold) {
  for (const auto& [trace, said] :
       {std::pair{Write("bmm.json", "aten::bmm"), "none of its 1 calls is a range of the profile"},
        {Write("second.json", "aten::mm", 4243), "it is of process 4243, which has no range"}}) {
    // Two files: one alone may be of a container, where processes have other numbers.
    const std::vector<std::string> options = {"--execution-trace", trace, "--execution-trace",
                                              Write("et.json")};
    std::vector<std::string> command = {"--strict", file};
    command.insert(command.end(), options.begin(), options.end());
    const RunResult parsed = RunParse(command);
    EXPECT_EQ(parsed.exit_code, 3);
    EXPECT_THAT(parsed.err, HasSubstr("parse: " + trace +
                                      ": nothing of the execution trace was "
                                      "used: " +
                                      said));
    const RunResult priced = RunProf(command);
    EXPECT_EQ(priced.exit_code, 3);
    EXPECT_THAT(priced.err, HasSubstr("prof: " + trace +
                                      ": nothing of the execution trace was "
                                      "used: " +
                                      said));
  }
}

TEST_F(ExecutionTrace, IsRefusedWhereThereIsNoProfile) {
  const std::string trace = Write("et.json");
  EXPECT_EQ(RunParse({"--execution-trace", file, file}).exit_code, 1);
  EXPECT_EQ(RunParse({"--execution-trace", "/nowhere", file}).exit_code, 1);
  // Nothing is written over it.
  EXPECT_EQ(RunParse({"--execution-trace", trace, "-o", trace, file}).exit_code, 2);
  EXPECT_EQ(RunProf({"--execution-trace", trace, "-o", trace, file}).exit_code, 2);
  const std::filesystem::path dict = TestDir() / "net.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), file}).exit_code, 0);
  const RunResult records = RunProf({"--execution-trace", trace, dict.string()});
  EXPECT_EQ(records.exit_code, 2);
  EXPECT_THAT(records.err, HasSubstr("give it to parse"));
}

// A file that PyTorch 2 wrote, with ranges as emit_nvtx would have written them.
TEST(ExecutionTraceCorpus, EveryCallOfAFileOfPyTorch2) {
  OPLENS_NEED_CORPUS();
  const std::filesystem::path trace = CorpusFile("kineto/execution_trace/et.json");
  SmallProfile profile;
  size_t calls = 0;
  const json document = json::parse(ReadFile(trace));
  for (const json& node : document.at("nodes")) {
    if (node["rf_id"] == 0 || node["scope"] != 0) continue;
    std::string range = node["name"];
    if (node["seq_id"] >= 0) range += fmt::format(", seq = {}", node["seq_id"].get<int64_t>());
    range += fmt::format(", op_id = {}", node["rf_id"].get<int64_t>());
    const ScriptRange op(&profile.thread, range);
    profile.thread.Launch({.name = node["name"]});
    ++calls;
  }
  const std::filesystem::path file = profile.Write();
  const RunResult result = RunProf({"--json", "-c", "kernel,op,flops,bytes", "--execution-trace",
                                    trace.string(), file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("-node]")));
  EXPECT_EQ(static_cast<size_t>(LineCount(result.out)), calls);
  EXPECT_THAT(result.out, HasSubstr(R"("op":"add","flops":65536,"bytes":786432)"));
}

}  // namespace
}  // namespace oplens::test::execution_trace_test
