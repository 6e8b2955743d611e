#include <gtest/gtest.h>

#include <string>

#include "parse/readers/open_trace.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::parse::kineto_torch_functions_test {
namespace {

using Kind = TorchFunction::Kind;

Trace ReadText(const std::string& text, TraceNeeds needs = {TracePart::kTorchFunctions}) {
  const std::filesystem::path path = test::TestDir() / "trace.json";
  test::WriteFile(path, text);
  Diagnostics diagnostics;
  return OpenTrace(path.string(), needs, &diagnostics);
}

Trace ReadEvents(const std::string& events, const std::string& members = "") {
  return ReadText("{\"schemaVersion\": 1" + members + ", \"traceEvents\": [" + events + "]}");
}

std::string Event(const std::string& category, const std::string& name,
                  const std::string& args = "", const std::string& times = R"("ts":1,"dur":2)") {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":2,)" +
         times + R"(,"args":{)" + args + "}}";
}

TEST(KinetoTorchFunctionsTest, AreThereForThoseWhoAsk) {
  const std::string text =
      "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [" +
      Event("cpu_op", "aten::mm") + "]}";
  EXPECT_TRUE(ReadText(text, {}).torch_functions.empty());
  EXPECT_FALSE(ReadText(text, {}).torch_recording.since_2);
  EXPECT_EQ(ReadText(text).torch_functions.size(), 1u);
  EXPECT_TRUE(ReadText(text).torch_recording.since_2);
}

TEST(KinetoTorchFunctionsTest, AnOperator) {
  const Trace trace = ReadEvents(
      Event("cpu_op", "aten::cat.out",
            R"("External id":7,"Ev Idx":3,"Sequence number":5,"Fwd thread id":1,"correlation":8,)"
            R"("Input Dims":[[2, 3],[[4],[5]],"x",[]],"Call stack":"b.py(2): g;a.py(1): f;")",
            R"("ts":4914867393597.778,"dur":74123.596)"));
  ASSERT_EQ(trace.torch_functions.size(), 1u);
  const TorchFunction& op = trace.torch_functions[0];
  EXPECT_EQ(op.kind, Kind::kOperator);
  EXPECT_EQ(op.start_ns, 4914867393597778);
  EXPECT_EQ(op.end_ns - op.start_ns, 74123596);
  EXPECT_EQ(op.id, 7);
  EXPECT_EQ(op.linked_id, 0);
  EXPECT_EQ(op.order, 3);
  EXPECT_EQ(op.sequence, 5);
  EXPECT_EQ(op.forward_thread, 1);
  EXPECT_EQ(trace.strings.View(op.name), "aten::cat");
  EXPECT_EQ(trace.strings.View(op.overload), "out");
  EXPECT_EQ(trace.strings.View(op.dims), "[[2, 3], [], [], []]");
  EXPECT_EQ(trace.strings.View(op.stack), "b.py(2): g;a.py(1): f;");
  EXPECT_EQ(trace.threads[op.thread].thread_id, 2);
}

TEST(KinetoTorchFunctionsTest, NumbersOfCallsAndWork) {
  const std::string args = R"("External id":7,"correlation":8)";
  const Trace trace = ReadEvents(
      Event("cuda_runtime", "cudaLaunchKernel", args) + "," + Event("kernel", "k", args) + "," +
      Event("gpu_user_annotation", "label", args) + "," + Event("overhead", "buffer", args) + "," +
      Event("user_annotation", "label.of::mine.x", args) + "," + Event("nonsense", "x", args) +
      "," + Event("mtia_ccp_events", "m", args) + "," + Event("cpu_op", "x", "", R"("ts":1)") +
      "," + Event("cpu_op", "x", "", R"("ts":1,"dur":-2)"));
  ASSERT_EQ(trace.torch_functions.size(), 6u);
  const auto numbers = [&](size_t i) {
    return std::pair(trace.torch_functions[i].id, trace.torch_functions[i].linked_id);
  };
  EXPECT_EQ(numbers(0), std::pair(int64_t{8}, int64_t{7}));
  EXPECT_EQ(numbers(1), std::pair(int64_t{8}, int64_t{7}));
  EXPECT_EQ(numbers(2), std::pair(int64_t{7}, int64_t{0}));
  EXPECT_EQ(numbers(3), std::pair(int64_t{7}, int64_t{0}));
  EXPECT_EQ(trace.torch_functions[3].kind, Kind::kCall);
  EXPECT_EQ(trace.strings.View(trace.torch_functions[4].name), "label.of::mine.x");
  EXPECT_EQ(trace.torch_functions[5].kind, Kind::kAccelerator);
  EXPECT_EQ(trace.torch_recording.device, TorchRecording::Device::kMtia);
}

TEST(KinetoTorchFunctionsTest, MemoryByKindOfDevice) {
  std::string events = Event("cpu_op", "aten::mm");
  for (const int device : {0, 1, 2, 6, 12, 20, 9}) {
    events += R"(,{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":5,"args":{"Bytes":-16,)"
              R"("Device Type":)" +
              std::to_string(device) + "}}";
  }
  events +=
      R"(,{"ph":"i","s":"t","name":"[OutOfMemory]","pid":1,"tid":2,"ts":5,"args":{"Bytes":1}})";
  const Trace trace = ReadEvents(events, ", \"profile_memory\": 1");
  ASSERT_EQ(trace.torch_functions.size(), 9u);
  std::string found;
  for (const TorchFunction& one : trace.torch_functions) {
    if (one.kind == Kind::kMemory) found += std::to_string(static_cast<int>(one.memory));
  }
  EXPECT_EQ(found, "0101112");
  EXPECT_EQ(trace.torch_functions[1].bytes, -16);
  EXPECT_EQ(trace.torch_functions[8].kind, Kind::kOutOfMemory);
  EXPECT_EQ(trace.torch_recording.profile_memory, true);
  EXPECT_EQ(trace.torch_recording.device, TorchRecording::Device::kNone);
}

TEST(KinetoTorchFunctionsTest, StartAndVersion) {
  const std::string op = Event("cpu_op", "aten::mm");
  EXPECT_EQ(ReadEvents(op).torch_recording.start_ns, std::nullopt);
  EXPECT_FALSE(ReadEvents(op).torch_recording.since_2);
  EXPECT_TRUE(ReadEvents(op, R"(, "baseTimeNanoseconds": 5)").torch_recording.since_2);
  EXPECT_TRUE(
      ReadEvents(Event("cpu_op", "x", R"("Record function id":0)")).torch_recording.since_2);
  EXPECT_TRUE(ReadEvents(Event("cpu_op", "x", R"("Concrete Inputs":[])")).torch_recording.since_2);
  const std::string span = Event("Trace", "PyTorch Profiler (0)", "", R"("ts":0.5,"dur":9)");
  EXPECT_EQ(ReadEvents(op + "," + span).torch_recording.start_ns, 500);
  const std::string start = R"({"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler",)"
                            R"("pid":"Traces","tid":"Trace","ts":0.25})";
  EXPECT_EQ(ReadEvents(op + "," + start).torch_recording.start_ns, 250);
}

TEST(KinetoTorchFunctionsTest, DevicesByCategory) {
  using enum TorchRecording::Device;
  const auto device_of = [](const std::string& category) {
    return ReadEvents(Event(category, "call") + "," + Event("kernel", "k")).torch_recording.device;
  };
  EXPECT_EQ(device_of("cuda_runtime"), kCuda);
  EXPECT_EQ(device_of("xpu_runtime"), kXpu);
  EXPECT_EQ(device_of("privateuse1_driver"), kPrivateUse1);
  EXPECT_EQ(device_of("hpu_op"), kHpu);
}

}  // namespace
}  // namespace oplens::parse::kineto_torch_functions_test
