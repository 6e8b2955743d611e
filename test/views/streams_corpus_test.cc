// Over every profile of the corpus: idle time and busy time are the window, and sums of launches,
// queues and copies are those that are found in another way.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/run/class_times.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::streams_corpus_test {
namespace {

using test::ViewRow;
using Places = std::map<std::pair<int64_t, int64_t>, int64_t>;  // ns by GPU and stream.

ViewOptions ByStream() {
  ViewOptions options;
  options.by = {"stream"};
  return options;
}

/// The views of the ranks of a profile, with what is found of it in another way.
class AllViews : public Partial {
 public:
  enum : size_t { kIdle, kStreams, kLaunches, kQueue, kBandwidth };

  AllViews() {
    views.push_back(kIdleView.make({}));
    views.push_back(kIdleView.make(ByStream()));
    views.push_back(kLaunchesView.make({}));
    views.push_back(kQueueView.make({}));
    views.push_back(kBandwidthView.make({}));
  }
  void Begin(const Run* run) override {
    for (const auto& view : views) view->Begin(run);
  }
  void End(const Run* run) override {
    for (const auto& view : views) view->End(run);
    const Trace& trace = run->trace();
    std::map<std::pair<int64_t, int64_t>, std::vector<Interval>> busy;
    for (const DeviceEvent& event : run->work().events()) {
      busy[{event.device_id, -1}].push_back({event.start_ns, event.end_ns});
      busy[{event.device_id, event.stream_id}].push_back({event.start_ns, event.end_ns});
      int64_t size_bytes = 0;
      if (event.work == WorkClass::kCopy) size_bytes = trace.copies[event.index].size_bytes;
      if (event.work == WorkClass::kFill) size_bytes = trace.sets[event.index].size_bytes;
      if (IsPossibleRate(size_bytes, event.duration_ns())) bytes += size_bytes;
      const bool pair = event.IsKernel() && run->work().LaunchOf(event) != kNoLaunch &&
                        !trace.kernels[event.index].graph;
      launches += pair ? 1 : 0;
    }
    const Interval window = run->window();
    for (auto& [place, list] : busy) {
      Interval span = {INT64_MAX, INT64_MIN};
      for (const Interval& own : list) {
        span = {std::min(span.start_ns, own.start_ns), std::max(span.end_ns, own.end_ns)};
      }
      Interval own = window;
      if (place.second != -1) {
        own = {std::max(window.start_ns, span.start_ns), std::min(window.end_ns, span.end_ns)};
      }
      if (own.end_ns <= own.start_ns) continue;
      idle_ns[place] = LengthOf(own) - IntervalSet(std::move(list)).Within(own).length_ns();
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const AllViews&>(other);
    for (size_t i = 0; i < views.size(); ++i) views[i]->Merge(*more.views[i]);
    for (const auto& [place, ns] : more.idle_ns) idle_ns[place] += ns;
    bytes += more.bytes;
    launches += more.launches;
  }
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink*) const override {}

  std::vector<ViewRow> Rows(size_t view) const { return test::RowsOf(*views[view]); }

  std::vector<std::unique_ptr<Partial>> views;
  Places idle_ns;  // Of all streams together with stream -1.
  int64_t bytes = 0;
  int64_t launches = 0;
};

const View kViews = {
    "all", "", kIdleView.needs, kIdleView.fields,
    [](const ViewOptions&) -> std::unique_ptr<Partial> { return std::make_unique<AllViews>(); }};

int64_t Number(const ViewRow& row, const std::string& key) { return std::stoll("0" + row.at(key)); }

void CheckIdle(const AllViews& all, bool streams) {
  Places sums;
  Places parts;
  for (const ViewRow& row : all.Rows(streams ? AllViews::kStreams : AllViews::kIdle)) {
    const std::pair<int64_t, int64_t> place(std::stoll(row.at("device")),
                                            streams ? std::stoll(row.at("stream")) : -1);
    const int64_t idle_ns = Number(row, "idle_ns");
    EXPECT_LE(Number(row, "max_ns"), idle_ns);
    EXPECT_LE(Number(row, "p50_ns"), Number(row, "p95_ns"));
    if (!row.at("window_pct").empty()) {
      EXPECT_LE(std::stod(row.at("window_pct")), 100.0001);
    }
    (row.at("cause") == "(all)" ? sums : parts)[place] += idle_ns;
    parts[place] += 0;
  }
  EXPECT_EQ(sums, parts);
  Places expected;
  for (const auto& [place, ns] : all.idle_ns) {
    if ((place.second != -1) == streams) expected[place] = ns;
  }
  EXPECT_EQ(sums, expected);
}

void CheckQueue(const AllViews& all) {
  for (const ViewRow& row : all.Rows(AllViews::kQueue)) {
    EXPECT_LE(Number(row, "blocked_ns") + Number(row, "starved_ns"), Number(row, "span_ns"));
    int64_t last = 0;
    for (const char* const key : {"min", "p25", "p50", "p75", "max"}) {
      EXPECT_GE(Number(row, key), last) << key;
      last = Number(row, key);
    }
    EXPECT_LE(std::stod(row.at("mean")), static_cast<double>(last));
  }
}

void CheckBandwidth(const AllViews& all) {
  int64_t bytes = 0;
  for (const ViewRow& row : all.Rows(AllViews::kBandwidth)) {
    bytes += Number(row, "bytes");
    EXPECT_GT(Number(row, "time_ns"), 0);
    // The mean over time of what runs is all that was moved.
    EXPECT_LE(std::stod(row.at("min_gbps")), std::stod(row.at("mean_gbps")) * 1.000001 + 1e-9);
    EXPECT_GE(std::stod(row.at("max_gbps")), std::stod(row.at("mean_gbps")) * 0.999999 - 1e-9);
  }
  EXPECT_EQ(bytes, all.bytes);
}

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

TEST(StreamsCorpusTest, TimesAddUp) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t opened = 0;
  for (const std::string& name : Profiles()) {
    SCOPED_TRACE(name);
    std::unique_ptr<Partial> partial;
    try {
      partial = test::PartialOf(kViews, {test::CorpusFile(name).string()});
    } catch (const Error&) {
      continue;  // No profile.
    }
    const auto& all = dynamic_cast<const AllViews&>(*partial);
    CheckIdle(all, false);
    CheckIdle(all, true);
    CheckQueue(all);
    CheckBandwidth(all);
    int64_t launches = 0;
    for (const ViewRow& row : all.Rows(AllViews::kLaunches)) launches += Number(row, "launches");
    EXPECT_EQ(launches, all.launches);
    if (!all.idle_ns.empty()) ++opened;
  }
  EXPECT_GE(opened, 60u);
}

}  // namespace
}  // namespace oplens::prof::streams_corpus_test
