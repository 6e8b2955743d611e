// Profiles of our own with their expected texts, in test/golden/<case>/: what `parse` writes and
// what `prof` makes of it. scripts/update_goldens.sh rewrites them; the diff is then read by eye.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "examples/demo_profile.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::test::golden_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = SourceDir();

fs::path Demo() { return kSource / "examples" / "data" / "demo.sql"; }

// One of everything that goes wrong.
fs::path Damaged() {
  SmallProfile profile;
  HostThread& thread = profile.thread;
  for (int i = 0; i < 9; ++i) thread.PushAndLeak("leaked");
  thread.PushAndLeak("layer:open");
  for (const char* op : {"add", "mul", "tanh"}) profile.AnnotatedKernel(op, 7, op);
  profile.AnnotatedKernel("frobnicate", 8, "void without_model<int, (Kind)3>(int)");
  {
    const ScriptRange text(&thread, "it's \"quoted\", back\\slash\n\ttab \x01 \xc3\xa9 \xff");
    const int64_t shared = thread.CallApi(311);
    for (const char* node : {"node_0", "node_1"}) thread.RunKernel({.name = node}, shared);
  }
  {
    const ScriptRange bad(&thread, "{'mod': 'torch', 'op': 'add', 'args': [");
    thread.Launch({.name = "bad_text"});
  }
  thread.RunKernel({.name = "unlaunched"}, 999999);
  auto& kernels = profile.builder.rows("CONCURRENT_KERNEL");
  kernels[0]["start"] = int64_t{0};
  kernels[0]["end"] = int64_t{0};
  kernels[1]["end"] = int64_t{1};
  kernels[2]["name"] = int64_t{424242};
  return profile.Write();
}

struct Case {
  const char* name;
  fs::path (*profile)();
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr char kTableColumns[] = "seq,layer,op,dir,kernel,sil,tc,flops,bytes";

class Golden : public testing::TestWithParam<Case> {
 protected:
  // Compares with the committed text, or replaces it when asked to.
  static void Check(const std::string& file, const std::string& text) {
    const fs::path path = kSource / "test" / "golden" / GetParam().name / file;
    if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) {
      fs::create_directories(path.parent_path());
      WriteFile(path, text);
      return;
    }
    EXPECT_EQ(text, ReadFile(path)) << "see scripts/update_goldens.sh";
  }
};

TEST_P(Golden, TextsAreAsCommitted) {
  const fs::path profile = GetParam().profile();
  const fs::path dict = TestDir() / "records.dict";
  const RunResult parse = RunParse({"-o", dict.string(), profile.string()});
  EXPECT_EQ(parse.exit_code, 0) << parse.err;
  Check("records.dict", ReadFile(dict));
  if (HavePython()) {
    EXPECT_EQ(CheckPythonDictLines(dict), "");
  }
  Check("columns.csv", RunProf({"-c", "all", "--csv", dict.string()}).out);
  Check("table.txt", RunProf({"-w", "130", "-c", kTableColumns, dict.string()}).out);
  Check("rows.jsonl", RunProf({"-c", "all", "--json", dict.string()}).out);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden,
                         testing::Values(Case{"demo", Demo}, Case{"damaged", Damaged}),
                         [](const auto& test) { return test.param.name; });

TEST(Demo, FileIsWhatTheGeneratorWrites) {
  const fs::path again = TestDir() / "demo.sql";
  examples::DemoProfile().Write(again, examples::DemoOptions());
  EXPECT_EQ(DumpSql(again), DumpSql(Demo()));
  EXPECT_LT(fs::file_size(Demo()), 300'000u);
}

// The README shows the first lines of the demo's table.
TEST(Demo, ReadmeShowsItsTable) {
  const std::string readme = ReadFile(kSource / "README.md");
  const std::string command = "prof -w 130 -c " + std::string(kTableColumns);
  const size_t at = readme.find(command);
  ASSERT_NE(at, std::string::npos);
  const size_t begin = readme.find('\n', at) + 1;
  const size_t end = readme.find("```", begin);
  const std::vector<std::string> shown = Lines(readme.substr(begin, end - begin));
  const std::vector<std::string> table =
      Lines(ReadFile(kSource / "test" / "golden" / "demo" / "table.txt"));
  ASSERT_GE(shown.size(), 10u);
  ASSERT_LE(shown.size(), table.size());
  for (size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i], table[i]) << "line " << i + 1;
}

}  // namespace
}  // namespace oplens::test::golden_test
