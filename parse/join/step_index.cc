#include "parse/join/step_index.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>

#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::parse {
namespace {

/// Steps do not nest in practice; upper bound on earlier ones that are checked.
constexpr int kMostNested = 16;

}  // namespace

std::optional<int64_t> StepIndex::NumberIn(std::string_view text) {
  if (!text.starts_with(markers::kStepPrefix)) return std::nullopt;
  text.remove_prefix(markers::kStepPrefix.size());
  int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc()) return std::nullopt;
  // emit_nvtx numbers its labels too: "ProfilerStep#3, op_id = 4".
  const std::string_view rest(end, static_cast<size_t>(last - end));
  if (!rest.empty() && !rest.starts_with(", op_id = ")) return std::nullopt;
  return number;
}

StepIndex::StepIndex(const Trace& trace) : trace_(trace) {
  // There are far fewer texts than ranges.
  std::vector<bool> is_step(trace.strings.size(), false);
  bool any = false;
  for (StringId id = 0; id < is_step.size(); ++id) {
    is_step[id] = NumberIn(trace.strings.View(id)).has_value();
    any |= is_step[id];
  }
  if (!any) return;
  for (const Range& range : trace.ranges) {
    if (!is_step[range.text]) continue;
    const ThreadIndex thread = trace.ThreadOf(range);
    steps_.push_back({trace.threads[thread].process_id, range.start_ns, range.end_ns,
                      *NumberIn(trace.strings.View(range.text)), thread});
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return std::tie(a.process_id, a.start_ns, a.number, a.thread) <
           std::tie(b.process_id, b.start_ns, b.number, b.thread);
  });
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    const Step& next = steps_[i + 1];
    const bool same = next.process_id == steps_[i].process_id;
    if (steps_[i].end_ns == kNeverClosed && same) steps_[i].end_ns = next.start_ns;
  }
}

std::optional<int64_t> StepIndex::Find(ThreadIndex thread, int64_t time_ns) const {
  const int64_t process_id = trace_.threads[thread].process_id;
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), std::pair(process_id, time_ns),
                                      [](const auto& key, const Step& step) {
                                        return key < std::pair(step.process_id, step.start_ns);
                                      });
  std::optional<int64_t> found;
  int looked_at = 0;
  for (auto step = after; step != steps_.begin() && looked_at < kMostNested; ++looked_at) {
    --step;
    if (step->process_id != process_id) break;
    if (step->end_ns <= time_ns) continue;
    if (step->thread == thread) return step->number;
    if (!found) found = step->number;
  }
  return found;
}

}  // namespace oplens::parse
