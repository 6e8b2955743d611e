#ifndef OPLENS_TEST_VIEWS_MADE_RUN_H_
#define OPLENS_TEST_VIEWS_MADE_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/records/kernel_records.h"
#include "prof/run/run.h"
#include "prof/views/calls/before_calls.h"
#include "prof/views/collectives/collective_set.h"
#include "prof/views/common/view.h"
#include "test/support/view_rows.h"

namespace oplens::test {

/// A run whose trace a test makes event by event.
class MadeRun {
 public:
  MadeRun() { AddThread(1, 1); }

  ThreadIndex AddThread(int64_t process, int64_t thread) {
    trace.threads.push_back({process, thread, 0});
    return static_cast<ThreadIndex>(trace.threads.size() - 1);
  }
  void AddRange(std::string_view text, int64_t start_ns, int64_t end_ns,
                RangeKind kind = RangeKind::kAnnotation, ThreadIndex thread = 0) {
    Range& range = trace.ranges.emplace_back();
    const StringId name = trace.strings.Intern(text);
    range.SetThread(thread);
    if (kind == RangeKind::kOperator) MakeOperator(name, &range, &trace);
    range.text = name;
    range.kind = kind;
    range.start_ns = start_ns;
    range.end_ns = end_ns;
  }
  void AddStep(int64_t number, int64_t start_ns, int64_t end_ns, ThreadIndex thread = 0) {
    AddRange("ProfilerStep#" + std::to_string(number), start_ns, end_ns, RangeKind::kStep, thread);
  }
  LaunchIndex AddCall(int64_t start_ns, int64_t end_ns, std::string_view api = "cudaLaunchKernel") {
    LaunchCall& call = trace.launches.emplace_back();
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.api = trace.strings.Intern(api);
    return static_cast<LaunchIndex>(trace.launches.size() - 1);
  }
  Kernel& AddKernel(int64_t start_ns, int64_t end_ns, LaunchIndex launch = kNoLaunch,
                    std::string_view name = "kernel", int32_t device = 0, int32_t stream = 7) {
    Kernel& kernel = trace.kernels.emplace_back();
    kernel.start_ns = start_ns;
    kernel.end_ns = end_ns;
    kernel.launch = launch;
    kernel.name = trace.strings.Intern(name);
    kernel.device_id = device;
    kernel.stream_id = stream;
    kernel.row_id = static_cast<int64_t>(trace.kernels.size());
    return kernel;
  }
  void AddCopy(int64_t start_ns, int64_t end_ns, LaunchIndex launch = kNoLaunch,
               int32_t device = 0) {
    MemoryCopy& copy = trace.copies.emplace_back();
    copy.start_ns = start_ns;
    copy.end_ns = end_ns;
    copy.launch = launch;
    copy.device_id = device;
  }
  void AddFill(int64_t start_ns, int64_t end_ns) {
    MemorySet& fill = trace.sets.emplace_back();
    fill.start_ns = start_ns;
    fill.end_ns = end_ns;
  }
  void AddReplay(int64_t start_ns, int64_t end_ns, LaunchIndex launch = kNoLaunch) {
    GraphReplay& replay = trace.graph_replays.emplace_back();
    replay.start_ns = start_ns;
    replay.end_ns = end_ns;
    replay.launch = launch;
  }

  /// The run, once all is added.
  const prof::Run& run() {
    if (!run_) {
      records_.emplace(&trace, parse::JoinOptions(), &diagnostics_);
      run_.emplace(*records_, run_options);
    }
    return *run_;
  }

  const parse::KernelRecords& records() {
    run();
    return *records_;
  }

  /// The rows of a view of kernels without prices; `see` may fill in what is known of one.
  template <typename Make, typename See>
  std::vector<ViewRow> RowsOf(Make make, See see, const prof::ViewOptions& options = {}) {
    const auto partial = PartialOf(make, see, options);
    GiveCalls(calls(), partial.get());
    return test::RowsOf(*partial);
  }
  template <typename Make>
  std::vector<ViewRow> RowsOf(Make make, const prof::ViewOptions& options = {}) {
    return RowsOf(
        make, [](prof::PricedKernel*) {}, options);
  }
  /// Its calls of collectives.
  prof::CollectiveSet calls() {
    return calls([](prof::PricedKernel*) {});
  }
  template <typename See>
  prof::CollectiveSet calls(See see) {
    prof::BeforeCallsMaker before(run());
    EachKernel(see, [&](const prof::PricedKernel& kernel) { before.Add(kernel); });
    prof::CollectiveSet calls;
    calls.Add(run(), before.Take());
    return calls;
  }
  /// Before AddCalls.
  template <typename Make, typename See>
  std::unique_ptr<prof::Partial> PartialOf(Make make, See see,
                                           const prof::ViewOptions& options = {}) {
    const auto partial = make(options);
    partial->Begin(&run());
    EachKernel(see, [&](const prof::PricedKernel& kernel) { partial->Add(kernel); });
    partial->End(&run());
    auto all = make(options);
    all->Merge(*partial);
    return all;
  }

  Trace trace;
  prof::RunOptions run_options;

 private:
  /// `see` may change it before `take` gets it.
  template <typename See, typename Take>
  void EachKernel(See see, Take take) {
    for (size_t i = 0; i < trace.kernels.size(); ++i) {
      KernelRecord record;
      records_->RecordOf(i, &record);
      prof::PricedKernel kernel;
      kernel.record = &record;
      kernel.work = static_cast<uint32_t>(i);
      see(&kernel);
      take(kernel);
    }
  }

  Diagnostics diagnostics_;
  std::optional<parse::KernelRecords> records_;
  std::optional<prof::Run> run_;
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_VIEWS_MADE_RUN_H_
