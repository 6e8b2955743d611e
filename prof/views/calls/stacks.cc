#include "prof/views/calls/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/ascii.h"
#include "base/error.h"
#include "parse/model/recording_advice.h"
#include "prof/run/call_stacks.h"
#include "prof/run/module_calls.h"
#include "prof/views/calls/call_places.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/saved_partial.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kUnattributed = "(unattributed)";
constexpr std::string_view kNoName = "(other)";

struct StackRow {
  std::string_view stack;
  const StackSums& sums;
};

constexpr Column<StackRow> kStacksColumns[] = {
    {{"stack", "Stack", "", FieldType::kText, Field::kShared,
      "frames and operators, outermost first, joined by ;", Fold::kKey, ";"},
     [](const StackRow& row) { return Text(row.stack); }},
    FigureColumn<&StackSums::host_ns>{
        "host_self_ns", "HostSelf(ns)", "ns", 13,
        "host time of the calls with this stack, without the time in which calls inside ran"},
    FigureColumn<&StackSums::device_ns>{
        "device_self_ns", "DevSelf(ns)", "ns", 13,
        "sum of the durations of the device events that these calls launched themselves"},
    FigureColumn<&StackSums::launches>{"launches", "Launches", "", 8,
                                       "number of these device events"},
};

struct Words {
  bool host = false;
  bool layer = false;
  bool rank = false;

  explicit Words(const std::vector<std::string>& by) {
    for (const std::string& word : by) {
      if (word == "host") {
        host = true;
      } else if (word == "layer") {
        layer = true;
      } else if (word == "rank") {
        rank = true;
      } else if (word != "device") {
        throw UsageError(
            fmt::format("--by {}: the view stacks takes device, host, layer, rank", word));
      }
    }
  }
};

/// Replaces separators of the flame graph format by '_'.
void AppendFrame(std::string_view frame, std::string* line) {
  for (const char c : frame.empty() ? kNoName : frame) {
    const bool separates = c == ';' || IsBlank(c);
    line->push_back(separates ? '_' : c);
  }
}

class Stacks : public SavedPartial<Stacks> {
 public:
  explicit Stacks(const ViewOptions& options, const StackRules& rules = {})
      : words_(options.by), rules_(rules) {}

  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {std::begin(kStacksColumns), std::end(kStacksColumns)};
  }
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return true; }
  std::string Document() const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  void AddRun(const Run& run, uint32_t front);
  StackSums& SumsOf(uint32_t path) {
    if (path >= sums_.size()) sums_.resize(tree_.nodes().size());
    return sums_[path];
  }
  /// Calls f(path, line) for each path with sums, by frames.
  template <typename F>
  void ForEachLine(F f) const;

  Words words_;
  StackRules rules_;
  PathTree tree_;
  std::vector<StackSums> sums_;  // By path.
  Count ranks_without_trace_;
  std::map<Family, Balance> ranks_without_stacks_;
};

void Stacks::End(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
    return;
  }
  uint32_t front = PathTree::kRoot;
  if (words_.rank && !run->rank().empty()) {
    front = tree_.ChildOf(front, tree_.NumberOf(fmt::format("rank {}", run->rank())));
  }
  if (rules_.count == nullptr) return AddRun(*run, front);
  const auto take = [this](uint32_t path, const StackSums& sums) { SumsOf(path).Add(sums); };
  if (!rules_.count(*run, front, &tree_, take)) ++ranks_without_stacks_[run->trace().family];
}

/// Numbers of the calls' names in `tree`.
std::vector<uint32_t> NamesIn(const Run& run, PathTree* tree) {
  CallPlaces places(run.joined(), run.calls());
  std::vector<uint32_t> names = places.Names();
  std::vector<uint32_t> numbers;  // By number of places.texts(), plus one; 0: not computed.
  for (uint32_t& name : names) {
    if (name >= numbers.size()) numbers.resize(name + 1, 0);
    if (numbers[name] == 0) numbers[name] = tree->NumberOf(places.texts().TextOf(name)) + 1;
    name = numbers[name] - 1;
  }
  return names;
}

void Stacks::AddRun(const Run& run, uint32_t front) {
  const std::span<const parse::CallTree::Call> all = run.calls().all();
  const std::vector<uint32_t> names = NamesIn(run, &tree_);
  std::optional<ModuleNames> modules;
  std::optional<ModuleCalls> module_calls;
  std::vector<uint32_t> paths;  // Of modules.
  std::vector<uint32_t> fronts;
  CallStacks::Options options = {names, front, {}, nullptr};
  if (words_.layer) {
    modules.emplace(run.joined());
    options.modules = &*modules;
    module_calls.emplace(run);
    paths = tree_.Take(module_calls->tree(), front);
    for (size_t i = 0; i < all.size(); ++i)
      fronts.push_back(paths[module_calls->PlaceOf(i).module]);
    options.fronts = fronts;
  }
  const CallStacks stacks(run.joined(), run.calls(), options, &tree_);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].self_ns == 0) continue;
    if (!run.selects_all() && !run.SelectsHost(run.trace().ranges[all[i].range].start_ns)) continue;
    SumsOf(stacks.PathOf(i)).Add({all[i].self_ns, 0, 0});
  }
  const uint32_t unattributed = tree_.NumberOf(kUnattributed);
  for (const DeviceEvent& event : run.work().events()) {
    const uint32_t call = run.call_work().CallOf(event);
    uint32_t path = call == CallWork::kNone ? front : stacks.PathOf(call);
    if (call == CallWork::kNone) {
      if (module_calls) path = paths[module_calls->PlaceOf(event, call).module];
      path = tree_.ChildOf(path, unattributed);
    }
    SumsOf(path).Add({0, event.duration_ns(), 1});
  }
}

void Stacks::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Stacks&>(other);
  const std::vector<uint32_t> numbers = tree_.Take(more.tree_);
  for (uint32_t path = 0; path < more.sums_.size(); ++path) {
    if (more.sums_[path].any()) SumsOf(numbers[path]).Add(more.sums_[path]);
  }
  MergeInto(&ranks_without_trace_, more.ranks_without_trace_);
  MergeInto(&ranks_without_stacks_, more.ranks_without_stacks_);
}

template <typename Bytes, typename Self>
void Stacks::Transfer(Bytes* bytes, Self* self) {
  bytes->Values(&self->ranks_without_trace_, &self->ranks_without_stacks_);
  if constexpr (Bytes::kReads) {
    const std::vector<uint32_t> numbers = self->tree_.Load(bytes);
    for (size_t left = bytes->Size(); left > 0; --left) {
      uint32_t path = 0;
      StackSums sums;
      bytes->Values(&path, &sums);
      bytes->Check(path < numbers.size(), "a stack has a path that does not exist");
      self->SumsOf(numbers[path]).Add(sums);
    }
  } else {
    self->tree_.Save(bytes);
    std::vector<uint32_t> paths;  // With sums.
    for (uint32_t path = 0; path < self->sums_.size(); ++path) {
      if (self->sums_[path].any()) paths.push_back(path);
    }
    bytes->Number(paths.size());
    for (const uint32_t path : paths) bytes->Values(&path, &self->sums_[path]);
  }
}

template <typename F>
void Stacks::ForEachLine(F f) const {
  const auto nodes = tree_.nodes();
  std::vector<uint32_t> parents;
  for (const PathTree::Node& node : nodes) parents.push_back(node.parent);
  std::string line;
  std::vector<size_t> lengths;  // Lengths of the line, by depth.
  for (const uint32_t path : TreeOrder(
           parents, [&](uint32_t a, uint32_t b) { return tree_.TextOf(a) < tree_.TextOf(b); })) {
    const uint32_t depth = nodes[path].depth;
    lengths.resize(depth + 1);
    if (depth > 0) {
      line.resize(lengths[depth - 1]);
      if (depth > 1) line.push_back(';');
      AppendFrame(tree_.TextOf(path), &line);
    }
    lengths[depth] = line.size();
    if (path < sums_.size() && sums_[path].any()) f(path, line);
  }
}

std::string Stacks::Document() const {
  std::string text;
  ForEachLine([&](uint32_t path, std::string_view line) {
    const StackSums& sums = sums_[path];
    const int64_t value_ns = words_.host ? sums.host_ns : sums.device_ns;
    if (value_ns == 0) return;
    AppendFormat(&text, "{} {}\n", line.empty() ? kNoName : line, value_ns / rules_.unit_ns);
  });
  return text;
}

void Stacks::Emit(Sink* sink) const {
  std::vector<std::pair<uint32_t, std::string>> rows;
  ForEachLine([&](uint32_t path, std::string_view line) {
    rows.emplace_back(path, line.empty() ? kNoName : line);
  });
  const auto weight = [&](const auto& row) {
    const StackSums& sums = sums_[row.first];
    return words_.host ? std::pair<int64_t, int64_t>(sums.host_ns, sums.device_ns)
                       : std::pair<int64_t, int64_t>(sums.device_ns, sums.host_ns);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  TableOf<StackRow> table(kStacksColumns, sink);
  for (const auto& [path, line] : rows) table.Add({line, sums_[path]});
}

std::vector<std::string> Stacks::Notes() const {
  std::vector<std::string> notes;
  if (ranks_without_trace_ > 0) {
    notes.push_back(
        "stacks: records say nothing of the calls of operators; give the profile itself");
  }
  for (const auto& [family, count] : ranks_without_stacks_) {
    notes.push_back(fmt::format("stacks: {} recorded no call stacks; to record them: {}",
                                count == 1 ? "the profile" : "the profiles",
                                RecordingFlag(MissingFact::kStacks, family)));
  }
  return notes;
}

constexpr std::string_view kStacksKeys[] = {"device", "host", "layer", "rank"};

}  // namespace

std::unique_ptr<Partial> MakeStacksOf(const ViewOptions& options, const StackRules& rules) {
  return std::make_unique<Stacks>(options, rules);
}

extern constexpr View kStacksView = {.name = "stacks",
                                     .help = "folded call stacks for flame graphs",
                                     .fields = FieldsWithoutBy<kStacksColumns>,
                                     .make = MakePartial<Stacks>,
                                     .by = kStacksKeys,
                                     .keeps_document = true,
                                     .saved_form = 1};

}  // namespace oplens::prof
