// Over every profile of the corpus: times of views that must agree.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::device_time_corpus_test {
namespace {

/// The views of one profile, read once, with the busy time of its devices, found in another way.
class AllViews : public Partial {
 public:
  void Begin(const Run* run) override {
    for (const auto& view : views) view->Begin(run);
  }
  void End(const Run* run) override {
    for (const auto& view : views) view->End(run);
    std::map<int32_t, std::vector<Interval>> devices;
    for (const DeviceEvent& event : run->work().events()) {
      devices[event.device_id].push_back({event.start_ns, event.end_ns});
    }
    for (auto& [id, intervals] : devices) busy_ns += IntervalSet(std::move(intervals)).length_ns();
    events += run->work().events().size();
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const AllViews&>(other);
    for (size_t i = 0; i < views.size(); ++i) views[i]->Merge(*more.views[i]);
    busy_ns += more.busy_ns;
    events += more.events;
  }
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink*) const override {}

  std::vector<test::ViewRow> Rows(size_t view) const { return test::RowsOf(*views[view]); }

  enum : size_t { kTemporal, kTypes, kLosses };
  std::vector<std::unique_ptr<Partial>> views = MakeViews();
  int64_t busy_ns = 0;
  size_t events = 0;

 private:
  static std::vector<std::unique_ptr<Partial>> MakeViews() {
    std::vector<std::unique_ptr<Partial>> made;
    made.push_back(kTemporalView.make({}));
    made.push_back(kKernelTypesView.make({}));
    made.push_back(kLossesView.make({}));
    return made;
  }
};

const View kAll = {
    "all", "", {}, kTemporalView.fields, [](const ViewOptions&) -> std::unique_ptr<Partial> {
      return std::make_unique<AllViews>();
    }};

std::vector<std::string> Profiles() {
  namespace fs = std::filesystem;
  const fs::path corpus = test::CorpusDir().path;
  std::vector<std::string> names;
  for (const char* family : {"kineto", "nsys", "nvprof"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpus / family)) {
      const std::string name = fs::relative(entry.path(), corpus).string();
      if (name.ends_with(".gz") && name.find("/golden/") == name.npos) {
        names.push_back(name.substr(0, name.size() - 3));
      }
    }
  }
  return names;
}

int64_t Number(const test::ViewRow& row, const std::string& key) {
  return std::stoll("0" + row.at(key));
}

void CheckTemporal(const AllViews& all) {
  for (const test::ViewRow& row : all.Rows(AllViews::kTemporal)) {
    const int64_t idle_ns = Number(row, "idle_ns");
    const int64_t running_ns = Number(row, "compute_ns") + Number(row, "non_compute_ns");
    EXPECT_EQ(idle_ns + running_ns, Number(row, "kernel_ns"));
    EXPECT_LE(running_ns, all.busy_ns);  // Devices that run at once count once.
    if (!row.at("overlap_pct").empty()) {
      EXPECT_LE(std::stod(row.at("overlap_pct")), 100);
    }
  }
}

void CheckTypes(const AllViews& all) {
  int64_t sum_ns = 0;
  double share = 0;
  for (const test::ViewRow& row : all.Rows(AllViews::kTypes)) {
    sum_ns += Number(row, "sum_ns");
    share += std::stod(row.at("share_pct"));
  }
  EXPECT_EQ(sum_ns, all.busy_ns);
  if (all.busy_ns > 0) {
    EXPECT_NEAR(share, 100, 1e-6);
  }
}

void CheckLosses(const AllViews& all) {
  for (const test::ViewRow& row : all.Rows(AllViews::kLosses)) {
    SCOPED_TRACE(row.at("loss"));
    EXPECT_GT(Number(row, "count"), 0);
    EXPECT_FALSE(row.at("why").empty());
    if (!row.at("share_pct").empty()) {
      EXPECT_LE(std::stod(row.at("share_pct")), 100.0001);
    }
  }
}

TEST(DeviceTimeCorpusTest, TimesAddUp) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t opened = 0;
  for (const std::string& name : Profiles()) {
    SCOPED_TRACE(name);
    const std::string path = test::CorpusFile(name).string();
    std::unique_ptr<Partial> partial;
    try {
      partial = test::PartialOf(kAll, {path});
    } catch (const Error&) {
      continue;  // No profile.
    }
    const auto& all = dynamic_cast<const AllViews&>(*partial);
    CheckTemporal(all);
    CheckTypes(all);
    CheckLosses(all);
    opened += all.events > 0 ? 1 : 0;
  }
  EXPECT_GE(opened, 60u);
}

}  // namespace
}  // namespace oplens::prof::device_time_corpus_test
