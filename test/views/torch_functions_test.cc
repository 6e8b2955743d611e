#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "prof/compat/torch/functions.h"
#include "prof/compat/torch/table.h"

namespace oplens::prof::torch_functions_test {
namespace {

using Kind = TorchFunction::Kind;
using Event = TorchFunctions::Event;

class TorchFunctionsTest : public ::testing::Test {
 protected:
  TorchFunctionsTest() {
    for (const int64_t thread : {7, 1, 2}) trace_.threads.push_back({1, thread, 0});
    trace_.torch_recording.device = TorchRecording::Device::kCuda;
    trace_.torch_recording.start_ns = 0;
  }

  /// On thread 7, which is not the main one: that is 1.
  TorchFunction& Add(Kind kind, const std::string& name, int64_t start_ns, int64_t end_ns,
                     int64_t id = 0, int64_t linked_id = 0) {
    TorchFunction& function = trace_.torch_functions.emplace_back();
    function.kind = kind;
    function.name = trace_.strings.Intern(name);
    function.start_ns = start_ns;
    function.end_ns = end_ns;
    function.id = id;
    function.linked_id = linked_id;
    function.number = static_cast<int64_t>(trace_.torch_functions.size());
    if (kind <= Kind::kPython) function.thread = 0;
    return function;
  }

  /// The events that count, by name; the last of each.
  std::map<std::string, Event> Find() {
    functions_.emplace(trace_);
    std::map<std::string, Event> found;
    for (const Event& event : functions_->events()) {
      if (!event.merged) found[std::string(functions_->TextOf(event.name))] = event;
    }
    return found;
  }

  Trace trace_;
  std::optional<TorchFunctions> functions_;
};

TEST_F(TorchFunctionsTest, SelfAndTotal) {
  Add(Kind::kOperator, "outer", 0, 1000, 1);
  Add(Kind::kPython, "f.py(1): g", 100, 500);
  Add(Kind::kAnnotation, "label", 600, 900, 2);
  Add(Kind::kDevice, "kernel", 2000, 2700, 9, 2);
  auto found = Find();
  EXPECT_EQ(found["outer"].host_self.ns, 300);
  EXPECT_DOUBLE_EQ(found["outer"].host_self.us, 0.3);
  EXPECT_EQ(found["outer"].device_total.ns, 700);
  EXPECT_EQ(found["outer"].device_self.ns, 0);
  EXPECT_EQ(found["label"].device_self.ns, 700);
  EXPECT_EQ(found["kernel"].device_self.ns, 700);
  EXPECT_EQ(found["kernel"].host_total.ns, 0);
}

TEST_F(TorchFunctionsTest, FloatsAreThoseFromTheStartOfTheRecording) {
  trace_.torch_recording.start_ns = 1;
  Add(Kind::kOperator, "op", 4'914'867'393'597, 4'914'867'393'700);
  // (b - s) / 1000 - (a - s) / 1000, each rounded.
  EXPECT_EQ(Find()["op"].host_total.us, 4'914'867'393.699 - 4'914'867'393.596);
}

// The call of an API has the thread of its operator; of none, the main thread.
TEST_F(TorchFunctionsTest, ThreadsOfCalls) {
  Add(Kind::kOperator, "op", 0, 1000, 5);
  Add(Kind::kOperator, "of_main", 0, 1000, 6).thread = 1;
  Add(Kind::kCall, "cudaLaunchKernel", 100, 150, 77, 5);
  Add(Kind::kCall, "cudaDeviceSynchronize", 200, 290, 78);
  auto found = Find();
  EXPECT_EQ(found["op"].host_self.ns, 950);
  EXPECT_EQ(found["of_main"].host_self.ns, 910);
}

// PyTorch looks a call up by its correlation id, which is of another kind.
TEST_F(TorchFunctionsTest, ACallOfNobodyHasTheWorkOfItsNumber) {
  Add(Kind::kOperator, "op", 0, 1000, 5);
  Add(Kind::kCall, "cudaDeviceSynchronize", 2000, 2090, 5);
  Add(Kind::kDevice, "kernel", 2000, 2700, 9, 5);
  auto found = Find();
  EXPECT_EQ(found["op"].device_self.ns, 700);
  EXPECT_EQ(found["cudaDeviceSynchronize"].device_self.ns, 700);
}

TEST_F(TorchFunctionsTest, WorkOfWhatIsLeftOutIsNobodys) {
  Add(Kind::kOperator, "aten::to", 0, 1000, 5);
  Add(Kind::kOperator, "aten::is_leaf", 100, 900, 6);
  Add(Kind::kDevice, "kernel", 2000, 2700, 9, 6);
  auto found = Find();
  EXPECT_EQ(found.count("aten::is_leaf"), 0u);
  EXPECT_EQ(found["aten::to"].device_total.ns, 0);
  EXPECT_EQ(found["aten::to"].host_self.ns, 1000);
}

TEST_F(TorchFunctionsTest, ARepeatedCallIsOneWithTheInnerOnesWork) {
  Add(Kind::kOperator, "a", 0, 1000, 1);
  Add(Kind::kOperator, "a", 100, 900, 2);
  Add(Kind::kOperator, "a", 200, 800, 3);
  Add(Kind::kOperator, "b", 300, 400, 4);
  Add(Kind::kDevice, "of_outer", 2000, 2700, 9, 1);
  Add(Kind::kDevice, "of_inner", 2000, 2001, 9, 3);
  auto found = Find();
  EXPECT_EQ(found["a"].of->id, 1);
  EXPECT_EQ(found["a"].host_self.ns, 900);
  EXPECT_EQ(found["a"].device_self.ns, 1);
}

TEST_F(TorchFunctionsTest, MemoryOfAllWhoRun) {
  Add(Kind::kOperator, "a", 0, 1000, 1);
  Add(Kind::kOperator, "b", 100, 500, 2);
  Add(Kind::kOperator, "other_thread", 100, 500, 3).thread = 1;
  const auto add = [this](int64_t time_ns, int64_t bytes, TorchFunction::Memory memory) {
    TorchFunction& moment = Add(Kind::kMemory, "[memory]", time_ns, time_ns);
    moment.thread = 2;
    moment.bytes = bytes;
    moment.memory = memory;
  };
  add(500, 10, TorchFunction::Memory::kHost);
  add(600, 7, TorchFunction::Memory::kDevice);
  add(600, 100, TorchFunction::Memory::kOther);
  add(2000, -3, TorchFunction::Memory::kHost);
  auto found = Find();
  EXPECT_EQ(found["a"].host_bytes, 10);
  EXPECT_EQ(found["a"].host_self_bytes, 0);
  EXPECT_EQ(found["a"].device_self_bytes, 7);
  EXPECT_EQ(found["b"].host_self_bytes, 10);
  EXPECT_EQ(found["other_thread"].host_self_bytes, 10);
  EXPECT_EQ(found["[memory]"].host_self_bytes, -3);
  EXPECT_TRUE(functions_->has_memory());
}

TEST_F(TorchFunctionsTest, StacksOfTheForwardOp) {
  const auto with_stack = [this](TorchFunction& function, const char* stack, int64_t sequence,
                                 int64_t forward_thread) {
    function.stack = trace_.strings.Intern(stack);
    function.sequence = sequence;
    function.forward_thread = forward_thread;
  };
  with_stack(Add(Kind::kOperator, "aten::mm", 0, 10, 1), "f1;f2;f3;;autograd/__init__.py backward",
             4, 0);
  const std::string caller = "autograd::engine::evaluate_function: MmBackward0";
  with_stack(Add(Kind::kOperator, caller, 20, 90, 2), "engine", 4, 1);
  with_stack(Add(Kind::kOperator, "MmBackward0", 30, 80, 3), "engine", 4, 1);
  with_stack(Add(Kind::kOperator, "aten::t", 40, 50, 4), "engine", -1, 0);
  with_stack(Add(Kind::kOperator, "aten::add", 100, 150, 5), "own", -1, 0);
  auto found = Find();
  const auto frames = [&](const std::string& name, size_t most) {
    return std::string(functions_->TextOf(functions_->FramesOf(found[name], most)));
  };
  EXPECT_EQ(frames("aten::mm", 5), "f3;f2;f1");
  EXPECT_EQ(frames("aten::mm", 2), "f2;f1");
  EXPECT_EQ(frames(caller, 5), "engine");
  EXPECT_EQ(frames("MmBackward0", 5), "f3;f2;f1");
  EXPECT_EQ(frames("aten::t", 5), "f3;f2;f1");
  EXPECT_EQ(frames("aten::add", 5), "own");
}

TEST_F(TorchFunctionsTest, NamesAsPyTorchShowsThem) {
  Add(Kind::kAnnotation, "ProfilerStep#12", 0, 10, 1);
  Add(Kind::kAnnotation, "Pi", 20, 30, 2);
  Add(Kind::kAnnotation, "f", 40, 50, 3);
  Add(Kind::kDevice, "_Z1gi", 40, 50, 3);
  auto found = Find();
  for (const char* const name : {"ProfilerStep*", "int*", "f", "g(int)"}) {
    EXPECT_EQ(found.count(name), 1u) << name;
  }
}

// Of a broken file.
TEST_F(TorchFunctionsTest, TimesOutOfBounds) {
  Add(Kind::kOperator, "a", INT64_MIN, INT64_MAX, 1);
  Add(Kind::kOperator, "b", INT64_MIN, INT64_MAX, 2);
  Add(Kind::kDevice, "k", INT64_MIN, INT64_MAX, 2, 2);
  TorchFunction& moment = Add(Kind::kMemory, "[memory]", INT64_MAX, INT64_MAX);
  moment.bytes = INT64_MIN;
  moment.thread = 99;
  EXPECT_EQ(Find().size(), 3u);
}

TEST(TorchTableTest, UnitsAndTitlesOfVersions) {
  EventRow row;
  row.name = "a";
  row.calls = 2;
  row.device = true;
  row.device_self_ns = row.device_total_ns = 3001;
  row.device_self_bytes = row.device_bytes = 5;
  EventRow label = row;
  label.annotation = true;
  const std::vector<EventRow> rows = {row, label};
  const std::string old = TorchTable(rows, {.memory = true});
  EXPECT_NE(old.find(" 5 b "), std::string::npos) << old;
  EXPECT_NE(old.find("Self CUDA Mem"), std::string::npos);
  const std::string now = TorchTable(rows, {.memory = true, .version = kTorch213, .device = "XPU"});
  EXPECT_NE(now.find(" 5 B "), std::string::npos) << now;
  EXPECT_NE(now.find("Self XPU %"), std::string::npos);
  // A label is no work.
  EXPECT_NE(now.find("Self XPU time total: 3.001us\n"), std::string::npos);
}

TEST(TorchTableTest, WordsForTheDevice) {
  EventRow row;
  row.device_self_ns = 7000;
  for (const char* const name : {"cuda", "device", "xpu", "privateuse1"}) {
    EXPECT_EQ(TorchSortValue(row, "self_" + std::string(name) + "_time_total"), 7) << name;
  }
  EXPECT_EQ(TorchSortValue(row, "self_tpu_time_total"), 0);
  EXPECT_EQ(Torch113SortWords().size(), 11u);
  EXPECT_EQ(TorchSortWords().size(), 26u);
  EXPECT_EQ(TorchLegacySortWords().back(), "count");
}

}  // namespace
}  // namespace oplens::prof::torch_functions_test
