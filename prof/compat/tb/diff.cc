#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/compat/tb/views.h"
#include "prof/diff/compare.h"

namespace oplens::prof {
namespace {

enum TbSide : size_t { kBase, kNew, kSides };

/// A host call, a row of TbDiffTreeView.
struct Call {
  std::string_view kind;  // "": of no kind that is matched.
  std::string_view name;
  bool listed = false;
  uint32_t end = 0;  // Index after its nested calls.
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;
};

using Places = std::vector<uint32_t>;

/// The calls of one side, parents first.
class Calls {
 public:
  Calls(const DiffInput& input, std::vector<std::string>* notes);

  const Call& At(uint32_t place) const { return calls_[place]; }
  Places Outermost() const { return Between(0, static_cast<uint32_t>(calls_.size())); }
  Places Inside(uint32_t place) const { return Between(place + 1, calls_[place].end); }

 private:
  Places Between(uint32_t begin, uint32_t end) const {
    Places places;
    for (uint32_t i = begin; i < end; i = calls_[i].end) places.push_back(i);
    return places;
  }

  std::vector<Call> calls_;
};

struct Node {
  std::string path;  // "0-2-1": the second child of the third of the root.
  size_t level = 0;
  std::array<Places, kSides> calls;
  int64_t before_ns = 0;  // Sum of the changes of the preceding siblings.
};

/// Value of one side of a node.
struct Value {
  std::string_view name;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
  int64_t value_ns = 0;
};

/// `places`: calls of one side of a node. Named "Blank" if empty, "CompositeNodes" if several.
Value ValueOf(const Calls& calls, const Places& places);

/// Pairs of indices in two lists of calls.
using Matches = std::vector<std::pair<size_t, size_t>>;

/// Greedily matches calls of equal kind and name, each after the previous match, in the order of
/// `left`.
Matches MatchesOf(const Calls& base, const Places& left, const Calls& now, const Places& right);

Calls::Calls(const DiffInput& input, std::vector<std::string>* notes) {
  const KeptRows& rows = input.tables->At(0);
  const std::string_view rank = FirstRank(input, notes);
  std::vector<uint32_t> open;  // By level.
  const auto close = [&](size_t level) {
    for (; open.size() > level; open.pop_back()) {
      calls_[open.back()].end = static_cast<uint32_t>(calls_.size());
    }
  };
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.Text(row, "rank") != rank) continue;
    close(static_cast<size_t>(rows.Count(row, "level")));
    open.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.push_back({rows.Text(row, "kind"), rows.Text(row, "name"),
                      rows.Count(row, "listed") != 0, 0, rows.Count(row, "host_total_ns"),
                      rows.Count(row, "host_self_ns"), rows.Count(row, "device_total_ns"),
                      rows.Count(row, "device_self_ns")});
  }
  close(0);
}

Value ValueOf(const Calls& calls, const Places& places) {
  Value value;
  value.name = places.empty() ? "Blank" : "CompositeNodes";
  if (places.size() == 1) value.name = calls.At(places.front()).name;
  for (const uint32_t place : places) {
    const Call& call = calls.At(place);
    SaturatingAdd(&value.host_ns, call.host_total_ns);
    SaturatingAdd(&value.device_ns, call.device_total_ns);
    SaturatingAdd(&value.value_ns,
                  call.device_total_ns != 0 ? call.device_total_ns : call.host_total_ns);
  }
  return value;
}

Matches MatchesOf(const Calls& base, const Places& left, const Calls& now, const Places& right) {
  using Key = std::pair<std::string_view, std::string_view>;
  const auto key_of = [](const Call& call) { return Key(call.kind, call.name); };
  std::map<Key, std::vector<size_t>> places;  // In `right`.
  for (size_t j = 0; j < right.size(); ++j) {
    const Call& call = now.At(right[j]);
    if (!call.kind.empty()) places[key_of(call)].push_back(j);
  }
  Matches matches;
  size_t next = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto same = places.find(key_of(base.At(left[i])));
    if (same == places.end()) continue;
    const auto j = std::lower_bound(same->second.begin(), same->second.end(), next);
    if (j == same->second.end()) continue;
    matches.emplace_back(i, *j);
    next = *j + 1;
  }
  return matches;
}

using enum FieldType;

constexpr size_t kMostLevels = 256;

struct OpFigure {
  std::string_view key;
  std::string_view header;
  std::string_view unit;
  std::string_view help;
  int64_t (*of)(const Call& call);
};

constexpr OpFigure kOpFigures[] = {
    {"calls", "Calls", "", "how often it was called", [](const Call&) { return int64_t{1}; }},
    {"host_total", "HostTotal", "ns", "sum of the lengths of its calls on the host",
     [](const Call& call) { return call.host_total_ns; }},
    {"host_self", "HostSelf", "ns", "host_total without the calls directly inside",
     [](const Call& call) { return call.host_self_ns; }},
    {"device_total", "DevTotal", "ns", "device time of what was launched in it",
     [](const Call& call) { return call.device_total_ns; }},
    {"device_self", "DevSelf", "ns", "device time of what it launched itself",
     [](const Call& call) { return call.device_self_ns; }},
};

/// The columns of an OpFigure, which must outlive the fields.
class OpFields {
 public:
  static const std::vector<Field>& All() {
    static const OpFields fields;
    return fields.fields_;
  }

 private:
  OpFields() {
    texts_.reserve(4 * 3 * std::size(kOpFigures));
    for (const OpFigure& figure : kOpFigures) {
      AddField(figure, "base_", "Base", "", "in the base: ");
      AddField(figure, "new_", "New", "", "in the new run: ");
      AddField(figure, "delta_", "Delta", "", "new - base: ");
      AddField(figure, "delta_", "Delta", "_pct", "delta / base * 100; unknown if base is 0: ");
    }
  }

  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  void AddField(const OpFigure& figure, std::string_view prefix, std::string_view title,
                std::string_view suffix, std::string_view help) {
    const bool percent = !suffix.empty();
    const std::string_view unit = percent ? "%" : figure.unit;
    const std::string_view end = percent ? suffix : figure.unit.empty() ? "" : "_ns";
    fields_.push_back({Keep(fmt::format("{}{}{}", prefix, figure.key, end)),
                       Keep(unit.empty() ? fmt::format("{}{}", title, figure.header)
                                         : fmt::format("{}{}({})", title, figure.header, unit)),
                       unit, percent ? kDecimal : kInteger, percent ? 9 : 13,
                       Keep(fmt::format("{}{}", help, figure.help)),
                       percent ? Fold::kNone : Fold::kSum});
  }

  std::vector<std::string> texts_;  // Reserved, so that views into them stay valid.
  std::vector<Field> fields_;
};

constexpr Field kNodeField = {"node",    "Node", "", kText, 8, "path of the node in `tree`",
                              Fold::kKey};
constexpr Field kOpField = {"op",      "Op", "", kText, Field::kShared, "name of the operator",
                            Fold::kKey};

constexpr Field kTreeFields[] = {
    kDiffRulesField,
    {"node", "Node", "", kText, 8, "path of the node: 0-2 is the third node of the root",
     Fold::kKey},
    {"level", "Level", "", kInteger, 5, "number of nodes around it", Fold::kNone},
    {"base", "Base", "", kText, Field::kShared,
     "call of the base; CompositeNodes: several, Blank: none", Fold::kNone},
    {"new", "New", "", kText, Field::kShared, "call of the new run, as base", Fold::kNone},
    {"base_host_ns", "BaseHost(ns)", "ns", kInteger, 13, "length of the calls in the base",
     Fold::kNone},
    {"new_host_ns", "NewHost(ns)", "ns", kInteger, 13, "length of the calls in the new run",
     Fold::kNone},
    {"base_device_ns", "BaseDev(ns)", "ns", kInteger, 13,
     "device time of what they launched in the base", Fold::kNone},
    {"new_device_ns", "NewDev(ns)", "ns", kInteger, 13,
     "device time of what they launched in the new run", Fold::kNone},
    {"base_ns", "Base(ns)", "ns", kInteger, 13,
     "device time in the base; for calls without any, their length", Fold::kNone},
    {"new_ns", "New(ns)", "ns", kInteger, 13,
     "device time in the new run; for calls without any, their length", Fold::kNone},
    {"delta_ns", "Delta(ns)", "ns", kInteger, 13, "new_ns - base_ns", Fold::kNone},
    {"accumulated_ns", "Accumulated(ns)", "ns", kInteger, 15,
     "delta_ns plus that of all nodes before it in the same node", Fold::kNone},
};

/// Sums of one name on both sides, by OpFigure.
struct OpSums {
  std::string_view name;
  std::array<std::array<int64_t, std::size(kOpFigures)>, kSides> sides{};
};

class TbDiff : public OtherDiff {
 public:
  TbDiff(const DiffInput& base, const DiffInput& now, const std::vector<std::string>& by)
      : by_node_(!by.empty()),
        names_{base.name, now.name},
        sides_{Calls(base, &notes_), Calls(now, &notes_)} {
    Node root;
    root.path = "0";
    for (size_t side = 0; side < kSides; ++side) root.calls[side] = sides_[side].Outermost();
    AddNode(std::move(root));
  }

  void Write(std::string_view table, Sink* sink) const override {
    if (table == "tree") return WriteTree(sink);
    WriteOperators(sink);
  }
  std::string Words() const override;
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  void AddNode(Node node);
  void AddChildren(size_t parent);
  int64_t ChangeOf(const Node& node) const {
    return SaturatingDifference(ValueOf(sides_[kNew], node.calls[kNew]).value_ns,
                                ValueOf(sides_[kBase], node.calls[kBase]).value_ns);
  }
  /// The operators of a node, in the order of their ends, those of the base first.
  std::vector<OpSums> OperatorsOf(const Node& node) const;
  void WriteTree(Sink* sink) const;
  void WriteOperators(Sink* sink) const;

  bool by_node_;
  std::vector<std::string> notes_;
  std::array<std::string, kSides> names_;
  std::array<Calls, kSides> sides_;
  std::vector<Node> nodes_;
  bool cut_ = false;
};

void TbDiff::AddNode(Node node) {
  nodes_.push_back(std::move(node));
  AddChildren(nodes_.size() - 1);
}

void TbDiff::AddChildren(size_t parent) {
  const size_t level = nodes_[parent].level + 1;
  std::array<Places, kSides> lists = nodes_[parent].calls;
  if (lists[kBase].empty() || lists[kNew].empty()) return;
  const bool single = lists[kBase].size() == 1;
  if (single != (lists[kNew].size() == 1)) return;
  if (single) {
    for (size_t side = 0; side < kSides; ++side) {
      lists[side] = sides_[side].Inside(lists[side].front());
    }
  }
  Matches matches = MatchesOf(sides_[kBase], lists[kBase], sides_[kNew], lists[kNew]);
  if (matches.empty()) return;
  if (level > kMostLevels) {
    if (!cut_) notes_.push_back("--compat tb: nodes more than 256 deep are not looked into");
    cut_ = true;
    return;
  }
  matches.emplace_back(lists[kBase].size(), lists[kNew].size());  // What follows the last match.
  size_t children = 0;
  int64_t before_ns = 0;
  const auto add = [&](size_t base, size_t base_end, size_t now, size_t now_end) {
    Node child;
    child.path = fmt::format("{}-{}", nodes_[parent].path, children++);
    child.level = level;
    const auto cut = [&](size_t side, size_t first, size_t end) {
      const auto begin = lists[side].begin();
      child.calls[side] = Places(begin + static_cast<std::ptrdiff_t>(first),
                                 begin + static_cast<std::ptrdiff_t>(end));
    };
    cut(kBase, base, base_end);
    cut(kNew, now, now_end);
    child.before_ns = before_ns;
    SaturatingAdd(&before_ns, ChangeOf(child));
    AddNode(std::move(child));
  };
  size_t base = 0;
  size_t now = 0;
  for (const auto& [i, j] : matches) {
    if (i > base || j > now) add(base, i, now, j);
    if (i < lists[kBase].size()) add(i, i + 1, j, j + 1);
    base = i + 1;
    now = j + 1;
  }
}

std::vector<OpSums> TbDiff::OperatorsOf(const Node& node) const {
  std::vector<OpSums> operators;
  std::unordered_map<std::string_view, size_t> known;
  for (size_t side = 0; side < kSides; ++side) {
    const Calls& calls = sides_[side];
    std::vector<uint32_t> open;
    const auto close = [&](uint32_t at) {
      for (; !open.empty() && calls.At(open.back()).end <= at; open.pop_back()) {
        const Call& call = calls.At(open.back());
        if (!call.listed) continue;
        const auto [place, is_new] = known.emplace(call.name, operators.size());
        if (is_new) operators.emplace_back().name = call.name;
        auto& sums = operators[place->second].sides[side];
        for (size_t i = 0; i < sums.size(); ++i) {
          SaturatingAdd(&sums[i], kOpFigures[i].of(call));
        }
      }
    };
    for (const uint32_t root : node.calls[side]) {
      for (uint32_t i = root; i < calls.At(root).end; ++i) {
        close(i);
        open.push_back(i);
      }
      close(calls.At(root).end);
    }
  }
  return operators;
}

void TbDiff::WriteTree(Sink* sink) const {
  std::vector<Field> fields = {std::begin(kTreeFields), std::end(kTreeFields)};
  RankFields("node,delta_ns,base,new,new_ns,base_ns", &fields);
  sink->Begin("diff_tree", std::move(fields));
  for (const Node& node : nodes_) {
    if (node.calls[kBase].empty() && node.calls[kNew].empty()) continue;  // Nothing there.
    const Value base = ValueOf(sides_[kBase], node.calls[kBase]);
    const Value now = ValueOf(sides_[kNew], node.calls[kNew]);
    const int64_t delta_ns = SaturatingDifference(now.value_ns, base.value_ns);
    const std::array<Cell, std::size(kTreeFields)> cells = {
        Text("tb"),
        Text(node.path),
        Integer(static_cast<int64_t>(node.level)),
        Text(base.name),
        Text(now.name),
        Integer(base.host_ns),
        Integer(now.host_ns),
        Integer(base.device_ns),
        Integer(now.device_ns),
        Integer(base.value_ns),
        Integer(now.value_ns),
        Integer(delta_ns),
        Integer(SaturatingSum(node.before_ns, delta_ns)),
    };
    sink->Row(cells);
  }
  sink->End();
}

void TbDiff::WriteOperators(Sink* sink) const {
  std::vector<Field> fields = {kDiffRulesField};
  if (by_node_) fields.push_back(kNodeField);
  fields.push_back(kOpField);
  fields.insert(fields.end(), OpFields::All().begin(), OpFields::All().end());
  RankFields(
      "op,node,delta_device_self_ns,delta_host_self_ns,delta_calls,new_device_self_ns,"
      "base_device_self_ns,new_host_self_ns,base_host_self_ns,new_calls,base_calls",
      &fields);
  sink->Begin("diff_operators", std::move(fields));
  std::vector<Cell> cells;
  for (const Node& node : nodes_) {
    if (node.level > 0 && !by_node_) break;
    for (const OpSums& op : OperatorsOf(node)) {
      cells = {Text("tb")};
      if (by_node_) cells.push_back(Text(node.path));
      cells.push_back(Text(op.name));
      for (size_t i = 0; i < std::size(kOpFigures); ++i) {
        const int64_t base = op.sides[kBase][i];
        const int64_t delta = SaturatingDifference(op.sides[kNew][i], base);
        cells.push_back(Integer(base));
        cells.push_back(Integer(op.sides[kNew][i]));
        cells.push_back(Integer(delta));
        cells.push_back(base == 0
                            ? Cell{}
                            : Cell{100 * static_cast<double>(delta) / static_cast<double>(base)});
      }
      sink->Row(cells);
    }
  }
  sink->End();
}

std::string TbDiff::Words() const {
  return fmt::format(
      "base  {}\nnew   {}\nBy the rules of the TensorBoard plugin's diff view: the first thread, "
      "all steps\n",
      names_[kBase], names_[kNew]);
}

}  // namespace

std::unique_ptr<OtherDiff> MakeTbDiff(const DiffInput& base, const DiffInput& now,
                                      const std::vector<std::string>& by) {
  return std::make_unique<TbDiff>(base, now, by);
}

}  // namespace oplens::prof
