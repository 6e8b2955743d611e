#include "prof/run/device_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/compat/hta/events.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/common/view_notes.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr unsigned BitOfClass(HtaClass kind) { return 1U << static_cast<unsigned>(kind); }

/// Whether --by names rank; throws UsageError for step.
bool IsHtaByRank(const ViewOptions& options, std::string_view view) {
  const ByWords words(view, options, kTimeKeys);
  if (words.Has("step")) {
    throw UsageError(fmt::format("--by step: the view {} has none with --compat hta", view));
  }
  return words.Has("rank");
}

/// `percent` with as many decimal digits as `scale` has zeros.
Cell RoundedPercent(double percent, double scale) {
  return {std::nearbyint(percent * scale) / scale};
}

template <typename Sums>
class HtaSums : public Partial {
 public:
  explicit HtaSums(std::string_view view) : notes_(view) {}
  void Begin(const Run* run) override { notes_.Begin(run); }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaSums&>(other);
    for (const auto& [rank, sums] : more.ranks_) ranks_[rank].Add(sums);
    notes_.Merge(more.notes_);
  }
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 protected:
  std::map<std::string, Sums, RankBefore> ranks_;

 private:
  ViewNotes notes_;
};

/// Time by combination of the three classes, and whether it occurs.
struct HtaTypes {
  ClassTimes times;
  std::array<bool, kClassCombinations> occurs{};

  void Add(const HtaTypes& more) {
    times.Add(more.times);
    for (size_t c = 0; c < kClassCombinations; ++c) occurs[c] |= more.occurs[c];
  }
};

/// Like the reference, sums 1, 2 and 4 over the running classes. Events that end before they start
/// yield other sums, which are kept as in the reference.
HtaTypes HtaTypesOf(const Trace& trace) {
  constexpr std::pair<HtaClass, unsigned> kClasses[] = {
      {HtaClass::kComputation, kComputeBit},
      {HtaClass::kCommunication, kCommunicationBit},
      {HtaClass::kMemory, kMemoryBit}};
  const HtaEvents events(trace);
  std::vector<HtaMoment> moments;
  for (const auto& [kind, bit] : kClasses) {
    AddHtaMoments(MergeHtaEvents(events.all(), BitOfClass(kind)), static_cast<int64_t>(bit),
                  &moments);
    SortHtaMoments(&moments);
  }
  HtaTypes types;
  int64_t running = 0;
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    running += moments[i].change;
    if (running <= 0) continue;
    const size_t c = static_cast<size_t>(running) % kClassCombinations;
    types.occurs[c] = true;
    types.times.ns[c] += moments[i + 1].time_us - moments[i].time_us;  // Still in us.
  }
  for (int64_t& time : types.times.ns) time = HtaNs(time);
  return types;
}

class HtaKernelTypes : public HtaSums<HtaTypes> {
 public:
  explicit HtaKernelTypes(const ViewOptions& options)
      : HtaSums("kernel-types"), by_rank_(IsHtaByRank(options, "kernel-types")) {}

  void End(const Run* run) override {
    if (run == nullptr) return;
    ranks_[by_rank_ ? std::string(run->rank()) : std::string()].Add(HtaTypesOf(run->trace()));
  }
  std::vector<Field> Fields() const override {
    std::vector<Field> fields(kKernelTypesView.fields().begin(), kKernelTypesView.fields().end());
    if (by_rank_) fields.insert(fields.begin(), kRankField);
    return fields;
  }
  void Emit(Sink* sink) const override;

 private:
  bool by_rank_;
};

void HtaKernelTypes::Emit(Sink* sink) const {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY"};
  for (const auto& [rank, types] : ranks_) {
    const auto& ns = types.times.ns;
    std::array<size_t, kClassCombinations - 1> order;
    std::iota(order.begin(), order.end(), size_t{1});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns[a] > ns[b]; });
    const int64_t all_ns = types.times.AnyOf(kClassCombinations - 1);
    for (const size_t c : order) {
      if (!types.occurs[c]) continue;
      std::string name;
      for (size_t i = 0; i < std::size(kNames); ++i) {
        if ((c >> i & 1) == 0) continue;
        if (!name.empty()) name += " overlapping ";
        name += kNames[i];
      }
      std::vector<Cell> cells;
      if (by_rank_) cells.push_back(Text(rank));
      const double part = static_cast<double>(ns[c]);
      cells.insert(
          cells.end(),
          {Text(name), Integer(ns[c]),
           all_ns == 0 ? Cell()
                       : RoundedPercent(part / static_cast<double>(all_ns) * 100.0, 10.0)});
      sink->Row(cells);
    }
  }
}

/// Sums of a rank, ns; may be negative.
struct HtaTimes {
  int64_t idle_ns = 0;
  int64_t compute_ns = 0;
  int64_t non_compute_ns = 0;
  int64_t kernel_ns = 0;
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;

  void Add(const HtaTimes& more) {
    for (const auto sum :
         {&HtaTimes::idle_ns, &HtaTimes::compute_ns, &HtaTimes::non_compute_ns,
          &HtaTimes::kernel_ns, &HtaTimes::communication_ns, &HtaTimes::overlap_ns}) {
      if (__builtin_add_overflow(this->*sum, more.*sum, &(this->*sum))) this->*sum = INT64_MAX;
    }
  }
};

/// Time in which a communication and a compute kernel run: like the reference, counts 1 and 2 for
/// them and looks for 3.
int64_t HtaOverlapUs(std::span<const HtaInterval> communication,
                     std::span<const HtaInterval> computation) {
  constexpr int64_t kBoth = 3;
  std::vector<HtaMoment> moments;
  AddHtaMoments(communication, 1, &moments);
  AddHtaMoments(computation, 2, &moments);
  SortHtaMoments(&moments);
  int64_t running = 0;
  int64_t overlap_us = 0;
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    running += moments[i].change;
    if (running == kBoth) overlap_us += moments[i + 1].time_us - moments[i].time_us;
  }
  return overlap_us;
}

std::optional<HtaTimes> HtaTimesOf(const Trace& trace) {
  const HtaEvents events(trace);
  if (events.all().empty()) return std::nullopt;
  const auto all = MergeHtaEvents(events.all(), (1U << kHtaClassCount) - 1);
  const auto compute = MergeHtaEvents(events.all(), BitOfClass(HtaClass::kComputation));
  const auto communication = MergeHtaEvents(events.all(), BitOfClass(HtaClass::kCommunication));
  HtaTimes times;
  times.kernel_ns = HtaNs(all.back().end_us - all.front().start_us);
  times.idle_ns = times.kernel_ns - HtaNs(HtaLengthUs(all));
  times.compute_ns = HtaNs(HtaLengthUs(compute));
  times.non_compute_ns = times.kernel_ns - times.compute_ns - times.idle_ns;
  times.communication_ns = HtaNs(HtaLengthUs(communication));
  times.overlap_ns = HtaNs(HtaOverlapUs(communication, compute));
  return times;
}

class HtaTemporal : public HtaSums<HtaTimes> {
 public:
  explicit HtaTemporal(const ViewOptions& options) : HtaSums("temporal") {
    IsHtaByRank(options, "temporal");
  }

  void End(const Run* run) override {
    if (run == nullptr) return;
    const std::optional<HtaTimes> times = HtaTimesOf(run->trace());
    if (times) ranks_[std::string(run->rank())].Add(*times);
  }
  std::vector<Field> Fields() const override {
    return {kTemporalView.fields().begin(), kTemporalView.fields().end()};
  }
  void Emit(Sink* sink) const override {
    const auto share = [](int64_t part, int64_t whole) {
      if (whole == 0) return Cell();
      return RoundedPercent(100.0 * (static_cast<double>(part) / static_cast<double>(whole)),
                            100.0);
    };
    for (const auto& [rank, times] : ranks_) {
      std::vector<Cell> cells = {Text(rank)};
      for (const int64_t part : {times.idle_ns, times.compute_ns, times.non_compute_ns}) {
        cells.push_back(Integer(part));
        cells.push_back(share(part, times.kernel_ns));
      }
      cells.push_back(Integer(times.kernel_ns));
      cells.push_back(share(times.overlap_ns, times.communication_ns));
      sink->Row(cells);
    }
  }
};

}  // namespace

std::unique_ptr<Partial> MakeHtaKernelTypes(const ViewOptions& options) {
  return std::make_unique<HtaKernelTypes>(options);
}

std::unique_ptr<Partial> MakeHtaTemporal(const ViewOptions& options) {
  return std::make_unique<HtaTemporal>(options);
}

}  // namespace oplens::prof
