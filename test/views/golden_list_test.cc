// Every file of golden numbers is read by a test, or left out for a reason that is told here.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace oplens::test::golden_list_test {
namespace {

namespace fs = std::filesystem;

struct Golden {
  std::string_view name;  ///< End of the file's name.
  std::string_view read;  ///< The test that compares it; "": none does, because
  std::string_view why;   ///< of this.
};

constexpr Golden kGoldens[] = {
    {"tb_overview.json", "tb_overview_golden_test.cc, tb_kernels_golden_test.cc (ratios)", ""},
    {"tb_operators.csv", "tb_operators_golden_test.cc", ""},
    {"tb_operators_by_shape.csv", "tb_operators_golden_test.cc", ""},
    {"tb_kernels.csv", "tb_kernels_golden_test.cc", ""},
    {"tb_kernels_by_op.csv", "tb_kernels_golden_test.cc", ""},
    {"hta_temporal_breakdown.csv", "hta_golden_test.cc", ""},
    {"hta_comm_comp_overlap.csv", "hta_golden_test.cc", ""},
    {"hta_kernel_type_breakdown.csv", "hta_golden_test.cc", ""},
    {"hta_kernel_breakdown.csv", "hta_golden_test.cc", ""},
    {"tb_memory.json", "tb_memory_golden_test.cc", ""},
    {"tb_memory_stats.csv", "tb_memory_golden_test.cc", ""},
    {"tb_modules.json", "tb_modules_golden_test.cc", ""},
    {"tb_distributed.json", "tb_distributed_golden_test.cc", ""},
    {"hta_idle_time.csv", "hta_streams_golden_test.cc", ""},
    {"hta_launch_stats.csv", "hta_streams_golden_test.cc", ""},
    {"hta_queue_length_summary.csv", "hta_streams_golden_test.cc", ""},
    {"hta_memory_bw_summary.csv", "hta_streams_golden_test.cc", ""},
    {"hta_critical_path_edges.csv", "critical_path_golden_test.cc", ""},
    {"hta_critical_path_summary.csv", "critical_path_golden_test.cc", ""},
    {"tb_diff_resnet50_nw0_vs_nw4.json", "../diff/compat_diff_golden_test.cc", ""},
    {"tb_diff_resnet50_nw0_vs_nw4_operators.csv", "../diff/compat_diff_golden_test.cc", ""},
    {"diff_tiny_hta_diff_cpu.csv", "../diff/compat_diff_golden_test.cc", ""},
    {"diff_tiny_hta_diff_gpu.csv", "../diff/compat_diff_golden_test.cc", ""},
    {"diff_tiny_hta_diff_ops_diff_counts.json", "../diff/compat_diff_golden_test.cc", ""},
    {"hta_diff_cpu.csv", "../diff/compat_diff_golden_test.cc", ""},
    {"hta_diff_gpu.csv", "../diff/compat_diff_golden_test.cc", ""},
    {"hta_diff_ops_diff_counts.json", "../diff/compat_diff_golden_test.cc", ""},
    {"reference_timings.csv", "", "times of other programs"},
    {"reference_timings_repeated.csv", "", "times of other programs"},
};

const Golden* Find(const std::string& name) {
  for (const Golden& golden : kGoldens) {
    if (golden.name == name) return &golden;
  }
  return nullptr;
}

TEST(GoldenListTest, EveryFileIsReadOrLeftOutForAReason) {
  const char* corpus = std::getenv("OPLENS_CORPUS_DIR");
  if (corpus == nullptr) GTEST_SKIP() << "OPLENS_CORPUS_DIR is not set";
  size_t read = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(corpus) / "kineto" / "golden")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    const Golden* golden = Find(name);
    ASSERT_NE(golden, nullptr) << entry.path() << " is not in the list";
    EXPECT_NE(golden->read.empty(), golden->why.empty()) << name;
    if (!golden->read.empty()) ++read;
  }
  EXPECT_GE(read, 150u);
}

}  // namespace
}  // namespace oplens::test::golden_list_test
