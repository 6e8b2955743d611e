#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

constexpr Field kTbModulesFields[] = {
    kRankField,
    {"name", "Name", "", FieldType::kText, Field::kShared, "the module, as recorded", Fold::kKey},
    {"id", "Id", "", FieldType::kInteger, 6, "its number, as recorded", Fold::kNone},
    {"level", "Level", "", FieldType::kInteger, 5, "modules that it is in", Fold::kNone},
    {"calls", "Calls", "", FieldType::kInteger, 8, "its calls, wherever they are", Fold::kNone},
    {"operators", "Operators", "", FieldType::kInteger, 9,
     "operators right inside of them, of those that the plugin lists", Fold::kNone},
    {"host_total_ns", "HostTotal(ns)", "ns", FieldType::kInteger, 13, "sum of their lengths",
     Fold::kNone},
    {"host_self_ns", "HostSelf(ns)", "ns", FieldType::kInteger, 13,
     "the same without what is right inside of them", Fold::kNone},
    {"device_total_ns", "DevTotal(ns)", "ns", FieldType::kInteger, 13,
     "sum of the durations of the device events launched in them", Fold::kNone},
    {"device_self_ns", "DevSelf(ns)", "ns", FieldType::kInteger, 13,
     "of those that operators right inside of them launched, with all in these", Fold::kNone},
    {"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 13,
     "device_total_ns / calls, or host_total_ns / calls where that is 0", Fold::kNone},
};

/// Sums of a name and number, ns.
struct Stats {
  int64_t calls = 0;
  int64_t operators = 0;
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;

  void Add(const Stats& other);
  friend auto operator<=>(const Stats&, const Stats&) = default;
};

void Stats::Add(const Stats& other) {
  for (int64_t Stats::*const sum :
       {&Stats::calls, &Stats::operators, &Stats::host_total_ns, &Stats::host_self_ns,
        &Stats::device_total_ns, &Stats::device_self_ns}) {
    this->*sum = SaturatingSum(this->*sum, other.*sum);
  }
}

struct TbModulesRow {
  std::string name;
  int64_t id = 0;
  int64_t level = 0;
  Stats stats;

  friend auto operator<=>(const TbModulesRow&, const TbModulesRow&) = default;
};
/// The rows of an outermost call, itself first: ordered by its name.
using Tree = std::vector<TbModulesRow>;

/// Of the modules of one rank.
class TbModulesReader {
 public:
  explicit TbModulesReader(const Trace& trace) : trace_(trace), tree_(trace) {}

  std::multiset<Tree> Read();

 private:
  struct Call {
    uint32_t node = 0;
    int64_t level = 0;
    /// What equal trees are equal in.
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
  TbModulesRow RowOf(const Call& call) const;

  const Trace& trace_;
  TbTree tree_;
  std::vector<Call> calls_;  // Those around others before them.
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
      own.device_self_ns = SaturatingSum(own.device_self_ns, tree_.nodes()[i].device_total_ns);
    }
    waiting.insert(waiting.end(), children.rbegin(), children.rend());
    if (!module) continue;
    calls_.push_back(call);
    own.calls = 1;
    own.host_total_ns = node.length_ns;
    own.host_self_ns = node.host_self_ns;
    own.device_total_ns = node.device_total_ns;
    own.device_self_ns = SaturatingSum(own.device_self_ns, node.device_self_ns);
    stats_[KeyOf(node)].Add(own);
  }
}

TbModulesRow TbModulesReader::RowOf(const Call& call) const {
  constexpr std::string_view kPrefix = "nn.Module: ";
  const auto [text, id] = KeyOf(tree_.nodes()[call.node]);
  std::string name(trace_.strings.View(text));
  for (size_t at = name.find(kPrefix); at != std::string::npos; at = name.find(kPrefix, at)) {
    name.erase(at, kPrefix.size());
  }
  return {std::move(name), id, call.level, stats_.at({text, id})};
}

std::multiset<Tree> TbModulesReader::Read() {
  for (uint32_t i = 0; i < tree_.nodes().size(); ++i) {
    if (tree_.nodes()[i].event == TbTree::kNone) FindCalls(i);
  }
  std::multiset<Tree> trees;
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
      trees.insert(std::move(tree));
    }
    first = end;
  }
  return trees;
}

class TbModules : public Partial {
 public:
  explicit TbModules(const ViewOptions& options) {
    for (const std::string& word : options.by) {
      if (word == "rank") continue;
      throw UsageError(fmt::format(
          "--by {}: with --compat tb the view modules is split by rank and nothing else", word));
    }
  }

  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {std::begin(kTbModulesFields), std::end(kTbModulesFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  std::map<std::string, std::multiset<Tree>, RankBefore> ranks_;
  bool has_events_ = false;
  int64_t rank_count_ = 0;
};

void TbModules::End(const Run* run) {
  ++rank_count_;
  if (run == nullptr) return;
  has_events_ |= !run->trace().torch_events.empty();
  ranks_[std::string(run->rank())].merge(TbModulesReader(run->trace()).Read());
}

void TbModules::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const TbModules&>(other);
  for (const auto& [rank, trees] : more.ranks_) ranks_[rank].insert(trees.begin(), trees.end());
  has_events_ |= more.has_events_;
  rank_count_ += more.rank_count_;
}

void TbModules::Emit(Sink* sink) const {
  for (const auto& [rank, trees] : ranks_) {
    for (const Tree& tree : trees) {
      for (const TbModulesRow& row : tree) {
        const Stats& stats = row.stats;
        const int64_t whole_ns =
            stats.device_total_ns > 0 ? stats.device_total_ns : stats.host_total_ns;
        const Cell cells[] = {
            Text(rank),
            Text(row.name),
            row.id == TorchEvent::kNone ? Cell{} : Integer(row.id),
            Integer(row.level),
            Integer(stats.calls),
            Integer(stats.operators),
            Integer(stats.host_total_ns),
            Integer(stats.host_self_ns),
            Integer(stats.device_total_ns),
            Integer(stats.device_self_ns),
            Cell{static_cast<double>(whole_ns) / static_cast<double>(stats.calls)},
        };
        sink->Row(cells);
      }
    }
  }
}

std::vector<std::string> TbModules::Notes() const {
  if (rank_count_ == 0 || has_events_) return {};
  return {
      "modules: --compat tb goes by numbers that only the JSON trace of PyTorch's profiler holds; "
      "without it the view has rows"};
}

}  // namespace

std::unique_ptr<Partial> MakeTbModules(const ViewOptions& options) {
  return std::make_unique<TbModules>(options);
}

}  // namespace oplens::prof
