#include <gtest/gtest.h>

#include <string>

#include "parse/readers/open_trace.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::kineto_torch_events_test {
namespace {

using Kind = TorchEvent::Kind;
using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::KinetoOptions;

Trace Read(const KinetoBuilder& builder, TraceNeeds needs = {TracePart::kTorchEvents}) {
  const std::filesystem::path path = test::TestDir() / "trace.json";
  builder.Write(path);
  Diagnostics diagnostics;
  return OpenTrace(path.string(), needs, &diagnostics);
}

std::string TextOf(const Trace& trace, StringId text) {
  return std::string(trace.strings.View(text));
}

KinetoBuilder Sample(KinetoOptions options = {}) {
  KinetoBuilder builder(options);
  KinetoOperator op;
  op.start_ns = 1500;
  op.duration_ns = 2250;
  op.dims = R"([[2, 3], [], [[4], [5, 6]], "x"])";
  op.more = {{"External id", "17"}};
  builder.AddOperator(op);
  builder.AddHost("python_function", "nn.Module: Net_0", 0, 9000, 1234,
                  {{"Python module id", "4"}, {"External id", "5"}});
  builder.AddHost("python_function", "train.py(3): f", 0, 9000);
  builder.AddCall("cudaLaunchKernel", 2000, 100, 1234, "cuda_runtime", {{"External id", "17"}});
  builder.AddCall("cuLaunchKernel", 2200, 100, 1234, "cuda_driver");
  KinetoKernel kernel;
  kernel.correlation = 101;
  builder.AddKernel(kernel);
  builder.AddHost("user_annotation", "ProfilerStep#1", 0, 9000);
  return builder;
}

TEST(KinetoTorchEventsTest, AreThereForThoseWhoAsk) {
  EXPECT_TRUE(Read(Sample(), {}).torch_events.empty());
  EXPECT_EQ(Read(Sample(), TraceNeeds::All()).torch_events.size(), 6u);
}

TEST(KinetoTorchEventsTest, KeepTheNumbersOfTheFile) {
  KinetoOptions options;
  options.origin_us = 0;
  const Trace trace = Read(Sample(options));
  ASSERT_EQ(trace.torch_events.size(), 6u);
  const TorchEvent& op = trace.torch_events[0];
  EXPECT_EQ(op.kind, Kind::kOperator);
  EXPECT_EQ(op.external_id, 17);
  EXPECT_EQ(op.correlation_id, TorchEvent::kNone);
  EXPECT_EQ(op.start_us, 1.5);
  EXPECT_EQ(op.end_us, 3.75);
  EXPECT_EQ(op.thread_id, 1234);
  EXPECT_FALSE(op.text_thread);
  EXPECT_EQ(TextOf(trace, op.dims), "[[2, 3], [], [[4], [5, 6]], 'x']");
  EXPECT_EQ(trace.torch_events[1].kind, Kind::kModule);
  EXPECT_EQ(trace.torch_events[1].external_id, TorchEvent::kNone);
  EXPECT_EQ(trace.torch_events[1].correlation_id, 4);
  EXPECT_EQ(trace.torch_events[2].kind, Kind::kApiCall);
  EXPECT_EQ(trace.torch_events[2].correlation_id, 101);
  EXPECT_EQ(trace.torch_events[2].external_id, 17);
  EXPECT_EQ(trace.torch_events[3].kind, Kind::kDriverCall);
  const TorchEvent& kernel = trace.torch_events[4];
  EXPECT_EQ(kernel.kind, Kind::kKernel);
  EXPECT_TRUE(kernel.has_extents);
  EXPECT_TRUE(kernel.has_shared_memory);
  EXPECT_EQ(kernel.number, trace.kernels[0].row_id);
  EXPECT_EQ(trace.torch_events[5].kind, Kind::kAnnotation);
  EXPECT_EQ(TextOf(trace, trace.torch_events[5].name), "ProfilerStep#1");
}

TEST(KinetoTorchEventsTest, BandwidthsOfCopies) {
  KinetoBuilder builder;
  builder.AddDevice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 1000,
                    {{"stream", "20"}, {"memory bandwidth (GB/s)", "1.5"}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.torch_events.size(), 1u);
  EXPECT_EQ(trace.torch_events[0].gbps, 1.5);
  EXPECT_EQ(trace.torch_events[0].thread_id, 20);
}

TEST(KinetoTorchEventsTest, OthersForThoseWhoAsk) {
  KinetoBuilder builder = Sample();
  KinetoOperator triton;
  triton.more = {{"stream", "0"}};
  builder.AddOperator(triton);
  builder.AddDevice("cuda_sync", "Stream Sync", 0, 1000, {{"stream", "7"}, {"correlation", "9"}});
  builder.AddDevice("mtia_ccp_events", "fc", 0, 1000, {{"stream", "104"}, {"correlation", "8"}});
  const Trace trace = Read(builder, {TracePart::kTorchEvents, TracePart::kOtherEvents});
  ASSERT_EQ(trace.other_events.size(), 3u);
  EXPECT_EQ(TextOf(trace, trace.other_events[0].name), "train.py(3): f");
  EXPECT_EQ(trace.other_events[0].kind, Kind::kOther);
  EXPECT_EQ(trace.other_events[0].thread_id, -1);
  EXPECT_EQ(trace.other_events[1].kind, Kind::kOperator);
  EXPECT_EQ(trace.other_events[1].thread_id, 0);
  EXPECT_TRUE(trace.torch_events.back().has_stream);
  EXPECT_EQ(trace.other_events[2].thread_id, 7);
  EXPECT_EQ(trace.other_events[2].correlation_id, 9);
  EXPECT_TRUE(Read(builder).other_events.empty());
  // Work of another accelerator is there for everyone.
  ASSERT_EQ(Read(builder, {}).accelerator_events.size(), 1u);
  EXPECT_EQ(trace.accelerator_events[0].thread_id, 104);
  EXPECT_EQ(trace.accelerator_events[0].correlation_id, 8);
}

TEST(KinetoTorchEventsTest, OldFiles) {
  KinetoOptions options;
  options.old_names = true;
  KinetoBuilder builder(options);
  KinetoOperator op;
  op.more = {{"external id", "3"}};
  builder.AddOperator(op);
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.torch_events.size(), 1u);
  EXPECT_TRUE(trace.torch_events[0].text_thread);
  EXPECT_EQ(trace.torch_events[0].thread_id, 1234);
  EXPECT_EQ(trace.torch_events[0].external_id, 3);
  EXPECT_EQ(TextOf(trace, trace.torch_events[0].dims), "[]");
}

}  // namespace
}  // namespace oplens::parse::kineto_torch_events_test
