// The join of a trace that is large enough to be shared by threads: the same for any number of
// them, to the numbers of texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "parse/join/open_at_cut.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/kernel_record.h"
#include "parse/records/kernel_records.h"

namespace oplens::parse::join_threads_test {
namespace {

constexpr ThreadIndex kThreads = 3;
constexpr size_t kRanges = 70'000;
constexpr size_t kKernels = 20'000;

class LargeTrace {
 public:
  explicit LargeTrace(uint32_t seed) : random_(seed) {
    for (ThreadIndex thread = 0; thread < kThreads; ++thread) {
      trace_.threads.push_back({10, 100 + int64_t{thread}, 0});
    }
    for (size_t i = 0; i < kRanges; ++i) AddRange(i);
    for (size_t i = 0; i < kKernels; ++i) AddKernel(i);
  }

  Trace* trace() { return &trace_; }

 private:
  uint32_t Any(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  /// Mostly nested: a tree whose levels are 8 times as long; some cross, some stay open.
  void AddRange(size_t i) {
    Range& range = trace_.ranges.emplace_back();
    range.SetThread(static_cast<ThreadIndex>(Any(8) == 0 ? 2 : i % 2));
    range.start_ns = static_cast<int64_t>(i) * 10;
    int64_t length_ns = 15;
    for (size_t level = i; level % 8 == 0 && level > 0; level /= 8) length_ns *= 8;
    range.end_ns = range.start_ns + length_ns + (Any(16) == 0 ? Any(5000) : 0);
    if (Any(4000) == 0) range.end_ns = kNeverClosed;
    const std::string number = std::to_string(Any(2) == 0 ? i / 40 : Any(500));
    const auto marker = [&](const std::string& text) { range.text = trace_.strings.Intern(text); };
    switch (Any(12)) {
      case 0:
        return marker("layer:l" + number);
      case 1:
        return marker("mm, seq = " + number);
      case 2:
        return marker("MmBackward0, seq = " + number);
      case 3:
        return marker(
            "{'mod': 'torch', 'op': 'relu', 'args': [{'name': '', 'type': 'int', "
            "'value': " +
            number + "}]}");
      case 4:
        return AddOperator("aten::mm", i / 40, &range);
      case 5:
        return AddOperator("aten::addmm_" + std::to_string(Any(9)), i / 40, &range);
      case 6:
        return AddOperator("AddmmBackward0", i / 40, &range);
      case 7:
        range.kind = RangeKind::kFrame;
        return marker("net.py(" + number + "): forward");
      case 8:
        return marker("autograd::engine::evaluate_function: MmBackward0");
      case 9:
        return marker("again");  // Leaked where it stays open.
      default:
        return marker("text " + number);
    }
  }

  void AddOperator(const std::string& name, size_t sequence, Range* range) {
    Operator& op = MakeOperator(trace_.strings.Intern(name), range, &trace_);
    op.sequence = static_cast<int64_t>(sequence);
    op.backward = name.find("Backward") != std::string::npos;
    if (!op.backward) {
      op.call =
          trace_.strings.Intern("{'mod': 'aten', 'op': '" + name.substr(6) + "', 'args': []}");
    }
  }

  void AddKernel(size_t i) {
    const int64_t start_ns = static_cast<int64_t>(i * kRanges / kKernels) * 10 + Any(20);
    Kernel& kernel = trace_.kernels.emplace_back();
    kernel.start_ns = start_ns + 30;
    kernel.end_ns = start_ns + 40;
    kernel.correlation_id = kernel.row_id = static_cast<int64_t>(i) + 1;
    kernel.name = trace_.strings.Intern("kernel" + std::to_string(Any(3)));
    kernel.launch = static_cast<LaunchIndex>(trace_.launches.size());
    trace_.launches.push_back({start_ns, start_ns + 1 + Any(30), kernel.correlation_id,
                               static_cast<ThreadIndex>(Any(kThreads)),
                               trace_.strings.Intern("cudaLaunchKernel")});
    // Several kernels of one launch.
    if (Any(50) == 0 && i > 0) kernel.launch -= 1;
  }

  std::minstd_rand random_;
  Trace trace_;
};

/// All records, then all texts by number, then what was counted.
std::vector<std::string> JoinedBy(int threads, uint32_t seed) {
  const int before = ThreadLimit();
  SetThreadLimit(threads);
  LargeTrace made(seed);
  Diagnostics diagnostics;
  const KernelRecords records(made.trace(), {}, &diagnostics);
  std::vector<std::string> told;
  KernelRecord record;
  for (size_t i = 0; i < records.kernel_count(); ++i) {
    records.RecordOf(i, &record);
    AppendDictLine(record, &told.emplace_back());
  }
  const StringPool& strings = made.trace()->strings;
  for (StringId id = 0; id < strings.size(); ++id) told.emplace_back(strings.View(id));
  told.push_back(diagnostics.Render("x"));
  SetThreadLimit(before);
  return told;
}

TEST(JoinThreads, AnyNumberGivesTheSameRecordsAndTexts) {
  for (const uint32_t seed : {1U, 2U}) {
    const std::vector<std::string> one = JoinedBy(1, seed);
    ASSERT_GT(one.size(), kKernels);
    const auto has = [&](std::string_view part) {
      return std::count_if(one.begin(), one.begin() + kKernels, [&](const std::string& line) {
        return line.find(part) != std::string::npos;
      });
    };
    EXPECT_GT(has("seq = "), 5000);
    EXPECT_GT(has("'layer': ['"), 1000);
    for (const int threads : {2, 3, 8}) {
      const std::vector<std::string> several = JoinedBy(threads, seed);
      ASSERT_EQ(several.size(), one.size()) << threads;
      for (size_t i = 0; i < one.size(); ++i) ASSERT_EQ(several[i], one[i]) << threads << " " << i;
    }
  }
}

TEST(JoinThreads, WhatIsOpenAtACutIsWhatHasNotEnded) {
  LargeTrace made(3);
  Trace& trace = *made.trace();
  const ThreadRanges threads(&trace);
  Diagnostics diagnostics;
  RangeTexts texts(&trace.strings, &diagnostics);
  texts.ClassifyAll(trace);
  const LeakedRanges leaks(trace, threads, &texts, &diagnostics);
  size_t met = 0;
  OpenAtCut cut(trace, threads, leaks);
  for (ThreadIndex thread = 0; thread < kThreads; ++thread) {
    for (size_t next = threads.BeginOf(thread); next < threads.EndOf(thread); next += 1777) {
      const int64_t time_ns = trace.ranges[next].start_ns;
      std::vector<uint32_t> expected;
      for (size_t i = threads.BeginOf(thread); i < next; ++i) {
        if (trace.ranges[i].end_ns >= time_ns && !leaks.Has(i)) {
          expected.push_back(static_cast<uint32_t>(i));
        }
      }
      cut.MoveTo(thread, next, time_ns);
      EXPECT_EQ(cut.open(), expected) << thread << " " << next;
      met += expected.size();
    }
  }
  EXPECT_GT(met, 100U);
}

}  // namespace
}  // namespace oplens::parse::join_threads_test
