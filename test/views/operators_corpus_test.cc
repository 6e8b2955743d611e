#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::operators_corpus_test {
namespace {

using test::ViewRow;

/// The operators, and what all device events took.
class WithDeviceTime : public Partial {
 public:
  explicit WithDeviceTime(const ViewOptions& options) : operators_(kOperatorsView.make(options)) {}
  void Begin(const Run* run) override { operators_->Begin(run); }
  void Add(const PricedKernel& kernel) override { operators_->Add(kernel); }
  void AddReplay(const PricedKernel& replay) override { operators_->AddReplay(replay); }
  void End(const Run* run) override {
    operators_->End(run);
    if (run == nullptr) return;
    events_ += static_cast<int64_t>(run->work().events().size());
    for (const DeviceEvent& event : run->work().events()) device_ns_ += event.duration_ns();
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const WithDeviceTime&>(other);
    operators_->Merge(*more.operators_);
    device_ns_ += more.device_ns_;
    events_ += more.events_;
  }
  std::vector<Field> Fields() const override { return operators_->Fields(); }
  void Emit(Sink* sink) const override { operators_->Emit(sink); }
  int64_t device_ns() const { return device_ns_; }
  int64_t events() const { return events_; }

 private:
  std::unique_ptr<Partial> operators_;
  int64_t device_ns_ = 0;
  int64_t events_ = 0;
};

const View kView = {"operators", "", kOperatorsView.needs, kOperatorsView.fields,
                    [](const ViewOptions& options) {
                      return std::unique_ptr<Partial>(std::make_unique<WithDeviceTime>(options));
                    }};

int64_t NumberIn(const ViewRow& row, const char* field) {
  const std::string& text = row.at(field);
  return text.empty() ? 0 : std::stoll(text);
}

/// Whether the file could be opened.
bool ExpectSums(const std::string& path, const std::vector<std::string>& by) {
  SCOPED_TRACE(path);
  std::unique_ptr<Partial> partial;
  try {
    partial = test::PartialOf(kView, {path}, {.by = by});
  } catch (const Error&) {
    return false;  // No profile, or one that is refused.
  }
  int64_t device_ns = 0;
  int64_t launches = 0;
  for (const ViewRow& row : test::RowsOf(*partial)) {
    SCOPED_TRACE(row.at("op"));
    device_ns += NumberIn(row, "device_self_ns");
    launches += NumberIn(row, "launches");
    EXPECT_LE(NumberIn(row, "device_self_ns"), NumberIn(row, "device_total_ns"));
    EXPECT_LE(NumberIn(row, "device_busy_ns"), NumberIn(row, "device_self_ns"));
    // A row's calls inside its own calls are in the self times, but not in the total again.
    EXPECT_LE(NumberIn(row, "host_self_ns"), NumberIn(row, "host_total_ns"));
    EXPECT_LE(NumberIn(row, "p50_ns"), NumberIn(row, "p95_ns"));
  }
  const auto& whole = dynamic_cast<const WithDeviceTime&>(*partial);
  EXPECT_EQ(device_ns, whole.device_ns());
  EXPECT_EQ(launches, whole.events());
  return true;
}

/// Files of the corpus; databases are unpacked.
std::vector<std::string> Profiles(const std::string& kind) {
  const std::string_view kPacked = ".gz";
  const std::filesystem::path folder = test::CorpusDir().path / kind;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const bool golden = path.find("/golden/") != std::string::npos;
    if (!entry.is_regular_file() || golden || path.ends_with(".md")) continue;
    if (kind == "kineto" || !path.ends_with(kPacked)) {
      paths.push_back(path);
    } else {
      const std::string name = entry.path().filename().string();
      paths.push_back(
          test::CorpusFile(kind + "/" + name.substr(0, name.size() - kPacked.size())).string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(OperatorsCorpusTest, EveryDeviceEventIsInOneRow) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t opened = 0;
  for (const char* kind : {"kineto", "nsys", "nvprof"}) {
    for (const std::string& path : Profiles(kind)) opened += ExpectSums(path, {}) ? 1u : 0u;
  }
  EXPECT_GE(opened, 50u);
}

TEST(OperatorsCorpusTest, HoweverRowsAreSplit) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  for (const std::string& path : Profiles("kineto")) {
    ExpectSums(path, {"phase", "layer", "shape", "stack", "step", "rank"});
  }
}

}  // namespace
}  // namespace oplens::prof::operators_corpus_test
