// Where an event or a row stands in its file says nothing: shuffled files give the same bytes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/nsys_builder.h"
#include "test/support/test_files.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::row_order_test {
namespace {

namespace fs = std::filesystem;

/// What stands in a JSON list between the commas, from behind its bracket.
std::vector<std::string_view> ItemsOfList(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      continue;
    }
    const bool closes = c == ']' || c == '}';
    if (depth == 0 && (c == ',' || closes)) {
      items.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      if (closes) break;
    }
    depth += c == '[' || c == '{' ? 1 : closes ? -1 : 0;
  }
  return items;
}

std::string ShuffleEvents(const std::string& trace, uint32_t seed) {
  constexpr std::string_view kEvents = "\"traceEvents\"";
  const size_t begin = trace.find('[', trace.find(kEvents)) + 1;
  std::vector<std::string_view> events = ItemsOfList(std::string_view(trace).substr(begin));
  const size_t size =
      static_cast<size_t>(events.back().data() + events.back().size() - &trace[begin]);
  std::mt19937 random(seed);
  std::shuffle(events.begin(), events.end(), random);
  return fmt::format("{}{}{}", std::string_view(trace).substr(0, begin), fmt::join(events, ","),
                     std::string_view(trace).substr(begin + size));
}

/// All that is printed of a profile.
std::vector<std::pair<std::string, std::string>> OutputsOf(const fs::path& profile) {
  const std::string file = profile.string();
  std::vector<std::pair<std::string, std::string>> outputs;
  const auto add = [&](const std::string& name, const RunResult& result) {
    outputs.emplace_back(name, fmt::format("{}\n{}", result.exit_code, result.out));
  };
  add("dict", RunParse({file}));
  add("jsonl", RunParse({"--format", "jsonl", file}));
  add("chrome", RunParse({"--format", "chrome", file}));
  add("csv", RunProf({"-c", "all", "--csv", file}));
  add("copies", RunProf({"--copies", "--csv", file}));
  add("views", RunProf({"--view", "all", "--json", file}));
  return outputs;
}

void ExpectSameOutputs(const fs::path& a, const fs::path& b) {
  const auto of_a = OutputsOf(a);
  const auto of_b = OutputsOf(b);
  for (size_t i = 0; i < of_a.size(); ++i) {
    // Without the texts, which may be of other people's files.
    EXPECT_TRUE(of_a[i] == of_b[i]) << of_a[i].first << " of " << b;
  }
}

void ExpectSameInAnyOrder(const std::string& trace) {
  const auto write = [](const std::string& folder, const std::string& text) {
    fs::create_directory(TestDir() / folder);
    WriteFile(TestDir() / folder / "trace.json", text);
    return TestDir() / folder / "trace.json";
  };
  const fs::path whole = write("whole", trace);
  for (const uint32_t seed : {1u, 2u}) {
    const std::string shuffled = ShuffleEvents(trace, seed);
    ASSERT_EQ(shuffled.size(), trace.size());
    ASSERT_NE(shuffled, trace);
    ExpectSameOutputs(whole, write(fmt::format("seed_{}", seed), shuffled));
  }
}

/// Ops of equal times around a launch, one inside the other.
void AddEqualOps(int64_t start_ns, const std::vector<std::pair<std::string, KinetoArgs>>& ops,
                 KinetoBuilder* builder) {
  for (const auto& [name, args] : ops)
    builder->AddHost("cpu_op", name, start_ns, 9'000, 1234, args);
  builder->Launch({.name = "kernel_" + ops.front().first, .start_ns = start_ns + 20'000},
                  start_ns + 1'000);
}

KinetoArgs KinetoIds(int64_t index, int64_t external) {
  KinetoArgs args;
  if (index >= 0) args.emplace_back("Ev Idx", std::to_string(index));
  if (external >= 0) args.emplace_back("External id", std::to_string(external));
  return args;
}

std::string TraceOfEqualTimes() {
  KinetoBuilder builder({.whole_microseconds = true});
  // The order that the ids tell, against that of the names.
  AddEqualOps(100'000, {{"aten::linear", KinetoIds(7, 1)}, {"aten::addmm", KinetoIds(8, 2)}},
              &builder);
  AddEqualOps(200'000, {{"aten::zeros", KinetoIds(-1, 3)}, {"aten::fill_", KinetoIds(-1, 4)}},
              &builder);
  AddEqualOps(300'000, {{"aten::item", {}}, {"aten::_local_scalar_dense", {}}}, &builder);
  builder.AddHost("user_annotation", "ProfilerStep#1", 90'000, 400'000);
  builder.AddHost("user_annotation", "part", 90'000, 400'000);
  builder.AddHost("python_function", "nn.Module: Net_0", 90'000, 400'000);
  builder.AddHost("python_function", "net.py(3): forward", 90'000, 400'000);
  // Kernels that begin at once on two streams.
  const int64_t call = builder.AddCall("cudaGraphLaunch", 420'000, 5'000);
  for (const int64_t stream : {7, 20, 21}) {
    builder.AddKernel({.name = fmt::format("replayed_{}", stream),
                       .start_ns = 430'000,
                       .duration_ns = 3'000,
                       .correlation = call,
                       .stream = stream});
  }
  for (const int64_t i : {0, 1, 2}) {
    const KinetoArgs args = {{"device", "0"}, {"context", "1"}, {"stream", "7"}, {"bytes", "64"}};
    builder.AddDevice("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 440'000 + i * 3'000, 1'000,
                      args);
    builder.AddDevice("gpu_memset", "Memset (Device)", 450'000 + i * 3'000, 1'000, args);
  }
  for (int64_t i = 0; i < 4; ++i) {
    builder.AddInstant("[memory]", 150'000,
                       {{"Bytes", i % 2 == 0 ? "512" : "-512"},
                        {"Addr", "4096"},
                        {"Device Type", "1"},
                        {"Device Id", "0"},
                        {"Total Allocated", i % 2 == 0 ? "1024" : "512"},
                        {"Ev Idx", std::to_string(20 + i)}});
  }
  // An id of arrows that is used again.
  for (const int64_t start_ns : {100'000, 300'000}) {
    builder.AddFlow("s", 5, start_ns, 1234);
    builder.AddFlow("f", 5, start_ns + 50'000, 1234);
  }
  for (const char* name : {"thread 1234 (python)", "thread 1234 (main thread)"})
    builder.AddName("thread_name", KinetoBuilder::kProcess, 1234, name);
  return builder.Text();
}

TEST(EventOrder, DecidesNothingAtEqualTimes) { ExpectSameInAnyOrder(TraceOfEqualTimes()); }

// "Ev Idx" first, then "External id": what is inside has launched the kernel.
TEST(EventOrder, FollowsTheIds) {
  const fs::path file = TestDir() / "trace.json";
  WriteFile(file, ShuffleEvents(TraceOfEqualTimes(), 4));
  const auto stacks = [&] { return RunProf({"--view", "stacks", "--json", file.string()}).out; };
  EXPECT_NE(stacks().find("aten::linear;aten::addmm\""), std::string::npos) << stacks();
  EXPECT_NE(stacks().find("aten::zeros;aten::fill_\""), std::string::npos) << stacks();
}

// Our own timeline keeps the order, in which names say nothing.
TEST(EventOrder, IsKeptByTheTimeline) {
  const fs::path trace = TestDir() / "trace.json";
  const fs::path timeline = TestDir() / "timeline.json";
  WriteFile(trace, TraceOfEqualTimes());
  ASSERT_EQ(RunParse({"--format", "chrome", "-o", timeline.string(), trace.string()}).exit_code, 0);
  const auto stacks = [](const fs::path& file) {
    return RunProf({"--view", "stacks", "--csv", file.string()}).out;
  };
  EXPECT_EQ(stacks(timeline), stacks(trace));
}

class EventOrderOfCorpus : public testing::TestWithParam<const char*> {};

TEST_P(EventOrderOfCorpus, DecidesNothing) {
  OPLENS_NEED_CORPUS();
  SKIP_WITH_SANITIZERS();
  ExpectSameInAnyOrder(ReadFile(CorpusFile(std::string("kineto/") + GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    Kineto, EventOrderOfCorpus,
    testing::Values("critical_path/alexnet.json", "critical_path/event_sync.json",
                    "cpu_only/rank_non_gpu.json", "ddp_sampled_w128/rank0.json",
                    "dlrm_w8/rank0.json", "dlrm_w8/rank1.json",
                    "gpu_user_annotation/gp100_steps.json", "h100/bert_small.json",
                    "sam_amg/compiled_triton.json", "switch_moe/moe_train_early.json"));

// As nvprof's row ids are moved, so the rows of an export.
void ShuffleExport(const fs::path& path, bool ranges) {
  for (const char* table :
       {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "TARGET_INFO_GPU", "ThreadNames", "PROCESSES"}) {
    if (!ColumnsOf(path).contains(table)) continue;
    if (!ranges && table == std::string_view("NVTX_EVENTS")) continue;
    ExecSql(path, fmt::format("CREATE TABLE moved AS SELECT * FROM {0} "
                              "ORDER BY rowid * 7919 % 104729;"
                              "DROP TABLE {0}; ALTER TABLE moved RENAME TO {0}",
                              table));
  }
}

fs::path CopyOf(const fs::path& profile, const std::string& folder) {
  fs::create_directory(TestDir() / folder);
  fs::path copy = TestDir() / folder / profile.filename();
  fs::copy_file(profile, copy);
  fs::permissions(copy, fs::perms::owner_all);
  return copy;
}

template <typename ShuffleFile>
void ExpectSameRowsInAnyOrder(const fs::path& profile, ShuffleFile shuffle) {
  const fs::path shuffled = CopyOf(profile, "shuffled");
  shuffle(shuffled);
  ExpectSameOutputs(CopyOf(profile, "whole"), shuffled);
}

TEST(RowOrderOfViews, DecidesNothingForNvprof) {
  ExpectSameRowsInAnyOrder(test::SourceDir() + "/examples/data/demo.sql",
                           [](const fs::path& file) { ShuffleRows(file, 3); });
}

TEST(RowOrderOfViews, DecidesNothingForNsightSystems) {
  const fs::path profile = TestDir() / "net.sqlite";
  WriteNsysRun(ExampleNetwork(), profile);
  // Its ranges have equal times: nothing but their rows tells then which is outside.
  ExpectSameRowsInAnyOrder(profile, [](const fs::path& file) { ShuffleExport(file, false); });
}

TEST(RowOrderOfViews, DecidesNothingInTheCorpus) {
  OPLENS_NEED_CORPUS();
  SKIP_WITH_SANITIZERS();
  ExpectSameRowsInAnyOrder(CorpusFile("nvprof/lm.sql"),
                           [](const fs::path& file) { ShuffleRows(file, 3); });
  fs::remove_all(TestDir() / "shuffled");
  fs::remove_all(TestDir() / "whole");
  ExpectSameRowsInAnyOrder(CorpusFile("nsys/dlprof_dummy.sqlite"),
                           [](const fs::path& file) { ShuffleExport(file, true); });
}

}  // namespace
}  // namespace oplens::test::row_order_test
