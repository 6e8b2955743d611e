#include <optional>
#include <vector>

#include "prof/run/device_times.h"
#include "prof/views/common/group_view.h"

namespace oplens::prof {
namespace {

/// Sums of a rank, ns.
struct TemporalTimes {
  Sum idle_ns;
  Sum compute_ns;
  Sum non_compute_ns;
  Sum kernel_ns;
  Sum communication_ns;
  Sum overlap_ns;
};

using TemporalRow = GroupRow<TimeKey, TemporalTimes>;

/// Percent; unknown if `whole` is 0.
template <auto part, auto whole = &TemporalTimes::kernel_ns>
Cell TemporalShareOf(const TemporalRow& row) {
  const int64_t whole_ns = row.sums.*whole;
  if (whole_ns == 0) return {};
  const int64_t part_ns = row.sums.*part;
  return {100.0 * (static_cast<double>(part_ns) / static_cast<double>(whole_ns))};
}

constexpr Column<TemporalRow> kTemporalColumns[] = {
    KeyColumn<&TimeKey::rank>{kRankField},
    ByColumn<&TimeKey::step>(kStepField),
    FigureColumn<&TemporalTimes::idle_ns>{"idle_ns", "Idle(ns)", "ns", 14,
                                          "time in which no device event runs, within kernel_ns"},
    {AsRatio({"idle_pct", "Idle%", "%", FieldType::kDecimal, 8, "100 x idle_ns / kernel_ns"},
             {"idle_ns", "kernel_ns", 100}),
     TemporalShareOf<&TemporalTimes::idle_ns>},
    FigureColumn<&TemporalTimes::compute_ns>{
        "compute_ns", "Compute(ns)", "ns", 14,
        "time in which a compute kernel or a graph replay runs"},
    {AsRatio({"compute_pct", "Comp%", "%", FieldType::kDecimal, 8, "100 x compute_ns / kernel_ns"},
             {"compute_ns", "kernel_ns", 100}),
     TemporalShareOf<&TemporalTimes::compute_ns>},
    FigureColumn<&TemporalTimes::non_compute_ns>{
        "non_compute_ns", "NonCompute(ns)", "ns", 14,
        "time in which something runs, but no compute kernel and no graph replay"},
    {AsRatio({"non_compute_pct", "Non%", "%", FieldType::kDecimal, 8,
              "100 x non_compute_ns / kernel_ns"},
             {"non_compute_ns", "kernel_ns", 100}),
     TemporalShareOf<&TemporalTimes::non_compute_ns>},
    FigureColumn<&TemporalTimes::kernel_ns>{
        "kernel_ns", "KernelTime(ns)", "ns", 14,
        "from the start of the first device event to the end of the last; for a step its span; = "
        "idle_ns + compute_ns + non_compute_ns"},
    {{"overlap_pct", "Overlap%", "%", FieldType::kDecimal, 9,
      "100 x time in which both compute and communication run / time in which communication runs; "
      "unknown without communication"},
     TemporalShareOf<&TemporalTimes::overlap_ns, &TemporalTimes::communication_ns>},
};

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

void FindTemporal(const Run& run, ViewGroups<kTemporalColumns>* groups) {
  if (run.device_work().events().empty()) return;
  const RankName rank(run.rank());
  const bool by_step = groups->By("step");
  const auto steps = by_step ? run.steps().all() : std::span<const Step>();
  const std::optional<std::vector<Interval>> windows =
      by_step ? WindowsOf(run.steps()) : run.windows();
  const auto found =
      TemporalSweep(run.device_work(), windows ? ClassSweep(*windows) : ClassSweep());
  for (size_t i = 0; i < found.size(); ++i) {
    groups->Take({rank, by_step ? steps[i].number : 0}, TemporalTimesOf(found[i]));
  }
}

}  // namespace

extern constexpr View kTemporalView = {
    .name = "temporal",
    .help = "how long each rank's device was idle, computing or doing something else",
    .fields = FieldsWithoutBy<kTemporalColumns>,
    .make = MakeGroups<kTemporalView, FindTemporal>,
    .by = kTimeKeys,
    .saved_form = 1};

}  // namespace oplens::prof
