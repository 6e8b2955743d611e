// Every Kineto trace of the corpus: what comes out is what an independent walk over the text of the
// file counts, to the ns. Counts and sums only; no text of the files stands here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parse/readers/open_trace.h"
#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_kineto_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// A trace and what its description in the corpus says of it.
struct KinetoTrace {
  const char* name;
  const char* file;
  int64_t kernels;
  int64_t steps;
  int64_t nccl_kernels;
  int64_t memory_events;
  int64_t rank;
  int64_t world_size;
  int64_t devices;
};

void PrintTo(const KinetoTrace& trace, std::ostream* out) { *out << trace.name; }

constexpr KinetoTrace kTraces[] = {
    {"resnet50_0", "resnet50_num_workers_0/worker0.1623143089861.pt.trace.json", 8772, 6, 0, 12838,
     -1, -1, 4},
    {"resnet50_4", "resnet50_num_workers_4/worker0.1623212756351.pt.trace.json", 8868, 6, 0, 10980,
     -1, -1, 4},
    {"resnet50_v010", "resnet50_v010_num_workers_4/worker0.pt.trace.json", 9456, 6, 0, 0, -1, -1,
     0},
    {"gpu_metrics_input", "gpu_metrics/gpu_metrics_input.json", 30, 1, 0, 0, -1, -1, 4},
    {"gpu_metrics_expected", "gpu_metrics/gpu_metrics_expected.json", 30, 1, 0, 0, -1, -1, 4},
    {"ddp_sampled_0", "ddp_sampled_w128/rank0.json", 1154, 2, 10, 0, 0, 128, 0},
    {"ddp_sampled_1", "ddp_sampled_w128/rank1.json", 1104, 2, 10, 0, 1, 128, 0},
    {"diff_control", "diff_ddp/control_a100_rank3.json", 8568, 6, 60, 0, 3, 8, 8},
    {"diff_test", "diff_ddp/test_v100_rank1.json", 9876, 6, 64, 0, 1, 2, 2},
    {"diff_tiny_base", "diff_tiny/base.json", 6, 2, 0, 0, 1, -1, 0},
    {"diff_tiny_test", "diff_tiny/test.json", 5, 2, 0, 0, 1, -1, 0},
    {"ddp_a100", "ddp_a100_nccl_meta/rank0.json", 2700, 3, 21, 0, 0, 2, 8},
    {"ddp_v100", "ddp_v100_memory/rank1.json", 19370, 5, 2020, 28010, 1, 2, 2},
    {"v100_ns", "v100_ns/rank-0.Apr_03_18_51_38.1102.pt.trace.json", 4350, 5, 0, 0, 0, 1, 8},
    {"alexnet", "critical_path/alexnet.json", 79, 0, 0, 0, 0, -1, 8},
    {"event_sync", "critical_path/event_sync.json", 4, 1, 0, 0, 0, -1, 8},
    {"cupti_counters", "cupti_counters/rank0.json", 0, 0, 0, 0, 0, -1, 8},
    {"cpu_only", "cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json", 0, 1, 0, 0, 34, 300, 0},
    {"non_gpu", "cpu_only/rank_non_gpu.json", 0, 1, 0, 0, 0, -1, 0},
    {"mi250", "amd/mi250_minitoy_rocm62.json", 14, 2, 0, 0, -1, -1, 4},
    {"vllm_graph", "amd/vllm_graph_piecewise.json", 413, 0, 0, 0, 0, 1, 8},
    {"triton", "triton/triton_a100.json", 1, 1, 0, 0, -1, -1, 8},
    {"backward_thread", "tiny/backward_thread.json", 1, 1, 0, 0, 0, -1, 0},
    {"large_integer", "tiny/large_integer_rank-70.json", 1, 0, 1, 0, -1, -1, 0},
    {"gp100", "gpu_user_annotation/gp100_steps.json", 130, 0, 0, 0, 0, -1, 2},
    {"h100_bert", "h100/bert_small.json", 60, 1, 0, 236, -1, -1, 1},
    {"h100_vit", "h100/vit_nsfw.json", 154, 1, 0, 620, -1, -1, 1},
    {"h100_timesformer", "h100/timesformer.json", 446, 1, 0, 1264, -1, -1, 1},
    {"b200", "b200/eager_rank0.json", 768, 0, 1, 0, 0, 8, 8},
    {"execution_kineto", "execution_trace/kineto.json", 4, 0, 0, 0, 0, -1, 8},
    {"mtia", "other_accel/mtia_inference_rank_0.json", 0, 0, 0, 0, -1, -1, 1},
};

/// Microseconds as the file writes them, in ns, by integers alone.
int64_t ExactNs(const std::string& text) {
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits = point < text.size() ? text.substr(point + 1) : std::string();
  EXPECT_EQ(digits.find_first_not_of("0123456789"), std::string::npos) << text;
  EXPECT_LE(digits.find_last_not_of('0') + 1, 3u) << text;
  digits.resize(3, '0');
  return std::stoll(text.substr(0, point)) * 1000 + std::stoll(digits);
}

/// Counts the events of a document by what they are; sees every number as it is written.
class EventCounter : public json::json_sax_t {
 public:
  std::map<std::string, int64_t> timed;  ///< Events with a duration, by category in lower case.
  int64_t kernel_ns = 0;
  int64_t first_kernel_ns = INT64_MAX;  ///< Earliest start.
  int64_t memory_events = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return Number(fmt::format("{}", value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t& text) override { return Number(text); }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override {
    if (InEvent()) fields_[key_] = text;
    return true;
  }
  bool start_object(size_t) override {
    ++depth_;
    if (InEvent()) fields_.clear();
    return true;
  }
  bool end_object() override {
    if (InEvent()) Count();
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    ++depth_;
    if (depth_ == 2) in_events_ = key_ == "traceEvents";
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1 || InEvent()) key_ = text;
    return true;
  }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    ADD_FAILURE() << error.what();
    return false;
  }

 private:
  bool InEvent() const { return depth_ == 3 && in_events_; }
  bool Number(const std::string& text) {
    if (InEvent()) fields_[key_] = text;
    return true;
  }
  void Count() {
    if (fields_["ph"] == "i" && fields_["name"] == "[memory]") ++memory_events;
    if (fields_["ph"] != "X") return;
    std::string category = fields_["cat"];
    std::transform(category.begin(), category.end(), category.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    ++timed[category];
    if (category != "kernel") return;
    kernel_ns += ExactNs(fields_["dur"]);
    first_kernel_ns = std::min(first_kernel_ns, ExactNs(fields_["ts"]));
  }

  int depth_ = 0;
  bool in_events_ = false;
  std::string key_;
  std::map<std::string, std::string> fields_;
};

int64_t Size(size_t size) { return static_cast<int64_t>(size); }

class CorpusKineto : public testing::TestWithParam<KinetoTrace> {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  static fs::path File() { return CorpusFile(std::string("kineto/") + GetParam().file); }
};

TEST_P(CorpusKineto, HoldsWhatTheFileHolds) {
  const KinetoTrace& expected = GetParam();
  EventCounter file;
  std::ifstream text(File(), std::ios::binary);
  ASSERT_TRUE(json::sax_parse(text, &file));

  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  EXPECT_EQ(trace.family, Family::kKineto);
  EXPECT_EQ(Size(trace.kernels.size()), expected.kernels);
  EXPECT_EQ(Size(trace.kernels.size()), file.timed["kernel"]);
  int64_t kernel_ns = 0;
  int64_t first_ns = INT64_MAX;
  int64_t nccl_kernels = 0;
  for (const Kernel& kernel : trace.kernels) {
    kernel_ns += kernel.end_ns - kernel.start_ns;
    first_ns = std::min(first_ns, kernel.start_ns);
    if (trace.strings.View(kernel.name).find("nccl") != std::string_view::npos) ++nccl_kernels;
  }
  EXPECT_EQ(kernel_ns, file.kernel_ns);
  EXPECT_EQ(first_ns, file.first_kernel_ns);
  EXPECT_EQ(nccl_kernels, expected.nccl_kernels);

  EXPECT_EQ(Size(trace.memory_events.size()), expected.memory_events);
  EXPECT_EQ(Size(trace.memory_events.size()), file.memory_events);
  const int64_t steps =
      std::count_if(trace.ranges.begin(), trace.ranges.end(),
                    [](const Range& range) { return range.kind == RangeKind::kStep; });
  EXPECT_EQ(steps, expected.steps);
  EXPECT_EQ(Size(trace.ranges.size()), file.timed["cpu_op"] + file.timed["operator"] +
                                           file.timed["user_annotation"] +
                                           file.timed["python_function"]);
  EXPECT_EQ(Size(trace.copies.size()), file.timed["gpu_memcpy"] + file.timed["memcpy"]);
  EXPECT_EQ(Size(trace.sets.size()), file.timed["gpu_memset"] + file.timed["memset"]);
  EXPECT_EQ(Size(trace.synchronizations.size()), file.timed["cuda_sync"]);
  EXPECT_EQ(Size(trace.overheads.size()), file.timed["overhead"]);
  EXPECT_EQ(Size(trace.device_annotations.size()), file.timed["gpu_user_annotation"]);
  int64_t calls = 0;
  for (const auto& [category, number] : file.timed) {
    const bool call = category.ends_with("runtime") || category == "cuda_driver";
    calls += call ? number : 0;
  }
  EXPECT_EQ(Size(trace.launches.size()), calls);
  EXPECT_EQ(trace.rank, expected.rank);
  EXPECT_EQ(trace.world_size, expected.world_size);
  EXPECT_EQ(Size(trace.devices.size()), expected.devices);
  EXPECT_FALSE(diagnostics.Damaged()) << diagnostics.Render("test");
}

TEST_P(CorpusKineto, WritesEachKernelOnce) {
  int64_t gpu_ns = 0;
  const std::vector<json> records = Records(File());
  EXPECT_EQ(Size(records.size()), GetParam().kernels);
  for (const json& record : records) gpu_ns += record["kDuration"].get<int64_t>();
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(File().string(), TraceNeeds::All(), &diagnostics);
  int64_t expected_ns = 0;
  for (const Kernel& kernel : trace.kernels) expected_ns += kernel.end_ns - kernel.start_ns;
  EXPECT_EQ(gpu_ns, expected_ns);
}

INSTANTIATE_TEST_SUITE_P(Kineto, CorpusKineto, testing::ValuesIn(kTraces),
                         [](const auto& test) { return test.param.name; });

class CorpusKinetoOthers : public testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED_CORPUS(); }
  static std::string Refusal(const std::string& name) {
    Diagnostics diagnostics;
    try {
      parse::OpenTrace(CorpusFile("kineto/" + name).string(), TraceNeeds::All(), &diagnostics);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  static Trace Open(const std::string& name, Diagnostics* diagnostics) {
    return parse::OpenTrace(CorpusFile("kineto/" + name).string(), TraceNeeds::All(), diagnostics);
  }
};

TEST_F(CorpusKinetoOthers, RefusesWhatIsNoTrace) {
  EXPECT_THAT(Refusal("execution_trace/et.json"), HasSubstr("execution trace"));
  EXPECT_THAT(Refusal("memory_timeline/memory_timeline.raw.json"), HasSubstr("memory timeline"));
}

TEST_F(CorpusKinetoOthers, WaitsKnowWhereTheirEventWasRecorded) {
  const std::pair<const char*, int64_t> kFiles[] = {{"critical_path/alexnet.json", 20},
                                                    {"critical_path/event_sync.json", 2}};
  for (const auto& [file, expected] : kFiles) {
    Diagnostics diagnostics;
    const Trace trace = Open(file, &diagnostics);
    int64_t waits = 0;
    for (const Synchronization& wait : trace.synchronizations) {
      const bool event = wait.kind == WaitKind::kEvent || wait.kind == WaitKind::kStreamWaitEvent;
      EXPECT_EQ(wait.event_id != kNoEvent, event);
      if (!event) continue;
      ++waits;
      const EventRecord& record = trace.event_records.at(wait.event_record);
      EXPECT_GE(record.stream_id, 7);
      EXPECT_EQ(trace.strings.View(trace.launches.at(record.launch).api), "cudaEventRecord");
    }
    EXPECT_EQ(waits, expected);
  }
}

TEST_F(CorpusKinetoOthers, CollectivesHaveTimesAndThreads) {
  Diagnostics diagnostics;
  const Trace trace = Open("ddp_a100_nccl_meta/rank0.json", &diagnostics);
  EXPECT_EQ(trace.communications.size(), 48u);
  int64_t kernels = 0;
  for (const Communication& communication : trace.communications) {
    EXPECT_LT(communication.start_ns, communication.end_ns);
    kernels += communication.thread == kNoThread ? 1 : 0;
  }
  EXPECT_EQ(kernels, 21);
}

TEST_F(CorpusKinetoOthers, SaysWhyThereAreNoKernels) {
  Diagnostics diagnostics;
  Open("cupti_counters/rank0.json", &diagnostics);
  EXPECT_THAT(diagnostics.Render("test"), HasSubstr("77 hardware counter ranges"));
  EXPECT_THAT(diagnostics.Render("test"), HasSubstr("no kernels were recorded"));
  diagnostics = Diagnostics();
  Open("other_accel/mtia_inference_rank_0.json", &diagnostics);
  EXPECT_THAT(diagnostics.Render("test"), HasSubstr("mtia_ccp_events (1313)"));
}

// A file of the first version: extents, without data types, values and numbers of nodes. Six steps
// of ResNet-50 with 32 images: 4.087 G multiply-adds an image in each direction, but that the first
// of the convolutions (0.118 G) needs no gradient of its data.
TEST_F(CorpusKinetoOthers, ExtentsAloneTellConvolutions) {
  const fs::path out = TestDir() / "rows.json";
  const RunResult result =
      RunProf({"-c", "op,grad,flops,bytes,reason", "--json", "--evidence", "range", "-o",
               out.string(), CorpusFile("kineto/resnet50_autograd_api_w4/worker0.json").string()});
  ASSERT_EQ(result.exit_code, 0);
  std::map<std::string, int64_t> flops;
  std::ifstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    EXPECT_TRUE(row.at("bytes").is_null());
    if (row.at("op").is_null() || row.at("flops").is_null()) continue;
    const std::string grad = row.at("grad").is_null() ? "" : row.at("grad").get<std::string>();
    flops[row.at("op").get<std::string>() + ' ' + grad] += row.at("flops").get<int64_t>();
  }
  constexpr int64_t kSteps = 6;
  EXPECT_EQ(flops["cudnn_convolution "], kSteps * 261'576'720'384);
  EXPECT_EQ(flops["cudnn_convolution_backward wgrad"], kSteps * 261'576'720'384);
  EXPECT_EQ(flops["cudnn_convolution_backward dgrad"],
            kSteps * (261'576'720'384 - 2LL * 32 * 64 * 112 * 112 * 3 * 7 * 7));
  EXPECT_THAT(result.err, HasSubstr("to raise bytes (here 94.8 % of kernel time): record the data "
                                    "types"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("record_shapes")));
}

TEST_F(CorpusKinetoOthers, LinksGraphsArrowsAndCollectives) {
  Diagnostics diagnostics;
  Trace trace = Open("amd/vllm_graph_piecewise.json", &diagnostics);
  EXPECT_EQ(std::count_if(trace.kernels.begin(), trace.kernels.end(),
                          [](const Kernel& kernel) { return kernel.graph; }),
            361);
  trace = Open("ddp_a100_nccl_meta/rank0.json", &diagnostics);
  EXPECT_EQ(trace.forward_backward_links.size(), 543u);
  EXPECT_EQ(std::count_if(trace.kernels.begin(), trace.kernels.end(),
                          [&](const Kernel& kernel) {
                            return trace.DetailsOf(kernel).communication != kNoItem;
                          }),
            21);
  EXPECT_TRUE(std::all_of(trace.kernels.begin(), trace.kernels.end(),
                          [](const Kernel& kernel) { return kernel.launch != kNoLaunch; }));
  // The sizes of ROCm's kernels stand at their calls.
  trace = Open("amd/mi250_minitoy_rocm62.json", &diagnostics);
  EXPECT_TRUE(std::all_of(trace.kernels.begin(), trace.kernels.end(),
                          [&](const Kernel& kernel) { return trace.ShapeOf(kernel).grid[0] > 0; }));
}

/// The kernels that `prof --range` prints and their time, from a profile and from its records.
struct InRange {
  const char* file;
  const char* pattern;
  int64_t kernels;
  int64_t total_ns;
};

// Counted by a walk over the events: kernels whose launch, on any thread of the process, begins
// inside of the range (each backward node of these files begins and ends in one range).
TEST_F(CorpusKinetoOthers, RangesHaveTheirBackwardPass) {
  constexpr InRange kRanges[] = {
      {"resnet50_num_workers_0/worker0.1623143089861.pt.trace.json", "ProfilerStep#7$", 1462,
       98'596'000},
      {"diff_ddp/control_a100_rank3.json", "^## backward ##$", 5562, 244'614'000},
  };
  for (const InRange& range : kRanges) {
    const fs::path file = CorpusFile("kineto/" + std::string(range.file));
    const fs::path records = TestDir() / "records.dict";
    ASSERT_EQ(RunParse({file.string(), "-o", records.string()}).exit_code, 0);
    for (const fs::path& input : {file, records}) {
      const RunResult result =
          RunProf({"--json", "-c", "sil", "--range", range.pattern, input.string()});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      int64_t total_ns = 0;
      int64_t kernels = 0;
      std::istringstream rows(result.out);
      for (std::string row; std::getline(rows, row); ++kernels) {
        total_ns += json::parse(row)["sil"].get<int64_t>();
      }
      EXPECT_EQ(kernels, range.kernels) << range.pattern;
      EXPECT_EQ(total_ns, range.total_ns) << range.pattern;
    }
  }
}

}  // namespace
}  // namespace oplens::test::corpus_kineto_test
