#include "prof/views/temporal.h"

#include <map>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "prof/run/device_times.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr Field kTemporalFields[] = {
    {"rank", "Rank", "", FieldType::kText, 6, "number of the process; empty where it is not known",
     Fold::kKey},
    {"idle_ns", "Idle(ns)", "ns", FieldType::kInteger, 14,
     "time in which no device event runs, within kernel_ns", Fold::kSum},
    AsRatio({"idle_pct", "Idle%", "%", FieldType::kDecimal, 8, "100 x idle_ns / kernel_ns",
             Fold::kNone},
            {"idle_ns", "kernel_ns", 100}),
    {"compute_ns", "Compute(ns)", "ns", FieldType::kInteger, 14,
     "time in which a compute kernel or a replay of a graph runs", Fold::kSum},
    AsRatio({"compute_pct", "Comp%", "%", FieldType::kDecimal, 8, "100 x compute_ns / kernel_ns",
             Fold::kNone},
            {"compute_ns", "kernel_ns", 100}),
    {"non_compute_ns", "NonCompute(ns)", "ns", FieldType::kInteger, 14,
     "time in which something runs, but no compute kernel and no replay", Fold::kSum},
    AsRatio({"non_compute_pct", "Non%", "%", FieldType::kDecimal, 8,
             "100 x non_compute_ns / kernel_ns", Fold::kNone},
            {"non_compute_ns", "kernel_ns", 100}),
    {"kernel_ns", "KernelTime(ns)", "ns", FieldType::kInteger, 14,
     "from the start of the first device event to the end of the last, of a step its span; = "
     "idle_ns + compute_ns + non_compute_ns",
     Fold::kSum},
    {"overlap_pct", "Overlap%", "%", FieldType::kDecimal, 9,
     "100 x time in which compute and communication run / time in which communication runs; "
     "unknown without communication",
     Fold::kNone},
};

/// Sums of a rank, ns.
struct TemporalTimes {
  int64_t idle_ns = 0;
  int64_t compute_ns = 0;
  int64_t non_compute_ns = 0;
  int64_t kernel_ns = 0;
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->idle_ns, &self->compute_ns, &self->non_compute_ns, &self->kernel_ns,
                &self->communication_ns, &self->overlap_ns);
  }
};

constexpr int64_t TemporalTimes::*kTemporalSums[] = {
    &TemporalTimes::idle_ns,   &TemporalTimes::compute_ns,       &TemporalTimes::non_compute_ns,
    &TemporalTimes::kernel_ns, &TemporalTimes::communication_ns, &TemporalTimes::overlap_ns};

int64_t TemporalSumOf(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

TemporalTimes TemporalTimesOf(const ClassTimes& found) {
  TemporalTimes times;
  times.idle_ns = found.ns[0];
  times.compute_ns = found.AnyOf(kComputeBit);
  times.kernel_ns = found.Sum();
  times.non_compute_ns = times.kernel_ns - times.idle_ns - times.compute_ns;
  times.communication_ns = found.AnyOf(kCommunicationBit);
  times.overlap_ns = found.AllOf(kComputeBit | kCommunicationBit);
  return times;
}

std::vector<ClassTimes> TemporalSweep(const DeviceWork& work, ClassSweep sweep) {
  for (const DeviceEvent& event : work.events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  return sweep.Finish();
}

class Temporal : public SavedPartial<Temporal> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows_, &self->notes_);
  }

  explicit Temporal(const ViewOptions& options)
      : by_step_(TimeKeys(options, "temporal").step), notes_("temporal") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->step);
    }

    std::string rank;
    int64_t step = 0;  ///< 0 of all steps together.
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return a.step < b.step;
    }
  };

  void Take(const Key& key, const TemporalTimes& more) {
    TemporalTimes& times = rows_[key];
    for (const auto sum : kTemporalSums) times.*sum = TemporalSumOf(times.*sum, more.*sum);
  }

  /// Percent; unknown of nothing.
  static Cell Share(int64_t part, int64_t whole) {
    if (whole == 0) return {};
    return {100.0 * (static_cast<double>(part) / static_cast<double>(whole))};
  }

  bool by_step_;
  std::map<Key, TemporalTimes, KeyOrder> rows_;
  ViewNotes notes_;
};

void Temporal::End(const Run* run) {
  if (run == nullptr || run->device_work().events().empty()) return;
  const std::string rank(run->rank());
  const auto steps = by_step_ ? run->steps().all() : std::span<const Step>();
  const std::optional<std::vector<Interval>> windows =
      by_step_ ? WindowsOf(run->steps()) : run->windows();
  const auto found =
      TemporalSweep(run->device_work(), windows ? ClassSweep(*windows) : ClassSweep());
  for (size_t i = 0; i < found.size(); ++i) {
    Take({rank, by_step_ ? steps[i].number : 0}, TemporalTimesOf(found[i]));
  }
}

void Temporal::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Temporal&>(other);
  for (const auto& [key, times] : more.rows_) Take(key, times);
  notes_.Merge(more.notes_);
}

std::vector<Field> Temporal::Fields() const {
  std::vector<Field> fields(std::begin(kTemporalFields), std::end(kTemporalFields));
  if (by_step_) fields.insert(fields.begin() + 1, kStepField);
  return fields;
}

void Temporal::Emit(Sink* sink) const {
  for (const auto& [key, times] : rows_) {
    const auto share = [&, &whole = times.kernel_ns](int64_t part) { return Share(part, whole); };
    std::vector<Cell> cells = {Text(key.rank)};
    if (by_step_) cells.push_back(Integer(key.step));
    for (const int64_t part : {times.idle_ns, times.compute_ns, times.non_compute_ns}) {
      cells.push_back(Integer(part));
      cells.push_back(share(part));
    }
    cells.push_back(Integer(times.kernel_ns));
    cells.push_back(Share(times.overlap_ns, times.communication_ns));
    sink->Row(cells);
  }
}

}  // namespace

std::span<const Field> TemporalFields() { return kTemporalFields; }

std::unique_ptr<Partial> MakeTemporal(const ViewOptions& options) {
  return std::make_unique<Temporal>(options);
}

}  // namespace oplens::prof
