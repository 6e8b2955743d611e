#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/chunked.h"
#include "base/free_memory.h"
#include "base/sums.h"
#include "parse/model/kernel_record.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/common/bounded_groups.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/repetition.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/kernels/kind_key.h"
#include "prof/views/kernels/summary.h"
#include "prof/views/streams/gpu_launch.h"

namespace oplens::prof {
namespace {

using enum FieldType;

struct KernelGroupDetails {
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> delay_ns;
  std::optional<int64_t> gap_ns;
  std::optional<double> blocks;     ///< Per multiprocessor.
  std::optional<double> occupancy;  ///< Percent.
};

/// Figures of a group besides those of --by. Sums are integers.
struct GroupDetails {
  Count calls;
  Histogram durations;
  // Sums of value x duration in thousandths over the kernels of known value, and their time.
  Checked blocks;
  Checked occupancy;
  Sum blocks_ns;
  Sum occupancy_ns;
  Checked delay_ns;
  Checked gap_ns;
  Count with_delay;
  Count with_gap;

  void Add(const KernelGroupDetails& kernel);
};

constexpr double kThousandths = 1000;

std::optional<double> GroupDetailsRatio(Checked sum, int64_t count, double unit) {
  const auto whole = sum.Approximate();
  if (!whole || count == 0) return std::nullopt;
  return *whole / static_cast<double>(count) / unit;
}

constexpr Column<GroupDetails> kDetails[] = {
    {{"calls", "Calls", "", kInteger, 6, "number of executions, as count", Fold::kSum},
     [](const GroupDetails& of) { return CellOf(of.calls); }},
    {{"blocks_per_sm", "Blocks/SM", "", kDecimal, 9,
      "mean of grid blocks / multiprocessors, weighted by time, over the kernels for which it is "
      "known"},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.blocks, of.blocks_ns, kThousandths));
     }},
    {{"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", kDecimal, 8,
      "mean estimated achieved occupancy, weighted by time, over the kernels for which it is "
      "known"},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.occupancy, of.occupancy_ns, kThousandths));
     }},
    {{"p50_ns", "P50(ns)", "ns", kInteger, 9,
      "median duration: nearest rank, from a histogram, at most 1.6 % off", Fold::kQuantiles},
     [](const GroupDetails& of) { return CellOf(of.durations, 50); }},
    {{"p95_ns", "P95(ns)", "ns", kInteger, 9,
      "95th percentile of the duration: nearest rank, from a histogram, at most 1.6 % off",
      Fold::kQuantiles},
     [](const GroupDetails& of) { return CellOf(of.durations, 95); }},
    {{"launch_delay_ns", "Delay(ns)", "ns", kDecimal, 10,
      "mean of start - end of the launch call, at least 0, over the kernels for which both are "
      "known",
      Fold::kMean},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.delay_ns, of.with_delay, 1));
     }},
    {{"gap_ns", "Gap(ns)", "ns", kDecimal, 10,
      "mean of start - end of the previous work on the stream, at least 0", Fold::kMean},
     [](const GroupDetails& of) { return Decimal(GroupDetailsRatio(of.gap_ns, of.with_gap, 1)); }},
};

/// Of two clocks that may differ; nullopt on overflow.
std::optional<int64_t> DistanceNs(int64_t from_ns, int64_t to_ns) {
  int64_t distance_ns = 0;
  if (__builtin_sub_overflow(to_ns, from_ns, &distance_ns)) return std::nullopt;
  return std::max<int64_t>(distance_ns, 0);
}

/// Adds value x duration in thousandths.
void AddWeighted(const std::optional<double>& value, int64_t duration_ns, Checked* sum,
                 Sum* time_ns) {
  if (!value || !(std::abs(*value) < 1e12)) return;
  *sum += Checked(std::llround(*value * kThousandths)) * Checked(duration_ns);
  *time_ns += duration_ns;
}

void GroupDetails::Add(const KernelGroupDetails& kernel) {
  ++calls;
  if (!kernel.duration_ns) return;
  durations.Add(*kernel.duration_ns);
  if (kernel.delay_ns) {
    delay_ns += *kernel.delay_ns;
    ++with_delay;
  }
  if (kernel.gap_ns) {
    gap_ns += *kernel.gap_ns;
    ++with_gap;
  }
  AddWeighted(kernel.blocks, *kernel.duration_ns, &blocks, &blocks_ns);
  AddWeighted(kernel.occupancy, *kernel.duration_ns, &occupancy, &occupancy_ns);
}

/// Idle time of each stream before a kernel. Precondition: queries come in order of start.
class StreamGaps {
 public:
  /// `run` must outlive this object.
  explicit StreamGaps(const Run& run) : run_(run) {}

  /// From the end of the stream's previous work to the event's start, 0 if they overlap; nullopt
  /// for the first event of a stream, or an event without time.
  std::optional<int64_t> Before(const DeviceEvent& event);

 private:
  struct Stream {
    int32_t device_id;
    int32_t stream_id;
    int64_t end_ns;
  };

  const Run& run_;
  size_t next_ = 0;  // Index in the run's events.
  std::vector<Stream> streams_;
};

std::optional<int64_t> StreamGaps::Before(const DeviceEvent& asked) {
  const auto events = run_.work().events();
  for (; next_ < events.size() && events[next_].start_ns <= asked.start_ns; ++next_) {
    const DeviceEvent& event = events[next_];
    auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& known) {
      return known.stream_id == event.stream_id && known.device_id == event.device_id;
    });
    const bool first = stream == streams_.end();
    const int64_t before_ns = first ? 0 : stream->end_ns;
    if (first) {
      streams_.push_back({event.device_id, event.stream_id, event.end_ns});
    } else {
      stream->end_ns = std::max(stream->end_ns, event.end_ns);
    }
    if (event.index != asked.index || event.work != asked.work) continue;
    ++next_;
    return first ? std::nullopt : DistanceNs(before_ns, event.start_ns);
  }
  return std::nullopt;
}

/// `gap_ns`: from StreamGaps. `run`: null if only the record is known.
KernelGroupDetails DetailsOf(const PricedKernel& kernel, const Run* run,
                             std::optional<int64_t> gap_ns) {
  const KernelRecord& record = *kernel.record;
  KernelGroupDetails details;
  if (!record.timed()) return details;
  details.duration_ns = record.duration_ns;
  details.delay_ns = LaunchDelayNs(record);
  details.gap_ns = gap_ns;
  if (run == nullptr || kernel.work == PricedKernel::kNoWork) return details;
  const Trace& trace = run->trace();
  const Kernel& executed = trace.kernels[kernel.work];
  details.blocks = BlocksPerSm(trace, executed, kernel.gpu);
  details.occupancy = AchievedOccupancyPct(trace, executed, kernel.gpu);
  return details;
}

/// The fields of --by, then those of the details.
SummaryPlan PlanOf(const ViewOptions& options) {
  const std::string by =
      options.by.empty() ? "kernel" : fmt::format("{}", fmt::join(options.by, ","));
  return options.plain && options.copies ? PlanCopySummary(by) : PlanSummary(by);
}

std::vector<Field> WithDetails(std::vector<Field> fields) {
  fields.insert(fields.end(), std::begin(kDetails), std::end(kDetails));
  return fields;
}

/// The sums of the kernels of a kind, which equal each other in all columns that are keys of
/// several partials: such kernels are in the same group of each.
struct KindSums {
  GroupSums sums;
  GroupDetails details;
  uint32_t repeats = RepetitionFinder::kNone;  ///< Its number there.
};

/// What several partials need of each kernel, found by the first of them.
struct GroupInput {
  explicit GroupInput(size_t partials)
      : repetition(std::make_shared<RepetitionFinder>(partials)),
        has_kinds(partials >= kFewPartials) {}

  const Run* run = nullptr;  ///< Between Begin and End.
  std::optional<StreamGaps> gaps;
  KernelGroupDetails kernel;  ///< Of the current kernel.
  std::shared_ptr<RepetitionFinder> repetition;

  static constexpr GroupLimits kKindLimits = {size_t{1} << 15, size_t{32} << 20};
  static constexpr uint32_t kNoKind = BoundedGroups<KindSums>::kOther;
  uint32_t kind = kNoKind;  ///< Of the current kernel; kNoKind: each partial sums it.
  bool kind_is_new = false;
  KindKey kind_key;
  BoundedGroups<KindSums> kinds{kKindLimits};

  void Begin(const Run* of) {
    run = of;
    gaps.reset();
    if (run != nullptr) gaps.emplace(*run);
  }

  void DropKinds() {
    kinds = BoundedGroups<KindSums>(kKindLimits);
    kind = kNoKind;
  }

  void Look(const PricedKernel& next) {
    std::optional<int64_t> gap_ns;
    if (run != nullptr && next.record->timed()) gap_ns = GapBefore(next);
    kernel = DetailsOf(next, run, gap_ns);
    if (has_kinds) LookForKind(next);
  }

 private:
  /// Below this many partials, kinds save nothing.
  static constexpr size_t kFewPartials = 4;

  void LookForKind(const PricedKernel& next) {
    const size_t before = kinds.size();
    kind = kinds.NumberOf(kind_key.Of(next));
    kind_is_new = kinds.size() > before;
    if (kind == kNoKind) return;
    kinds[kind].sums.Add(next);
    kinds[kind].details.Add(kernel);
  }

  std::optional<int64_t> GapBefore(const PricedKernel& next) {
    const Kernel& executed = run->trace().kernels[next.work];
    const WorkClass work =
        run->work().IsCommunication(next.work) ? WorkClass::kCommunication : WorkClass::kCompute;
    return gaps->Before({executed.start_ns, executed.end_ns, next.work, executed.device_id,
                         executed.stream_id, work});
  }

  bool has_kinds;
};

class Groups : public Partial, private Summary::Details {
 public:
  /// `place`: among those that share `input`, in the order in which they take kernels.
  Groups(const ViewOptions& options, std::shared_ptr<GroupInput> input, size_t place)
      : plan_(PlanOf(options)),
        fields_(options.plain ? plan_.fields : WithDetails(plan_.fields)),
        order_(ParseOrder(options.sort.empty() ? "total" : options.sort, fields_)),
        top_(options.top),
        copies_(options.copies),
        plain_(options.plain),
        summary_(&plan_),
        input_(std::move(input)),
        first_(place == 0),
        of_steps_(static_cast<size_t>(std::ranges::count_if(
            plan_.keys,
            [](const Column<PricedKernel>* key) { return KindKey::IsOfSteps(*key); }))) {
    summary_.ShowOnly(options.where);
    // Otherwise kinds refer to groups.
    if (of_steps_ > 0) {
      most_rows_ = options.most_rows;
      summary_.KeepAtMost(most_rows_);
    }
    summary_.ShareRepetition(input_->repetition, place);
    input_->kind_key.TellApartBy(plan_.keys);
  }
  /// Precondition: all that share the input are made, and this is the last of them.
  void SetLast() { last_ = true; }

  void Begin(const Run* run) override {
    if (first_) input_->Begin(run);
  }

  void Add(const PricedKernel& kernel) override {
    if (plain_) return summary_.Add(kernel);
    if (first_) input_->Look(kernel);
    const uint32_t kind = input_->kind;
    const bool of_kind = kind != GroupInput::kNoKind;
    if (of_kind && of_steps_ == 0) {
      if (input_->kind_is_new) of_kind_.push_back(summary_.GroupOf(kernel));
    } else {
      if (of_kind && of_steps_ == 1 && summary_.ByStep()) {
        if (input_->kind_is_new) of_kind_.push_back(summary_.StemOf(kernel));
        summary_.AddWorkOf(of_kind_[kind], kernel);
      } else {
        summary_.AddWork(kernel);
      }
      details_of(summary_.last_group()).Add(input_->kernel);
      Cut();
    }
    if (!of_kind) {
      summary_.Follow(kernel);
    } else if (input_->kind_is_new) {
      const uint32_t repeats = summary_.Follow(kernel);
      if (last_) input_->kinds[kind].repeats = repeats;
    } else {
      summary_.FollowAlike(kernel, input_->kinds[kind].repeats, last_);
    }
  }

  void AddReplay(const PricedKernel& replay) override { summary_.AddReplay(replay); }

  void AddCopy(const CopyRow& copy) override { summary_.AddCopy(copy); }

  void End(const Run* run) override {
    TakeKinds();
    if (copies_ && run != nullptr) AddCopies(*run);
    summary_.FindSteps();
    if (first_) input_->Begin(nullptr);
    if (last_) input_->DropKinds();
  }

  void Merge(const Partial& other) override {
    const auto& more = static_cast<const Groups&>(other);
    const std::vector<uint32_t> numbers = summary_.Merge(more.summary_);
    for (size_t i = 0; i < more.details_.size(); ++i) {
      MergeInto(&details_of(numbers[i]), more.details_[i]);
    }
    MergeInto(&other_, more.other_);
    Cut();
  }

  std::vector<Field> Fields() const override { return fields_; }
  void Emit(Sink* sink) const override {
    if (summary_.cut()) {
      const std::vector<Cell> nothing(fields_.size());
      for (size_t i = 0; i <= most_rows_; ++i) sink->Row(nothing);
      return;
    }
    summary_.Write(order_, top_, sink, plain_ ? nullptr : this);
  }

  std::vector<std::string> Notes() const override { return summary_.Notes(); }

  void Save(ByteWriter* bytes) const override {
    summary_.Save(bytes);
    bytes->Number(details_.size());
    for (const GroupDetails& details : details_) bytes->Values(&details);
    bytes->Values(&other_);
  }
  void Load(ByteReader* bytes) override {
    const std::vector<uint32_t> numbers = summary_.Load(bytes);
    std::vector<GroupDetails> details;
    bytes->Values(&details);
    bytes->Check(details.size() <= numbers.size(), "there are more details than groups");
    for (size_t i = 0; i < details.size(); ++i) MergeInto(&details_of(numbers[i]), details[i]);
    GroupDetails other;
    bytes->Values(&other);
    MergeInto(&other_, other);
  }

 private:
  GroupDetails& details_of(uint32_t group) {
    if (group == Summary::kOther) return other_;
    while (group >= details_.size()) details_.push_back({});
    return details_[group];
  }

  /// Forgets the groups if there are too many.
  void Cut() {
    if (summary_.cut() && !details_.empty()) details_ = {};
  }

  void TakeKinds() {
    for (size_t kind = 0; kind < of_kind_.size() && of_steps_ == 0; ++kind) {
      const KindSums& found = input_->kinds.all()[kind].sums;
      summary_.AddSums(of_kind_[kind], found.sums);
      MergeInto(&details_of(of_kind_[kind]), found.details);
    }
    FreeMemory(&of_kind_);
  }

  /// Adds copies and memsets as kernels: "Memcpy HtoD", "Memset".
  void AddCopies(const Run& run) {
    for (const CopyRow& copy : CopiesOf(run.trace())) {
      const DeviceEvent event = {copy.start_ns,  copy.start_ns,
                                 copy.place,     copy.device_id,
                                 copy.stream_id, copy.fill ? WorkClass::kFill : WorkClass::kCopy};
      if (!run.Selects(event)) continue;
      const std::string name = copy.fill ? "Memset" : fmt::format("Memcpy {}", copy.kind);
      KernelRecord record;
      record.short_name = name;
      record.long_name = name;
      record.duration_ns = copy.duration_ns.value_or(0);
      if (!copy.duration_ns) record.reasons.Add(Reason::kBadTimes);
      record.device_id = copy.device_id;
      record.stream_id = copy.stream_id;
      const size_t step = run.steps().OfEvent(event);
      if (step != Steps::kNone) record.step = run.steps().all()[step].number;
      if (!copy.rank.empty()) record.rank = copy.rank;
      PricedKernel work;
      work.record = &record;
      // If the rate is impossible, the size may be as wrong as the time.
      if (copy.size_bytes >= 0 && copy.has_possible_rate()) work.share.bytes = copy.size_bytes;
      summary_.AddWork(work);
      details_of(summary_.last_group()).Add(DetailsOf(work, nullptr, std::nullopt));
    }
  }

  void Append(std::span<const uint32_t> groups, std::vector<Cell>* cells) const override {
    GroupDetails sum;
    for (const uint32_t group : groups) {
      if (group != Summary::kOther && group >= details_.size()) continue;
      MergeInto(&sum, group == Summary::kOther ? other_ : details_[group]);
    }
    for (const Column<GroupDetails>& detail : kDetails) cells->push_back(detail.get(sum));
  }

  SummaryPlan plan_;
  std::vector<Field> fields_;
  RowOrder order_;
  size_t top_;
  size_t most_rows_ = SIZE_MAX;  // As ViewOptions::most_rows.
  bool copies_;
  bool plain_;
  mutable Summary summary_;
  Chunked<GroupDetails> details_;  // By group.
  GroupDetails other_;             // For Summary::kOther.
  std::shared_ptr<GroupInput> input_;
  bool first_;
  size_t of_steps_;  // Keys that KindKey leaves out: with any, kinds do not tell groups.
  std::vector<uint32_t> of_kind_;  // By kind: its group; if `step` is the only such key, its stem.
  bool last_ = false;
};

std::vector<std::unique_ptr<Partial>> MakeGroupsTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto input = std::make_shared<GroupInput>(std::max(options.size(), size_t{1}));
  size_t place = 0;
  for (const ViewOptions& one : options) {
    auto groups = std::make_unique<Groups>(one, input, place++);
    if (place == options.size()) groups->SetLast();
    partials.push_back(std::move(groups));
  }
  return partials;
}

std::span<const Field> GroupsFields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> figures = FigureFields();
    std::erase_if(figures, [](const Field& field) { return field.on_request; });
    return WithDetails(std::move(figures));
  }();
  return fields;
}

}  // namespace

extern constexpr View kGroupsView = {.name = "groups",
                                     .help = "kernels grouped by the keys of --by",
                                     .fields = GroupsFields,
                                     .make = MakeAlone<MakeGroupsTogether>,
                                     .make_together = MakeGroupsTogether,
                                     .by = kGroupKeys,
                                     .narrow = kNarrowFigures,
                                     .sorts = true,
                                     .saved_form = 2,
                                     .groups_kernels = true};

}  // namespace oplens::prof
