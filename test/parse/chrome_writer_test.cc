#include "parse/chrome/chrome_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parse/join/forward_backward.h"
#include "parse/records/kernel_records.h"
#include "test/support/json_tree.h"
#include "test/support/test_files.h"

namespace oplens::parse::chrome_writer_test {
namespace {

using test::JsonTree;
using test::ReadFile;
using test::TestDir;
using Texts = std::vector<std::string>;

/// A profile of process 10 with the threads 100 and 200, written down by hand.
class Script {
 public:
  Script() { trace_.threads = {{10, 100}, {10, 200}}; }

  Range& AddRange(int64_t start, int64_t end, std::string_view text, ThreadIndex thread = 0,
                  RangeKind kind = RangeKind::kMarker) {
    Range& range = trace_.ranges.emplace_back(Range{start, end, trace_.strings.Intern(text), kind});
    range.SetThread(thread);
    return range;
  }
  void AddOperator(int64_t start, int64_t end, std::string_view name, int64_t sequence,
                   bool backward, ThreadIndex thread = 0) {
    Range& range = AddRange(start, end, name, thread);
    Operator& op = MakeOperator(range.text, &range, &trace_);
    op.sequence = sequence;
    op.backward = backward;
  }
  LaunchIndex AddLaunch(int64_t start, int64_t correlation, std::string_view api,
                        ThreadIndex thread = 0) {
    trace_.launches.push_back({start, start + 2, correlation, thread, trace_.strings.Intern(api)});
    return static_cast<LaunchIndex>(trace_.launches.size() - 1);
  }
  Kernel& AddKernel(int64_t start, int64_t end, LaunchIndex launch, int32_t stream = 7) {
    Kernel& kernel = trace_.kernels.emplace_back();
    kernel.start_ns = start;
    kernel.end_ns = end;
    kernel.launch = launch;
    kernel.correlation_id =
        launch == kNoLaunch ? kUnknownId : trace_.launches[launch].correlation_id;
    kernel.row_id = static_cast<int64_t>(trace_.kernels.size());
    kernel.name = trace_.strings.Intern("k");
    kernel.stream_id = stream;
    kernel.shape = trace_.shapes.Add({{2, 2, 2}, {4, 4, 4}, 0, 0, 0});
    return kernel;
  }

  Trace trace_;
};

/// The document of some profiles, as another JSON library reads it.
JsonTree Write(std::vector<Script>* scripts) {
  const auto file = TestDir() / "trace.json";
  Output output(file.string());
  ChromeWriter writer(&output);
  for (Script& script : *scripts) {
    Diagnostics diagnostics;
    const KernelRecords kernels(&script.trace_, {}, &diagnostics);
    writer.Add(kernels.joined(), kernels.names());
  }
  writer.Finish();
  output.Commit();
  return JsonTree(ReadFile(file));
}

JsonTree Write(Script script) {
  std::vector<Script> scripts;
  scripts.push_back(std::move(script));
  return Write(&scripts);
}

std::vector<JsonTree> Where(const JsonTree& document, const std::string& key,
                            const std::string& value) {
  std::vector<JsonTree> events;
  for (const JsonTree& event : document.ItemsAt("/traceEvents")) {
    if (event.Has("/" + key) && event.TextAt("/" + key) == value) events.push_back(event);
  }
  return events;
}

/// A text as JSON writes it, where it needs no escapes.
std::string Quoted(const std::string& text) { return '"' + text + '"'; }

/// The values at a path, of all events.
Texts AllAt(const std::vector<JsonTree>& events, const std::string& path) {
  Texts values;
  for (const JsonTree& event : events) values.push_back(event.At(path));
  return values;
}

/// Every arrow begins once, ends somewhere, and its ids ascend from 1.
void ExpectWholeArrows(const JsonTree& document) {
  std::vector<int64_t> starts;
  std::set<int64_t> ends;
  for (const JsonTree& event : Where(document, "ph", "s")) {
    starts.push_back(event.NumberAt("/id"));
  }
  for (const JsonTree& event : Where(document, "ph", "f")) {
    ends.insert(event.NumberAt("/id"));
    EXPECT_EQ(event.At("/bp"), Quoted("e"));
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i], static_cast<int64_t>(i) + 1);
    EXPECT_TRUE(ends.contains(starts[i])) << starts[i];
  }
  EXPECT_EQ(starts.size(), ends.size());
}

TEST(ChromeWriter, EmptyDocumentIsWhole) {
  std::vector<Script> none;
  const JsonTree document = Write(&none);
  EXPECT_EQ(document.At("/traceEvents"), "[]");
  EXPECT_EQ(document.At("/deviceProperties"), "[]");
}

TEST(ChromeWriter, DrawsEachKindOfRange) {
  Script script;
  script.AddRange(1000, 9001, "step", 0);
  script.AddRange(1001, 8000, "aten::mm", 0, RangeKind::kOperator);
  script.AddRange(1002, 7000, "train.py(3): f", 0, RangeKind::kFrame);
  script.AddRange(1003, 6000, "Linear_0", 0, RangeKind::kModule);
  script.AddRange(1004, 5000, "mine", 0, RangeKind::kAnnotation);
  script.AddRange(1005, 4000, "ProfilerStep#1", 0, RangeKind::kStep);
  const std::vector<JsonTree> slices = Where(Write(std::move(script)), "ph", "X");
  std::map<std::string, std::string> categories;
  for (const JsonTree& slice : slices) {
    categories[slice.TextAt("/name")] = slice.TextAt("/cat");
  }
  EXPECT_EQ(categories,
            (std::map<std::string, std::string>{{"step", "nvtx"},
                                                {"aten::mm", "cpu_op"},
                                                {"train.py(3): f", "python_function"},
                                                {"nn.Module: Linear_0", "python_function"},
                                                {"mine", "user_annotation"},
                                                {"ProfilerStep#1", "user_annotation"}}));
  EXPECT_EQ(slices[0].At("/pid"), "10");
  EXPECT_EQ(slices[0].At("/tid"), "100");
}

TEST(ChromeWriter, TimesAreMicrosecondsWithThreeDecimals) {
  const auto text = [](int64_t ns, int64_t base) {
    std::string out;
    AppendMicroseconds(ns, base, &out);
    return out;
  };
  EXPECT_EQ(text(0, 0), "0.000");
  EXPECT_EQ(text(1, 0), "0.001");
  EXPECT_EQ(text(-1, 0), "-0.001");
  EXPECT_EQ(text(1234567, 0), "1234.567");
  EXPECT_EQ(text(1234567, 1000), "1233.567");
  EXPECT_EQ(text(1000, 1234567), "-1233.567");
  EXPECT_EQ(text(INT64_MAX, 0), "9223372036854775.807");
  EXPECT_EQ(text(INT64_MIN, 0), "-9223372036854775.808");
  EXPECT_EQ(text(INT64_MIN, INT64_MAX), "-18446744073709551.615");
}

TEST(ChromeWriter, ClocksFrom1970AreMadeSmall) {
  constexpr int64_t kNow = 1583978810994401042;
  Script script;
  script.AddRange(kNow, kNow + 7, "a");
  std::vector<Script> scripts;
  scripts.push_back(std::move(script));
  const JsonTree document = Write(&scripts);
  const auto base = document.NumberAt("/baseTimeNanoseconds");
  EXPECT_EQ(base % 3'600'000'000'000, 0);
  const JsonTree slice = Where(document, "name", "a").at(0);
  const double us = slice.RealAt("/ts");
  EXPECT_GE(us, 3600e6) << "room for a trace that begins earlier";
  EXPECT_EQ(base + std::llround(us * 1000), kNow);
  EXPECT_DOUBLE_EQ(slice.RealAt("/dur"), 0.007);
}

TEST(ChromeWriter, OpenRangesEndWithTheTraceAndSaySo) {
  Script script;
  script.AddRange(1000, kNeverClosed, "leak");
  script.AddRange(2000, 3000, "closed");
  script.AddKernel(2500, 9000, kNoLaunch);
  const JsonTree document = Write(std::move(script));
  const JsonTree leak = Where(document, "name", "leak").at(0);
  EXPECT_DOUBLE_EQ(leak.RealAt("/dur"), 8.0);
  EXPECT_EQ(leak.At("/args/open"), "true");
  EXPECT_FALSE(Where(document, "name", "closed").at(0).Has("/args"));
}

TEST(ChromeWriter, KernelsStandOnTheirStreamWithTheirCall) {
  Script script;
  script.AddRange(900, 1100, "{'mod': 'torch', 'op': 'mm', 'args': []}");
  const LaunchIndex launch = script.AddLaunch(1000, 55, "cudaLaunchKernel");
  Kernel& kernel = script.AddKernel(2001, 2504, launch, 13);
  kernel.device_id = 1;
  kernel.shape = script.trace_.shapes.Add({{2, 2, 2}, {4, 4, 4}, 32, 100, 28});
  KernelDetails details;
  details.achieved_occupancy_pct = 37.5F;
  details.theoretical_occupancy_pct = 50;
  script.trace_.SetDetails(details, &kernel);
  script.trace_.devices.push_back({.id = 1, .name = script.trace_.strings.Intern("V100")});
  const JsonTree document = Write(std::move(script));
  const JsonTree slice = Where(document, "cat", "kernel").at(0);
  EXPECT_EQ(slice.At("/tid"), "13");
  EXPECT_DOUBLE_EQ(slice.RealAt("/ts"), 2.001);
  EXPECT_DOUBLE_EQ(slice.RealAt("/dur"), 0.503);
  EXPECT_EQ(slice.At("/args/grid"), "[2,2,2]");
  EXPECT_EQ(slice.At("/args/block"), "[4,4,4]");
  EXPECT_EQ(slice.At("/args/registers per thread"), "32");
  EXPECT_EQ(slice.At("/args/shared memory"), "128");
  EXPECT_EQ(slice.RealAt("/args/est. achieved occupancy %"), 37.5);
  EXPECT_EQ(slice.RealAt("/args/theoretical occupancy %"), 50);
  EXPECT_FALSE(slice.Has("/args/blocks per SM"));
  EXPECT_EQ(slice.At("/args/device"), "1");
  EXPECT_EQ(slice.At("/args/stream"), "13");
  EXPECT_EQ(slice.At("/args/correlation"), "55");
  EXPECT_EQ(slice.At("/args/op"), "[" + Quoted("mm") + "]");
  const JsonTree call = Where(document, "cat", "cuda_runtime").at(0);
  EXPECT_EQ(call.At("/args/correlation"), "55");
  EXPECT_EQ(call.At("/tid"), "100");
  ExpectWholeArrows(document);
  EXPECT_EQ(Where(document, "ph", "s").at(0).At("/ts"), call.At("/ts"));
  EXPECT_EQ(Where(document, "ph", "f").at(0).At("/pid"), slice.At("/pid"));
  EXPECT_EQ(Where(document, "name", "process_name").at(1).At("/args/name"), Quoted("GPU 1 V100"));
}

TEST(ChromeWriter, OneArrowLeavesACallOfManyKernels) {
  Script script;
  const LaunchIndex graph = script.AddLaunch(1000, 5, "cudaGraphLaunch");
  for (int64_t i = 0; i < 3; ++i) script.AddKernel(2000 + 100 * i, 2050 + 100 * i, graph);
  const LaunchIndex copy = script.AddLaunch(1500, 6, "cudaMemcpyAsync");
  script.trace_.copies.push_back({.start_ns = 3000,
                                  .end_ns = 3200,
                                  .size_bytes = 1000,
                                  .launch = copy,
                                  .copy_kind = CopyKind::kHostToDevice,
                                  .source_kind = MemoryKind::kPageable,
                                  .target_kind = MemoryKind::kDevice,
                                  .stream_id = 7});
  script.trace_.sets.push_back({.start_ns = 3300, .end_ns = 3400, .size_bytes = 64});
  const JsonTree document = Write(std::move(script));
  EXPECT_EQ(Where(document, "ph", "s").size(), 2u);
  EXPECT_EQ(Where(document, "ph", "f").size(), 4u);
  ExpectWholeArrows(document);
  const JsonTree slice = Where(document, "cat", "gpu_memcpy").at(0);
  EXPECT_EQ(slice.At("/name"), Quoted("Memcpy HtoD (Pageable -> Device)"));
  EXPECT_EQ(slice.At("/args/bytes"), "1000");
  EXPECT_EQ(slice.RealAt("/args/memory bandwidth (GB~1s)"), 5.0);
  EXPECT_EQ(Where(document, "cat", "gpu_memset").size(), 1u);
}

TEST(ChromeWriter, NamesCopiesByTheirKinds) {
  Script script;
  const auto add = [&](int64_t start_ns, CopyKind kind, MemoryKind source, MemoryKind target) {
    script.trace_.copies.push_back({.start_ns = start_ns,
                                    .end_ns = start_ns + 10,
                                    .size_bytes = 1,
                                    .copy_kind = kind,
                                    .source_kind = source,
                                    .target_kind = target});
  };
  add(100, CopyKind::kUnifiedHostToDevice, MemoryKind::kManaged, MemoryKind::kDevice);
  add(200, CopyKind::kUnknown, MemoryKind::kUnknown, MemoryKind::kUnknown);
  const std::vector<JsonTree> copies = Where(Write(std::move(script)), "cat", "gpu_memcpy");
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].At("/name"), Quoted("Memcpy UVM HtoD (Managed -> Device)"));
  EXPECT_EQ(copies[1].At("/name"), Quoted("Memcpy ? (Unknown -> Unknown)"));
}

TEST(ChromeWriter, CountsKernelsAtWorkAndWaiting) {
  Script script;
  script.AddKernel(200, 300, script.AddLaunch(100, 1, "cudaLaunchKernel"));
  script.AddKernel(250, 400, script.AddLaunch(150, 2, "cudaLaunchKernel"), 8);
  script.AddKernel(400, 500, script.AddLaunch(160, 3, "cudaLaunchKernel"));
  const JsonTree document = Write(std::move(script));
  const auto values = [&](const std::string& name) {
    Texts list;
    for (const JsonTree& event : Where(document, "name", name)) {
      list.push_back(event.At("/ts") + " " + event.At("/args/kernels"));
    }
    return list;
  };
  EXPECT_EQ(values("kernels running"), (Texts{"0.2 1", "0.25 2", "0.3 1", "0.5 0"}));
  EXPECT_EQ(values("kernels queued"),
            (Texts{"0.1 1", "0.15 2", "0.16 3", "0.3 2", "0.4 1", "0.5 0"}));
}

TEST(ChromeWriter, OperatorsSayWhatIsKnownOfThem) {
  Script script;
  script.AddOperator(1, 2, "aten::mm", 12, false);
  Operator& op = script.trace_.operators.back();
  op.call = script.trace_.strings.Intern("{'mod': 'torch', 'op': 'mm', 'args': []}");
  op.stack = script.trace_.strings.Intern("{'traceMarker': ['train.py:9', 'net.py:3']}");
  script.AddOperator(3, 4, "MmBackward0", -1, true);
  script.trace_.operators.back().forward_thread = 1;
  const std::vector<JsonTree> slices = Where(Write(std::move(script)), "cat", "cpu_op");
  EXPECT_EQ(slices.at(0).At("/args"),
            "{\"Call stack\":\"net.py:3;train.py:9\",\"Sequence number\":12,"
            "\"call\":\"{'mod': 'torch', 'op': 'mm', 'args': []}\"}");
  EXPECT_EQ(slices.at(1).At("/args"), "{\"Fwd thread id\":1}");
}

TEST(ChromeWriter, LeavesOutWhatAKernelDoesNotSay) {
  Script script;
  Kernel& kernel = script.AddKernel(1, 2, kNoLaunch);
  kernel.context_id = -1;
  kernel.shape = script.trace_.shapes.Add(KernelShape::Unknown());
  const JsonTree document = Write(std::move(script));
  EXPECT_EQ(Where(document, "cat", "kernel").at(0).At("/args"), "{\"device\":0,\"stream\":7}");
  EXPECT_EQ(Where(document, "ph", "s").size(), 0u);
}

TEST(ChromeWriter, DrawsMemoryAsACounter) {
  Script script;
  script.AddKernel(10, 20, kNoLaunch);
  script.trace_.memory_events = {
      {.time_ns = 1000, .address = 16, .size_bytes = 512, .device_id = 0},
      {.time_ns = 2000, .address = 16, .size_bytes = -512, .device_id = 0},
      {.time_ns = 3000,
       .address = 32,
       .size_bytes = 64,
       .total_allocated_bytes = 100,
       .total_reserved_bytes = 200,
       .device_id = 0}};
  const JsonTree document = Write(std::move(script));
  const std::vector<JsonTree> memory = Where(document, "name", "memory");
  EXPECT_EQ(AllAt(memory, "/args/allocated bytes"), (Texts{"512", "0", "100"}));
  EXPECT_EQ(memory.at(2).At("/args/reserved bytes"), "200");
  EXPECT_EQ(Where(document, "name", "[memory]").size(), 3u);
}

TEST(ChromeWriter, MemoryOfAFrameworkAndOfTheDriverHaveACurveEach) {
  Script script;
  script.trace_.memory_events = {
      {.time_ns = 1, .size_bytes = 100, .device_id = 0, .source = MemorySource::kDriver},
      {.time_ns = 2, .size_bytes = 30, .device_id = 0},
      {.time_ns = 3, .size_bytes = 10, .device_id = 0},
      {.time_ns = 4, .size_bytes = -100, .device_id = 0, .source = MemorySource::kDriver}};
  const JsonTree document = Write(std::move(script));
  const auto values = [&](const std::string& name) {
    return AllAt(Where(document, "name", name), "/args/allocated bytes");
  };
  EXPECT_EQ(values("memory"), (Texts{"30", "40"}));
  EXPECT_EQ(values("memory of the driver"), (Texts{"100", "0"}));
  EXPECT_EQ(Where(document, "name", "[memory]").size(), 2u) << "what reads back as one curve";
}

TEST(ChromeWriter, ShowsCallsThatLaunchedNothing) {
  Script script;
  script.AddKernel(200, 300, script.AddLaunch(100, 1, "cudaLaunchKernel"));
  script.AddLaunch(101, 1, "cuLaunchKernel");
  script.AddLaunch(10, 2, "cudaMalloc");
  script.AddLaunch(20, kUnknownId, "cudaFree");
  const JsonTree document = Write(std::move(script));
  const std::vector<JsonTree> calls = Where(document, "cat", "cuda_runtime");
  EXPECT_EQ(AllAt(calls, "/name"),
            (Texts{Quoted("cudaMalloc"), Quoted("cudaFree"), Quoted("cudaLaunchKernel")}));
  EXPECT_EQ(calls[2].At("/args/correlation"), "1") << "work refers to it by its own number";
  EXPECT_EQ(Where(document, "cat", "cuda_driver").at(0).At("/args/correlation"),
            std::to_string(int64_t{1} << 31));
  EXPECT_FALSE(calls[1].Has("/args"));
  EXPECT_EQ(Where(document, "ph", "s").size(), 1u);
}

TEST(ChromeWriter, LinksBackwardByOperators) {
  Script script;
  script.AddOperator(100, 500, "aten::linear", 4, false);  // The caller of the op of number 4.
  script.AddOperator(200, 300, "aten::t", 4, false);
  script.AddOperator(310, 400, "aten::addmm", 5, false);
  script.AddOperator(1000, 1500, "autograd::engine::evaluate_function: AddmmBackward0", 5, true, 1);
  script.AddOperator(1100, 1400, "AddmmBackward0", 5, true, 1);
  script.AddOperator(1600, 1700, "TBackward0", 4, true, 1);
  script.AddOperator(1800, 1900, "LostBackward0", 9, true, 1);
  const JsonTree document = Write(std::move(script));
  Texts from;
  Texts to;
  for (const JsonTree& event : Where(document, "cat", "fwdbwd")) {
    const bool starts = event.At("/ph") == Quoted("s");
    (starts ? from : to).push_back(event.At("/ts"));
    EXPECT_EQ(event.At("/tid"), starts ? "100" : "200");
  }
  EXPECT_EQ(from, (Texts{"0.31", "0.2"}));
  EXPECT_EQ(to, (Texts{"1.1", "1.6"}));
  ExpectWholeArrows(document);
}

TEST(ChromeWriter, ArrowsAreTheForwardOpsOfRecords) {
  Script script;
  script.AddRange(100, 200, "mul, seq = 0");
  script.AddRange(300, 400, "mm, seq = 3");
  script.AddRange(500, 600, "MmBackward, seq = 3", 1);
  script.AddRange(510, 520, "mm, seq = 0", 1);  // Inside the backward pass 0 means nothing.
  script.AddRange(700, 800, "MulBackward0, seq = 0", 1);
  Diagnostics diagnostics;
  const Joined joined(&script.trace_, {}, &diagnostics);
  const std::vector<ForwardBackwardLink> arrows = joined.links().Arrows(script.trace_);
  ASSERT_EQ(arrows.size(), 2u);
  EXPECT_EQ(arrows[0].forward_ns, 300);
  EXPECT_EQ(arrows[0].backward_ns, 500);
  EXPECT_EQ(arrows[0].backward_thread, 1u);
  EXPECT_EQ(arrows[1].forward_ns, 100);
  EXPECT_EQ(arrows[1].backward_ns, 700);
}

TEST(ChromeWriter, ArrowsOfTheFileStayWhereNoNodeIs) {
  Script script;
  script.AddRange(100, 200, "mm, seq = 3");
  script.AddRange(500, 600, "MmBackward, seq = 3", 1);
  // One from inside the op into the node; one to where the file has no range.
  script.trace_.forward_backward_links = {{110, 510, 0, 1}, {120, 900, 0, 1}};
  Diagnostics diagnostics;
  const Joined joined(&script.trace_, {}, &diagnostics);
  const std::vector<ForwardBackwardLink> arrows = joined.links().Arrows(script.trace_);
  ASSERT_EQ(arrows.size(), 2u);
  EXPECT_EQ(arrows[0].forward_ns, 100);
  EXPECT_EQ(arrows[0].backward_ns, 500);
  EXPECT_EQ(arrows[1].backward_ns, 900);
}

TEST(ChromeWriter, ProfilesOfOneDocumentStayApart) {
  std::vector<Script> scripts;
  for (int i = 0; i < 2; ++i) {
    Script script;
    script.AddKernel(200, 300, script.AddLaunch(100, 1, "cudaLaunchKernel"));
    script.trace_.rank_name = script.trace_.strings.Intern(std::to_string(i));
    scripts.push_back(std::move(script));
  }
  const JsonTree document = Write(&scripts);
  const std::vector<JsonTree> calls = Where(document, "cat", "cuda_runtime");
  const std::vector<JsonTree> kernels = Where(document, "cat", "kernel");
  std::set<std::string> pids;
  std::set<std::string> correlations;
  for (size_t i = 0; i < 2; ++i) {
    pids.insert(calls.at(i).At("/pid"));
    pids.insert(kernels.at(i).At("/pid"));
    correlations.insert(calls.at(i).At("/args/correlation"));
    EXPECT_EQ(calls[i].At("/args/correlation"), kernels[i].At("/args/correlation"));
  }
  EXPECT_EQ(pids.size(), 4u);
  EXPECT_EQ(correlations.size(), 2u);
  EXPECT_EQ(calls[0].At("/pid"), "10");
  ExpectWholeArrows(document);
  EXPECT_EQ(AllAt(Where(document, "name", "process_name"), "/args/name"),
            (Texts{Quoted("process 10 (rank 0)"), Quoted("GPU 0 (rank 0)"),
                   Quoted("process 10 (rank 1)"), Quoted("GPU 0 (rank 1)")}));
}

TEST(ChromeWriter, SurvivesAnyTextAndNumber) {
  Script script;
  const std::string bytes("\"\\\n\x01\xff\0\xc3\xa9", 8);
  script.AddRange(5, 6, bytes);
  script.AddRange(INT64_MIN, INT64_MAX - 1, "long");
  script.trace_.threads.push_back({-5, INT64_MIN});
  script.AddRange(7, 8, "odd", 2);
  Kernel& kernel = script.AddKernel(INT64_MIN + 1, INT64_MAX, kNoLaunch, -1);
  kernel.correlation_id = INT64_MAX;
  script.AddKernel(0, 0, kNoLaunch);
  script.AddKernel(9, 8, kNoLaunch);
  script.trace_.memory_events = {{.time_ns = 1, .size_bytes = INT64_MAX, .device_id = 0},
                                 {.time_ns = 2, .size_bytes = INT64_MAX, .device_id = 0}};
  const JsonTree document = Write(std::move(script));
  std::set<std::string> names;
  const std::vector<JsonTree> ranges = Where(document, "cat", "nvtx");
  for (const JsonTree& event : ranges) names.insert(event.TextAt("/name"));
  EXPECT_EQ(ranges.size(), 3u);
  EXPECT_EQ(names, (std::set<std::string>{std::string("\"\\\n\x01\xef\xbf\xbd\0\xc3\xa9", 10),
                                          "long", "odd"}));
  EXPECT_EQ(Where(document, "cat", "kernel").size(), 2u);
  EXPECT_EQ(document.At("/otherData/kernels without a time"), "1");
  for (const JsonTree& event : document.ItemsAt("/traceEvents")) {
    EXPECT_GE(event.NumberAt("/pid"), 0);
    EXPECT_GE(event.NumberAt("/tid"), 0);
    if (event.Has("/dur")) {
      EXPECT_GE(event.RealAt("/dur"), 0.0);
    }
  }
}

}  // namespace
}  // namespace oplens::parse::chrome_writer_test
