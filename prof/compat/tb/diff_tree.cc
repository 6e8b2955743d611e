#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"
#include "prof/table/columns.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;

struct TbDiffTreeCall {
  uint32_t name = 0;  ///< Index in TreeCalls::names.
  uint32_t level = 0;
  TbKind kind = TbKind::kOther;
  bool listed = false;
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;
};

struct TreeCalls {
  std::vector<std::string> names;
  std::vector<TbDiffTreeCall> calls;
};

class TbDiffTreeReader {
 public:
  explicit TbDiffTreeReader(const Trace& trace) : trace_(trace), tree_(trace) {}

  TreeCalls Read();

 private:
  struct Waiting {
    uint32_t node;
    uint32_t level;
  };

  TbKind KindOf(uint32_t node) const {
    const TorchEvent& event = trace_.torch_events[tree_.nodes()[node].event];
    return TbKindOf(event.kind, trace_.strings.View(event.name));
  }
  /// Pushes the children of a node so that the first one is on top.
  void Push(uint32_t parent, uint32_t level, std::vector<Waiting>* waiting) const;
  void Add(uint32_t node, uint32_t level);

  const Trace& trace_;
  TbTree tree_;
  std::unordered_map<StringId, uint32_t> names_;
  TreeCalls found_;
};

void TbDiffTreeReader::Push(uint32_t parent, uint32_t level, std::vector<Waiting>* waiting) const {
  const size_t first = waiting->size();
  for (uint32_t i = tree_.nodes()[parent].first_child; i != TbTree::kNone;
       i = tree_.nodes()[i].next) {
    waiting->push_back({i, level});
  }
  std::reverse(waiting->begin() + static_cast<std::ptrdiff_t>(first), waiting->end());
}

void TbDiffTreeReader::Add(uint32_t index, uint32_t level) {
  const TbTree::Node& node = tree_.nodes()[index];
  const StringId text = trace_.torch_events[node.event].name;
  const auto [name, is_new] = names_.emplace(text, static_cast<uint32_t>(found_.names.size()));
  if (is_new) found_.names.emplace_back(trace_.strings.View(text));
  found_.calls.push_back({name->second, level, KindOf(index), node.listed, node.length_ns,
                          node.host_self_ns, node.device_total_ns, node.device_self_ns});
}

TreeCalls TbDiffTreeReader::Read() {
  const auto nodes = tree_.nodes();
  const auto root = std::find_if(nodes.begin(), nodes.end(), [](const TbTree::Node& node) {
    return node.event == TbTree::kNone;
  });
  if (root == nodes.end()) return {};
  std::vector<Waiting> outermost;
  Push(static_cast<uint32_t>(root - nodes.begin()), 0, &outermost);
  std::vector<Waiting> steps;
  for (const Waiting& call : outermost) {
    if (KindOf(call.node) == TbKind::kStep) steps.push_back(call);
  }
  std::vector<Waiting> waiting;
  if (steps.empty()) waiting = outermost;
  for (const Waiting& step : steps) Push(step.node, 0, &waiting);  // From the last to the first.
  while (!waiting.empty()) {
    const Waiting call = waiting.back();
    waiting.pop_back();
    Add(call.node, call.level);
    Push(call.node, call.level + 1, &waiting);
  }
  return std::move(found_);
}

struct TbDiffTreeRow {
  const std::string& rank;
  const std::string& name;
  const TbDiffTreeCall& call;
};

template <auto time>
Cell TbDiffTreeTime(const TbDiffTreeRow& row) {
  return Integer(row.call.*time);
}

constexpr Column<TbDiffTreeRow> kTbDiffTreeColumns[] = {
    {kRankField, [](const TbDiffTreeRow& row) { return Text(row.rank); }},
    {{"level", "Level", "", kInteger, 5, "number of calls around it", Fold::kNone},
     [](const TbDiffTreeRow& row) { return Integer(row.call.level); }},
    {{"kind", "Kind", "", kText, 10, "step, module, dataloader, optimizer; else unknown",
      Fold::kNone},
     [](const TbDiffTreeRow& row) { return Text(WordOf(row.call.kind)); }},
    {{"name", "Name", "", kText, Field::kShared, "name as recorded", Fold::kNone},
     [](const TbDiffTreeRow& row) { return Text(row.name); }},
    {{"listed", "Listed", "", kInteger, 6, "1: a row of operators counts it", Fold::kNone},
     [](const TbDiffTreeRow& row) { return Integer(row.call.listed ? 1 : 0); }},
    {{"host_total_ns", "HostTotal(ns)", "ns", kInteger, 13, "length of the call", Fold::kSum},
     TbDiffTreeTime<&TbDiffTreeCall::host_total_ns>},
    {{"host_self_ns", "HostSelf(ns)", "ns", kInteger, 13,
      "host_total_ns without the calls directly inside", Fold::kSum},
     TbDiffTreeTime<&TbDiffTreeCall::host_self_ns>},
    {{"device_total_ns", "DevTotal(ns)", "ns", kInteger, 13,
      "sum of the durations of the device events launched in it", Fold::kSum},
     TbDiffTreeTime<&TbDiffTreeCall::device_total_ns>},
    {{"device_self_ns", "DevSelf(ns)", "ns", kInteger, 13,
      "sum of the durations of the device events that it launched itself", Fold::kSum},
     TbDiffTreeTime<&TbDiffTreeCall::device_self_ns>},
};

class TbDiffTree : public Partial {
 public:
  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    ranks_.try_emplace(std::string(run->rank()), TbDiffTreeReader(run->trace()).Read());
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const TbDiffTree&>(other);
    ranks_.insert(more.ranks_.begin(), more.ranks_.end());
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override { return FieldsOf<TbDiffTreeRow>(kTbDiffTreeColumns); }
  void Emit(Sink* sink) const override {
    TableOf<TbDiffTreeRow> table(kTbDiffTreeColumns, sink);
    for (const auto& [rank, calls] : ranks_) {
      for (const TbDiffTreeCall& call : calls.calls) {
        table.Add({rank, calls.names[call.name], call});
      }
    }
  }
  std::vector<std::string> Notes() const override {
    return notes_.Sentences("; without it there are rows");
  }

 private:
  std::map<std::string, TreeCalls, RankBefore> ranks_;
  TbEventNotes notes_{"diff"};
};

std::unique_ptr<Partial> MakeTbDiffTree(const ViewOptions&) {
  return std::make_unique<TbDiffTree>();
}

}  // namespace

const View& TbDiffTreeView() {
  static constexpr View kView = {.name = "diff",
                                 .help = "calls that the diff view of the plugin compares",
                                 .needs = kTbTreeNeeds,
                                 .fields = FieldsWithoutBy<kTbDiffTreeColumns>,
                                 .make = MakeTbDiffTree};
  return kView;
}

}  // namespace oplens::prof
