#include "prof/views/hta_critical_path.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "prof/path/hta_path.h"
#include "prof/run/hta_events.h"
#include "prof/run/run.h"
#include "prof/views/critical_path_fields.h"
#include "prof/views/rank_order.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

/// The reference's paths: their causes are other words, and they are of no step.
class HtaCriticalPathRows : public Partial {
 public:
  explicit HtaCriticalPathRows(const ViewOptions& options) : notes_("critical-path") {
    if (!options.what_if.empty()) {
      throw UsageError("--what-if: the view critical-path has none with --compat hta");
    }
    by_edge_ = std::find(options.by.begin(), options.by.end(), "edge") != options.by.end();
    by_name_ = std::find(options.by.begin(), options.by.end(), "name") != options.by.end();
  }

  void Begin(const Run* run) override { notes_.Begin(run); }

  /// Of the first step; without steps of the whole trace.
  void End(const Run* run) override {
    if (run == nullptr) return;
    none_ |= run->trace().torch_events.empty();
    std::vector<HtaPathEdge> path = HtaCriticalPath(run->trace(), "ProfilerStep", 0);
    if (path.empty()) path = HtaCriticalPath(run->trace(), "", 0);
    std::vector<HtaPathEdge>& all = ranks_[std::string(run->rank())];
    all.insert(all.end(), path.begin(), path.end());
  }

  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaCriticalPathRows&>(other);
    for (const auto& [name, path] : more.ranks_) {
      std::vector<HtaPathEdge>& mine = ranks_[name];
      mine.insert(mine.end(), path.begin(), path.end());
      if (mine.size() > path.size()) std::sort(mine.begin(), mine.end());
    }
    none_ |= more.none_;
    notes_.Merge(more.notes_);
  }

  std::vector<Field> Fields() const override {
    if (by_edge_) return {std::begin(kPathEdgeFields), std::end(kPathEdgeFields)};
    return PathFields(by_name_);
  }

  void Emit(Sink* sink) const override {
    for (const auto& [name, path] : ranks_) {
      if (by_edge_) {
        EmitEdges(name, path, sink);
      } else {
        EmitSums(name, path, sink);
      }
    }
  }

  std::vector<std::string> Notes() const override {
    std::vector<std::string> notes = notes_.Sentences();
    if (none_) {
      notes.emplace_back(
          "critical-path: --compat hta reads traces of PyTorch's profiler only: without it any "
          "profile has a critical path");
    }
    return notes;
  }

 private:
  void EmitSums(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) const {
    std::map<std::pair<std::string_view, std::string_view>, PathSum> sums;
    int64_t length_ns = 0;
    for (const HtaPathEdge& edge : path) {
      const std::string_view name = by_name_ ? std::string_view(edge.name) : std::string_view();
      sums[{edge.bound_by, name}].Add({HtaNs(edge.time_us), 1});
      length_ns = SaturatingSum(length_ns, HtaNs(edge.time_us));
    }
    for (const auto& [key, sum] : sums) {
      std::vector<Cell> cells = {Text(rank), {}, Text(key.first)};
      if (by_name_) cells.push_back(Text(key.second));
      cells.insert(cells.end(), {Integer(sum.time_ns),
                                 PercentCell(sum.time_ns, length_ns),
                                 Integer(sum.edges),
                                 Integer(length_ns),
                                 {}});
      sink->Row(cells);
    }
  }

  static void EmitEdges(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) {
    int64_t number = 0;
    for (const HtaPathEdge& edge : path) {
      const Cell stream = edge.name.empty() ? Cell{} : Integer(edge.stream);
      sink->Row(std::vector<Cell>{Text(rank),
                                  {},
                                  Integer(++number),
                                  {},
                                  Text(edge.name),
                                  Text(edge.type),
                                  Text(edge.bound_by),
                                  {},
                                  Integer(HtaNs(edge.time_us)),
                                  {},
                                  {},
                                  stream});
    }
  }

  bool by_edge_ = false;
  bool by_name_ = false;
  bool none_ = false;  // An input is of another family.
  std::map<std::string, std::vector<HtaPathEdge>, RankBefore> ranks_;
  ViewNotes notes_;
};

}  // namespace

std::unique_ptr<Partial> MakeHtaCriticalPath(const ViewOptions& options) {
  return std::make_unique<HtaCriticalPathRows>(options);
}

}  // namespace oplens::prof
