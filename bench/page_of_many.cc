// page_of_many KERNELS [PAGE.html]: writes the page of a run with so many kernels that no file was
// read for: the trace is made in memory. Prints the size of the page and what it took, for
// bench/report.sh.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/output.h"
#include "base/program.h"
#include "parse/model/reason.h"
#include "parse/records/kernel_records.h"
#include "prof/run/step.h"
#include "report/report.h"

namespace {

using oplens::Kernel;
using oplens::Trace;

constexpr int64_t kKernelsOfStep = 1000;
constexpr int64_t kNames = 200;

/// Kernels of one stream, each launched within an operator, in steps.
Trace MakeTrace(int64_t kernels) {
  Trace trace;
  trace.family = oplens::Family::kKineto;
  trace.threads = {{1, 1}};
  trace.devices.emplace_back().name = trace.strings.Intern("NVIDIA A100-SXM4-40GB");
  const oplens::StringId api = trace.strings.Intern("cudaLaunchKernel");
  const auto count = static_cast<size_t>(kernels);
  trace.kernels.reserve(count);
  trace.launches.reserve(count);
  trace.ranges.reserve(count / kKernelsOfStep + 1);
  std::mt19937_64 random(19);
  const auto some = [&](int64_t ns) {
    return ns * 3 / 4 + static_cast<int64_t>(random() & 1023) * ns / 2048;
  };
  int64_t now_ns = 1'000'000;
  int64_t gpu_ns = now_ns;
  for (int64_t i = 0; i < kernels; ++i) {
    if (i % kKernelsOfStep == 0) {
      oplens::Range& step = trace.ranges.emplace_back();
      step.kind = oplens::RangeKind::kStep;
      step.start_ns = now_ns;
      step.text = trace.strings.Intern(fmt::format("ProfilerStep#{}", i / kKernelsOfStep));
    }
    trace.launches.push_back({now_ns, now_ns + some(4'000), i + 1, 0, api});
    now_ns += some(9'000);
    Kernel& kernel = trace.kernels.emplace_back();
    kernel.start_ns = gpu_ns = std::max(gpu_ns + some(900), now_ns);
    kernel.end_ns = gpu_ns += some(2'000 + 300 * (i % 37));
    kernel.correlation_id = kernel.row_id = i + 1;
    kernel.launch = static_cast<oplens::LaunchIndex>(i);
    kernel.name = trace.strings.Intern(fmt::format("kernel_{}", i % kNames));
    kernel.stream_id = 7;
    const auto blocks = static_cast<int32_t>(1 + i % 64);
    kernel.shape = trace.shapes.Add({{blocks, 1, 1}, {128, 1, 1}, 32, 0, 0});
    trace.ranges.back().end_ns = now_ns;
  }
  return trace;
}

/// The records of a trace in memory.
class TraceRecords : public oplens::prof::RecordSource {
 public:
  explicit TraceRecords(Trace trace) : trace_(std::move(trace)) {}

  Step Next(oplens::prof::WaitingRow* row, oplens::Diagnostics* diagnostics) override {
    if (!kernels_) {
      kernels_.emplace(&trace_, oplens::parse::JoinOptions(), diagnostics);
      return Step::kInput;
    }
    if (next_ == kernels_->kernel_count()) return Step::kEnd;
    row->row.work = static_cast<uint32_t>(next_);
    kernels_->RecordOf(next_++, &row->record);
    return Step::kRecord;
  }
  bool counts_reasons() const override { return true; }
  oplens::Family family() const override { return trace_.family; }
  const oplens::parse::KernelRecords* profile() const override {
    return kernels_ ? &*kernels_ : nullptr;
  }

 private:
  Trace trace_;
  std::optional<oplens::parse::KernelRecords> kernels_;
  size_t next_ = 0;
};

double CpuSeconds(const rusage& usage) {
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void Run(int64_t kernels, const std::string& path) {
  oplens::GiveBackWhatIsFreed();  // As `report` does.
  TraceRecords records(MakeTrace(kernels));
  rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  oplens::Diagnostics diagnostics;
  oplens::report::ReportPlan plan;
  plan.program = "bench";
  plan.title = fmt::format("{} kernels", kernels);
  plan.inputs = {plan.title};
  plan.limit_bytes = 10'000'000;
  oplens::Output output(path);
  const oplens::report::ReportResult result = WriteReport(
      &records, plan, &diagnostics, [] { return std::vector<std::string>(); }, &output);
  output.Commit();
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  fmt::print(
      stderr,
      "{} kernels in memory: page {:.2f} MB; {:.1f} s of CPU, {:.2f} us a kernel; memory with "
      "the trace {:.0f} MB, without the page {:.0f} MB\n",
      result.kernels, static_cast<double>(result.page_bytes) / 1e6,
      CpuSeconds(after) - CpuSeconds(before),
      1e6 * (CpuSeconds(after) - CpuSeconds(before)) / static_cast<double>(kernels),
      static_cast<double>(after.ru_maxrss) / 1e3, static_cast<double>(before.ru_maxrss) / 1e3);
  for (const std::string& sentence : result.left_out)
    fmt::print(stderr, "  not on it: {}\n", sentence);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t kernels = 0;
  if (argc == 2 || argc == 3) {
    const std::string_view text = argv[1];
    std::from_chars(text.data(), text.data() + text.size(), kernels);
  }
  if (kernels < 1 || kernels > 100'000'000) {
    fmt::print(stderr, "usage: page_of_many KERNELS [PAGE.html]\n");
    return 2;
  }
  try {
    Run(kernels, argc == 3 ? argv[2] : "/dev/null");
  } catch (const std::exception& error) {
    fmt::print(stderr, "page_of_many: {}\n", error.what());
    return 1;
  }
  return 0;
}
