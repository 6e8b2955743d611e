// The text of an execution trace, for a profile with ranges of emit_nvtx.

#include <string>

#include "parse/execution/execution_traces.h"
#include "parse/model/op_call.h"
#include "parse/records/kernel_records.h"
#include "test/fuzz/read_profile.h"

namespace {

using oplens::fuzz::Check;

oplens::Trace EmittedRanges() {
  oplens::Trace trace;
  trace.threads = {{7, 1}};
  for (const char* text :
       {"aten::mm, seq = 1, op_id = 1, sizes = [[2, 3], [3, 4]]", "MmBackward0, seq = 1, op_id = 2",
        "aten::cat, op_id = 3", "a label, op_id = 4"}) {
    const auto at = static_cast<int64_t>(trace.ranges.size());
    trace.ranges.push_back(oplens::Range{at * 10, at * 10 + 9, trace.strings.Intern(text)});
  }
  return trace;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const oplens::fuzz::InputFile file(data, size);
  oplens::Trace trace = EmittedRanges();
  oplens::Diagnostics diagnostics;
  try {
    oplens::parse::ExecutionTraces traces({file.path()}, 1);
    traces.Complete(&trace, &diagnostics);
    traces.Unused();
  } catch (const oplens::Error& refused) {
    Check(*refused.what() != '\0');
  }
  for (const oplens::Operator& op : trace.operators) {
    if (op.call == 0) continue;
    std::string error;
    Check(oplens::ParseOpCall(trace.strings.View(op.call), &error).has_value());
  }
  const oplens::parse::KernelRecords records(&trace, {}, &diagnostics);
  diagnostics.Render("fuzz");
  return 0;
}
