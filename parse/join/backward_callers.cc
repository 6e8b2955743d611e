#include "parse/join/backward_callers.h"

#include <algorithm>

namespace oplens::parse {

BackwardCallers::BackwardCallers(const Trace& trace, const Autograd& autograd,
                                 std::span<const size_t> ends)
    : trace_(trace), linked_(ends.size()), has_nodes_(ends.size(), false) {
  const std::vector<uint32_t>& forwards = autograd.forwards();
  for (size_t thread = 0, begin = 0; thread < ends.size(); begin = ends[thread++]) {
    for (size_t i = begin; i < ends[thread]; ++i) {
      if (autograd.ContextOf(i) != StepContext::kNode) continue;
      has_nodes_[thread] = true;
      const uint32_t number = autograd.RunOf(i).node;
      if (number == 0) continue;
      const ThreadIndex forward_thread = trace.ranges[forwards[number - 1]].thread;
      std::vector<Linked>& linked = linked_[thread];
      // What is between two changes of the thread says the same.
      if (!linked.empty() && linked.back().forward_thread == forward_thread) continue;
      linked.push_back({trace.ranges[i].start_ns, forward_thread});
    }
  }
}

std::vector<ThreadIndex> BackwardCallers::Of(ThreadIndex thread, int64_t time_ns) const {
  const std::vector<Linked>& linked = linked_[thread];
  std::vector<ThreadIndex> threads;
  if (!linked.empty()) {
    const auto after =
        std::upper_bound(linked.begin(), linked.end(), time_ns,
                         [](int64_t time, const Linked& node) { return time < node.start_ns; });
    const Linked& last = after == linked.begin() ? linked.front() : *(after - 1);
    if (last.forward_thread != thread) threads.push_back(last.forward_thread);
    return threads;
  }
  for (ThreadIndex other = 0; other < has_nodes_.size(); ++other) {
    if (other != thread && !has_nodes_[other] &&
        trace_.threads[other].process_id == trace_.threads[thread].process_id) {
      threads.push_back(other);
    }
  }
  return threads;
}

}  // namespace oplens::parse
