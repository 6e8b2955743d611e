#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kAll = "(all)";
constexpr std::string_view kIdleViewKeys[] = {"stream", "step", "rank"};

struct IdleKey {
  RankName rank;
  int64_t device = 0;
  int64_t stream = 0;  ///< 0: all streams.
  int64_t step = 0;    ///< 0: all steps.

  static constexpr std::tuple kMembers{&IdleKey::rank, &IdleKey::device, &IdleKey::stream,
                                       &IdleKey::step};
  friend auto operator<=>(const IdleKey&, const IdleKey&) = default;
};

struct CauseSums {
  Sum ns;
  Histogram gaps;

  static constexpr std::tuple kMembers{&CauseSums::ns, &CauseSums::gaps};

  void Add(int64_t gap_ns) {
    ns += gap_ns;
    gaps.Add(gap_ns);
  }
};

struct IdleSums {
  Sum window_ns;
  CauseSums all;
  std::array<CauseSums, kIdleCauseCount> causes;

  static constexpr std::tuple kMembers{&IdleSums::window_ns, &IdleSums::all, &IdleSums::causes};

  void Add(const IdleGap& gap) {
    for (size_t i = 0; i < kIdleCauseCount; ++i) {
      if (gap.ns[i] > 0) causes[i].Add(gap.ns[i]);
    }
    all.Add(gap.length_ns());
  }
};

struct IdleRow {
  const IdleKey& key;
  const CauseSums& sums;
  std::string_view cause;
  const IdleSums& whole;
};

constexpr Column<IdleRow> kIdleColumns[] = {
    KeyColumn<&IdleKey::rank>{kRankField},
    KeyColumn<&IdleKey::device>{kDeviceField},
    ByColumn<&IdleKey::stream>(kStreamField),
    ByColumn<&IdleKey::step>(kStepField),
    {{"cause",
      "Cause",
      "",
      FieldType::kText,
      14,
      "what the next work waits for: launch, other-stream, communication, sync, dataloader, "
      "host-op, python, head, tail, unknown; (all): their sum",
      Fold::kKey,
      {},
      {},
      "(all)"},
     [](const IdleRow& row) { return Text(row.cause); }},
    FigureColumn<&CauseSums::ns>{"idle_ns", "Idle(ns)", "ns", 14,
                                 "time in which no device event runs, in the window of the steps; "
                                 "for a stream, from its first event to its last"},
    {{"share_pct", "Share%", "%", FieldType::kDecimal, 8, "100 x idle_ns / idle_ns of (all)"},
     [](const IdleRow& row) { return PercentCell(row.sums.ns, row.whole.all.ns); }},
    {{"window_pct", "Window%", "%", FieldType::kDecimal, 8,
      "100 x idle_ns / length of the window, or of the span of a stream"},
     [](const IdleRow& row) { return PercentCell(row.sums.ns, row.whole.window_ns); }},
    {{"gaps", "Gaps", "", FieldType::kInteger, 8, "gaps with time of this cause", Fold::kSum},
     [](const IdleRow& row) { return Integer(row.sums.gaps.count()); }},
    FigureColumn<&CauseSums::gaps, 50>{"p50_ns", "P50(ns)", "ns", 10,
                                       "median time of a gap, at most 1.6 % off"},
    FigureColumn<&CauseSums::gaps, 95>{"p95_ns", "P95(ns)", "ns", 10,
                                       "95th percentile of the time of a gap, at most 1.6 % off"},
    FigureColumn<&CauseSums::gaps, Extreme::kLargest>{"max_ns", "Max(ns)", "ns", 12,
                                                      "longest time of a gap"},
};

class Idle : public GroupedPartial<IdleKey, IdleSums, IdleRow> {
 public:
  explicit Idle(const ViewOptions& options)
      : GroupedPartial("idle", options, kIdleViewKeys, kIdleColumns),
        by_stream_(By("stream")),
        by_step_(By("step")) {}

  void End(const Run* run) override;

 private:
  /// A GPU or a stream of the current run.
  struct Own {
    Interval span;  ///< From its first work to its last.
    std::vector<IdleSums> windows;
  };
  using Places = std::map<std::pair<int32_t, int32_t>, Own>;

  std::vector<Interval> WindowsFor(const Run& run) const;
  Places PlacesOf(const Run& run, std::span<const Interval> windows) const;
  void EmitGroup(const IdleKey& key, const IdleSums& sums, TableOf<IdleRow>* table) const override;

  bool by_stream_;
  bool by_step_;
};

/// Ascending and disjoint.
std::vector<Interval> Idle::WindowsFor(const Run& run) const {
  if (by_step_) return WindowsOf(run.steps());
  const auto selected = run.windows();
  if (!selected) return {run.window()};
  std::vector<Interval> windows;
  for (Interval window : *selected) {
    if (!windows.empty()) window.start_ns = std::max(window.start_ns, windows.back().end_ns);
    window.end_ns = std::max(window.end_ns, window.start_ns);
    windows.push_back(window);
  }
  return windows;
}

/// The active GPUs or streams, each with its observed time per window.
Idle::Places Idle::PlacesOf(const Run& run, std::span<const Interval> windows) const {
  Places places;
  for (const DeviceEvent& event : run.device_work().events()) {
    const Interval span = {event.start_ns, event.end_ns};
    const auto [place, added] =
        places.try_emplace({event.device_id, by_stream_ ? event.stream_id : 0});
    Own& own = place->second;
    if (added) own.span = span;
    own.span.end_ns = std::max(own.span.end_ns, event.end_ns);
  }
  for (auto& [key, own] : places) {
    own.windows.resize(by_step_ ? windows.size() : 1);
    for (size_t i = 0; i < windows.size(); ++i) {
      Interval looked_at = windows[i];
      if (by_stream_) {
        looked_at.start_ns = std::max(looked_at.start_ns, own.span.start_ns);
        looked_at.end_ns = std::min(looked_at.end_ns, own.span.end_ns);
      }
      own.windows[by_step_ ? i : 0].window_ns += LengthOf(looked_at);
    }
  }
  return places;
}

void Idle::End(const Run* run) {
  if (run == nullptr || run->device_work().events().empty()) return;
  const std::vector<Interval> windows = WindowsFor(*run);
  const auto steps = by_step_ ? run->steps().all() : std::span<const Step>();
  Places places = PlacesOf(*run, windows);
  auto last = places.end();
  FindIdleGaps(*run, windows, by_stream_, [&](const IdleGap& gap) {
    const std::pair key(gap.device_id, gap.stream_id);
    if (last == places.end() || last->first != key) last = places.find(key);
    last->second.windows[by_step_ ? gap.window : 0].Add(gap);
  });
  const RankName rank(run->rank());
  for (const auto& [key, own] : places) {
    for (size_t i = 0; i < own.windows.size(); ++i) {
      if (own.windows[i].window_ns == 0) continue;
      Take({rank, key.first, key.second, by_step_ ? steps[i].number : 0}, own.windows[i]);
    }
  }
}

void Idle::EmitGroup(const IdleKey& key, const IdleSums& sums, TableOf<IdleRow>* table) const {
  table->Add({key, sums.all, kAll, sums});
  std::array<size_t, kIdleCauseCount> order{};
  for (size_t i = 0; i < kIdleCauseCount; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sums.causes[a].ns > sums.causes[b].ns; });
  for (const size_t cause : order) {
    if (sums.causes[cause].ns == 0) continue;
    table->Add({key, sums.causes[cause], IdleCauseWord(static_cast<IdleCause>(cause)), sums});
  }
}

}  // namespace

extern constexpr View kIdleView = {.name = "idle",
                                   .help = "why each GPU was idle",
                                   .needs = kIdleGapsNeeds,
                                   .fields = FieldsWithoutBy<kIdleColumns>,
                                   .make = MakePartial<Idle>,
                                   .by = kIdleViewKeys,
                                   .saved_form = 1};

}  // namespace oplens::prof
