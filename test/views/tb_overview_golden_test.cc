#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "prof/views/streams/overview.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::test::tb_overview_golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A figure of the plugin that is not compared here.
struct Skipped {
  std::string_view trace;  ///< "": of all.
  std::string_view key;
  std::string_view why;
};

constexpr Skipped kSkipped[] = {
    {"", "views", "names of its pages"},
    {"", "gpu_util_bucket", "the scale of a chart"},
    {"", "tc_used_ratio", "of its view of kernels"},
    {"", "tc_eligible_ops_kernel_ratio", "of its view of operators"},
    {"", "use_dp", "an advice"},
    {"", "use_ddp", "an advice"},
    {"", "comm_lib", "an advice"},
    {"", "has", "which of its pages there are"},
    {"", "recommendation_rules_fired", "an advice"},
    {"", "recommendation_percentages", "an advice"},
    {"gpu_metrics/gpu_metrics_input", "est_achieved_occupancy_pct",
     "stands there under an older name, which we know too"},
};

bool IsLeftOut(std::string_view trace, std::string_view key) {
  return std::any_of(std::begin(kSkipped), std::end(kSkipped), [&](const Skipped& skipped) {
    return skipped.key == key && (skipped.trace.empty() || skipped.trace == trace);
  });
}

struct Golden {
  std::string trace;  ///< Without extension, below the folder of traces.
  fs::path file;
  Json json;
};

std::vector<Golden> Goldens() {
  const fs::path root = CorpusDir().path / "kineto";
  std::vector<Golden> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / "golden")) {
    if (entry.path().filename() != "tb_overview.json") continue;
    Golden& golden = all.emplace_back();
    const fs::path folder = fs::relative(entry.path().parent_path(), root / "golden");
    golden.trace = folder.string();
    golden.json = Json::parse(ReadFile(entry.path()));
    for (const auto& file : fs::directory_iterator((root / folder).parent_path())) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(folder.filename().string() + ".")) golden.file = file.path();
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Golden& a, const Golden& b) { return a.trace < b.trace; });
  return all;
}

/// The plugin adds times as floating-point numbers of us. Figures of traces of whole microseconds
/// are equal; others agree to this share of what they are parts of.
double ErrorOf(const Golden& golden) {
  if (golden.json.at("steps")[0].at("Total").is_number_integer()) return 1e-9;
  // Its times count from 1970: a double then holds a quarter of a microsecond.
  return golden.trace.starts_with("v100_ns/") ? 1e-4 : 1e-6;
}

/// Microseconds of the plugin and ns of ours.
void ExpectTime(const Json& expected_us, double actual_ns, double error_ns,
                const std::string& what) {
  EXPECT_NEAR(actual_ns, expected_us.get<double>() * 1000, error_ns) << what;
}

/// Ours is in percent.
void ExpectPercent(double expected, const std::string& actual, double error,
                   const std::string& what) {
  ASSERT_NE(actual, "") << what;
  EXPECT_NEAR(std::stod(actual), expected, error) << what;
}

double NumberIn(const ViewRow& row, const std::string& key) {
  const std::string& text = row.at(key);
  EXPECT_NE(text, "") << key;
  return text.empty() ? 0 : std::stod(text);
}

constexpr std::pair<std::string_view, std::string_view> kParts[] = {
    {"Kernel", "kernel_ns"},      {"Memcpy", "memcpy_ns"},   {"Memset", "memset_ns"},
    {"Communication", "comm_ns"}, {"Runtime", "runtime_ns"}, {"DataLoader", "dataloader_ns"},
    {"CPU Exec", "cpu_ns"},       {"Other", "other_ns"},     {"Total", "total_ns"},
};

/// Sums over the steps of a trace with fractions of a microsecond, in the order of kParts: what the
/// plugin itself finds when it is given all times as whole ns.
struct ExactSums {
  std::string_view trace;
  std::array<int64_t, std::size(kParts)> ns;
};

constexpr ExactSums kExactSums[] = {
    {"amd/mi250_minitoy_rocm62", {110881, 38161, 0, 0, 6698597, 0, 1902174, 538478, 9288291}},
    {"b200/eager_rank0", {10793638, 802844, 0, 0, 5866835, 0, 68965368, 0, 86428685}},
    {"ddp_a100_nccl_meta/rank0",
     {155215315, 1924123, 360576, 1040275, 30147482, 0, 477757240, 660328, 667105339}},
    {"ddp_sampled_w128/rank0",
     {547303000, 327000, 26000, 294000, 6145000, 0, 660546000, 15599000, 1230240000}},
    {"ddp_sampled_w128/rank1",
     {575496000, 4526000, 28000, 125000, 4342000, 0, 638450000, 15576000, 1238543000}},
    {"h100/bert_small", {307197, 2240, 0, 0, 244354, 0, 1724372, 2147951, 4426114}},
    {"h100/timesformer", {154855595, 3464142, 113437, 0, 967332, 0, 1909054, 221225998, 382535558}},
    {"h100/vit_nsfw", {1220926, 0, 4384, 0, 653680, 0, 3727763, 2287312, 7894065}},
    {"triton/triton_a100", {1760, 0, 0, 0, 16846, 0, 1386795, 13334910404, 13336315805}},
    {"v100_ns/rank-0.Apr_03_18_51_38.1102",
     {468153602, 3715404, 585435, 54683, 4070562, 0, 6073273, 864643, 483517602}},
};

void CompareExactly(const Golden& golden, const std::vector<ViewRow>& rows) {
  const auto exact =
      std::find_if(std::begin(kExactSums), std::end(kExactSums),
                   [&](const ExactSums& sums) { return sums.trace == golden.trace; });
  const bool has_fractions = ErrorOf(golden) > 1e-8;
  ASSERT_EQ(exact != std::end(kExactSums), has_fractions);
  if (!has_fractions) return;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    int64_t sum_ns = 0;
    for (const ViewRow& row : rows) {
      if (row.at("step") != "mean") sum_ns += std::stoll(row.at(std::string(kParts[i].second)));
    }
    EXPECT_EQ(sum_ns, exact->ns[i]) << kParts[i].first;
  }
}

void ExpectParts(const Json& expected, const ViewRow& row, double error, const std::string& what) {
  const double error_ns = error * NumberIn(row, "total_ns");
  for (const auto& [theirs, ours] : kParts) {
    ExpectTime(expected.at(std::string(theirs)), NumberIn(row, std::string(ours)), error_ns,
               what + " " + std::string(theirs));
  }
}

/// Compute, communication and both at once: the plugin's first two hold the third.
void ExpectOverlap(const Json& expected, const ViewRow& row, double error,
                   const std::string& what) {
  const std::string compute = row.at("kernel_exposed_ns").empty() ? "cpu" : "kernel";
  const double total = NumberIn(row, "total_ns");
  const double both = NumberIn(row, "comm_hidden_ns");
  const double computation = NumberIn(row, compute + "_exposed_ns") + both;
  const double communication = NumberIn(row, "comm_exposed_ns") + both;
  EXPECT_EQ(NumberIn(row, compute + "_hidden_ns"), both) << what;
  ExpectTime(expected.at("computation"), computation, error * total, what + " computation");
  ExpectTime(expected.at("overlap"), both, error * total, what + " overlap");
  ExpectTime(expected.at("communication"), communication, error * total, what + " communication");
  ExpectTime(expected.at("other"), total + both - computation - communication, error * total,
             what + " other");
}

void CompareSteps(const Golden& golden) {
  const auto rows = RowsOf(*PartialOf(ViewBy("tb", "overview"), {golden.file.string()}));
  const Json& steps = golden.json.at("steps");
  ASSERT_EQ(rows.size(), steps.size() + 1);
  const double error = ErrorOf(golden);
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string what = "step " + steps[i].at("step").get<std::string>();
    EXPECT_EQ(rows[i].at("step"), steps[i].at("step").get<std::string>());
    ExpectParts(steps[i], rows[i], error, what);
    ExpectOverlap(golden.json.at("computation_communication_overlap")[i], rows[i], error, what);
  }
  ExpectParts(golden.json.at("average"), rows.back(), error, "mean");
  CompareExactly(golden, rows);
}

struct Ratio {
  std::string_view theirs;
  std::string_view ours;
  double scale;
};

constexpr Ratio kRatios[] = {
    {"utilization", "busy_pct", 100},
    {"est_sm_efficiency", "sm_efficiency_pct", 100},
    {"est_achieved_occupancy_pct", "achieved_occupancy_pct", 1},
    {"tensor_core_ratio", "tc_time_pct", 100},
};

void CompareGpus(const Golden& golden) {
  const auto rows = RowsOf(*PartialOf(ViewBy("tb", "gpu"), {golden.file.string()}));
  const Json& gpus = golden.json.at("gpu");
  ASSERT_EQ(rows.size(), gpus.size());
  for (const ViewRow& row : rows) {
    const std::string& device = row.at("device");
    ASSERT_TRUE(gpus.contains(device)) << device;
    for (const auto& [theirs, ours, scale] : kRatios) {
      if (IsLeftOut(golden.trace, theirs)) continue;
      const Json& expected = gpus.at(device).at(std::string(theirs));
      const std::string& actual = row.at(std::string(ours));
      if (expected.is_null()) {
        EXPECT_EQ(actual, "") << theirs;
      } else {
        // The trace tells blocks and occupancy with seven digits.
        const double error = 100 * std::max(ErrorOf(golden), 1e-7);
        ExpectPercent(expected.get<double>() * scale, actual, error, std::string(theirs));
      }
    }
  }
}

void CompareDevices(const Golden& golden) {
  std::set<int> devices;
  for (const ViewRow& row : RowsOf(*PartialOf(ViewNamed("gpu"), {golden.file.string()}))) {
    devices.insert(std::stoi(row.at("device")));
  }
  EXPECT_EQ(devices, golden.json.at("used_devices").get<std::set<int>>());
}

TEST(TensorBoardOverviewGoldenTest, EveryFigure) {
  OPLENS_NEED_CORPUS();
  const auto goldens = Goldens();
  EXPECT_GE(goldens.size(), 20u);
  const std::set<std::string> compared = {"steps", "average", "gpu", "used_devices",
                                          "computation_communication_overlap"};
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.trace);
    ASSERT_FALSE(golden.file.empty());
    for (const auto& [key, value] : golden.json.items()) {
      EXPECT_TRUE(compared.contains(key) || IsLeftOut(golden.trace, key)) << key;
    }
    CompareSteps(golden);
    CompareGpus(golden);
    CompareDevices(golden);
  }
}

}  // namespace
}  // namespace oplens::test::tb_overview_golden_test
