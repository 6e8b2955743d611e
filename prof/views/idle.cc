#include "prof/views/idle.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/views/histogram.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/stream_keys.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kAll = "(all)";

constexpr Field kIdleFields[] = {
    kRankField,
    kDeviceField,
    {"cause",
     "Cause",
     "",
     FieldType::kText,
     14,
     "what the next work waits for: launch, other-stream, communication, sync, dataloader, "
     "host-op, python, head, tail, unknown; (all): the sum of them",
     Fold::kKey,
     {},
     {},
     "(all)"},
    {"idle_ns", "Idle(ns)", "ns", FieldType::kInteger, 14,
     "time in which no device event runs, in the window of the steps; of a stream from its first "
     "event to its last",
     Fold::kSum},
    {"share_pct", "Share%", "%", FieldType::kDecimal, 8, "100 x idle_ns / idle_ns of (all)",
     Fold::kNone},
    {"window_pct", "Window%", "%", FieldType::kDecimal, 8,
     "100 x idle_ns / length of the window; of a stream of its span", Fold::kNone},
    {"gaps", "Gaps", "", FieldType::kInteger, 8, "gaps that have time of this cause", Fold::kSum},
    {"p50_ns", "P50(ns)", "ns", FieldType::kInteger, 10, "median time of a gap, at most 1.6 % off",
     Fold::kQuantiles},
    {"p95_ns", "P95(ns)", "ns", FieldType::kInteger, 10, "95th percentile of it, at most 1.6 % off",
     Fold::kQuantiles},
    {"max_ns", "Max(ns)", "ns", FieldType::kInteger, 12, "the longest", Fold::kMax},
};

constexpr std::string_view kIdleViewKeys[] = {"stream", "step", "rank"};

struct CauseSums {
  int64_t ns = 0;
  Histogram gaps;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->ns);
    bytes->Values(&self->gaps);
  }

  void Add(int64_t gap_ns) {
    ns = SaturatingSum(ns, gap_ns);
    gaps.Add(gap_ns);
  }
  void Merge(const CauseSums& more) {
    ns = SaturatingSum(ns, more.ns);
    gaps.Merge(more.gaps);
  }
};

struct IdleSums {
  int64_t window_ns = 0;
  CauseSums all;
  std::array<CauseSums, kIdleCauseCount> causes;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->window_ns);
    bytes->Values(&self->all, &self->causes);
  }

  void Add(const IdleGap& gap) {
    for (size_t i = 0; i < kIdleCauseCount; ++i) {
      if (gap.ns[i] > 0) causes[i].Add(gap.ns[i]);
    }
    all.Add(gap.length_ns());
  }
  void Merge(const IdleSums& more) {
    window_ns = SaturatingSum(window_ns, more.window_ns);
    all.Merge(more.all);
    for (size_t i = 0; i < kIdleCauseCount; ++i) causes[i].Merge(more.causes[i]);
  }
};

class Idle : public SavedPartial<Idle> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows_, &self->notes_);
  }

  explicit Idle(const ViewOptions& options)
      : by_stream_(HasKey(options, "stream", "idle", kIdleViewKeys)),
        by_step_(HasKey(options, "step", "idle", kIdleViewKeys)),
        notes_("idle") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Idle&>(other);
    for (const auto& [key, sums] : more.rows_) rows_[key].Merge(sums);
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override {
    for (const auto& [key, sums] : rows_) EmitRows(key, sums, sink);
  }
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->device, &self->stream, &self->step);
    }

    std::string rank;
    int64_t device = 0;
    int64_t stream = 0;  ///< 0 of all streams together.
    int64_t step = 0;    ///< 0 of all steps together.
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return std::tie(a.device, a.stream, a.step) < std::tie(b.device, b.stream, b.step);
    }
  };
  /// Of the run at hand: a GPU or a stream.
  struct Own {
    Interval span;  ///< From its first work to its last.
    std::vector<IdleSums> windows;
  };
  using Places = std::map<std::pair<int32_t, int32_t>, Own>;

  std::vector<Interval> WindowsFor(const Run& run) const;
  Places PlacesOf(const Run& run, std::span<const Interval> windows) const;
  void EmitRows(const Key& key, const IdleSums& sums, Sink* sink) const;
  void EmitRow(const Key& key, std::string_view cause, const CauseSums& own, const IdleSums& sums,
               Sink* sink) const;

  bool by_stream_;
  bool by_step_;
  std::map<Key, IdleSums, KeyOrder> rows_;
  ViewNotes notes_;
};

/// Ascending, and without common moments.
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

/// The GPUs or streams that did anything, each with how long it is looked at in each window.
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
      int64_t& sum = own.windows[by_step_ ? i : 0].window_ns;
      sum = SaturatingSum(sum, LengthOf(looked_at));
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
  const std::string rank(run->rank());
  for (const auto& [key, own] : places) {
    for (size_t i = 0; i < own.windows.size(); ++i) {
      if (own.windows[i].window_ns == 0) continue;
      rows_[{rank, key.first, key.second, by_step_ ? steps[i].number : 0}].Merge(own.windows[i]);
    }
  }
}

std::vector<Field> Idle::Fields() const {
  std::vector<Field> fields(std::begin(kIdleFields), std::end(kIdleFields));
  auto at = fields.begin() + 2;
  if (by_step_) at = fields.insert(at, kStepField);
  if (by_stream_) fields.insert(at, kStreamField);
  return fields;
}

void Idle::EmitRows(const Key& key, const IdleSums& sums, Sink* sink) const {
  EmitRow(key, kAll, sums.all, sums, sink);
  std::array<size_t, kIdleCauseCount> order{};
  for (size_t i = 0; i < kIdleCauseCount; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sums.causes[a].ns > sums.causes[b].ns; });
  for (const size_t cause : order) {
    if (sums.causes[cause].ns == 0) continue;
    EmitRow(key, IdleCauseWord(static_cast<IdleCause>(cause)), sums.causes[cause], sums, sink);
  }
}

void Idle::EmitRow(const Key& key, std::string_view cause, const CauseSums& own,
                   const IdleSums& sums, Sink* sink) const {
  std::vector<Cell> cells = {Text(key.rank), Integer(key.device)};
  if (by_stream_) cells.push_back(Integer(key.stream));
  if (by_step_) cells.push_back(Integer(key.step));
  cells.insert(cells.end(), {Text(cause), Integer(own.ns), PercentCell(own.ns, sums.all.ns),
                             PercentCell(own.ns, sums.window_ns), Integer(own.gaps.count()),
                             Integer(own.gaps.Quantile(50)), Integer(own.gaps.Quantile(95)),
                             Integer(own.gaps.largest())});
  sink->Row(cells);
}

}  // namespace

std::span<const Field> IdleFields() { return kIdleFields; }
std::span<const std::string_view> IdleKeys() { return kIdleViewKeys; }

std::unique_ptr<Partial> MakeIdle(const ViewOptions& options) {
  return std::make_unique<Idle>(options);
}

}  // namespace oplens::prof
