#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/sums.h"
#include "parse/model/trace.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

/// Sums of a name and number, ns.
struct Stats {
  Sum calls;
  Sum operators;
  Balance host_total_ns;
  Balance host_self_ns;
  Balance device_total_ns;
  Balance device_self_ns;

  friend auto operator<=>(const Stats&, const Stats&) = default;
};

struct TbModule {
  std::string name;
  int64_t id = 0;
  int64_t level = 0;
  Stats sums;

  friend auto operator<=>(const TbModule&, const TbModule&) = default;
};
/// The rows of an outermost call, itself first; trees are ordered by its name.
using Tree = std::vector<TbModule>;

struct TbModulesRow {
  const RankName& rank;
  const TbModule& module;
  const Stats& sums;
};

/// A figure that does not add up over rows: a module's may occur in several places.
template <auto member>
constexpr Column<TbModulesRow> TbModulesFigure(std::string_view key, std::string_view header,
                                               std::string_view unit, int width,
                                               std::string_view help) {
  return {{key, header, unit, FieldType::kInteger, width, help, Fold::kNone},
          [](const TbModulesRow& row) { return CellOf(row.sums.*member); }};
}

class TbModulesReader {
 public:
  explicit TbModulesReader(const Trace& trace) : trace_(trace), tree_(trace) {}

  std::vector<Tree> Read();

 private:
  struct Call {
    uint32_t node = 0;
    int64_t level = 0;
    /// What equal trees have in common.
    using Shape = std::tuple<StringId, int64_t, int64_t>;
  };

  void FindCalls(uint32_t root);
  bool IsModule(const TbTree::Node& node) const {
    return node.event != TbTree::kNone && EventOf(node).kind == TorchEvent::Kind::kModule;
  }
  const TorchEvent& EventOf(const TbTree::Node& node) const {
    return trace_.torch_events[node.event];
  }
  std::pair<StringId, int64_t> KeyOf(const TbTree::Node& node) const {
    return {EventOf(node).name, EventOf(node).correlation_id};
  }
  TbModule RowOf(const Call& call) const;

  const Trace& trace_;
  TbTree tree_;
  std::vector<Call> calls_;  // Parents first.
  std::map<std::pair<StringId, int64_t>, Stats> stats_;
};

void TbModulesReader::FindCalls(uint32_t root) {
  std::vector<Call> waiting = {{root, 0}};
  std::vector<Call> children;
  while (!waiting.empty()) {
    const Call call = waiting.back();
    waiting.pop_back();
    const TbTree::Node& node = tree_.nodes()[call.node];
    const bool module = IsModule(node);
    Stats own;
    children.clear();
    for (uint32_t i = node.first_child; i != TbTree::kNone; i = tree_.nodes()[i].next) {
      children.push_back({i, call.level + (module ? 1 : 0)});
      if (!tree_.nodes()[i].listed) continue;
      ++own.operators;
      own.device_self_ns += tree_.nodes()[i].device_total_ns;
    }
    waiting.insert(waiting.end(), children.rbegin(), children.rend());
    if (!module) continue;
    calls_.push_back(call);
    own.calls = 1;
    own.host_total_ns = node.length_ns;
    own.host_self_ns = node.host_self_ns;
    own.device_total_ns = node.device_total_ns;
    own.device_self_ns += node.device_self_ns;
    MergeInto(&stats_[KeyOf(node)], own);
  }
}

TbModule TbModulesReader::RowOf(const Call& call) const {
  constexpr std::string_view kPrefix = "nn.Module: ";
  const auto [text, id] = KeyOf(tree_.nodes()[call.node]);
  std::string name(trace_.strings.View(text));
  for (size_t at = name.find(kPrefix); at != std::string::npos; at = name.find(kPrefix, at)) {
    name.erase(at, kPrefix.size());
  }
  return {std::move(name), id, call.level, stats_.at({text, id})};
}

std::vector<Tree> TbModulesReader::Read() {
  for (uint32_t i = 0; i < tree_.nodes().size(); ++i) {
    if (tree_.nodes()[i].event == TbTree::kNone) FindCalls(i);
  }
  std::vector<Tree> trees;
  std::set<std::vector<Call::Shape>> known;
  for (size_t first = 0; first < calls_.size();) {
    std::vector<Call::Shape> shape;
    size_t end = first;
    do {
      const auto [name, id] = KeyOf(tree_.nodes()[calls_[end].node]);
      shape.emplace_back(name, id, calls_[end].level);
      ++end;
    } while (end < calls_.size() && calls_[end].level > 0);
    if (known.insert(std::move(shape)).second) {
      Tree tree;
      for (size_t i = first; i < end; ++i) tree.push_back(RowOf(calls_[i]));
      trees.push_back(std::move(tree));
    }
    first = end;
  }
  return trees;
}

constexpr Column<TbModulesRow> kTbModulesColumns[] = {
    {kRankField, [](const TbModulesRow& row) { return CellOf(row.rank); }},
    {{"name", "Name", "", FieldType::kText, Field::kShared, "name of the module, as recorded",
      Fold::kKey},
     [](const TbModulesRow& row) { return Text(row.module.name); }},
    {{"id", "Id", "", FieldType::kInteger, 6, "number of the module, as recorded", Fold::kNone},
     [](const TbModulesRow& row) {
       return row.module.id == TorchEvent::kNone ? Cell{} : Integer(row.module.id);
     }},
    {{"level", "Level", "", FieldType::kInteger, 5, "number of modules around it", Fold::kNone},
     [](const TbModulesRow& row) { return Integer(row.module.level); }},
    TbModulesFigure<&Stats::calls>("calls", "Calls", "", 8, "its calls, wherever they are"),
    TbModulesFigure<&Stats::operators>(
        "operators", "Operators", "", 9,
        "operators directly inside of these calls that the plugin lists"),
    TbModulesFigure<&Stats::host_total_ns>("host_total_ns", "HostTotal(ns)", "ns", 13,
                                           "sum of the lengths of these calls"),
    TbModulesFigure<&Stats::host_self_ns>("host_self_ns", "HostSelf(ns)", "ns", 13,
                                          "host_total_ns without the calls directly inside"),
    TbModulesFigure<&Stats::device_total_ns>(
        "device_total_ns", "DevTotal(ns)", "ns", 13,
        "sum of the durations of the device events launched in these calls"),
    TbModulesFigure<&Stats::device_self_ns>(
        "device_self_ns", "DevSelf(ns)", "ns", 13,
        "part of device_total_ns launched in the operators directly inside of these calls"),
    {{"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 13,
      "device_total_ns / calls, or host_total_ns / calls if the former is 0", Fold::kNone},
     [](const TbModulesRow& row) {
       const Stats& sums = row.sums;
       return RatioCell(sums.device_total_ns > 0 ? sums.device_total_ns : sums.host_total_ns,
                        sums.calls);
     }},
};

const ViewOptions& OnlyByRank(const ViewOptions& options) {
  for (const std::string& word : options.by) {
    if (word == "rank") continue;
    throw UsageError(fmt::format(
        "--by {}: with --compat tb the view modules is split by rank and nothing else", word));
  }
  return options;
}

class TbModules : public GroupedPartial<RankName, std::vector<Tree>, TbModulesRow, TbEventNotes> {
 public:
  explicit TbModules(const ViewOptions& options)
      : GroupedPartial("modules", OnlyByRank(options), kTimeKeys, kTbModulesColumns) {}

  void End(const Run* run) override {
    if (run != nullptr) Take(RankName(run->rank()), TbModulesReader(run->trace()).Read());
  }

 private:
  void EmitGroup(const RankName& rank, const std::vector<Tree>& trees,
                 TableOf<TbModulesRow>* table) const override {
    std::vector<Tree> sorted = trees;
    std::sort(sorted.begin(), sorted.end());
    for (const Tree& tree : sorted) {
      for (const TbModule& module : tree) table->Add({rank, module, module.sums});
    }
  }
};

}  // namespace

std::unique_ptr<Partial> MakeTbModules(const ViewOptions& options) {
  return std::make_unique<TbModules>(options);
}

}  // namespace oplens::prof
