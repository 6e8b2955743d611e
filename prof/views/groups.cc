#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/copy_row.h"
#include "prof/views/group_details.h"
#include "prof/views/summary.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

SummaryPlan PlanOf(const ViewOptions& options) {
  const std::string by =
      options.by.empty() ? "kernel" : fmt::format("{}", fmt::join(options.by, ","));
  return options.plain && options.copies ? PlanCopySummary(by) : PlanSummary(by);
}

std::vector<Field> WithDetails(std::vector<Field> fields) {
  const std::vector<Field> details = GroupDetailFields();
  fields.insert(fields.end(), details.begin(), details.end());
  return fields;
}

/// What several partials ask of each kernel, found by the first of them.
struct GroupInput {
  explicit GroupInput(size_t partials) : repetition(std::make_shared<RepetitionFinder>(partials)) {}

  const Run* run = nullptr;  ///< Between Begin and End.
  std::optional<StreamGaps> gaps;
  KernelGroupDetails kernel;  ///< Of the kernel at hand.
  std::shared_ptr<RepetitionFinder> repetition;

  void Begin(const Run* of) {
    run = of;
    gaps.reset();
    if (run != nullptr) gaps.emplace(*run);
  }

  void Look(const PricedKernel& next) {
    std::optional<int64_t> gap_ns;
    if (run != nullptr && next.record->timed()) gap_ns = GapBefore(next);
    kernel = DetailsOf(next, run, gap_ns);
  }

 private:
  std::optional<int64_t> GapBefore(const PricedKernel& next) {
    const Kernel& executed = run->trace().kernels[next.work];
    const WorkClass work =
        run->work().IsCommunication(next.work) ? WorkClass::kCommunication : WorkClass::kCompute;
    return gaps->Before({executed.start_ns, executed.end_ns, next.work, executed.device_id,
                         executed.stream_id, work});
  }
};

class Groups : public Partial, private Summary::Details {
 public:
  /// `place`: among those who share `input`, which take kernels in that order.
  Groups(const ViewOptions& options, std::shared_ptr<GroupInput> input, size_t place)
      : plan_(PlanOf(options)),
        fields_(options.plain ? plan_.fields : WithDetails(plan_.fields)),
        order_(ParseOrder(options.sort.empty() ? "total" : options.sort, fields_)),
        top_(options.top),
        copies_(options.copies),
        plain_(options.plain),
        summary_(&plan_),
        input_(std::move(input)),
        first_(place == 0) {
    summary_.ShowOnly(options.where);
    summary_.ShareRepetition(input_->repetition, place);
  }

  void Begin(const Run* run) override {
    if (first_) input_->Begin(run);
  }

  void Add(const PricedKernel& kernel) override {
    if (plain_) return summary_.Add(kernel);
    if (first_) input_->Look(kernel);
    summary_.Add(kernel);
    details_of(summary_.last_group()).Add(input_->kernel);
  }

  void AddReplay(const PricedKernel& replay) override { summary_.AddReplay(replay); }

  void AddCopy(const CopyRow& copy) override { summary_.AddCopy(copy); }

  void End(const Run* run) override {
    if (copies_ && run != nullptr) AddCopies(*run);
    summary_.FindSteps();
    if (first_) input_->Begin(nullptr);
  }

  void Merge(const Partial& other) override {
    const auto& more = static_cast<const Groups&>(other);
    const std::vector<uint32_t> numbers = summary_.Merge(more.summary_);
    for (size_t i = 0; i < more.details_.size(); ++i) details_of(numbers[i]).Add(more.details_[i]);
    other_.Add(more.other_);
  }

  std::vector<Field> Fields() const override { return fields_; }
  void Emit(Sink* sink) const override {
    summary_.Write(order_, top_, sink, plain_ ? nullptr : this);
  }

  std::vector<std::string> Notes() const override { return summary_.Notes(); }

  void Save(ByteWriter* bytes) const override {
    summary_.Save(bytes);
    bytes->Values(&details_, &other_);
  }
  void Load(ByteReader* bytes) override {
    const std::vector<uint32_t> numbers = summary_.Load(bytes);
    std::vector<GroupDetails> details;
    bytes->Values(&details);
    bytes->Check(details.size() <= numbers.size(), "there are more details than groups");
    for (size_t i = 0; i < details.size(); ++i) details_of(numbers[i]).Add(details[i]);
    GroupDetails other;
    bytes->Values(&other);
    other_.Add(other);
  }

 private:
  GroupDetails& details_of(uint32_t group) {
    if (group == Summary::kOther) return other_;
    if (group >= details_.size()) details_.resize(group + 1);
    return details_[group];
  }

  /// A copy or fill as a kernel without a name of its own: "Memcpy HtoD", "Memset".
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
      // Of an impossible rate it is as likely the size that is wrong as the time.
      if (copy.size_bytes >= 0 && copy.has_possible_rate()) work.share.bytes = copy.size_bytes;
      summary_.AddWork(work);
      details_of(summary_.last_group()).Add(DetailsOf(work, nullptr, std::nullopt));
    }
  }

  void Append(std::span<const uint32_t> groups, std::vector<Cell>* cells) const override {
    GroupDetails sum;
    for (const uint32_t group : groups) {
      if (group != Summary::kOther && group >= details_.size()) continue;
      sum.Add(group == Summary::kOther ? other_ : details_[group]);
    }
    AppendDetails(sum, cells);
  }

  SummaryPlan plan_;
  std::vector<Field> fields_;
  RowOrder order_;
  size_t top_;
  bool copies_;
  bool plain_;
  mutable Summary summary_;
  std::vector<GroupDetails> details_;  // By group.
  GroupDetails other_;                 // Of Summary::kOther.
  std::shared_ptr<GroupInput> input_;
  bool first_;
};

std::vector<std::unique_ptr<Partial>> MakeGroupsTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto input = std::make_shared<GroupInput>(std::max(options.size(), size_t{1}));
  size_t place = 0;
  for (const ViewOptions& one : options) {
    partials.push_back(std::make_unique<Groups>(one, input, place++));
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

constexpr View kGroupsView = {.name = "groups",
                              .help = "kernels that are alike in the keys of --by",
                              .fields = GroupsFields,
                              .make = MakeAlone<MakeGroupsTogether>,
                              .make_together = MakeGroupsTogether,
                              .by = kGroupKeys,
                              .narrow = kNarrowFigures,
                              .sorts = true,
                              .saved_form = 1,
                              .groups_kernels = true};

}  // namespace oplens::prof
