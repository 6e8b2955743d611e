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
  Replay(const Run& run, const TimeChanges& changes)
      : graph_(run),
        splitter_(run, graph_),
        changes_(changes),
        to_last_work_(run.steps().source() == StepSource::kNone),
        changed_edges_(changes.count()) {}

  /// Steps come in order, also those that do not count.
  void Add(const Step& step, size_t place, bool counts, std::span<int64_t> saved_ns) {
    graph_.Build(step, place);
    if (!counts) return;
    longest_.Find(graph_.graph());
    const int64_t measured_ns = Length();
    ChangeEdges();
    for (size_t i = 0; i < changed_edges_.size(); ++i) {
      if (changed_edges_[i].empty()) continue;
      times_ns_ = own_ns_;
      for (const ChangedEdge& one : changed_edges_[i]) times_ns_[one.edge] = one.time_ns;
      longest_.FindAgain(graph_.graph(), times_ns_);
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

  struct ChangedEdge {
    uint32_t edge = 0;
    bool gone = false;
    int64_t time_ns = 0;  ///< By which its parts differ, until all are known.
  };

  void ChangeEdges() {
    const MomentGraph& graph = graph_.graph();
    own_ns_.assign(graph.edges().size(), 0);
    for (std::vector<ChangedEdge>& edges : changed_edges_) edges.clear();
    for (uint32_t node = 0; node < graph.size(); ++node) {
      for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
        splitter_.Split(graph.edges()[i], node, [&](const PathEdge& part) { AddPart(i, part); });
      }
    }
    for (std::vector<ChangedEdge>& edges : changed_edges_) {
      for (ChangedEdge& one : edges) {
        one.time_ns =
            one.gone ? LongestPaths::kNoEdge : SaturatingSum(own_ns_[one.edge], one.time_ns);
      }
    }
  }

  void AddPart(uint32_t edge, const PathEdge& part) {
    SaturatingAdd(&own_ns_[edge], part.time_ns);
    changed_.clear();
    changes_.Of(part, &changed_);
    for (const TimeChanges::Changed& one : changed_) {
      std::vector<ChangedEdge>& edges = changed_edges_[one.change];
      if (edges.empty() || edges.back().edge != edge) edges.push_back({edge});
      if (one.time_ns == TimeChanges::kNoDependency) edges.back().gone = true;
      SaturatingAdd(&edges.back().time_ns, one.time_ns - part.time_ns);
    }
  }

  StepGraph graph_;
  EdgeSplitter splitter_;
  const TimeChanges& changes_;
  bool to_last_work_ = false;
  LongestPaths longest_;
  std::vector<int64_t> own_ns_;                          // By edge.
  std::vector<int64_t> times_ns_;                        // Those of one change.
  std::vector<std::vector<ChangedEdge>> changed_edges_;  // By change.
  std::vector<TimeChanges::Changed> changed_;            // Of one part.
};

}  // namespace

std::vector<std::vector<int64_t>> ReplaySteps(const Run& run, const std::vector<bool>& counts,
                                              const TimeChanges& changes) {
  const std::span<const Step> steps = run.steps().all();
  std::vector<std::vector<int64_t>> saved_ns(steps.size(),
                                             std::vector<int64_t>(changes.count(), 0));
  if (changes.count() == 0) return saved_ns;
  Replay replay(run, changes);
  for (size_t i = 0; i < steps.size(); ++i) replay.Add(steps[i], i, counts[i], saved_ns[i]);
  return saved_ns;
}

}  // namespace oplens::prof
