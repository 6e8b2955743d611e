#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/hash.h"
#include "parse/join/joined.h"
#include "prof/run/call_sites.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/streams/kernel_ops.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kAll = "(all)";
constexpr std::string_view kIdleViewKeys[] = {"stream", "step",     "rank",      "call", "op",
                                              "layer",  "op_after", "op_before", "cause"};
/// Instead of ops: before the first work, and after the last.
constexpr std::string_view kIdleStart = "(start)";
constexpr std::string_view kIdleEnd = "(end)";
/// Distinct subjects of a GPU or stream; further ones count as kOther.
constexpr size_t kMostSubjects = size_t{1} << 16;
constexpr std::string_view kOther = "(other)";

struct IdleKey {
  RankName rank;
  int64_t device = 0;
  int64_t stream = 0;  ///< 0: all streams.
  int64_t step = 0;    ///< 0: all steps.

  friend auto operator<=>(const IdleKey&, const IdleKey&) = default;
};

struct CauseSums {
  Sum ns;
  Histogram gaps;

  void Add(int64_t gap_ns) {
    ns += gap_ns;
    gaps.Add(gap_ns);
  }
};

/// A cause, where the host was, and the work around the gap, as far as --by asks for them.
struct IdleSubject {
  std::optional<IdleCause> cause;  ///< nullopt: of all causes, for whole gaps.
  std::string call;
  std::string op;
  std::string layer;
  std::string op_after;
  std::string op_before;

  friend auto operator<=>(const IdleSubject&, const IdleSubject&) = default;
};

struct IdleSums {
  Sum window_ns;
  CauseSums all;
  std::map<IdleSubject, CauseSums> subjects;
};

struct IdleRow {
  const IdleKey& key;
  const CauseSums& sums;
  std::string_view cause;
  const IdleSubject& subject;
  const IdleSums& whole;
};

template <auto member>
constexpr Column<IdleRow> SubjectColumn(const Field& field) {
  return {field, [](const IdleRow& row) { return Text(row.subject.*member); }, Need::kNothing,
          true};
}

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
      "what the next work waits for: launch, module-load, queued, other-stream, communication, "
      "sync, "
      "pageable-copy, api-call, dataloader, host-op, python, cold-start, tail, unknown; (all): "
      "their sum; unknown in rows of whole gaps",
      Fold::kKey,
      {},
      {},
      "(all)"},
     [](const IdleRow& row) { return Text(row.cause); }},
    SubjectColumn<&IdleSubject::call>(
        {"call", "Call", "", FieldType::kName, 24,
         "API call that the cause is about: launch, module-load, sync, pageable-copy, api-call; "
         "queued: what holds "
         "the work back, device, stream, event or copy",
         Fold::kKey}),
    SubjectColumn<&IdleSubject::op>(
        {"op", "Op", "", FieldType::kText, 24,
         "innermost operator around it on the launching thread; without one, the line of Python",
         Fold::kKey}),
    SubjectColumn<&IdleSubject::layer>({"layer", "Layer", "", FieldType::kName, 24,
                                        "layers around it, outermost first", Fold::kKey}),
    SubjectColumn<&IdleSubject::op_after>(
        {"op_after", "OpAfter", "", FieldType::kText, 24,
         "op of the work that ends the gap, as in tables of kernels; (end): none does",
         Fold::kKey}),
    SubjectColumn<&IdleSubject::op_before>({"op_before", "OpBefore", "", FieldType::kText, 24,
                                            "op of the work before the gap; (start): there is none",
                                            Fold::kKey}),
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

/// Some gaps of a run, in the order in which they were found.
struct GapBatch {
  /// For the next gaps, in the memory of these.
  void Clear() {
    gaps.clear();
    parts.clear();
    ends.clear();
    stretches.clear();
  }

  std::vector<IdleGap> gaps;                  // Without `parts`.
  std::vector<IdlePart> parts;                // Of all gaps.
  std::vector<size_t> ends;                   // By gap: where its parts end.
  std::vector<CallSites::Stretch> stretches;  // Of all parts, if a partial asks for sites.
};

class Idle;

/// Partials of one input, whose gaps are found once for all.
struct IdleTogether {
  std::vector<Idle*> partials;
  const Idle* asks_work = nullptr;  // The first that asks for ops of work: it adds kernels.
  KernelOps ops;
  size_t begun = 0;
  bool found = false;
};

class Idle : public GroupedPartial<IdleKey, IdleSums, IdleRow> {
 public:
  Idle(const ViewOptions& options, std::shared_ptr<IdleTogether> together)
      : GroupedPartial("idle", options, kIdleViewKeys, kIdleColumns),
        together_(std::move(together)),
        by_stream_(By("stream")),
        by_step_(By("step")),
        by_call_(By("call")),
        by_op_(By("op")),
        by_layer_(By("layer")),
        by_after_(By("op_after")),
        by_before_(By("op_before")),
        whole_gaps_(asks_work() && !by_call_ && !by_op_ && !by_layer_ && !By("cause")) {
    together_->partials.push_back(this);
    if (asks_work() && together_->asks_work == nullptr) together_->asks_work = this;
  }

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override {
    if (together_->asks_work == this) together_->ops.Add(kernel);
  }
  void End(const Run* run) override { FindAll(run); }

 private:
  /// A GPU or a stream of the current run.
  struct Own {
    Interval span;  ///< From its first work to its last.
    std::vector<IdleSums> windows;
  };
  using Places = std::map<std::pair<int32_t, int32_t>, Own>;
  /// The work around a gap, as numbers of IdleTogether::ops.
  struct Around {
    uint32_t after = 0;
    uint32_t before = 0;
  };
  using Numbers = std::array<uint64_t, 7>;
  struct NumbersHash {
    uint64_t operator()(const Numbers& numbers) const {
      uint64_t hash = 0;
      for (const uint64_t number : numbers) hash = MixHash(hash, number);
      return SpreadBits(hash);
    }
  };

  using Known = FlatMap<Numbers, CauseSums*, NumbersHash>;

  bool asks_sites() const { return by_op_ || by_layer_; }
  bool asks_work() const { return by_after_ || by_before_; }
  /// For all partials, once.
  void FindAll(const Run* run);
  static void FindGaps(const Run& run, std::span<Idle* const> partials);
  Places PlacesOf(const Run& run, std::span<const Interval> windows) const;
  void AddGaps(const Trace& trace, const GapBatch& batch, const CallSites& sites);
  Around AroundOf(const Trace& trace, const IdleGap& gap);
  std::string CallTextOf(const Trace& trace, const IdlePart& part) const;
  uint64_t CallNumberOf(const Trace& trace, const IdlePart& part) const;
  void TakePlaces(const Run& run);
  void EmitGroup(const IdleKey& key, const IdleSums& sums, TableOf<IdleRow>* table) const override;

  std::shared_ptr<IdleTogether> together_;
  bool by_stream_;
  bool by_step_;
  bool by_call_;
  bool by_op_;
  bool by_layer_;
  bool by_after_;
  bool by_before_;
  bool whole_gaps_;
  // While gaps are found:
  Places places_;
  Known known_;  // By numbers, since a subject is six texts and few of them are distinct.
};

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

std::string Idle::CallTextOf(const Trace& trace, const IdlePart& part) const {
  if (!by_call_ || part.call == kNoLaunch) return {};
  if (part.cause == IdleCause::kQueued) return std::string(HeldByWord(part.held));
  return std::string(trace.strings.View(trace.launches[part.call].api));
}

CauseSums& SumsOf(IdleSubject subject, IdleSums* sums) {
  if (sums->subjects.size() >= kMostSubjects && !sums->subjects.contains(subject)) {
    for (std::string* text :
         {&subject.call, &subject.op, &subject.layer, &subject.op_after, &subject.op_before}) {
      if (!text->empty()) *text = kOther;
    }
  }
  return sums->subjects[std::move(subject)];
}

Idle::Around Idle::AroundOf(const Trace& trace, const IdleGap& gap) {
  Around around;
  KernelOps& ops = together_->ops;
  if (by_after_) {
    around.after = gap.next == nullptr ? ops.NumberOf(kIdleEnd) : ops.NumberOf(trace, *gap.next);
  }
  if (by_before_) {
    around.before =
        gap.previous == nullptr ? ops.NumberOf(kIdleStart) : ops.NumberOf(trace, *gap.previous);
  }
  return around;
}

/// What CallTextOf is made of; 0: nothing.
uint64_t Idle::CallNumberOf(const Trace& trace, const IdlePart& part) const {
  if (!by_call_ || part.call == kNoLaunch) return 0;
  if (part.cause == IdleCause::kQueued) return 1 + static_cast<uint64_t>(part.held);
  return 1 + uint64_t{trace.launches[part.call].api};
}

void Idle::AddGaps(const Trace& trace, const GapBatch& batch, const CallSites& sites) {
  if (known_.size() > kMostSubjects) known_ = {};
  // By cause, and one for all: mostly the same as of the gap before.
  std::array<std::pair<Numbers, CauseSums*>, kIdleCauseCount + 1> last{};
  auto stretch = batch.stretches.begin();
  size_t part = 0;
  for (size_t i = 0; i < batch.gaps.size(); ++i) {
    const IdleGap& gap = batch.gaps[i];
    IdleSums* const sums =
        &places_.at({gap.device_id, gap.stream_id}).windows[by_step_ ? gap.window : 0];
    sums->all.Add(gap.length_ns());
    const Around around = AroundOf(trace, gap);
    const auto add = [&](std::optional<IdleCause> cause, const IdlePart* of, const CallSite& site,
                         int64_t length_ns) {
      const uint32_t op = !by_op_ ? 0 : site.op != 0 ? site.op : site.frame;
      const uint32_t layer = by_layer_ ? site.layer : 0;
      const size_t number = cause ? static_cast<size_t>(*cause) : kIdleCauseCount;
      const Numbers numbers = {reinterpret_cast<uintptr_t>(sums),
                               number,
                               of == nullptr ? 0 : CallNumberOf(trace, *of),
                               op,
                               layer,
                               around.after,
                               around.before};
      if (last[number].first == numbers) return last[number].second->Add(length_ns);
      CauseSums*& found = known_[numbers];
      if (found == nullptr) {
        IdleSubject subject;
        subject.cause = cause;
        subject.op_after = together_->ops.TextOf(around.after);
        subject.op_before = together_->ops.TextOf(around.before);
        if (of != nullptr) subject.call = CallTextOf(trace, *of);
        subject.op = sites.texts()[op];
        subject.layer = sites.texts()[layer];
        found = &SumsOf(std::move(subject), sums);
      }
      found->Add(length_ns);
      last[number] = {numbers, found};
    };
    if (whole_gaps_) {
      add(std::nullopt, nullptr, {}, gap.length_ns());
    } else if (!by_call_ && !asks_sites()) {
      for (size_t cause = 0; cause < kIdleCauseCount; ++cause) {
        if (gap.ns[cause] != 0) add(static_cast<IdleCause>(cause), nullptr, {}, gap.ns[cause]);
      }
    } else {
      for (; part < batch.ends[i]; ++part) {
        const IdlePart& one = batch.parts[part];
        if (!asks_sites()) {
          add(one.cause, &one, {}, LengthOf(one.time));
          continue;
        }
        for (; stretch != batch.stretches.end() && stretch->number == part; ++stretch) {
          add(one.cause, &one, stretch->site, LengthOf(stretch->time));
        }
      }
    }
  }
}

/// What does not depend on kernels is found at once, so that several threads find it beside what
/// other views begin with.
void Idle::Begin(const Run* run) {
  GroupedPartial::Begin(run);
  together_->ops.Begin();
  if (++together_->begun < together_->partials.size()) return;
  if (together_->asks_work == nullptr) FindAll(run);
}

void Idle::FindAll(const Run* run) {
  if (std::exchange(together_->found, true)) return;
  if (run == nullptr || run->device_work().events().empty()) return;
  std::map<std::pair<bool, bool>, std::vector<Idle*>> alike;
  for (Idle* const one : together_->partials) {
    alike[{one->by_stream_, one->by_step_}].push_back(one);
  }
  for (const auto& [kind, partials] : alike) FindGaps(*run, partials);
}

/// Of partials with equal by_stream_ and by_step_.
void Idle::FindGaps(const Run& run, std::span<Idle* const> partials) {
  const Idle& first = *partials.front();
  const std::vector<Interval> windows = first.by_step_ ? WindowsOf(run.steps()) : WindowsOf(run);
  for (Idle* const one : partials) one->places_ = one->PlacesOf(run, windows);
  const bool asks_sites = std::ranges::any_of(partials, &Idle::asks_sites);
  // Enough that sweeps over the ranges of threads seldom begin again, and little memory.
  const size_t most_parts = asks_sites ? size_t{1} << 16 : size_t{1} << 10;
  CallSites sites(run.joined());
  GapBatch batch;
  const auto add = [&] {
    if (asks_sites) {
      for (const IdlePart& part : batch.parts) sites.AskAlong(part.thread, part.time);
      sites.FindAlong(&batch.stretches);
    }
    for (Idle* const one : partials) one->AddGaps(run.trace(), batch, sites);
    batch.Clear();
  };
  FindIdleGaps(run, windows, first.by_stream_ ? IdleOf::kStream : IdleOf::kDevice,
               [&](const IdleGap& gap) {
                 batch.gaps.push_back(gap);
                 batch.gaps.back().parts = {};
                 batch.parts.insert(batch.parts.end(), gap.parts.begin(), gap.parts.end());
                 batch.ends.push_back(batch.parts.size());
                 if (batch.parts.size() > most_parts) add();
               });
  add();
  for (Idle* const one : partials) one->TakePlaces(run);
}

void Idle::TakePlaces(const Run& run) {
  const auto steps = by_step_ ? run.steps().all() : std::span<const Step>();
  const RankName rank(run.rank());
  for (auto& [key, own] : places_) {
    for (size_t i = 0; i < own.windows.size(); ++i) {
      if (own.windows[i].window_ns == 0) continue;
      Take({rank, key.first, key.second, by_step_ ? steps[i].number : 0},
           std::move(own.windows[i]));
    }
  }
  places_.clear();
  known_ = {};
}

void Idle::EmitGroup(const IdleKey& key, const IdleSums& sums, TableOf<IdleRow>* table) const {
  static const IdleSubject kNoSubject;
  table->Add({key, sums.all, kAll, kNoSubject, sums});
  std::vector<const std::pair<const IdleSubject, CauseSums>*> order;
  for (const auto& entry : sums.subjects) {
    if (entry.second.ns != 0) order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.ns > b->second.ns; });
  for (const auto* entry : order) {
    const std::optional<IdleCause> cause = entry->first.cause;
    table->Add({key, entry->second, cause ? IdleCauseWord(*cause) : std::string_view(),
                entry->first, sums});
  }
}

std::vector<std::unique_ptr<Partial>> MakeIdleTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto together = std::make_shared<IdleTogether>();
  for (const ViewOptions& one : options) partials.push_back(std::make_unique<Idle>(one, together));
  return partials;
}

}  // namespace

extern constexpr View kIdleView = {.name = "idle",
                                   .help = "why each GPU was idle",
                                   .needs = kIdleGapsNeeds,
                                   .fields = FieldsWithoutBy<kIdleColumns>,
                                   .make = MakeAlone<MakeIdleTogether>,
                                   .make_together = MakeIdleTogether,
                                   .by = kIdleViewKeys,
                                   .saved_form = 3};

}  // namespace oplens::prof
