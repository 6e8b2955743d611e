// `parse --format chrome`: a timeline of what the records say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::chrome_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

json Timeline(const fs::path& profile) {
  const RunResult result = RunParse({"--format", "chrome", profile.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

int64_t Ns(const json& us) { return std::llround(us.get<double>() * 1000); }

/// Kernel slices and their calls are those of the records.
void ExpectSameKernels(const fs::path& profile) {
  const std::vector<json> records = Records(profile);
  int64_t record_ns = 0;
  int64_t launched = 0;
  for (const json& record : records) {
    record_ns += record.at("kDuration").get<int64_t>();
    launched += record.at("launch").is_null() ? 0 : 1;
  }
  int64_t kernels = 0;
  int64_t ns = 0;
  std::set<int64_t> calls;
  std::map<std::string, std::set<int64_t>> arrows;
  std::set<int64_t> kernel_calls;
  int64_t linked = 0;
  const json timeline = Timeline(profile);
  for (const json& event : timeline.at("traceEvents")) {
    const std::string category = event.value("cat", "");
    const bool call = category == "cuda_runtime" || category == "cuda_driver";
    if (call) calls.insert(event.at("args").at("correlation").get<int64_t>());
    if (category == "ac2g") {
      arrows[event.at("ph").get<std::string>()].insert(event.at("id").get<int64_t>());
    }
    if (category != "kernel") continue;
    ++kernels;
    ns += Ns(event.at("dur"));
    linked += calls.contains(event.at("args").value("correlation", int64_t{-1})) ? 1 : 0;
  }
  EXPECT_EQ(kernels, static_cast<int64_t>(records.size()));
  EXPECT_EQ(ns, record_ns);
  EXPECT_EQ(linked, launched);
  EXPECT_EQ(arrows["s"], arrows["f"]);
}

/// Slices of a track lie inside each other or apart, but for ranges that were never closed.
void ExpectNested(const fs::path& profile) {
  struct Slice {
    int64_t start;
    int64_t end;
  };
  std::map<std::pair<int64_t, int64_t>, std::vector<Slice>> tracks;
  const json timeline = Timeline(profile);
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    if (event.contains("args") && event.at("args").contains("open")) continue;
    const int64_t start = Ns(event.at("ts"));
    tracks[{event.at("pid"), event.at("tid")}].push_back({start, start + Ns(event.at("dur"))});
  }
  int64_t inner = 0;
  for (auto& [track, slices] : tracks) {
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::pair(a.start, b.end) < std::pair(b.start, a.end);
    });
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end <= slice.start) open.pop_back();
      if (!open.empty()) {
        ++inner;
        EXPECT_LE(slice.end, open.back().end) << track.first << " " << slice.start;
      }
      open.push_back(slice);
    }
  }
  EXPECT_GT(inner, 0);
}

TEST(Chrome, KernelsAreThoseOfTheRecords) { ExpectSameKernels(kDemo); }

TEST(Chrome, SlicesAreNested) { ExpectNested(kDemo); }

TEST(ChromeCorpus, SlicesAreNested) {
  OPLENS_NEED_CORPUS();
  ExpectNested(CorpusFile("nvprof/lm.sql"));
}

/// A timeline is a trace too: read back, it has the kernels of the profile, with their calls and
/// ops.
void ExpectRoundTrip(const fs::path& profile) {
  const fs::path file = TestDir() / "net.json.gz";
  ASSERT_EQ(RunParse({"--format", "chrome", "-o", file.string(), profile.string()}).exit_code, 0);
  const std::vector<json> before = Records(profile);
  const std::vector<json> after = Records(file);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    for (const char* key :
         {"kShortName", "kLongName", "kDuration", "tid",      "pid",      "device",
          "deviceName", "stream",    "context",   "grid",     "block",    "registers",
          "corrId",     "launch",    "op",        "mod",      "marker",   "layer",
          "trace",      "range",     "seqId",     "altSeqId", "subSeqId", "dir"}) {
      EXPECT_EQ(after[i].at(key), before[i].at(key)) << key << " of kernel " << i;
    }
    if (before[i].at("launch").is_null()) continue;
    const auto delay = [](const json& record) {
      return record.at("kStart").get<int64_t>() - record.at("launchStart").get<int64_t>();
    };
    EXPECT_EQ(delay(after[i]), delay(before[i]));
  }
}

TEST(Chrome, ReadsBackAsTheSameRecords) { ExpectRoundTrip(kDemo); }

TEST(ChromeCorpus, ReadsBackAsTheSameRecords) {
  OPLENS_NEED_CORPUS();
  ExpectRoundTrip(CorpusFile("nvprof/lm.sql"));
}

TEST(ChromeCorpus, TracesOfPyTorchReadBackToo) {
  OPLENS_NEED_CORPUS();
  for (const char* name : {"kineto/h100/bert_small.json", "kineto/b200/eager_rank0.json"}) {
    ExpectSameKernels(CorpusFile(name));
  }
  ExpectRoundTrip(CorpusFile("kineto/h100/bert_small.json"));
}

TEST(ChromeCorpus, KernelsAreThoseOfTheRecords) {
  OPLENS_NEED_CORPUS();
  ExpectSameKernels(CorpusFile("nvprof/lm.sql"));
  ExpectSameKernels(CorpusFile("nsys/mmagic.sqlite"));
  ExpectSameKernels(CorpusFile("nsys/saxpy_mpi.sqlite"));
}

TEST(ChromeCorpus, ShowsEveryCall) {
  OPLENS_NEED_CORPUS();
  const std::pair<const char*, size_t> kFiles[] = {
      {"nvprof/lm.sql", 1968}, {"nsys/saxpy_mpi.sqlite", 57}, {"kineto/h100/bert_small.json", 132}};
  for (const auto& [name, expected] : kFiles) {
    std::set<int64_t> correlations;
    const json timeline = Timeline(CorpusFile(name));
    for (const json& event : timeline.at("traceEvents")) {
      const std::string category = event.value("cat", "");
      if (category != "cuda_runtime" && category != "cuda_driver") continue;
      correlations.insert(event.at("args").at("correlation").get<int64_t>());
    }
    EXPECT_EQ(correlations.size(), expected) << name;
  }
}

/// The rows of a view of a profile.
std::vector<json> RowsOfView(const std::vector<std::string>& view, const fs::path& profile) {
  std::vector<std::string> arguments = {"--quiet", "--json", profile.string(), "--view"};
  arguments.insert(arguments.end(), view.begin(), view.end());
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

/// The values of a counter, by their time.
std::vector<std::pair<int64_t, double>> Counter(const json& timeline, const std::string& name) {
  std::vector<std::pair<int64_t, double>> values;
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("ph") != "C" || event.at("name") != name) continue;
    values.emplace_back(Ns(event.at("ts")), event.at("args").begin()->get<double>());
  }
  return values;
}

TEST(Chrome, CountersAreThoseOfTheViews) {
  const json timeline = Timeline(kDemo);
  const auto utilisation = Counter(timeline, "GPU utilisation");
  ASSERT_GE(utilisation.size(), 2u);
  double busy_ns = 0;
  for (size_t i = 0; i + 1 < utilisation.size(); ++i) {
    EXPECT_GE(utilisation[i].second, 0);
    EXPECT_LE(utilisation[i].second, 100);
    busy_ns += utilisation[i].second / 100 *
               static_cast<double>(utilisation[i + 1].first - utilisation[i].first);
  }
  const json idle = RowsOfView({"idle"}, kDemo).at(0);
  ASSERT_EQ(idle.at("cause"), "(all)");
  const double idle_ns = idle.at("idle_ns").get<double>();
  const double window_ns = idle_ns * 100 / idle.at("window_pct").get<double>();
  EXPECT_NEAR(busy_ns, window_ns - idle_ns, window_ns * 1e-3);
  EXPECT_EQ(utilisation.back().second, 0);

  const json queue = RowsOfView({"queue"}, kDemo).at(0);
  double longest = 0;
  const std::string name = "queue length of stream " + queue.at("stream").dump();
  for (const auto& [time_ns, length] : Counter(timeline, name)) longest = std::max(longest, length);
  EXPECT_EQ(longest, queue.at("max").get<double>());

  const json copies = RowsOfView({"bandwidth"}, kDemo).at(0);
  double fastest = 0;
  for (const auto& [time_ns, rate] :
       Counter(timeline, "bandwidth of " + copies.at("kind").get<std::string>())) {
    fastest = std::max(fastest, rate);
  }
  EXPECT_NEAR(fastest, copies.at("max_gbps").get<double>(), 0.01);
}

TEST(Chrome, TheCriticalPathGoesWhereTheViewSays) {
  size_t changes = 0;
  json before;
  for (const json& edge : RowsOfView({"critical-path", "--by", "edge"}, kDemo)) {
    const json place = {edge.at("step"), edge.at("thread"), edge.at("device"), edge.at("stream")};
    if (edge.at("thread").is_null() && edge.at("stream").is_null()) continue;
    if (!before.is_null() && before[0] == place[0] && before != place) ++changes;
    before = place;
  }
  using Moments = std::map<int64_t, json>;
  Moments starts;
  Moments ends;
  const json timeline = Timeline(kDemo);
  for (const json& event : timeline.at("traceEvents")) {
    if (event.value("cat", "") != "critical_path") continue;
    (event.at("ph") == "s" ? starts : ends)[event.at("id").get<int64_t>()] = event;
  }
  EXPECT_GT(changes, 0u);
  EXPECT_EQ(starts.size(), changes);
  ASSERT_EQ(ends.size(), changes);
  for (const auto& [id, start] : starts) {
    const json& end = ends.at(id);
    EXPECT_EQ(start.at("ts"), end.at("ts"));
    EXPECT_FALSE(start.at("pid") == end.at("pid") && start.at("tid") == end.at("tid"));
    EXPECT_FALSE(start.at("args").at("cause").get<std::string>().empty());
  }
}

TEST(Chrome, IsPackedByTheNameOfTheOutput) {
  const fs::path plain = TestDir() / "net.json";
  const fs::path packed = TestDir() / "net.json.gz";
  for (const fs::path& out : {plain, packed}) {
    EXPECT_EQ(RunParse({"--format", "chrome", "-o", out.string(), kDemo}).exit_code, 0);
  }
  EXPECT_LT(fs::file_size(packed), fs::file_size(plain) / 2);
  EXPECT_EQ(RunProgram({"/bin/gzip", "-dc", packed.string()}).out, ReadFile(plain));
}

TEST(Chrome, IsTheSameEveryTime) {
  EXPECT_EQ(RunParse({"--format", "chrome", kDemo}).out,
            RunParse({"--format", "chrome", kDemo}).out);
}

TEST(Chrome, AFolderIsOneTimeline) {
  const fs::path dir = TestDir();
  for (const char* name : {"a.sql", "b.sql"}) {
    SmallProfile profile;
    profile.AnnotatedKernel("add", 1, name);
    profile.builder.Write(dir / name);
  }
  std::set<int64_t> pids;
  std::vector<std::string> kernels;
  const json timeline = Timeline(dir);
  for (const json& event : timeline.at("traceEvents")) {
    if (event.value("cat", "") != "kernel") continue;
    pids.insert(event.at("pid").get<int64_t>());
    kernels.push_back(event.at("name"));
  }
  EXPECT_THAT(kernels, testing::ElementsAre("a.sql", "b.sql"));
  EXPECT_EQ(pids.size(), 2u);
}

/// `prof --chrome` has what parse writes, and of each kernel what prof prints of it.
TEST(Chrome, HasCosts) {
  const RunResult result = RunProf({"--chrome", "-c", "flops,params,bound,tc", kDemo});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> rows = ProfRows(kDemo, {"-c", "flops,params,bound,tc"});
  const json plain = Timeline(kDemo);
  json priced = json::parse(result.out);
  size_t kernel = 0;
  for (json& event : priced.at("traceEvents")) {
    if (event.value("cat", "") != "kernel") continue;
    json& arguments = event.at("args");
    const json& row = rows.at(kernel++);
    for (const char* const key : {"flops", "params", "bound", "tc"}) {
      EXPECT_EQ(arguments.value(key, json()), row.at(key)) << kernel << " " << key;
      arguments.erase(key);
    }
  }
  EXPECT_EQ(kernel, rows.size());
  EXPECT_EQ(priced, plain);
}

TEST(Chrome, TakesProfilesOnly) {
  const fs::path records = TestDir() / "demo.dict";
  std::string lines;
  for (const std::string& line : DictLines(kDemo)) lines += line + "\n";
  WriteFile(records, lines);
  RunResult result = RunProf({"--chrome", records.string()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "prof: " + records.string() +
                            ": holds records, not a timeline; give the profile itself to "
                            "--chrome\n");
  result = RunProf({"--chrome"}, {.stdin_path = records});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, testing::HasSubstr("holds records, not a timeline"));
  EXPECT_EQ(RunProf({"--chrome", "--by", "op", kDemo}).exit_code, 2);
  EXPECT_EQ(RunProf({"--chrome", "--csv", kDemo}).exit_code, 2);
}

}  // namespace
}  // namespace oplens::test::chrome_test
