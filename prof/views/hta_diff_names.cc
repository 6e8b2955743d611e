#include "prof/views/hta_diff_names.h"

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
#include "prof/run/hta_events.h"
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
    time_us = SaturatingAdd(time_us, more.time_us);
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

}  // namespace oplens::prof
