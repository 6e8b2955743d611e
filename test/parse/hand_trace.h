#ifndef OPLENS_TEST_PARSE_HAND_TRACE_H_
#define OPLENS_TEST_PARSE_HAND_TRACE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "parse/records/kernel_records.h"

namespace oplens::parse {

/// A trace written down by hand: threads 0 and 1, times in ns.
class HandTrace : public testing::Test {
 protected:
  HandTrace() { trace_.threads = {{10, 100}, {10, 200}}; }

  void Range(int64_t start, int64_t end, std::string_view text, ThreadIndex thread = 0) {
    oplens::Range& range = trace_.ranges.emplace_back();
    range.start_ns = start;
    range.end_ns = end;
    range.text = trace_.strings.Intern(text);
    range.SetThread(thread);
  }
  /// A call of an operator; `call` empty: a node of the backward pass.
  void Op(int64_t start, int64_t end, std::string_view name, std::string_view call,
          int64_t sequence = -1, ThreadIndex thread = 0) {
    Operator op;
    if (!call.empty()) op.call = trace_.strings.Intern(call);
    op.backward = call.empty();
    op.sequence = sequence;
    Typed(RangeKind::kOperator, start, end, name, thread);
    MakeOperator(trace_.ranges.back().text, &trace_.ranges.back(), &trace_) = op;
  }
  void Typed(RangeKind kind, int64_t start, int64_t end, std::string_view text,
             ThreadIndex thread = 0) {
    Range(start, end, text, thread);
    trace_.ranges.back().kind = kind;
  }
  /// A kernel launched at [start, start + 1] that runs right after.
  void Kernel(int64_t start, ThreadIndex thread = 0, std::string_view name = "k") {
    const auto id = static_cast<int64_t>(trace_.kernels.size()) + 1;
    oplens::Kernel& kernel = trace_.kernels.emplace_back();
    kernel.start_ns = start + 2;
    kernel.end_ns = start + 5;
    kernel.correlation_id = id;
    kernel.row_id = id;
    kernel.name = trace_.strings.Intern(name);
    kernel.launch = static_cast<LaunchIndex>(trace_.launches.size());
    trace_.launches.push_back(
        {start, start + 1, id, thread, trace_.strings.Intern("cudaLaunchKernel")});
  }
  void Join(const JoinOptions& options = {}) {
    records_ = std::make_unique<KernelRecords>(&trace_, options, &diagnostics_);
  }
  KernelRecord Record(size_t i) {
    KernelRecord record;
    records_->RecordOf(i, &record);
    return record;
  }

  Trace trace_;
  Diagnostics diagnostics_;
  std::unique_ptr<KernelRecords> records_;
};

}  // namespace oplens::parse

#endif  // OPLENS_TEST_PARSE_HAND_TRACE_H_
