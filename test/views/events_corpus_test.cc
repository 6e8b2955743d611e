#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/torch/views.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/views/calls/events.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::events_corpus_test {
namespace {

using test::ViewRow;

/// Views of one input, which is read once.
class Several : public Partial {
 public:
  explicit Several(const ViewOptions&) {
    parts_.push_back(kOperatorsView.make({}));
    parts_.push_back(kEventsView.make({}));
    parts_.push_back(MakeTorchEvents<kTorch113>({}));
  }
  void Begin(const Run* run) override {
    for (const auto& part : parts_) part->Begin(run);
  }
  void Add(const PricedKernel& kernel) override {
    for (const auto& part : parts_) part->Add(kernel);
  }
  void AddReplay(const PricedKernel& replay) override {
    for (const auto& part : parts_) part->AddReplay(replay);
  }
  void End(const Run* run) override {
    for (const auto& part : parts_) part->End(run);
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Several&>(other);
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->Merge(*more.parts_[i]);
  }
  std::vector<Field> Fields() const override { return parts_[0]->Fields(); }
  void Emit(Sink* sink) const override { parts_[0]->Emit(sink); }
  std::vector<ViewRow> Operators() const { return test::RowsOf(*parts_[0]); }
  std::vector<ViewRow> Events() const { return test::RowsOf(*parts_[1]); }
  const Partial& torch() const { return *parts_[2]; }

 private:
  std::vector<std::unique_ptr<Partial>> parts_;
};

const View kView = {"events", "", kEventsView.needs, kEventsView.fields,
                    [](const ViewOptions& options) {
                      return std::unique_ptr<Partial>(std::make_unique<Several>(options));
                    }};

int64_t NumberIn(const ViewRow& row, const std::string& field) {
  const std::string& text = row.at(field);
  return text.empty() ? 0 : std::stoll(text);
}

/// Sums over the rows of one kind.
struct Sums {
  int64_t host_self_ns = 0;
  int64_t device_self_ns = 0;
};
Sums SumsOf(const std::vector<ViewRow>& rows, const std::string& kind) {
  Sums sums;
  for (const ViewRow& row : rows) {
    if (!kind.empty() && row.at("kind") != kind) continue;
    sums.host_self_ns += NumberIn(row, "host_self_ns");
    sums.device_self_ns += NumberIn(row, "device_self_ns");
  }
  return sums;
}

/// Whether the file could be opened.
bool ExpectSums(const std::string& path) {
  SCOPED_TRACE(path);
  std::unique_ptr<Partial> partial;
  try {
    partial = test::PartialOf(kView, {path});
  } catch (const Error&) {
    return false;  // No profile, or one that is refused.
  }
  const auto& views = dynamic_cast<const Several&>(*partial);
  const std::vector<ViewRow> operators = views.Operators();
  const std::vector<ViewRow> events = views.Events();
  std::map<std::string, ViewRow> calls;
  for (const ViewRow& row : events) {
    if (row.at("kind") == "call") calls[row.at("name")] = row;
    EXPECT_LE(NumberIn(row, "device_self_ns"), NumberIn(row, "device_total_ns"));
    EXPECT_LE(NumberIn(row, "host_self_ns"), NumberIn(row, "host_total_ns"));
  }
  for (const ViewRow& row : operators) {
    // Kernels that no call launched.
    if (row.at("op") == "(unattributed)" || row.at("op").ends_with(kInferredMark)) continue;
    SCOPED_TRACE(row.at("op"));
    for (const char* const field : {"calls", "host_self_ns", "device_self_ns"}) {
      EXPECT_EQ(calls[row.at("op")][field], row.at(field)) << field;
    }
  }
  const Sums all = SumsOf(operators, "");
  EXPECT_EQ(SumsOf(events, "call").host_self_ns, all.host_self_ns);
  EXPECT_EQ(SumsOf(events, "device").device_self_ns, all.device_self_ns);
  const std::vector<ViewRow> torch = test::RowsOf(views.torch());
  EXPECT_EQ(SumsOf(torch, "device").device_self_ns, all.device_self_ns);
  // By PyTorch's rules calls that cross inside of another would be taken off it twice, and
  // outermost calls that it leaves out would be lost; no file has such.
  EXPECT_EQ(SumsOf(torch, "call").host_self_ns, all.host_self_ns);
  EXPECT_EQ(views.torch().Document().empty(), torch.empty());
  return true;
}

TEST(EventsCorpusTest, SelfTimesAreThoseOfOperators) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t opened = 0;
  const std::string_view kPacked = ".gz";
  for (const char* const kind : {"kineto", "nsys", "nvprof"}) {
    const std::filesystem::path folder = test::CorpusDir().path / kind;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.find("/golden/") != std::string::npos ||
          path.ends_with(".md")) {
        continue;
      }
      const std::string name = entry.path().filename().string();
      const bool packed = kind != std::string_view("kineto") && name.ends_with(kPacked);
      const std::string bare = std::string(kind) + "/" + name.substr(0, name.size() - 3);
      opened += ExpectSums(packed ? test::CorpusFile(bare).string() : path) ? 1u : 0u;
    }
  }
  EXPECT_GE(opened, 50u);
}

}  // namespace
}  // namespace oplens::prof::events_corpus_test
