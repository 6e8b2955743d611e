#include "prof/path/replay.h"

#include <algorithm>
#include <cstddef>

#include "base/saturating.h"
#include "prof/path/edge_splitter.h"
#include "prof/path/moment_graph.h"
#include "prof/path/step_graph.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

class Replay {
 public:
  Replay(const Run& run, std::span<const TimeChange* const> changes)
      : graph_(run),
        splitter_(run, graph_),
        changes_(changes),
        to_last_work_(run.steps().source() == StepSource::kNone),
        changed_ns_(changes.size()) {}

  /// Steps come in order, also those that do not count.
  void Add(const Step& step, size_t place, bool counts, std::span<int64_t> saved_ns) {
    graph_.Build(step, place);
    if (!counts) return;
    longest_.Find(graph_.graph());
    const int64_t measured_ns = Length();
    ChangeEdges();
    for (size_t i = 0; i < changes_.size(); ++i) {
      longest_.Find(graph_.graph(), changed_ns_[i]);
      const int64_t changed_ns = Length();
      SaturatingAdd(&saved_ns[i], std::max<int64_t>(0, measured_ns - changed_ns));
    }
  }

 private:
  /// A step ends with its host and its work. A run without steps ends with its last work: what the
  /// host does afterwards is not its.
  int64_t Length() const {
    if (!to_last_work_) return longest_.LengthTo(graph_.end_node());
    int64_t length_ns = 0;
    for (uint32_t node = 0; node < graph_.graph().size(); ++node) {
      if (graph_.EventOf(node) != StepGraph::kNone) {
        length_ns = std::max(length_ns, longest_.LengthTo(node));
      }
    }
    return length_ns;
  }

  void ChangeEdges() {
    const MomentGraph& graph = graph_.graph();
    for (std::vector<int64_t>& times_ns : changed_ns_) times_ns.assign(graph.edges().size(), 0);
    for (uint32_t node = 0; node < graph.size(); ++node) {
      for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
        splitter_.Split(graph.edges()[i], node, [&](const PathEdge& part) {
          for (size_t change = 0; change < changes_.size(); ++change) {
            int64_t& time_ns = changed_ns_[change][i];
            const int64_t changed_ns = changes_[change]->TimeOf(part);
            if (changed_ns == TimeChange::kNoDependency) time_ns = LongestPaths::kNoEdge;
            if (time_ns != LongestPaths::kNoEdge) SaturatingAdd(&time_ns, changed_ns);
          }
        });
      }
    }
  }

  StepGraph graph_;
  EdgeSplitter splitter_;
  std::span<const TimeChange* const> changes_;
  bool to_last_work_ = false;
  LongestPaths longest_;
  std::vector<std::vector<int64_t>> changed_ns_;  // By change, then edge.
};

}  // namespace

std::vector<std::vector<int64_t>> ReplaySteps(const Run& run, const std::vector<bool>& counts,
                                              std::span<const TimeChange* const> changes) {
  const std::span<const Step> steps = run.steps().all();
  std::vector<std::vector<int64_t>> saved_ns(steps.size(), std::vector<int64_t>(changes.size(), 0));
  if (changes.empty()) return saved_ns;
  Replay replay(run, changes);
  for (size_t i = 0; i < steps.size(); ++i) replay.Add(steps[i], i, counts[i], saved_ns[i]);
  return saved_ns;
}

}  // namespace oplens::prof
