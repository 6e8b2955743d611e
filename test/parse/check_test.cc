#include "parse/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parse/records/kernel_records.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::parse::check_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMm =
    "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'int', 'value': 1}]}";

/// A profile of one thread; kernels are launched at [start, start + 1].
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    trace_.family = Family::kNvprof;
    trace_.threads = {{10, 100}};
  }

  Range& AddRange(int64_t start, int64_t end, std::string_view text,
                  RangeKind kind = RangeKind::kMarker) {
    return trace_.ranges.emplace_back(Range{start, end, trace_.strings.Intern(text), kind});
  }
  Kernel& AddKernel(int64_t start) {
    Kernel& kernel = trace_.kernels.emplace_back();
    kernel.start_ns = start + 2;
    kernel.end_ns = start + 5;
    kernel.row_id = static_cast<int64_t>(trace_.kernels.size());
    kernel.name = trace_.strings.Intern("k");
    kernel.launch = static_cast<LaunchIndex>(trace_.launches.size());
    kernel.shape = trace_.shapes.Add({.grid = {1, 1, 1}});
    trace_.launches.push_back(
        {start, start + 1, kernel.row_id, 0, trace_.strings.Intern("cudaLaunchKernel")});
    return kernel;
  }
  std::string Describe() {
    const KernelRecords kernels(&trace_, {}, &diagnostics_);
    return DescribeProfile("net.sql", trace_, kernels, diagnostics_, prof::KernelColumnNeeds());
  }

  Trace trace_;
  Diagnostics diagnostics_;
};

TEST_F(CheckTest, HeadSaysWhatTheFileIs) {
  trace_.schema_version = 12;
  trace_.producer = "10.1\n";
  trace_.rank = 3;
  trace_.world_size = 8;
  trace_.devices.push_back({.id = 1,
                            .name = trace_.strings.Intern("Tesla \x1b[31m"),
                            .compute_capability_major = 7,
                            .compute_capability_minor = 5,
                            .multiprocessors = 40});
  EXPECT_THAT(Describe(), HasSubstr("net.sql: nvprof, schema 12, written by 10.1?\n"
                                    "  GPU 1: Tesla ?[31m, compute capability 7.5, 40 "
                                    "multiprocessors\n"
                                    "  process 10: 1 thread\n"
                                    "  rank 3 of 8\n"));
}

TEST_F(CheckTest, CountsWhatTheFileHolds) {
  AddRange(0, 100, "layer:a");
  AddRange(1, 90, kMm);
  AddRange(2, 80, "{'mod': 'torch', 'op': 'mm', 'args': []}");
  AddRange(3, 70, "mm, seq = 7");
  AddRange(4, kNeverClosed, "open");
  AddKernel(10);
  AddKernel(200).graph = true;
  trace_.copies.resize(4);
  const std::string text = Describe();
  EXPECT_THAT(text, ContainsRegex("kernels +2  6 ns of GPU time within 193 ns\n"));
  EXPECT_THAT(text, ContainsRegex("launch and other API calls +2\n"));
  EXPECT_THAT(text, ContainsRegex("NVTX ranges +5\n"));
  EXPECT_THAT(text, ContainsRegex("  ops +2\n"));
  EXPECT_THAT(text, ContainsRegex("ops with arguments +1\n"));
  EXPECT_THAT(text, ContainsRegex("sequence numbers +1\n"));
  EXPECT_THAT(text, ContainsRegex("layers and modules +1\n"));
  EXPECT_THAT(text, ContainsRegex("copies +4\n"));
  EXPECT_THAT(text, ContainsRegex("graph kernels +1\n"));
  EXPECT_THAT(text, ContainsRegex("open ranges +1  never closed, 0 of them"));
  EXPECT_THAT(text, ContainsRegex("call stacks +0  to add: PyProf"));
}

TEST_F(CheckTest, ColumnsSayWhatIsMissing) {
  AddRange(0, 100, kMm);
  AddKernel(10);
  AddKernel(200);
  const std::string text = Describe();
  EXPECT_THAT(text, ContainsRegex("  idx device stream flops_kind reason +2 of 2\n"));
  EXPECT_THAT(text,
              ContainsRegex(
                  "  params flops bytes[a-z_ ]* +at most 1 of 2  no op with its arguments; to add: "
                  "annotations: python3 -m oplens_annotate"));
  EXPECT_THAT(text, ContainsRegex("  layer layer_evidence +0 of 2  no layer"));
}

TEST_F(CheckTest, ArgumentsOfTheForwardOpCountForItsBackwardNode) {
  AddRange(0, 100, kMm);
  AddRange(1, 99, "mm, seq = 7");
  AddKernel(10);
  AddRange(200, 300, "MmBackward, seq = 7");
  AddKernel(210);
  AddRange(400, 500, "AddBackward0, seq = 8");
  AddKernel(410);
  EXPECT_THAT(Describe(), ContainsRegex("params flops bytes[a-z_ ]* +at most 2 of 3"));
}

TEST_F(CheckTest, AdviceIsThatOfTheFamily) {
  AddKernel(10);
  trace_.graph_replays.resize(1);
  EXPECT_THAT(Describe(), Not(HasSubstr("--cuda-graph-trace")));
  trace_.family = Family::kNsys;
  EXPECT_THAT(Describe(), HasSubstr("--cuda-graph-trace=node"));
  EXPECT_THAT(Describe(), HasSubstr("--cuda-memory-usage=true"));
  trace_.family = Family::kKineto;
  const std::string text = Describe();
  EXPECT_THAT(text, HasSubstr("record_shapes=True"));
  EXPECT_THAT(text, HasSubstr("with_stack=True"));
  EXPECT_THAT(text, HasSubstr("profile_memory=True"));
  EXPECT_THAT(text, HasSubstr("prof.step()"));
  EXPECT_THAT(text, Not(HasSubstr("nsys")));
}

TEST_F(CheckTest, SaysHowToGetKernels) {
  EXPECT_THAT(Describe(), HasSubstr("the profile holds no kernel; to add: record -f -o FILE"));
}

}  // namespace
}  // namespace oplens::parse::check_test
