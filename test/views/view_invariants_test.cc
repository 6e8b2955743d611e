#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/tb/views.h"
#include "prof/views/streams/overview.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::test::view_invariants_test {
namespace {

namespace fs = std::filesystem;

const prof::View& kOverview = prof::kOverviewView;
const prof::View& kGpu = prof::kGpuView;

/// Every file below the corpus that may be a profile.
std::vector<std::string> CorpusProfiles() {
  std::vector<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(CorpusDir().path)) {
    const std::string path = entry.path().string();
    const std::string name = fs::relative(entry.path(), CorpusDir().path).string();
    const bool database = name.starts_with("nsys/") || name.starts_with("nvprof/");
    if (database && name.ends_with(".gz")) {
      all.push_back(CorpusFile(name.substr(0, name.size() - 3)).string());
    } else if (entry.is_regular_file() && path.find("/golden/") == std::string::npos &&
               !path.ends_with(".md") && !path.ends_with(".txt") && !path.ends_with(".csv")) {
      all.push_back(path);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// What is not known counts as nothing.
int64_t Ns(const ViewRow& row, const std::string& key) {
  return row.at(key).empty() ? 0 : std::stoll(row.at(key));
}

void ExpectShare(const std::string& text, const std::string& key) {
  if (text.empty()) return;
  EXPECT_GE(std::stod(text), 0) << key;
  EXPECT_LE(std::stod(text), 100 + 1e-9) << key;
}

void CheckStep(const ViewRow& row) {
  SCOPED_TRACE("step " + row.at("step"));
  int64_t sum_ns = 0;
  for (const char* const part :
       {"kernel", "memcpy", "memset", "comm", "runtime", "dataloader", "cpu", "other"}) {
    const int64_t part_ns = Ns(row, part + std::string("_ns"));
    EXPECT_GE(part_ns, 0) << part;
    sum_ns += part_ns;
    if (part == std::string("other")) continue;
    const int64_t exposed_ns = Ns(row, part + std::string("_exposed_ns"));
    const int64_t hidden_ns = Ns(row, part + std::string("_hidden_ns"));
    EXPECT_GE(exposed_ns, 0) << part;
    EXPECT_GE(hidden_ns, 0) << part;
    // What a class has to itself it has, too, where the first class has the moment.
    EXPECT_LE(part_ns, exposed_ns + hidden_ns) << part;
  }
  EXPECT_EQ(sum_ns, Ns(row, "total_ns"));
  EXPECT_EQ(Ns(row, "kernel_ns"), Ns(row, "kernel_exposed_ns") + Ns(row, "kernel_hidden_ns"));
  ExpectShare(row.at("busy_pct"), "busy_pct");
  ExpectShare(row.at("mfu_pct"), "mfu_pct");
}

void CheckGpu(const ViewRow& row) {
  SCOPED_TRACE("device " + row.at("device"));
  for (const char* const key :
       {"busy_pct", "sm_efficiency_pct", "achieved_occupancy_pct", "tc_time_pct"}) {
    ExpectShare(row.at(key), key);
  }
  EXPECT_LE(Ns(row, "busy_ns"), Ns(row, "window_ns"));
  if (!row.at("sm_efficiency_pct").empty()) {
    EXPECT_LE(std::stod(row.at("sm_efficiency_pct")), std::stod(row.at("busy_pct")) + 1e-6);
  }
  EXPECT_LE(Ns(row, "busy_ns"), Ns(row, "kernel_ns") + Ns(row, "comm_ns") + Ns(row, "replay_ns"));
}

void CheckSteps(const std::vector<ViewRow>& rows) {
  int64_t last_end_ns = INT64_MIN;
  for (const ViewRow& row : rows) {
    if (row.at("step") == "mean") continue;
    CheckStep(row);
    EXPECT_GE(Ns(row, "start_ns"), last_end_ns);
    last_end_ns = Ns(row, "start_ns") + Ns(row, "total_ns");
  }
}

/// A length that may be 0 or negative.
int64_t AnyEnd(int64_t start_ns) { return start_ns + *rc::gen::inRange(-5, 60); }

int64_t AnyTime() { return *rc::gen::inRange(-50, 300); }

void AddAnything(MadeRun* made) {
  const int64_t start_ns = AnyTime();
  const int64_t end_ns = AnyEnd(start_ns);
  const bool launched = *rc::gen::arbitrary<bool>();
  const LaunchIndex launch = launched && !made->trace.launches.empty() ? 0 : kNoLaunch;
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      return made->AddStep(*rc::gen::inRange(0, 4), start_ns, end_ns,
                           *rc::gen::inRange<ThreadIndex>(0, 2));
    case 1:
      return made->AddStep(*rc::gen::inRange(0, 4), start_ns, kNeverClosed);
    case 2:
      return made->AddRange("op", start_ns, end_ns, RangeKind::kOperator);
    case 3:
      return made->AddRange("label", start_ns, kNeverClosed);
    case 4:
      made->AddCall(start_ns, end_ns);
      return;
    case 5:
      return made->AddCopy(start_ns, end_ns, launch, *rc::gen::inRange(0, 2));
    case 6:
      return made->AddReplay(start_ns, end_ns, launch);
    case 7:
      made->AddKernel(start_ns, end_ns, launch, "ncclKernel");
      return;
    default:
      made->AddKernel(start_ns, end_ns, launch, "a", *rc::gen::inRange(0, 2));
  }
}

RC_GTEST_PROP(ViewInvariantsProperty, WhateverHappened, ()) {
  MadeRun made;
  made.AddThread(2, 2);
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) AddAnything(&made);
  CheckSteps(made.RowsOf(prof::kOverviewView.make));
  for (const ViewRow& row : made.RowsOf(prof::kGpuView.make)) CheckGpu(row);
  for (const ViewRow& row : made.RowsOf(prof::MakeTbOverview)) {
    EXPECT_NE(row.at("total_ns"), "");
  }
  for (const ViewRow& row : made.RowsOf(prof::MakeTbGpu)) {
    ExpectShare(row.at("busy_pct"), "busy_pct");
  }
}

TEST(ViewInvariantsTest, EveryProfile) {
  OPLENS_NEED_CORPUS();
  int opened = 0;
  for (const std::string& path : CorpusProfiles()) {
    SCOPED_TRACE(path);
    try {
      CheckSteps(RowsOf(*PartialOf(kOverview, {path})));
      const auto gpus = RowsOf(*PartialOf(kGpu, {path}));
      for (const ViewRow& row : gpus) CheckGpu(row);
      // What else is read of a profile changes no step.
      const prof::View kAllRead = {"gpu", "", TraceNeeds::All(), prof::kGpuView.fields,
                                   prof::kGpuView.make};
      EXPECT_EQ(gpus, RowsOf(*PartialOf(kAllRead, {path})));
      ++opened;
    } catch (const Error&) {
      continue;  // No profile.
    }
  }
  EXPECT_GE(opened, 30);
}

}  // namespace
}  // namespace oplens::test::view_invariants_test
