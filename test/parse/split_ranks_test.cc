#include "parse/readers/split_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "parse/readers/open_trace.h"
#include "test/support/nsys_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::split_ranks_test {
namespace {

using test::NsysBuilder;
using test::NsysThread;
using test::TestDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A process that launches kernels from one thread.
struct MadeProcess {
  int64_t process_id = 0;
  int64_t device = 0;
  int kernels = 0;
  std::string kernel = "_Z4gemmv";
  std::string thread = "";
};

std::string Write(const std::string& name, const std::vector<MadeProcess>& processes) {
  NsysBuilder builder;
  for (const MadeProcess& made : processes) {
    NsysThread thread(&builder, made.process_id, made.process_id + 1, made.process_id);
    thread.Push("step");
    for (int i = 0; i < made.kernels; ++i) {
      thread.Launch({.name = i == 0 ? made.kernel : "_Z4reluv"});
      builder.rows("CUPTI_ACTIVITY_KIND_KERNEL").back()["deviceId"] = made.device;
    }
    thread.Pop();
    if (made.thread.empty()) continue;
    builder.Add("NVTX_EVENTS", {{"start", 1},
                                {"eventType", 39},
                                {"text", made.thread},
                                {"globalTid", thread.global_tid()}});
  }
  const std::string path = (TestDir() / name).string();
  builder.Write(path);
  return path;
}

struct Rank {
  std::string name;
  size_t kernels = 0;
  size_t launches = 0;
  size_t ranges = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};
void PrintTo(const Rank& rank, std::ostream* out) {
  *out << rank.name << ": " << rank.kernels << " " << rank.launches << " " << rank.ranges;
}

/// What reading makes of the files, and what it notes.
std::vector<Rank> Ranks(const std::vector<std::string>& files, Diagnostics* diagnostics) {
  const std::vector<ProfileInput> inputs = SplitRanks(ListProfiles(files));
  std::vector<Rank> ranks;
  TakenRanks taken;
  for (const ProfileInput& input : inputs) {
    ProfileFile file(input);
    const Trace trace = OpenInput(input, &file, inputs.size(), {}, diagnostics, &taken);
    ranks.push_back({std::string(trace.strings.View(trace.rank_name)), trace.kernels.size(),
                     trace.launches.size(), trace.ranges.size()});
  }
  return ranks;
}
std::vector<Rank> Ranks(const std::vector<std::string>& files) {
  Diagnostics diagnostics;
  return Ranks(files, &diagnostics);
}

TEST(SplitRanks, ProcessesThatMpiNames) {
  const std::string path = Write("a.sqlite", {{100, 1, 3, "_Z1kv", "MPI Rank 1"},
                                              {200, 0, 5, "_Z1kv", "MPI Rank 0"},
                                              {300, 0, 0, "_Z1kv", "launcher"}});
  Diagnostics diagnostics;
  EXPECT_THAT(Ranks({path}, &diagnostics), ElementsAre(Rank{"0", 5, 5, 1}, Rank{"1", 3, 3, 1}));
  EXPECT_THAT(diagnostics.notes(), IsEmpty());
}

TEST(SplitRanks, WhatIsNoRankIsKeptByItsProcess) {
  const std::string path = Write("a.sqlite", {{100, 0, 1, "_Z1kv", "MPI Rank 5"},
                                              {200, 0, 2, "_Z1kv", "MPI Rank 6"},
                                              {300, 0, 4, "_Z1kv", "watcher"}});
  EXPECT_THAT(Ranks({path}), ElementsAre(Rank{"5", 1, 1, 1}, Rank{"6", 2, 2, 1},
                                         Rank{"a.sqlite (process 300)", 4, 4, 1}));
}

TEST(SplitRanks, ProcessesWithCollectivesAreNumberedByTheirGpu) {
  const std::string named = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  const std::string first = Write("n1.sqlite", {{100, 1, 3, named}, {200, 0, 5, named}});
  const std::string second = Write("n2.sqlite", {{100, 0, 2, named}, {200, 1, 4, named}});
  Diagnostics diagnostics;
  EXPECT_THAT(
      Ranks({first, second}, &diagnostics),
      ElementsAre(Rank{"0", 5, 5, 1}, Rank{"1", 3, 3, 1}, Rank{"2", 2, 2, 1}, Rank{"3", 4, 4, 1}));
  EXPECT_THAT(diagnostics.notes(),
              ElementsAre(HasSubstr("n1.sqlite: holds 2 processes with kernels of NCCL"),
                          HasSubstr("by process id, from 2 on")));
}

TEST(SplitRanks, ProcessesOfOneGpuAreNumberedByTheirIds) {
  const std::string nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  const std::string path = Write("a.sqlite", {{200, 0, 3, nccl}, {100, 0, 5, nccl}});
  EXPECT_THAT(Ranks({path}), ElementsAre(Rank{"0", 5, 5, 1}, Rank{"1", 3, 3, 1}));
}

TEST(SplitRanks, OtherFilesStayWhole) {
  EXPECT_THAT(Ranks({Write("one.sqlite", {{100, 0, 3, "_Z1kv", "MPI Rank 3"}})}),
              ElementsAre(Rank{"3", 3, 3, 1}));
  EXPECT_THAT(Ranks({Write("two.sqlite", {{100, 0, 3}, {200, 0, 2}})}),
              ElementsAre(Rank{"", 5, 5, 2}));
  const std::string nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  EXPECT_THAT(Ranks({Write("half.sqlite", {{100, 0, 3, nccl}, {200, 0, 2}})}),
              ElementsAre(Rank{"", 5, 5, 2}));
  test::WriteFile(TestDir() / "x.sqlite", "no database");
  EXPECT_EQ(SplitRanks(ListProfiles({(TestDir() / "x.sqlite").string()})).size(), 1u);
}

}  // namespace
}  // namespace oplens::parse::split_ranks_test
