// Sums of modules and of stacks are those of the operators, whatever the profile.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/run/run.h"
#include "prof/views/calls/stacks.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::modules_corpus_test {
namespace {

using test::ViewRow;

/// The three views over one pass.
class Together : public Partial {
 public:
  explicit Together(const ViewOptions& options) {
    ViewOptions of_modules;
    ViewOptions of_stacks;
    for (const std::string& word : options.by) {
      (word == "step" || word == "rank" ? of_modules : of_stacks).by.push_back(word);
    }
    parts_.push_back(kOperatorsView.make({}));
    parts_.push_back(kModulesView.make(of_modules));
    parts_.push_back(kStacksView.make(of_stacks));
  }
  void Begin(const Run* run) override {
    for (const auto& part : parts_) part->Begin(run);
  }
  void Add(const PricedKernel& kernel) override {
    for (const auto& part : parts_) part->Add(kernel);
  }
  void End(const Run* run) override {
    for (const auto& part : parts_) part->End(run);
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Together&>(other);
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->Merge(*more.parts_[i]);
  }
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink*) const override {}
  std::vector<ViewRow> RowsOf(size_t part) const { return test::RowsOf(*parts_[part]); }
  std::string Document() const override { return parts_[2]->Document(); }

 private:
  std::vector<std::unique_ptr<Partial>> parts_;
};

const View kView = {"modules", "", kModulesView.needs, kModulesView.fields,
                    [](const ViewOptions& options) {
                      return std::unique_ptr<Partial>(std::make_unique<Together>(options));
                    }};

int64_t SumOf(const std::vector<ViewRow>& rows, const char* field) {
  int64_t sum = 0;
  for (const ViewRow& row : rows) {
    if (!row.at(field).empty()) sum += std::stoll(row.at(field));
  }
  return sum;
}

int64_t SumOfLines(const std::string& document) {
  std::istringstream lines(document);
  std::string line;
  int64_t sum = 0;
  while (std::getline(lines, line)) {
    const size_t blank = line.find(' ');
    EXPECT_EQ(blank, line.rfind(' ')) << line;
    EXPECT_NE(line.substr(blank + 1), "0") << line;
    sum += std::stoll(line.substr(blank + 1));
  }
  return sum;
}

void ExpectModules(const std::vector<ViewRow>& modules, const std::vector<ViewRow>& operators) {
  EXPECT_EQ(SumOf(modules, "device_self_ns") + SumOf(modules, "bwd_device_self_ns") +
                SumOf(modules, "comm_self_ns"),
            SumOf(operators, "device_self_ns"));
  EXPECT_EQ(SumOf(modules, "host_self_ns") + SumOf(modules, "bwd_host_self_ns"),
            SumOf(operators, "host_self_ns"));
  const int64_t collectives = SumOf(modules, "collectives");
  EXPECT_EQ(SumOf(modules, "launches") + collectives, SumOf(operators, "launches"));
  // Of what communicates they are no module's.
  for (const char* field : {"flops", "bytes"}) {
    const int64_t sum = SumOf(modules, field);
    EXPECT_LE(sum, SumOf(operators, field)) << field;
    if (collectives == 0) {
      EXPECT_EQ(sum, SumOf(operators, field)) << field;
    }
  }
  EXPECT_EQ(SumOf(modules, "ops"), SumOf(operators, "calls"));
  // The outermost have all that is in modules.
  for (const char* time : {"device", "host", "bwd_device", "bwd_host", "comm"}) {
    int64_t outermost_ns = 0;
    for (const ViewRow& row : modules) {
      const int64_t total_ns = std::stoll(row.at(std::string(time) + "_total_ns"));
      EXPECT_GE(total_ns, std::stoll(row.at(std::string(time) + "_self_ns")));
      if (row.at("level").empty() || row.at("level") == "0") outermost_ns += total_ns;
    }
    EXPECT_EQ(outermost_ns, SumOf(modules, (std::string(time) + "_self_ns").c_str())) << time;
  }
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
  const auto& all = dynamic_cast<const Together&>(*partial);
  const std::vector<ViewRow> operators = all.RowsOf(0);
  ExpectModules(all.RowsOf(1), operators);
  const std::vector<ViewRow> stacks = all.RowsOf(2);
  for (const char* field : {"host_self_ns", "device_self_ns", "launches"}) {
    EXPECT_EQ(SumOf(stacks, field), SumOf(operators, field)) << field;
  }
  const bool host = std::find(by.begin(), by.end(), "host") != by.end();
  EXPECT_EQ(SumOfLines(all.Document()), SumOf(operators, host ? "host_self_ns" : "device_self_ns"));
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

TEST(ModulesCorpusTest, SumsAreThoseOfTheOperators) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  size_t opened = 0;
  for (const char* kind : {"kineto", "nsys", "nvprof"}) {
    for (const std::string& path : Profiles(kind)) opened += ExpectSums(path, {}) ? 1u : 0u;
  }
  EXPECT_GE(opened, 50u);
}

TEST(ModulesCorpusTest, HoweverTheyAreSplit) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  for (const char* kind : {"nsys", "nvprof"}) {
    for (const std::string& path : Profiles(kind))
      ExpectSums(path, {"step", "rank", "host", "layer"});
  }
  ExpectSums((test::CorpusDir().path / "kineto/h100/vit_nsfw.json.gz").string(),
             {"step", "rank", "host", "layer"});
}

/// Host time by module, those of one path joined by ':'.
std::map<std::string, int64_t> HostTimes(const std::vector<ViewRow>& rows, const char* key,
                                         const std::vector<std::string>& fields) {
  std::map<std::string, int64_t> times;
  for (const ViewRow& row : rows) {
    std::string path = row.at(key) == "(no module)" ? "" : row.at(key);
    std::replace(path.begin(), path.end(), '/', ':');
    for (const std::string& field : fields) {
      if (!row.at(field).empty()) times[path] += std::stoll(row.at(field));
    }
  }
  std::erase_if(times, [](const auto& time) { return time.second == 0; });
  return times;
}

// What the operators say of layers, which finds them in another way.
TEST(ModulesCorpusTest, TimesAreThoseOfTheLayersOfOperators) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  const View& kOperators = kOperatorsView;
  const View& kModules = kModulesView;
  for (const char* name : {"b200/eager_rank0", "h100/bert_small", "h100/timesformer",
                           "switch_moe/moe_train", "xdit_flux/capture_compiled"}) {
    SCOPED_TRACE(name);
    const std::string path =
        (test::CorpusDir().path / "kineto" / (std::string(name) + ".json.gz")).string();
    const auto modules = test::PartialOf(kModules, {path});
    const auto operators = test::PartialOf(kOperators, {path}, {.by = {"layer"}});
    const auto found =
        HostTimes(test::RowsOf(*modules), "path", {"host_self_ns", "bwd_host_self_ns"});
    EXPECT_GE(found.size(), 10u);
    EXPECT_EQ(found, HostTimes(test::RowsOf(*operators), "layer", {"host_self_ns"}));
  }
}

}  // namespace
}  // namespace oplens::prof::modules_corpus_test
