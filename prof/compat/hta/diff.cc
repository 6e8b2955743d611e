#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "base/saturating.h"
#include "base/sums.h"
#include "prof/compat/hta/events.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;
using HtaDiffNamesKind = TorchEvent::Kind;

/// The number of "ProfilerStep#12"; spaces around '#' are accepted.
std::optional<int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const auto skip_blanks = [&name] {
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
  };
  skip_blanks();
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  skip_blanks();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

class StepAt {
 public:
  explicit StepAt(const Trace& trace);
  /// nullopt if there is none.
  std::optional<int64_t> At(int64_t time_us) const;

 private:
  struct Piece {
    int64_t start_us;
    std::optional<int64_t> step;
  };
  std::vector<Piece> pieces_;  // By start, each up to the next.
};

StepAt::StepAt(const Trace& trace) {
  struct Edge {
    int64_t time_us;
    bool begins;
    uint32_t step;
  };
  std::vector<int64_t> numbers;  // In file order.
  std::vector<Edge> edges;
  for (const TorchEvent& event : trace.torch_events) {
    const std::optional<int64_t> number = StepNumber(trace.strings.View(event.name));
    const int64_t start_us = HtaStartUs(event.start_us);
    const int64_t end_us = HtaEndUs(event.end_us);
    if (!number || end_us <= start_us) continue;
    const auto step = static_cast<uint32_t>(numbers.size());
    numbers.push_back(*number);
    edges.push_back({start_us, true, step});
    edges.push_back({end_us, false, step});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time_us < b.time_us; });
  std::set<uint32_t> open;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].begins) {
      open.insert(edges[i].step);
    } else {
      open.erase(edges[i].step);
    }
    if (i + 1 < edges.size() && edges[i + 1].time_us == edges[i].time_us) continue;
    pieces_.push_back(
        {edges[i].time_us, open.empty() ? std::nullopt : std::optional(numbers[*open.rbegin()])});
  }
}

std::optional<int64_t> StepAt::At(int64_t time_us) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), time_us,
                       [](int64_t time, const Piece& piece) { return time < piece.start_us; });
  return after == pieces_.begin() ? std::nullopt : std::prev(after)->step;
}

struct HtaDiffNamesSums {
  Sum count;
  Balance time_us;
};

struct HtaDiffKey {
  RankName rank;
  int64_t step = 0;
  bool gpu = false;
  std::string name;

  friend auto operator<=>(const HtaDiffKey&, const HtaDiffKey&) = default;
};

bool IsDeviceWork(HtaDiffNamesKind kind) {
  return kind == HtaDiffNamesKind::kKernel || kind == HtaDiffNamesKind::kCopy ||
         kind == HtaDiffNamesKind::kFill;
}

/// Sums of one rank by step, whether on the GPU, and name.
std::map<std::tuple<int64_t, bool, StringId>, HtaDiffNamesSums> HtaDiffNamesOf(const Trace& trace) {
  const StepAt steps(trace);
  const std::vector<TorchEvent>& events = trace.torch_events;
  IdMap calls;  // By correlation id, the last one of the file.
  for (uint32_t i = 0; i < events.size(); ++i) {
    const TorchEvent& event = events[i];
    const bool call =
        event.kind == HtaDiffNamesKind::kApiCall || event.kind == HtaDiffNamesKind::kDriverCall;
    if (!call || event.correlation_id < 0) continue;
    calls.Erase(event.correlation_id);
    calls.FindOrInsert(event.correlation_id, i);
  }
  std::map<std::tuple<int64_t, bool, StringId>, HtaDiffNamesSums> found;
  const auto add = [&](const TorchEvent& event, bool on_stream) {
    const TorchEvent* at = &event;  // What it has its step of.
    if (on_stream && !(event.thread_id == 0 && event.kind == HtaDiffNamesKind::kOperator)) {
      uint32_t call = IdMap::kNone;
      if (event.thread_id > 0 && event.correlation_id >= 0) call = calls.Find(event.correlation_id);
      if (call == IdMap::kNone) return;
      at = &events[call];
    }
    const std::optional<int64_t> step = steps.At(HtaStartUs(at->start_us));
    if (!step) return;
    HtaDiffNamesSums& sums = found[{*step, on_stream, event.name}];
    ++sums.count;
    sums.time_us += HtaEndUs(event.end_us) - HtaStartUs(event.start_us);
  };
  for (const TorchEvent& event : events) {
    // Operators that name a stream are among the others.
    if (!event.has_stream) add(event, IsDeviceWork(event.kind) && event.thread_id >= 0);
  }
  for (const TorchEvent& event : trace.other_events) add(event, event.thread_id != -1);
  for (const TorchEvent& event : trace.accelerator_events) add(event, event.thread_id != -1);
  return found;
}

struct HtaDiffNotes {
  bool any = false;  ///< There was an input.
  bool has_events = false;

  explicit HtaDiffNotes(std::string_view /*view*/) {}
  void Begin(const Run* run) {
    any = true;
    has_events |= run != nullptr && !run->trace().torch_events.empty();
  }
  void Merge(const HtaDiffNotes& more) {
    any |= more.any;
    has_events |= more.has_events;
  }
  std::vector<std::string> Sentences() const;
  static constexpr std::tuple kMembers{&HtaDiffNotes::any, &HtaDiffNotes::has_events};
};

/// Explains why there are no rows.
std::vector<std::string> HtaDiffNotes::Sentences() const {
  if (!has_events) {
    return {
        "diff: --compat hta goes by numbers that only the JSON trace of PyTorch's profiler holds; "
        "without it there are rows"};
  }
  return {
      "diff: --compat hta compares a step of each run, and there is no event in a range "
      "ProfilerStep#N: call step() of the profiler after each one; without --compat there are "
      "rows"};
}

using HtaDiffNamesRow = GroupRow<HtaDiffKey, HtaDiffNamesSums>;

constexpr Column<HtaDiffNamesRow> kHtaDiffNamesColumns[] = {
    KeyColumn<&HtaDiffKey::rank>{kRankField},
    KeyColumn<&HtaDiffKey::step>{
        {"step", "Step", "", kInteger, 6, "number of the step", Fold::kKey}},
    {{"device", "Device", "", kText, 6, "cpu or gpu", Fold::kKey},
     [](const HtaDiffNamesRow& row) { return Text(row.key.gpu ? "gpu" : "cpu"); }},
    KeyColumn<&HtaDiffKey::name>{
        {"name", "Name", "", kText, Field::kShared, "name as recorded", Fold::kKey}},
    FigureColumn<&HtaDiffNamesSums::count>{"count", "Count", "", 8, "how often it ran"},
    {{"time_ns", "Time(ns)", "ns", kInteger, 14, "sum of the durations", Fold::kSum},
     [](const HtaDiffNamesRow& row) { return Integer(HtaNs(row.sums.time_us)); }},
};

class HtaDiffNames
    : public GroupedPartial<HtaDiffKey, HtaDiffNamesSums, HtaDiffNamesRow, HtaDiffNotes> {
 public:
  HtaDiffNames() : GroupedPartial("diff", {}, {}, kHtaDiffNamesColumns) {}

  void End(const Run* run) override {
    if (run == nullptr) return;
    for (const auto& [key, sums] : HtaDiffNamesOf(run->trace())) {
      const auto& [step, gpu, name] = key;
      Take({RankName(run->rank()), step, gpu, std::string(run->trace().strings.View(name))}, sums);
    }
  }
  std::vector<std::string> Notes() const override {
    return notes_.any && rows_.empty() ? notes_.Sentences() : std::vector<std::string>();
  }
};

std::unique_ptr<Partial> MakeHtaDiffNames(const ViewOptions&) {
  return std::make_unique<HtaDiffNames>();
}

struct HtaDiffSums {
  int64_t count = 0;
  int64_t time_ns = 0;
};

enum SideIndex : size_t { kHtaBase, kHtaNew, kHtaSides };

struct HtaDiffRow {
  std::string device;  // "": both.
  std::string name;
  std::array<HtaDiffSums, kHtaSides> sides;

  int64_t delta_count() const {
    return SaturatingDifference(sides[kHtaNew].count, sides[kHtaBase].count);
  }
  int64_t delta_ns() const {
    return SaturatingDifference(sides[kHtaNew].time_ns, sides[kHtaBase].time_ns);
  }
  std::string_view category() const {
    return delta_count() > 0 ? "+" : delta_count() < 0 ? "-" : "=";
  }
  std::string_view list() const {
    if (sides[kHtaBase].count == 0) return "added";
    if (sides[kHtaNew].count == 0) return "deleted";
    return delta_count() > 0 ? "increased" : delta_count() < 0 ? "decreased" : "unchanged";
  }
};

constexpr Column<HtaDiffRow> kHtaDiffColumns[] = {
    {kDiffRulesField, [](const HtaDiffRow&) { return Text("hta"); }},
    {{"device", "Device", "", kText, 6, "cpu (the host) or gpu", Fold::kKey},
     [](const HtaDiffRow& row) { return Text(row.device); },
     Need::kNothing,
     true},
    {{"name", "Name", "", kText, Field::kShared, "name as recorded, or without its arguments",
      Fold::kKey},
     [](const HtaDiffRow& row) { return Text(row.name); }},
    {{"base_count", "BaseCount", "", kInteger, 9, "how often it ran in the base's step",
      Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.sides[kHtaBase].count); }},
    {{"new_count", "NewCount", "", kInteger, 8, "how often it ran in the new run's step",
      Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.sides[kHtaNew].count); }},
    {{"delta_count", "DeltaCount", "", kInteger, 10, "new_count - base_count", Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.delta_count()); }},
    {{"base_ns", "Base(ns)", "ns", kInteger, 13, "sum of the durations in the base's step",
      Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.sides[kHtaBase].time_ns); }},
    {{"new_ns", "New(ns)", "ns", kInteger, 13, "sum of the durations in the new run's step",
      Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.sides[kHtaNew].time_ns); }},
    {{"delta_ns", "Delta(ns)", "ns", kInteger, 13, "new_ns - base_ns", Fold::kSum},
     [](const HtaDiffRow& row) { return Integer(row.delta_ns()); }},
    {{"category", "Category", "", kText, 8, "+ it ran more often, - less often, = as often",
      Fold::kNone},
     [](const HtaDiffRow& row) { return Text(row.category()); }},
    {{"list", "List", "", kText, 9, "added, deleted, increased, decreased or unchanged: by counts",
      Fold::kNone},
     [](const HtaDiffRow& row) { return Text(row.list()); }},
};

class HtaDiff : public OtherDiff {
 public:
  HtaDiff(const DiffInput& base, const DiffInput& now, const std::vector<std::string>& by)
      : by_device_(Has(by, "device")), by_short_name_(Has(by, "short_name")) {
    const DiffInput* const inputs[kHtaSides] = {&base, &now};
    for (size_t side = 0; side < kHtaSides; ++side) Take(*inputs[side], side);
    for (const auto& [key, sides] : found_) rows_.push_back({key.first, key.second, sides});
    std::stable_sort(rows_.begin(), rows_.end(), [](const HtaDiffRow& a, const HtaDiffRow& b) {
      return a.delta_ns() > b.delta_ns();
    });
    found_.clear();
  }

  void Write(std::string_view table, Sink* sink) const override;
  std::string Words() const override;
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  static bool Has(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  void Take(const DiffInput& input, size_t side);

  bool by_device_;
  bool by_short_name_;
  std::array<std::string, kHtaSides> names_;
  std::array<std::optional<int64_t>, kHtaSides> steps_;
  std::map<std::pair<std::string, std::string>, std::array<HtaDiffSums, kHtaSides>> found_;
  std::vector<HtaDiffRow> rows_;
  std::vector<std::string> notes_;
};

void HtaDiff::Take(const DiffInput& input, size_t side) {
  names_[side] = input.name;
  const KeptRows& rows = input.tables->At(0);
  const std::string_view rank = FirstRank(input, &notes_);
  std::optional<int64_t>& first = steps_[side];
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t step = rows.Count(row, "step");
    if (!first || step < *first) first = step;  // Of any rank.
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.Text(row, "rank") != rank || rows.Count(row, "step") != first) continue;
    const std::string_view name = rows.Text(row, "name");
    HtaDiffSums& sums = found_[{by_device_ ? std::string(rows.Text(row, "device")) : std::string(),
                                by_short_name_ ? HtaShortName(name) : std::string(name)}][side];
    SaturatingAdd(&sums.count, rows.Count(row, "count"));
    SaturatingAdd(&sums.time_ns, rows.Count(row, "time_ns"));
  }
}

void HtaDiff::Write(std::string_view, Sink* sink) const {
  Columns<HtaDiffRow> columns;
  for (const Column<HtaDiffRow>& column : kHtaDiffColumns) {
    if (!column.by || by_device_) columns.push_back(&column);
  }
  std::vector<Field> fields = FieldsOf(columns);
  RankFields("name,delta_ns,category,delta_count,new_ns,base_ns,list", &fields);
  sink->Begin("diff_names", std::move(fields));
  TableOf<HtaDiffRow> table(columns, sink);
  for (const HtaDiffRow& row : rows_) table.Add(row);
  sink->End();
}

std::string HtaDiff::Words() const {
  const auto step = [this](size_t side) {
    return steps_[side] ? fmt::format("step {}", *steps_[side]) : std::string("no step");
  };
  std::map<std::string_view, size_t> lists;
  for (const HtaDiffRow& row : rows_) ++lists[row.list()];
  std::string text =
      fmt::format("base  {}: {}\nnew   {}: {}\nBy the rules of HTA's TraceDiff:", names_[kHtaBase],
                  step(kHtaBase), names_[kHtaNew], step(kHtaNew));
  std::string_view separator = " ";
  for (const std::string_view list : {"added", "deleted", "increased", "decreased", "unchanged"}) {
    text += fmt::format("{}{} {}", separator, lists[list], list);
    separator = ", ";
  }
  return text + "\n";
}

}  // namespace

const View& HtaDiffNamesView() {
  static constexpr View kView = {.name = "diff",
                                 .help = "names that HTA's TraceDiff compares",
                                 .needs = {TracePart::kTorchEvents, TracePart::kOtherEvents},
                                 .fields = FieldsWithoutBy<kHtaDiffNamesColumns>,
                                 .make = MakeHtaDiffNames};
  return kView;
}

std::unique_ptr<OtherDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                       const std::vector<std::string>& by) {
  return std::make_unique<HtaDiff>(base, now, by);
}

}  // namespace oplens::prof
