// prof --rules: the example of docs/rules.md, and wrong files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::rules_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::string Tensor(const std::string& shape) {
  return "{'name': '', 'type': 'tensor', 'shape': (" + shape + "), 'dtype': 'float16'}";
}

std::string MlpText(const std::string& w2 = "512, 2048") {
  return "{'mod': 'zoo', 'op': 'fused_mlp', 'args': [" + Tensor("4, 128, 512") + ", " +
         Tensor("2048, 512") + ", " + Tensor(w2) + "]}";
}

/// The TOML of the document's first example.
std::string Example() {
  const std::string text = ReadFile(fs::path(SourceDir()) / "docs/rules.md");
  const std::string begin = "```toml\n";
  const size_t at = text.find(begin) + begin.size();
  return text.substr(at, text.find("```", at) - at);
}

class RulesTest : public testing::Test {
 protected:
  fs::path WriteRules(const std::string& text) {
    const fs::path path = TestDir() / "my.toml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  /// The records of one forward call of the op, and of its backward.
  fs::path WriteRecords() {
    SmallProfile profile;
    {
      const ScriptRange op(&profile.thread, MlpText());
      const ScriptRange number(&profile.thread, "FusedMlp, seq = 7");
      profile.thread.Launch({.name = "void zoo_pack_weights<__half>(__half*)"});
      profile.thread.Launch({.name = "void zoo_mlp_kernel<__half>(__half*)"});
    }
    {
      const ScriptRange op(&profile.thread, MlpText("511, 2048"));
      profile.thread.Launch({.name = "void zoo_mlp_kernel<float>(float*)"});
    }
    {
      const ScriptRange node(&profile.thread, "FusedMlpBackward, seq = 7");
      profile.thread.Launch({.name = "void zoo_mlp_kernel<__half>(__half*)"});
      profile.thread.Launch({.name = "void zoo_mlp_kernel<__half>(__half*)"});
    }
    const fs::path dict = TestDir() / "net.dict";
    EXPECT_EQ(RunParse({profile.Write().string(), "-o", dict.string()}).exit_code, 0);
    return dict;
  }
};

TEST_F(RulesTest, TheExampleOfTheDocumentHasTheFiguresOfItsTable) {
  const fs::path dict = WriteRecords();
  const fs::path rules = WriteRules(Example());
  const std::vector<json> rows = ProfRows(dict, {"-c", "all", "--rules", rules.string()});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0]["op"], "fused_mlp");
  EXPECT_EQ(rows[0]["flops"], 0);
  EXPECT_EQ(rows[1]["flops"], 2148532224);
  EXPECT_EQ(rows[1]["bytes"], 5242880);
  EXPECT_EQ(rows[1]["params"], "rows=512,H=512,F=2048,activation=1,fp16");
  EXPECT_EQ(rows[1]["tc"], 1);
  // Extents that contradict each other.
  EXPECT_TRUE(rows[2]["flops"].is_null());
  EXPECT_THAT(rows[2].dump(), HasSubstr("shape-mismatch"));
  EXPECT_TRUE(rows[2]["tc"].is_null());

  // One kernel computes dgrad, the other wgrad.
  for (const size_t i : {size_t{3}, size_t{4}}) {
    EXPECT_EQ(rows[i]["dir"], "bprop");
    EXPECT_EQ(rows[i]["flops"], 2147483648);
  }
  EXPECT_EQ(rows[3]["bytes"].get<int64_t>() + rows[4]["bytes"].get<int64_t>(), 5767168 + 5242880);

  const std::vector<json> without = ProfRows(dict, {"-c", "all"});
  ASSERT_EQ(without.size(), 5u);
  EXPECT_TRUE(without[1]["flops"].is_null());
  EXPECT_TRUE(without[1]["tc"].is_null());
}

TEST_F(RulesTest, AFormulaWithoutAValueIsTheRowsReason) {
  const fs::path dict = WriteRecords();
  const fs::path rules = WriteRules(
      "[[op]]\nname = 'fused_mlp'\nargs = ['x[A,B,C]', '...']\n"
      "forward = {vec = 'A - B', bytes = 0}\n");
  const RunResult result =
      RunProf({"--csv", "-c", "all", "--rules", rules.string(), dict.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(CountedReason(result, "rule-fault"), 5);
}

TEST_F(RulesTest, AWrongFileStopsWithItsLineAndColumn) {
  const fs::path dict = WriteRecords();
  const auto stopped = [&](const std::string& text) {
    const fs::path rules = WriteRules(text);
    const RunResult result = RunProf({"--rules", rules.string(), dict.string()});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(LineCount(result.err), 1);
    EXPECT_THAT(result.err, StartsWith("prof: " + rules.string() + ":"));
    return result.err.substr(0, result.err.size() - 1).substr(rules.string().size() + 6);
  };
  EXPECT_THAT(stopped("[[op]\n"), StartsWith(":1:"));
  EXPECT_EQ(stopped("[[op]]\nname = 'f'\nargs = ['x[A]']\nforward = {bytes = 'A*G'}"),
            ":4:23: nothing is named 'G'; known are: A, x; correct the formula");
  EXPECT_THAT(stopped("[[kernel]]\npattern = '('\nrole = 'main'"),
              StartsWith(":2:11: the pattern is wrong: "));
  EXPECT_THAT(stopped("x = " + std::string(100000, '[')), StartsWith(":1:"));
  std::string deep = "a";
  for (int i = 1; i < 50000; ++i) deep += ".a";
  EXPECT_THAT(stopped(deep + " = 1"), StartsWith(":1:17: a key has more than 8 parts"));
}

TEST_F(RulesTest, ARuleThatFitsNoCallIsSaidWithItsLineAndWhy) {
  const fs::path dict = WriteRecords();
  // One call contradicts itself; the others have the arguments of the rule.
  const fs::path rules = WriteRules("\n\n" + Example());
  const RunResult some = RunProf({"--rules", rules.string(), dict.string()});
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_THAT(some.err, HasSubstr("prof: --rules: my.toml:4: the rule of 'fused_mlp' does not fit "
                                  "the calls of 1 kernel: 'w2' has H = 511, not 512\n"));
  const fs::path wrong =
      WriteRules("[[op]]\nname = 'fused_mlp'\nargs = ['x[A,B]', '...']\nforward = {bytes = 0}\n");
  const std::string said =
      "--rules: my.toml:1: the rule of 'fused_mlp' does not fit the calls of 5 kernels: 'x' has 3 "
      "dimensions, not 2\n";
  for (const std::string option : {"-v", "--view=overview", "--by=op"}) {
    const RunResult result = RunProf({option, "--rules", wrong.string(), dict.string()});
    EXPECT_THAT(result.err, HasSubstr("prof: " + said)) << option;
  }
  const std::string page = (TestDir() / "page.html").string();
  const RunResult report =
      RunProgram({Program("report"), "-v", "-o", page, "--rules", wrong.string(), dict.string()});
  EXPECT_THAT(report.err, HasSubstr("report: " + said));
  const RunResult screen =
      RunProgram({Program("oplens"), "--rules", wrong.string(), dict.string()});
  EXPECT_THAT(screen.err, HasSubstr("oplens: " + said));
  const RunResult quiet =
      RunProgram({Program("prof"), "--quiet", "--rules", wrong.string(), dict.string()});
  EXPECT_EQ(quiet.err, "");
}

TEST_F(RulesTest, AFileThatCannotBeReadIsAnErrorOfUse) {
  const fs::path dict = WriteRecords();
  for (const fs::path& path : {TestDir() / "missing.toml", TestDir()}) {
    const RunResult result = RunProf({"--rules", path.string(), dict.string()});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, StartsWith("prof: --rules: cannot read "));
  }
}

}  // namespace
}  // namespace oplens::test::rules_test
