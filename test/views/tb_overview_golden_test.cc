#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "prof/views/gpu.h"
#include "prof/views/overview.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using prof::Compat;

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

/// Microseconds of the plugin and ns of ours: equal where the plugin's are whole, else to 1e-6.
void ExpectTime(const Json& expected_us, double actual_ns, const std::string& what) {
  const double expected_ns = expected_us.get<double>() * 1000;
  // It adds times since 1970 (or since boot) as floating-point numbers.
  const bool whole = expected_us.is_number_integer();
  EXPECT_NEAR(actual_ns, expected_ns, whole ? 0.5 : std::max(1.0, 1e-6 * std::abs(expected_ns)))
      << what;
}

void ExpectRatio(const Json& expected, const std::string& actual, double scale,
                 const std::string& what) {
  if (expected.is_null()) {
    EXPECT_EQ(actual, "") << what;
    return;
  }
  ASSERT_NE(actual, "") << what;
  const double value = expected.get<double>();
  EXPECT_NEAR(std::stod(actual) / scale, value, 1e-6 * std::max(1e-3, std::abs(value))) << what;
}

double NumberIn(const ViewRow& row, const std::string& key) {
  const std::string& text = row.at(key);
  EXPECT_NE(text, "") << key;
  return text.empty() ? 0 : std::stod(text);
}

constexpr std::pair<std::string_view, std::string_view> kParts[] = {
    {"Kernel", "kernel_ns"},   {"Memcpy", "memcpy_ns"},         {"Memset", "memset_ns"},
    {"Runtime", "runtime_ns"}, {"DataLoader", "dataloader_ns"}, {"Communication", "comm_ns"},
    {"CPU Exec", "cpu_ns"},    {"Other", "other_ns"},           {"Total", "total_ns"},
};

void ExpectParts(const Json& expected, const ViewRow& row, const std::string& what) {
  for (const auto& [theirs, ours] : kParts) {
    ExpectTime(expected.at(std::string(theirs)), NumberIn(row, std::string(ours)),
               what + " " + std::string(theirs));
  }
}

/// Compute, communication and both at once: the plugin's first two hold the third.
void ExpectOverlap(const Json& expected, const ViewRow& row, const std::string& what) {
  const std::string compute = row.at("kernel_exposed_ns").empty() ? "cpu" : "kernel";
  const double both = NumberIn(row, "comm_hidden_ns");
  const double computation = NumberIn(row, compute + "_exposed_ns") + both;
  const double communication = NumberIn(row, "comm_exposed_ns") + both;
  EXPECT_EQ(NumberIn(row, compute + "_hidden_ns"), both) << what;
  ExpectTime(expected.at("computation"), computation, what + " computation");
  ExpectTime(expected.at("overlap"), both, what + " overlap");
  ExpectTime(expected.at("communication"), communication, what + " communication");
  ExpectTime(expected.at("other"), NumberIn(row, "total_ns") + both - computation - communication,
             what + " other");
}

void CompareSteps(const Golden& golden) {
  const auto rows = RowsOf(*PartialOf(ViewNamed("overview"), {golden.file.string()},
                                      {.compat = Compat::kTensorBoard, .by = {}}));
  const Json& steps = golden.json.at("steps");
  ASSERT_EQ(rows.size(), steps.size() + 1);
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string what = "step " + steps[i].at("step").get<std::string>();
    EXPECT_EQ(rows[i].at("step"), steps[i].at("step").get<std::string>());
    ExpectParts(steps[i], rows[i], what);
    ExpectOverlap(golden.json.at("computation_communication_overlap")[i], rows[i], what);
  }
  ExpectParts(golden.json.at("average"), rows.back(), "mean");
}

void CompareGpus(const Golden& golden) {
  const auto rows = RowsOf(*PartialOf(ViewNamed("gpu"), {golden.file.string()},
                                      {.compat = Compat::kTensorBoard, .by = {}}));
  const Json& gpus = golden.json.at("gpu");
  ASSERT_EQ(rows.size(), gpus.size());
  for (const ViewRow& row : rows) {
    const std::string& device = row.at("device");
    ASSERT_TRUE(gpus.contains(device)) << device;
    const Json& gpu = gpus.at(device);
    ExpectRatio(gpu.at("utilization"), row.at("busy_pct"), 100, "utilization");
    ExpectRatio(gpu.at("est_sm_efficiency"), row.at("sm_efficiency_pct"), 100, "SM efficiency");
    ExpectRatio(gpu.at("est_achieved_occupancy_pct"), row.at("occupancy_pct"), 1, "occupancy");
    if (IsLeftOut(golden.trace, "tensor_core_ratio")) continue;
    ExpectRatio(gpu.at("tensor_core_ratio"), row.at("tc_time_pct"), 100, "Tensor Cores");
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
}  // namespace oplens::test
