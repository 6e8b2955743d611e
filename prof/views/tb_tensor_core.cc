#include "prof/views/tb_tensor_core.h"

#include <utility>

#include "ops/kernels/tensorboard_names.h"
#include "parse/join/joined.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/tb_steps.h"
#include "prof/run/tb_tree.h"

namespace oplens::prof {
namespace {

enum : uint8_t { kUnasked, kNo, kYes };

/// How often the plugin's tree of operators holds each kernel.
std::vector<uint8_t> CountsOf(const Trace& trace) {
  std::vector<uint32_t> events;
  const TbTree tree(trace);
  for (const TbTree::KernelPlace& place : tree.kernels()) {
    if (place.listed) events.push_back(place.event);
  }
  std::vector<uint8_t> counts(trace.kernels.size(), 0);
  for (const uint32_t kernel : KernelsOfEvents(trace, events)) {
    if (kernel < counts.size() && counts[kernel] < UINT8_MAX) ++counts[kernel];
  }
  return counts;
}

}  // namespace

TensorBoardTensorCores::TensorBoardTensorCores(const parse::Joined& joined,
                                               const parse::CallTree& calls)
    : trace_(joined.trace()),
      left_out_(TensorBoardLeftOut(trace_)),
      uses_(trace_.strings.size(), kUnasked) {
  if (!trace_.torch_events.empty()) {
    counts_ = CountsOf(trace_);
    return;
  }
  for (ThreadIndex thread = 0; thread < joined.threads().thread_count(); ++thread) {
    std::vector<Interval> ran;
    for (const parse::CallTree::Call& call : calls.Of(thread)) {
      const Range& range = trace_.ranges[call.range];
      if (call.parent == parse::CallTree::kNone) ran.push_back({range.start_ns, range.end_ns});
    }
    operators_.emplace_back(std::move(ran));
  }
}

int64_t TensorBoardTensorCores::CountOf(uint32_t kernel) const {
  if (!counts_.empty()) return counts_[kernel];
  return trace_.torch_events.empty() && IsInOperator(trace_.kernels[kernel]) ? 1 : 0;
}

bool TensorBoardTensorCores::IsInOperator(const Kernel& kernel) const {
  if (kernel.launch == kNoLaunch) return false;
  const LaunchCall& call = trace_.launches[kernel.launch];
  if (left_out_[call.api] || call.thread >= operators_.size()) return false;
  int64_t after_ns = 0;
  if (__builtin_add_overflow(call.start_ns, 1, &after_ns)) return false;
  return !operators_[call.thread].Within({call.start_ns, after_ns}).empty();
}

bool TensorBoardTensorCores::Uses(const Kernel& kernel) {
  uint8_t& known = uses_[kernel.name];
  if (known == kUnasked) {
    known = ops::IsTensorBoardTensorCoreKernel(trace_.strings.View(kernel.name)) ? kYes : kNo;
  }
  return known == kYes;
}

}  // namespace oplens::prof
