// prof --where, --top of rows, the forms of --by, --by of copies, row_kind.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::where_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

std::vector<json> Rows(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  size_t begin = 0;
  for (size_t end; (end = result.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rows.push_back(json::parse(result.out.substr(begin, end - begin)));
  }
  return rows;
}

std::vector<json> DemoRows(std::vector<std::string> arguments) {
  arguments.push_back(kDemo);
  return Rows(std::move(arguments));
}

template <typename Test>
int64_t CountIf(const std::vector<json>& rows, Test test) {
  return std::count_if(rows.begin(), rows.end(), test);
}

int64_t SumOf(const std::vector<json>& rows, const char* key) {
  int64_t sum = 0;
  for (const json& row : rows) sum += row.at(key).is_null() ? 0 : row.at(key).get<int64_t>();
  return sum;
}

std::vector<std::string> TextsOf(const std::vector<json>& rows, const char* key) {
  std::vector<std::string> texts;
  for (const json& row : rows) {
    texts.push_back(row.at(key).is_string() ? row.at(key).get<std::string>() : row.at(key).dump());
  }
  return texts;
}

TEST(WhereEndToEnd, KernelsAsCountedApart) {
  const auto all = DemoRows({"-c", "all"});
  const auto where = [](const std::string& text) {
    return DemoRows({"-c", "all", "--where", text});
  };
  const auto products = where("dir=bprop and tc=0 and kernel~gemm and sil>10us");
  EXPECT_GT(products.size(), 0u);
  EXPECT_EQ(static_cast<int64_t>(products.size()), CountIf(all, [](const json& row) {
              return row["dir"] == "bprop" && row["tc"] == 0 &&
                     row["kernel"].get<std::string>().find("gemm") != std::string::npos &&
                     row["sil"] > 10'000;
            }));
  for (const json& row : products) EXPECT_EQ(row, all.at(row["idx"].get<size_t>() - 1));
  EXPECT_EQ(static_cast<int64_t>(where("flops=unknown").size()),
            CountIf(all, [](const json& row) { return row["flops"].is_null(); }));
  EXPECT_EQ(static_cast<int64_t>(where("layer=unknown").size()),
            CountIf(all, [](const json& row) { return row["layer"].empty(); }));
}

TEST(WhereEndToEnd, SaysHowManyMatch) {
  const RunResult result = RunProf({"--where", "op=mm", kDemo});
  EXPECT_THAT(result.err, HasSubstr("6 of 131 kernels match --where"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("utilisation")));
  EXPECT_EQ(RunProf({"--where", "op=nothing", "--strict", kDemo}).exit_code, 3);
  const RunResult wrong = RunProf({"--where", "op=mm and sil>10uss", kDemo});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("\n  op=mm and sil>10uss\n                ^\n"));
  EXPECT_EQ(wrong.out, "");
}

TEST(WhereEndToEnd, XAndNotXAndUnknownAreAll) {
  const size_t all = DemoRows({}).size();
  for (const auto& [text, column] : std::map<std::string, std::string>{{"dir=bprop", "dir"},
                                                                       {"flops>1M", "flops"},
                                                                       {"layer~attention", "layer"},
                                                                       {"grid>100", "grid"},
                                                                       {"pct_math<10%", "pct_math"},
                                                                       {"step=1", "step"}}) {
    EXPECT_EQ(DemoRows({"--where", text}).size() + DemoRows({"--where", "not " + text}).size() +
                  DemoRows({"--where", column + "=unknown"}).size(),
              all)
        << text;
  }
}

TEST(WhereEndToEnd, GroupsOfWhatMatches) {
  const auto kernels = DemoRows({"-c", "all", "--where", "dir=bprop"});
  const auto groups = DemoRows({"--by", "op", "--where", "dir=bprop"});
  EXPECT_EQ(SumOf(groups, "count"), static_cast<int64_t>(kernels.size()));
  EXPECT_EQ(SumOf(groups, "total"), SumOf(kernels, "sil"));
  const auto large = DemoRows({"--by", "op", "--where", "dir=bprop and share>5%"});
  EXPECT_EQ(static_cast<int64_t>(large.size()),
            CountIf(groups, [](const json& row) { return row["share"] > 5; }));
  ASSERT_GT(large.size(), 1u);
  const auto top = DemoRows(
      {"--by", "op", "--where", "dir=bprop and share>5%", "--top", "1", "-c", "all,row_kind"});
  EXPECT_THAT(TextsOf(top, "row_kind"), ElementsAre("row", "rest"));
  EXPECT_EQ(SumOf(top, "total"), SumOf(large, "total")) << "those that match sum up";
  const RunResult said = RunProf({"--by", "op", "--where", "count>3", kDemo});
  EXPECT_THAT(said.err, HasSubstr("groups match --where"));
  EXPECT_EQ(DemoRows({"--view", "groups", "--by", "op", "-c", "op,count,total", "--where",
                      "dir=bprop and share>5%"})
                .size(),
            large.size());
}

TEST(WhereEndToEnd, RowsOfViews) {
  EXPECT_EQ(DemoRows({"--view", "kernels", "-c", "sil", "--where", "op=mm"}).size(), 6u);
  const auto operators = DemoRows({"--view", "operators"});
  const auto many = DemoRows({"--view", "operators", "--where", "calls>3", "-c", "op"});
  EXPECT_EQ(static_cast<int64_t>(many.size()),
            CountIf(operators, [](const json& row) { return row["calls"] > 3; }));
}

TEST(TopEndToEnd, RowsOfKernelsAndCopies) {
  auto all = DemoRows({"-c", "all"});
  EXPECT_EQ(DemoRows({"-c", "all", "--top", "3"}), std::vector<json>(all.begin(), all.begin() + 3));
  std::stable_sort(all.begin(), all.end(), [](const json& a, const json& b) {
    if (a["sil"].is_null() || b["sil"].is_null()) return !a["sil"].is_null();
    return a["sil"] > b["sil"];
  });
  EXPECT_EQ(DemoRows({"-c", "all", "--sort", "sil"}), all);
  all.resize(10);
  EXPECT_EQ(DemoRows({"-c", "all", "--sort", "sil", "--top", "10"}), all);
  const auto view = DemoRows({"--view", "kernels", "--sort", "sil", "--top", "10", "-c", "idx"});
  EXPECT_EQ(TextsOf(view, "idx"), TextsOf(all, "idx")) << "the sort column is not printed";
  EXPECT_EQ(DemoRows({"--copies", "--top", "1", "--sort", "bytes"}).size(), 1u);
  EXPECT_EQ(DemoRows({"--view", "copies", "--top", "1", "-c", "bytes", "--sort", "dur"}).size(),
            1u);
  EXPECT_THAT(RunProf({"--top", "3", kDemo}).err, HasSubstr("first 3 of 131 kernels"));
}

struct CorpusCase {
  const char* file;
  std::vector<std::string> options;
  const char* count;  // A column that counts, null where rows are counted.
  const char* sum;
  const char* query;  // The number and the sum, by SQL alone.
};

/// What the databases say without us.
TEST(WhereEndToEnd, AgreesWithTheDatabases) {
  OPLENS_NEED_CORPUS();
  for (const CorpusCase& of : std::vector<CorpusCase>{
           {"nvprof/lm.sql",
            {"-c", "sil", "--where", "sil>10us and kernel~(?i)gemm"},
            nullptr,
            "sil",
            "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL k JOIN "
            "StringTable s ON s._id_ = k.name WHERE end - start > 10000 AND s.value LIKE "
            "'%gemm%'"},
           {"nsys/lm27b_nvtx.sqlite",
            {"-c", "sil", "--where", "grid>100"},
            nullptr,
            "sil",
            "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE gridX * gridY "
            "* gridZ > 100"},
           {"nsys/mmagic.sqlite",
            {"--copies", "--by", "kind", "--where", "bytes>=64KiB"},
            "count",
            "total",
            "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE bytes >= "
            "65536"}}) {
    const std::string path = CorpusFile(of.file).string();
    std::vector<std::string> command = of.options;
    command.push_back(path);
    const auto rows = Rows(command);
    SQLite::Database database(path);
    SQLite::Statement statement(database, of.query);
    ASSERT_TRUE(statement.executeStep());
    const int64_t count =
        of.count != nullptr ? SumOf(rows, of.count) : static_cast<int64_t>(rows.size());
    EXPECT_GT(count, 0) << of.file;
    EXPECT_EQ(count, statement.getColumn(0).getInt64()) << of.file;
    EXPECT_EQ(SumOf(rows, of.sum), statement.getColumn(1).getInt64()) << of.file;
  }
}

class FormsEndToEnd : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, dir_ / "net.sql");
    WriteNsysRun(run, dir_ / "net.sqlite");
    WriteKinetoRun(run, dir_ / "net.json");
  }
  fs::path dir_ = TestDir();
};

TEST_F(FormsEndToEnd, SumToAllKernels) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json"}) {
    const std::string path = (dir_ / name).string();
    const auto kernels = Rows({"-c", "all", path});
    for (const char* by : {"layer:1", "layer:-1", "layer~(\\d+)", "layer~[a-z]{1,3}", "label",
                           "kernel:label,op", "layer:1,layer:-1", "range:1:label,dir"}) {
      const auto groups = Rows({"--by", by, path});
      EXPECT_EQ(SumOf(groups, "count"), static_cast<int64_t>(kernels.size())) << name << by;
      EXPECT_EQ(SumOf(groups, "total"), SumOf(kernels, "sil")) << name << by;
    }
  }
}

TEST_F(FormsEndToEnd, ColumnsKeepTheNameOfTheKey) {
  EXPECT_TRUE(DemoRows({"--by", "layer:1,layer:-1"}).front().contains("layer_2"));
  EXPECT_TRUE(DemoRows({"--by", "label", "--sort", "label"}).front().contains("label"));
  EXPECT_EQ(
      DemoRows({"--view", "groups", "--by", "layer~block\\.(.*)", "-c", "layer,count"}).size(),
      DemoRows({"--by", "layer~block\\.(.*)", "-c", "layer,count"}).size());
}

TEST(CopiesEndToEnd, GroupsOfCopies) {
  const auto copies = DemoRows({"--copies"});
  ASSERT_FALSE(copies.empty());
  for (const char* by : {"kind", "src,dst", "device,stream", "api:label", "rank,tid"}) {
    const auto groups = DemoRows({"--copies", "--by", by});
    EXPECT_EQ(SumOf(groups, "count"), static_cast<int64_t>(copies.size())) << by;
    EXPECT_EQ(SumOf(groups, "total"), SumOf(copies, "dur")) << by;
    EXPECT_EQ(SumOf(groups, "bytes"), SumOf(copies, "bytes")) << by;
  }
  const auto groups = DemoRows({"--copies", "--by", "kind", "--where", "bytes>0 and count>0"});
  for (const json& row : groups) {
    EXPECT_DOUBLE_EQ(row["gbps"].get<double>(),
                     row["bytes"].get<double>() / row["total"].get<double>());
    EXPECT_DOUBLE_EQ(row["mean"].get<double>(),
                     row["total"].get<double>() / row["count"].get<double>());
  }
  EXPECT_EQ(
      DemoRows({"--copies", "--where", "kind=HtoD"}).size(),
      static_cast<size_t>(CountIf(copies, [](const json& row) { return row["kind"] == "HtoD"; })));
}

TEST(RowKindEndToEnd, IsThereOnlyWhenAskedFor) {
  EXPECT_FALSE(DemoRows({"--by", "op"}).front().contains("row_kind"));
  const auto rows = DemoRows({"--by", "op", "--top", "2", "-c", "op,row_kind"});
  EXPECT_THAT(TextsOf(rows, "row_kind"), ElementsAre("row", "row", "rest"));
  const auto view = DemoRows({"--view", "operators", "--top", "1", "-c", "op,row_kind"});
  EXPECT_THAT(TextsOf(view, "row_kind"), ElementsAre("row", "rest"));
  EXPECT_FALSE(DemoRows({"--view", "operators"}).front().contains("row_kind"));
}

}  // namespace
}  // namespace oplens::test::where_test
