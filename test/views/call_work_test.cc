#include "prof/run/call_work.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "parse/join/launch_sweep.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::call_work_test {
namespace {

using parse::CallTree;
using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;

/// In a test Run is a member of its class.
using OneRun = Run;
using Look = std::function<void(const OneRun&)>;
Look look;  // Of the test at hand.

/// Shows a run to `look`.
class Looker : public Partial {
 public:
  void End(const Run* run) override {
    if (run != nullptr) look(*run);
  }
  void Merge(const Partial&) override {}
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink*) const override {}
};

void LookAt(const KinetoBuilder& builder, Look what) {
  constexpr View kView = {
      "look",
      "",
      {},
      [] { return std::span<const Field>(); },
      [](const ViewOptions&) { return std::unique_ptr<Partial>(std::make_unique<Looker>()); }};
  const std::filesystem::path path = test::TestDir() / "trace.json";
  builder.Write(path);
  look = std::move(what);
  test::PartialOf(kView, {path.string()});
}

void AddCall(const std::string& name, int64_t start_ns, int64_t end_ns, int64_t thread,
             KinetoBuilder* builder) {
  KinetoOperator op;
  op.name = "aten::" + name;
  op.start_ns = start_ns;
  op.duration_ns = end_ns - start_ns;
  op.thread_id = thread;
  builder->AddOperator(op);
}

void AddKernel(int64_t launch_ns, int64_t launch_length_ns, int64_t thread,
               KinetoBuilder* builder) {
  KinetoKernel kernel;
  kernel.start_ns = launch_ns + 100'000;
  kernel.correlation = builder->AddCall("cudaLaunchKernel", launch_ns, launch_length_ns, thread);
  builder->AddKernel(kernel);
}

/// Names of the calls of the device events, by their starts; "" for none.
std::vector<std::string> NamesOf(const Run& run) {
  std::vector<std::string> names;
  for (const DeviceEvent& event : run.work().events()) {
    const uint32_t call = run.call_work().CallOf(event);
    EXPECT_EQ(call, run.call_work().CallOfKernel(event.index));
    const auto name = [&] { return run.trace().ranges[run.calls().all()[call].range].text; };
    names.emplace_back(call == CallWork::kNone ? "" : run.trace().strings.View(name()));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(CallWorkTest, TheInnermostCallOfTheThread) {
  KinetoBuilder builder;
  AddCall("outer", 1000, 9000, 1, &builder);
  AddCall("inner", 2000, 4000, 1, &builder);
  AddCall("other", 0, 9000, 2, &builder);
  for (const int64_t launch_ns : {500, 1500, 2500, 5000, 9500}) {
    AddKernel(launch_ns, 100, 1, &builder);
  }
  AddKernel(9600, 100, 3, &builder);
  LookAt(builder, [](const OneRun& run) {
    EXPECT_EQ(NamesOf(run), (Names{"", "aten::outer", "aten::inner", "aten::outer", "", ""}));
  });
}

TEST(CallWorkTest, CrossingAndOverlongCalls) {
  KinetoBuilder builder;
  AddCall("a", 1000, 5000, 1, &builder);
  AddCall("b", 3000, 8000, 1, &builder);
  AddKernel(2000, 100, 1, &builder);
  AddKernel(4000, 100, 1, &builder);
  AddKernel(4900, 500, 1, &builder);  // Ends behind a.
  AddKernel(7900, 500, 1, &builder);  // Ends behind both.
  LookAt(builder, [](const OneRun& run) {
    EXPECT_EQ(NamesOf(run), (Names{"aten::a", "aten::b", "aten::b", ""}));
  });
}

TEST(CallWorkTest, AThousandLevels) {
  KinetoBuilder builder;
  for (int64_t i = 0; i < 1000; ++i) {
    AddCall("l" + std::to_string(i), 10 * i, 100'000 - 10 * i, 1, &builder);
  }
  AddKernel(5005, 2, 1, &builder);
  AddKernel(20'000, 100, 1, &builder);
  LookAt(builder, [](const OneRun& run) {
    EXPECT_EQ(NamesOf(run), (Names{"aten::l500", "aten::l999"}));
  });
}

/// By looking at every call.
uint32_t Search(const Run& run, const DeviceEvent& event) {
  const LaunchIndex origin = run.work().OriginOf(event);
  if (origin == kNoLaunch) return CallWork::kNone;
  const LaunchCall& launch = run.trace().launches[origin];
  const int64_t end_ns = parse::ComparedEnd(launch, run.trace().clock_resolution_ns);
  uint32_t found = CallWork::kNone;
  const auto all = run.calls().all();
  for (uint32_t call = 0; call < all.size(); ++call) {
    const Range& range = run.trace().ranges[all[call].range];
    if (run.trace().ThreadOf(range) == launch.thread && range.start_ns <= launch.start_ns &&
        range.end_ns >= end_ns) {
      found = call;
    }
  }
  return found;
}

RC_GTEST_PROP(CallWorkProperty, IsWhatASearchFinds, ()) {
  KinetoBuilder builder;
  const auto calls = *rc::gen::inRange(0, 40);
  for (int i = 0; i < calls; ++i) {
    const auto start_ns = *rc::gen::inRange<int64_t>(0, 200);
    const auto length_ns = *rc::gen::inRange<int64_t>(0, 100);
    AddCall("c" + std::to_string(i), start_ns, start_ns + length_ns, *rc::gen::inRange(1, 3),
            &builder);
  }
  const auto kernels = *rc::gen::inRange(1, 20);
  for (int i = 0; i < kernels; ++i) {
    AddKernel(*rc::gen::inRange<int64_t>(0, 300), *rc::gen::inRange<int64_t>(0, 20),
              *rc::gen::inRange(1, 4), &builder);
  }
  std::vector<uint32_t> found;
  std::vector<uint32_t> searched;
  LookAt(builder, [&](const OneRun& run) {
    for (const DeviceEvent& event : run.work().events()) {
      found.push_back(run.call_work().CallOf(event));
      searched.push_back(Search(run, event));
    }
  });
  RC_ASSERT(found == searched);
}

}  // namespace
}  // namespace oplens::prof::call_work_test
