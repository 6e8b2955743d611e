// What must hold of the critical paths of every profile.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"
#include "test/views/path_checks.h"

namespace oplens::prof::critical_path_corpus_test {
namespace {

namespace fs = std::filesystem;

/// Checks the paths of a run, and makes no rows.
class Checks : public Partial {
 public:
  void End(const Run* run) override {
    if (run != nullptr) CheckPaths(*run);
  }
  void Merge(const Partial& /*other*/) override {}
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink* /*sink*/) const override {}
};

std::unique_ptr<Partial> MakeChecks(const ViewOptions& /*options*/) {
  return std::make_unique<Checks>();
}

const View kChecks = {.name = "checks",
                      .help = "",
                      .needs = kCriticalPathNeeds,
                      .fields = kCriticalPathView.fields,
                      .make = MakeChecks};

TEST(CriticalPathCorpusTest, EveryProfile) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  const fs::path corpus = test::CorpusDir().path;
  size_t opened = 0;
  for (const char* const family : {"kineto", "nsys", "nvprof"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpus / family)) {
      const std::string name = fs::relative(entry.path(), corpus).string();
      if (!name.ends_with(".gz") || name.find("/golden/") != std::string::npos) continue;
      SCOPED_TRACE(name);
      try {
        const std::string path = test::CorpusFile(name.substr(0, name.size() - 3)).string();
        test::PartialOf(kChecks, {path});
        ++opened;
      } catch (const Error&) {
        continue;  // No profile.
      }
    }
  }
  EXPECT_GE(opened, 60u);
}

/// What else is read of a profile changes nothing.
TEST(CriticalPathCorpusTest, OtherPartsOfATraceChangeNothing) {
  OPLENS_NEED_CORPUS();
  const View& kView = kCriticalPathView;
  const View kAllRead = {.name = "critical-path",
                         .help = "",
                         .needs = TraceNeeds::All(),
                         .fields = kCriticalPathView.fields,
                         .make = kCriticalPathView.make};
  for (const char* const name :
       {"kineto/critical_path/event_sync.json", "kineto/llama_tp2/rank0.json", "nvprof/lm.sql",
        "nsys/llama_stream.sqlite"}) {
    SCOPED_TRACE(name);
    const std::string path = test::CorpusFile(name).string();
    const auto rows = test::RowsOf(*test::PartialOf(kView, {path}));
    EXPECT_FALSE(rows.empty());
    EXPECT_EQ(rows, test::RowsOf(*test::PartialOf(kAllRead, {path})));
  }
}

}  // namespace
}  // namespace oplens::prof::critical_path_corpus_test
