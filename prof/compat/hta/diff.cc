#include "prof/compat/hta/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "base/saturating.h"
#include "prof/compat/hta/events.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;
using HtaDiffNamesKind = TorchEvent::Kind;

constexpr Field kHtaDiffNamesFields[] = {
    kRankField,
    {"step", "Step", "", kInteger, 6, "number of the step", Fold::kKey},
    {"device", "Device", "", kText, 6, "cpu or gpu", Fold::kKey},
    {"name", "Name", "", kText, Field::kShared, "as recorded", Fold::kKey},
    {"count", "Count", "", kInteger, 8, "how often it ran", Fold::kSum},
    {"time_ns", "Time(ns)", "ns", kInteger, 14, "sum of the durations", Fold::kSum},
};

/// A start is rounded up, an end down.
struct HtaDiffTimes {
  int64_t start_us = 0;
  int64_t end_us = 0;

  explicit HtaDiffTimes(const TorchEvent& event)
      : start_us(Clamped(std::ceil(event.start_us))), end_us(Clamped(std::floor(event.end_us))) {}

 private:
  static int64_t Clamped(double us) {
    constexpr double kMost = 4e15;
    return HtaWholeUs(std::clamp(us, -kMost, kMost));
  }
};

/// The number of "ProfilerStep#12"; blanks around '#' are let pass.
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

/// Which step a time is in.
class StepAt {
 public:
  explicit StepAt(const Trace& trace);
  /// nullopt: in none.
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
  std::vector<int64_t> numbers;  // In the order of the file.
  std::vector<Edge> edges;
  for (const TorchEvent& event : trace.torch_events) {
    const std::optional<int64_t> number = StepNumber(trace.strings.View(event.name));
    const HtaDiffTimes times(event);
    if (!number || times.end_us <= times.start_us) continue;
    const auto step = static_cast<uint32_t>(numbers.size());
    numbers.push_back(*number);
    edges.push_back({times.start_us, true, step});
    edges.push_back({times.end_us, false, step});
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
  int64_t count = 0;
  int64_t time_us = 0;

  void Add(const HtaDiffNamesSums& more) {
    count += more.count;
    SaturatingAdd(&time_us, more.time_us);
  }
};

/// Step, whether of the GPU, and name.
template <typename Name>
using HtaDiffKey = std::tuple<int64_t, bool, Name>;

bool IsDeviceWork(HtaDiffNamesKind kind) {
  return kind == HtaDiffNamesKind::kKernel || kind == HtaDiffNamesKind::kCopy ||
         kind == HtaDiffNamesKind::kFill;
}

/// The names of one rank.
std::map<HtaDiffKey<std::string>, HtaDiffNamesSums> HtaDiffNamesOf(const Trace& trace) {
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
  std::map<HtaDiffKey<StringId>, HtaDiffNamesSums> found;
  for (const TorchEvent& event : events) {
    if (event.kind == HtaDiffNamesKind::kModule) continue;
    const bool on_stream = IsDeviceWork(event.kind) && event.thread_id >= 0;
    uint32_t call = IdMap::kNone;
    if (on_stream) {
      if (event.thread_id > 0 && event.correlation_id >= 0) call = calls.Find(event.correlation_id);
      if (call == IdMap::kNone) continue;
    }
    const std::optional<int64_t> step =
        steps.At(HtaDiffTimes(on_stream ? events[call] : event).start_us);
    if (!step) continue;
    const HtaDiffTimes times(event);
    found[{*step, on_stream, event.name}].Add({1, times.end_us - times.start_us});
  }
  std::map<HtaDiffKey<std::string>, HtaDiffNamesSums> named;
  for (const auto& [key, sums] : found) {
    const auto& [step, gpu, name] = key;
    named[{step, gpu, std::string(trace.strings.View(name))}].Add(sums);
  }
  return named;
}

class HtaDiffNames : public Partial {
 public:
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {std::begin(kHtaDiffNamesFields), std::end(kHtaDiffNamesFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  using Names = std::map<HtaDiffKey<std::string>, HtaDiffNamesSums>;

  std::map<std::string, Names, RankBefore> ranks_;
  bool has_events_ = false;
  int64_t rank_count_ = 0;
};

void HtaDiffNames::End(const Run* run) {
  ++rank_count_;
  if (run == nullptr) return;
  has_events_ |= !run->trace().torch_events.empty();
  for (auto& [key, sums] : HtaDiffNamesOf(run->trace())) {
    ranks_[std::string(run->rank())][key].Add(sums);
  }
}

void HtaDiffNames::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const HtaDiffNames&>(other);
  for (const auto& [rank, names] : more.ranks_) {
    for (const auto& [key, sums] : names) ranks_[rank][key].Add(sums);
  }
  has_events_ |= more.has_events_;
  rank_count_ += more.rank_count_;
}

void HtaDiffNames::Emit(Sink* sink) const {
  for (const auto& [rank, names] : ranks_) {
    for (const auto& [key, sums] : names) {
      const auto& [step, gpu, name] = key;
      const std::array<Cell, std::size(kHtaDiffNamesFields)> cells = {
          Text(rank), Integer(step),       Text(gpu ? "gpu" : "cpu"),
          Text(name), Integer(sums.count), Integer(HtaNs(sums.time_us))};
      sink->Row(cells);
    }
  }
}

std::vector<std::string> HtaDiffNames::Notes() const {
  if (rank_count_ == 0 || !ranks_.empty()) return {};
  if (!has_events_) {
    return {
        "diff: --compat hta goes by numbers that only the JSON trace of PyTorch's profiler holds; "
        "without it there are rows"};
  }
  return {
      "diff: --compat hta compares a step of each run, and there is no event in a range "
      "ProfilerStep#N: call step() of the profiler after each one; without --compat there are "
      "rows"};
}

std::span<const Field> HtaDiffNamesFields() { return kHtaDiffNamesFields; }
std::unique_ptr<Partial> MakeHtaDiffNames(const ViewOptions&) {
  return std::make_unique<HtaDiffNames>();
}

using enum FieldType;

constexpr Field kHtaDiffDeviceField = {
    "device", "Device", "", kText, 6, "cpu: of the host, or gpu", Fold::kKey};
constexpr Field kNameFields[] = {
    {"name", "Name", "", kText, Field::kShared, "as recorded, or without its arguments",
     Fold::kKey},
    {"base_count", "BaseCount", "", kInteger, 9, "how often it ran in the step of the base",
     Fold::kSum},
    {"new_count", "NewCount", "", kInteger, 8, "the same of the new run", Fold::kSum},
    {"delta_count", "DeltaCount", "", kInteger, 10, "new_count - base_count", Fold::kSum},
    {"base_ns", "Base(ns)", "ns", kInteger, 13, "sum of the durations in the step of the base",
     Fold::kSum},
    {"new_ns", "New(ns)", "ns", kInteger, 13, "the same of the new run", Fold::kSum},
    {"delta_ns", "Delta(ns)", "ns", kInteger, 13, "new_ns - base_ns", Fold::kSum},
    {"category", "Category", "", kText, 8, "+ it ran more often, - less often, = as often",
     Fold::kNone},
    {"list", "List", "", kText, 9, "added, deleted, increased, decreased or unchanged: by counts",
     Fold::kNone},
};

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
  std::vector<Field> fields = {kDiffRulesField};
  if (by_device_) fields.push_back(kHtaDiffDeviceField);
  fields.insert(fields.end(), std::begin(kNameFields), std::end(kNameFields));
  RankFields("name,delta_ns,category,delta_count,new_ns,base_ns,list", &fields);
  sink->Begin("diff_names", std::move(fields));
  for (const HtaDiffRow& row : rows_) {
    std::vector<Cell> cells = {Text("hta")};
    if (by_device_) cells.push_back(Text(row.device));
    const auto& [base, now] = row.sides;
    cells.insert(cells.end(),
                 {Text(row.name), Integer(base.count), Integer(now.count),
                  Integer(row.delta_count()), Integer(base.time_ns), Integer(now.time_ns),
                  Integer(row.delta_ns()), Text(row.category()), Text(row.list())});
    sink->Row(cells);
  }
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
                                 .needs = {TracePart::kTorchEvents},
                                 .fields = HtaDiffNamesFields,
                                 .make = MakeHtaDiffNames};
  return kView;
}

std::string HtaShortName(std::string_view name) {
  if (HtaClassOf(name) == HtaClass::kMemory || name.find_first_of("<(") == std::string_view::npos) {
    return std::string(name);
  }
  std::string kept;
  // What a closing bracket closes goes; one that closes nothing takes all before it along.
  const auto close = [&kept](char opening) {
    const size_t at = kept.rfind(opening);
    kept.resize(at == std::string::npos ? 0 : at);
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '-' && i + 1 < name.size() && name[i + 1] == '>') {
      ++i;  // An arrow is no bracket.
    } else if (name[i] == '>') {
      close('<');
    } else if (name[i] == ')') {
      close('(');
    } else {
      kept += name[i];
    }
  }
  return kept.substr(kept.rfind(' ') + 1);
}

std::unique_ptr<OtherDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                       const std::vector<std::string>& by) {
  return std::make_unique<HtaDiff>(base, now, by);
}

}  // namespace oplens::prof
