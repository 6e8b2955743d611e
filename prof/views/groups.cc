#include "prof/views/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <utility>

#include "prof/views/copy_row.h"
#include "prof/views/group_details.h"
#include "prof/views/hta_kernels.h"
#include "prof/views/summary.h"
#include "prof/views/tb_kernels.h"

namespace oplens::prof {
namespace {

/// The fields of --by with those of the details behind them.
SummaryPlan PlanOf(const ViewOptions& options) {
  return PlanSummary(options.by.empty() ? "kernel" : fmt::format("{}", fmt::join(options.by, ",")));
}

std::vector<Field> WithDetails(std::vector<Field> fields) {
  const std::vector<Field> details = GroupDetailFields();
  fields.insert(fields.end(), details.begin(), details.end());
  return fields;
}

class Groups : public Partial, private Summary::Details {
 public:
  explicit Groups(const ViewOptions& options)
      : plan_(PlanOf(options)),
        fields_(WithDetails(plan_.fields)),
        order_(ParseOrder(options.sort.empty() ? "total" : options.sort, fields_)),
        top_(options.top),
        copies_(options.copies),
        summary_(&plan_) {
    summary_.ShowOnly(options.where);
  }

  void Begin(const Run* run) override {
    run_ = run;
    gaps_.reset();
    if (run != nullptr) gaps_.emplace(*run);
  }

  void Add(const PricedKernel& kernel) override {
    summary_.Add(kernel);
    std::optional<int64_t> gap_ns;
    if (run_ != nullptr && kernel.record->timed()) gap_ns = GapBefore(kernel);
    details_of(summary_.last_group()).Add(DetailsOf(kernel, run_, gap_ns));
  }

  void AddReplay(const PricedKernel& replay) override { summary_.AddReplay(replay); }

  void End(const Run* run) override {
    if (copies_ && run != nullptr) AddCopies(*run);
    summary_.FindSteps();
    run_ = nullptr;
    gaps_.reset();
  }

  void Merge(const Partial& other) override {
    const auto& more = static_cast<const Groups&>(other);
    const std::vector<uint32_t> numbers = summary_.Merge(more.summary_);
    for (size_t i = 0; i < more.details_.size(); ++i) details_of(numbers[i]).Add(more.details_[i]);
    other_.Add(more.other_);
  }

  std::vector<Field> Fields() const override { return fields_; }
  void Emit(Sink* sink) const override { summary_.Write(order_, top_, sink, this); }

  std::vector<std::string> Notes() const override { return summary_.Notes(); }

 private:
  GroupDetails& details_of(uint32_t group) {
    if (group == Summary::kOther) return other_;
    if (group >= details_.size()) details_.resize(group + 1);
    return details_[group];
  }

  std::optional<int64_t> GapBefore(const PricedKernel& kernel) {
    const Kernel& executed = run_->trace().kernels[kernel.work];
    const WorkClass work =
        run_->work().IsCommunication(kernel.work) ? WorkClass::kCommunication : WorkClass::kCompute;
    return gaps_->Before({executed.start_ns, executed.end_ns, kernel.work, executed.device_id,
                          executed.stream_id, work});
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
      if (copy.size_bytes >= 0) work.share.bytes = copy.size_bytes;
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
  mutable Summary summary_;
  std::vector<GroupDetails> details_;  // By group.
  GroupDetails other_;                 // Of Summary::kOther.
  const Run* run_ = nullptr;           // Between Begin and End.
  std::optional<StreamGaps> gaps_;
};

}  // namespace

std::unique_ptr<Partial> MakeGroups(const ViewOptions& options) {
  if (options.compat == Compat::kTensorBoard) {
    ViewOptions of_plugin = options;
    if (of_plugin.by.empty()) of_plugin.by = {"kernel"};
    return MakeTbKernels(of_plugin);
  }
  if (options.compat == Compat::kHta) return MakeHtaKernels(options);
  return std::make_unique<Groups>(options);
}

std::span<const Field> GroupsFields() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> figures = FigureFields();
    std::erase_if(figures, [](const Field& field) { return field.on_request; });
    return WithDetails(std::move(figures));
  }();
  return fields;
}

}  // namespace oplens::prof
