// A trace of PyTorch's profiler as a whole file, through the splitter.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "parse/readers/open_trace.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::kineto_file_test {
namespace {

using test::JsonText;
using test::KinetoBuilder;
using test::KinetoOptions;
using test::TestDir;
using testing::HasSubstr;

class KinetoFileTest : public testing::Test {
 protected:
  Trace Open(const std::string& text) {
    const std::filesystem::path path = TestDir() / "trace.json";
    test::WriteFile(path, text);
    diagnostics_ = Diagnostics();
    return OpenTrace(path.string(), TraceNeeds::All(), &diagnostics_);
  }
  std::string Refusal(const std::string& text) {
    try {
      Open(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  /// Kernels of 1001, 1002, ... ns.
  static KinetoBuilder Kernels(int count, const KinetoOptions& options = {}) {
    KinetoBuilder builder(options);
    for (int i = 1; i <= count; ++i) {
      builder.Launch({.name = "k", .duration_ns = 1000 + i}, i * 10'000);
    }
    return builder;
  }

  Diagnostics diagnostics_;
};

TEST_F(KinetoFileTest, ReadsEveryLayout) {
  for (const KinetoOptions& options :
       {KinetoOptions{}, KinetoOptions{.bare_array = true}, KinetoOptions{.members_last = true}}) {
    KinetoBuilder builder = Kernels(3, options);
    builder.AddMember("padding", JsonText(std::string(10'000, 'x')));
    const Trace trace = Open(builder.Text());
    EXPECT_EQ(trace.kernels.size(), 3u);
    EXPECT_EQ(trace.launches.size(), 3u);
    EXPECT_EQ(trace.schema_version, options.bare_array ? 0 : 1);
    EXPECT_FALSE(diagnostics_.Damaged());
  }
}

TEST_F(KinetoFileTest, ReadsTimesThatNoDoubleHolds) {
  KinetoBuilder builder({.origin_us = 1'712'195'495'519'689});
  builder.AddKernel({.start_ns = 853, .duration_ns = 63'813, .more = {{"ts", "1.5"}}});
  builder.AddOperator({.start_ns = 123, .duration_ns = 1});
  const Trace trace = Open(builder.Text());
  EXPECT_EQ(trace.clock_resolution_ns, 1);
  EXPECT_EQ(trace.kernels[0].start_ns, 1'712'195'495'519'689'853);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 63'813);
  EXPECT_EQ(trace.ranges[0].start_ns, 1'712'195'495'519'689'123);
}

TEST_F(KinetoFileTest, SaysHowCoarseTimesAreThatWentThroughADouble) {
  const Trace trace = Open(R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
                                "ts": 1712195495519695.8, "dur": 1.28}])");
  EXPECT_EQ(trace.clock_resolution_ns, 250);
  EXPECT_EQ(trace.kernels[0].start_ns, 1'712'195'495'519'695'800);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 1280);
}

TEST_F(KinetoFileTest, KeepsWhatACutFileHolds) {
  const std::string text = Kernels(40).Text();
  for (size_t quarters = 1; quarters < 4; ++quarters) {
    const Trace trace = Open(text.substr(0, text.size() * quarters / 4));
    EXPECT_GE(trace.kernels.size(), 10 * quarters - 2) << quarters;
    EXPECT_LE(trace.kernels.size(), 10 * quarters + 2) << quarters;
    for (const Kernel& kernel : trace.kernels) EXPECT_TRUE(kernel.timed());
  }
  EXPECT_EQ(Open(text.substr(0, 200)).kernels.size(), 0u);
  EXPECT_THAT(diagnostics_.Render("test"), HasSubstr("the part of the file that is there"));
}

TEST_F(KinetoFileTest, SkipsBadEventsAndCountsThem) {
  KinetoBuilder builder = Kernels(2);
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": )");
  builder.AddRaw("17");
  builder.Launch({.name = "k"}, 900'000);
  const Trace trace = Open(builder.Text());
  EXPECT_GE(trace.kernels.size(), 2u);
  EXPECT_GE(diagnostics_.CountOf(Reason::kBadEvent), 1);
}

TEST_F(KinetoFileTest, TakesMendedIntegers) {
  KinetoBuilder builder = Kernels(1);
  builder.AddOperator(
      {.name = "record_param_comms", .more = {{"Comms Id", "10159970886766084423"}}});
  builder.AddOperator(
      {.name = "record_param_comms", .more = {{"Comms Id", "99910159970886766084423"}}});
  const Trace trace = Open(builder.Text());
  EXPECT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.ranges.size(), 2u);
}

TEST_F(KinetoFileTest, SaysWhatOtherJsonIs) {
  EXPECT_THAT(Refusal(R"({"schema": "1.0", "nodes": [{"id": 1}]})"), HasSubstr("execution trace"));
  EXPECT_THAT(Refusal("[[-1, 1, 37888, 7], [0, 2, 5, 1]]"), HasSubstr("memory timeline"));
  EXPECT_THAT(Refusal(R"({"a": 1})"), HasSubstr("no traceEvents"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("is a JSON list without a trace event"));
  EXPECT_THAT(Refusal(R"({"traceEvents": []})"), HasSubstr("it has none of its events;"));
  EXPECT_THAT(Refusal(R"({"traceEvents": [{"cat": "foo"}]})"),
              HasSubstr("is no trace of PyTorch's profiler: it has none of its events"));
  // Names of processes, which every Chrome trace may have.
  EXPECT_THAT(Refusal(R"([{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "a"}},
                          {"ph": "X", "cat": "v8", "name": "a", "ts": 1, "dur": 1, "pid": 1},
                          {"ph": "C", "name": "b", "ts": 1, "pid": 1}])"),
              HasSubstr("only of other categories: phase C (1), v8 (1);"));
}

TEST_F(KinetoFileTest, AcceptsWhatIsOfPyTorchWithoutWorkOfAGpu) {
  for (const char* text :
       {R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]})",
        R"([{"ph": "X", "cat": "python_function", "name": "a", "ts": 1, "dur": 1}])",
        R"({"distributedInfo": {"rank": 0}, "traceEvents": []})",
        R"({"traceEvents": [{"cat": "kernel"}], "deviceProperties": []})"}) {
    EXPECT_EQ(Open(text).kernels.size(), 0u) << text;
  }
}

TEST_F(KinetoFileTest, AcceptsATraceWithoutEvents) {
  const Trace trace = Open(R"({"schemaVersion": 1, "traceEvents": []})");
  EXPECT_EQ(trace.kernels.size(), 0u);
  EXPECT_EQ(trace.clock_resolution_ns, 1);
  EXPECT_THAT(diagnostics_.Render("test"), HasSubstr("no kernels were recorded"));
}

}  // namespace
}  // namespace oplens::parse::kineto_file_test
