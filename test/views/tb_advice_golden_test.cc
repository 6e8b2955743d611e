// What the TensorBoard plugin advises, against its own numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::test::tb_advice_golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The file whose facts of GPUs stand there under an older name, which the plugin does not know and
/// we do: one rule more can look.
constexpr const char* kOlderName = "gpu_metrics/gpu_metrics_input";

std::vector<std::string> PercentagesIn(const std::string& text) {
  static const std::regex pattern("[0-9.]+%");
  return {std::sregex_token_iterator(text.begin(), text.end(), pattern),
          std::sregex_token_iterator()};
}

TEST(TensorBoardAdviceGoldenTest, EveryRuleThatFired) {
  OPLENS_NEED_CORPUS();
  const fs::path root = CorpusDir().path / "kineto";
  int compared = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "golden")) {
    if (entry.path().filename() != "tb_overview.json") continue;
    const fs::path folder = fs::relative(entry.path().parent_path(), root / "golden");
    SCOPED_TRACE(folder.string());
    fs::path trace;
    for (const auto& file : fs::directory_iterator((root / folder).parent_path())) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(folder.filename().string() + ".")) trace = file.path();
    }
    const Json golden = Json::parse(ReadFile(entry.path()));
    std::vector<ViewRow> rows = RowsOf(*PartialOf(ViewBy("tb", "advice"), {trace.string()}));
    if (folder == kOlderName) {
      std::erase_if(rows, [](const ViewRow& row) { return row.at("id") == "tb-mixed-precision"; });
    }
    ++compared;
    const Json& percentages = golden.at("recommendation_percentages");
    EXPECT_EQ(rows.size(), golden.at("recommendation_rules_fired").get<size_t>());
    ASSERT_EQ(rows.size(), percentages.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(PercentagesIn(rows[i].at("item")), percentages[i].get<std::vector<std::string>>());
    }
  }
  EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace oplens::test::tb_advice_golden_test
