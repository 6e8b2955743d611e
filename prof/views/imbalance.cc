#include "prof/views/imbalance.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/price/kernel_facts.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"
#include "prof/views/rank_groups.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

/// One step of one rank.
struct StepLoad {
  int64_t total_ns = 0;
  int64_t compute_ns = 0;
  int64_t expert_ns = 0;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->total_ns, &self->compute_ns, &self->expert_ns);
  }
  void Merge(const StepLoad& other) {
    for (const auto part : {&StepLoad::total_ns, &StepLoad::compute_ns, &StepLoad::expert_ns}) {
      SaturatingAdd(&(this->*part), other.*part);
    }
  }
};

struct RankLoads {
  RankGroups groups;
  std::map<int64_t, StepLoad> steps;          ///< By number, those that are whole.
  std::map<std::string, int64_t> sent_bytes;  ///< By all_to_all, by name of the group.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->groups, &self->steps, &self->sent_bytes);
  }
  bool has_experts() const {
    return std::any_of(steps.begin(), steps.end(),
                       [](const auto& step) { return step.second.expert_ns > 0; });
  }
  void Merge(const RankLoads& other) {
    groups.Merge(other.groups);
    for (const auto& [number, load] : other.steps) steps[number].Merge(load);
    for (const auto& [name, bytes] : other.sent_bytes) {
      SaturatingAdd(&sent_bytes[name], bytes);
    }
  }
};

/// Loads of some members in each step.
class Members {
 public:
  void Add(std::string_view name, int64_t step, int64_t load_ns, int64_t total_ns) {
    Step& own = steps_[step];
    ++own.members;
    own.max_ns = std::max(own.max_ns, load_ns);
    SaturatingAdd(&own.sum_ns, load_ns);
    own.total_ns = std::max(own.total_ns, total_ns);
    int64_t& sum_ns = loads_ns_.try_emplace(std::string(name)).first->second;
    SaturatingAdd(&sum_ns, load_ns);
  }

  struct Sums {
    int64_t steps = 0;
    int64_t max_ns = 0;
    int64_t mean_ns = 0;
    int64_t total_ns = 0;
  };
  Sums Sum() const {
    Sums sums;
    for (const auto& [number, step] : steps_) {
      if (step.members < 2) continue;
      ++sums.steps;
      SaturatingAdd(&sums.max_ns, step.max_ns);
      SaturatingAdd(&sums.mean_ns, step.sum_ns / step.members);
      SaturatingAdd(&sums.total_ns, step.total_ns);
    }
    return sums;
  }
  int64_t size() const { return static_cast<int64_t>(loads_ns_.size()); }
  /// The first of those with the most.
  std::string_view Most() const {
    const auto most =
        std::max_element(loads_ns_.begin(), loads_ns_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == loads_ns_.end() ? std::string_view() : most->first;
  }

 private:
  struct Step {
    int64_t members = 0;
    int64_t max_ns = 0;
    int64_t sum_ns = 0;
    int64_t total_ns = 0;
  };
  std::map<int64_t, Step> steps_;
  std::map<std::string, int64_t, RankBefore> loads_ns_;
};

struct ExpertGroup {
  Members members;
  int64_t ranks = 0;  ///< That sent anything.
  int64_t max_bytes = 0;
  int64_t sum_bytes = 0;
};

class Imbalance : public SavedPartial<Imbalance> {
 public:
  Imbalance() : notes_("imbalance") {}

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->notes_);
  }

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    const auto fields = ImbalanceFields();
    return {fields.begin(), fields.end()};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void EmitStages(Sink* sink) const;
  void EmitExperts(Sink* sink) const;

  std::map<std::string, RankLoads, RankBefore> ranks_;
  ViewNotes notes_;
  // Of the run that is read:
  const Run* run_ = nullptr;
  std::vector<StepLoad> loads_;  // By step.
};

void Imbalance::Begin(const Run* run) {
  notes_.Begin(run);
  if (run == nullptr || run->work().events().empty()) return;
  run_ = run;
  const std::vector<Interval> windows = WindowsOf(run->steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run->device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  loads_.assign(windows.size(), {});
  for (size_t i = 0; i < windows.size(); ++i) {
    loads_[i].total_ns = LengthOf(windows[i]);
    loads_[i].compute_ns = times[i].AnyOf(kComputeBit);
  }
}

void Imbalance::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const auto family = FamilyOf(kernel);
  if (family != ops::KernelFamily::kGroupedGemm && family != ops::KernelFamily::kRouting) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  const size_t step = run_->StepOf(own, kernel.work);
  if (!own.timed() || step == Steps::kNone) return;
  SaturatingAdd(&loads_[step].expert_ns, LengthOf({own.start_ns, own.end_ns}));
}

void Imbalance::End(const Run* /*run*/) {
  if (run_ == nullptr) return;
  RankLoads& rank = ranks_[std::string(run_->rank())];
  rank.groups.Add(run_->trace());
  const auto steps = run_->steps().all();
  for (size_t i = 0; i < loads_.size(); ++i) {
    if (steps[i].complete) rank.steps[steps[i].number].Merge(loads_[i]);
  }
  run_ = nullptr;
}

void Imbalance::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = ranks_.find(*calls.front().rank);
  if (at == ranks_.end()) return;
  at->second.groups.AddCalls(calls);
  for (const CollectiveRow& row : calls) {
    if (row.call.kind != CollectiveKind::kAllToAll || row.call.size_bytes < 0) continue;
    int64_t& bytes = at->second.sent_bytes[row.group->name];
    SaturatingAdd(&bytes, row.call.size_bytes);
  }
}

void Imbalance::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Imbalance&>(other);
  for (const auto& [name, rank] : more.ranks_) ranks_[name].Merge(rank);
  notes_.Merge(more.notes_);
}

/// Of a stage what its mean rank has.
struct StageLoad {
  int64_t ranks = 0;
  StepLoad sums;
};

void EmitImbalanceRow(std::string_view what, std::string_view group, int64_t first_rank,
                      const Members& members, const ExpertGroup* experts, Sink* sink) {
  const Members::Sums sums = members.Sum();
  const int64_t saved_ns = sums.max_ns - sums.mean_ns;
  const auto ratio = [](int64_t of, int64_t over, double times) {
    if (over == 0) return Cell{};
    return Cell{times * static_cast<double>(of) / static_cast<double>(over)};
  };
  const bool sends = experts != nullptr && experts->ranks > 1;
  const Cell cells[] = {Text(what),
                        Text(group),
                        first_rank < 0 ? Cell{} : Integer(first_rank),
                        Integer(members.size()),
                        Text(members.Most()),
                        Integer(sums.steps),
                        Integer(sums.max_ns),
                        Integer(sums.mean_ns),
                        ratio(sums.max_ns, sums.mean_ns, 1),
                        Integer(saved_ns),
                        Integer(sums.total_ns),
                        ratio(saved_ns, sums.total_ns, 100),
                        sends ? Integer(experts->max_bytes) : Cell{},
                        sends ? Integer(experts->sum_bytes / experts->ranks) : Cell{}};
  sink->Row(cells);
}

void Imbalance::EmitStages(Sink* sink) const {
  std::map<int64_t, std::map<int64_t, StageLoad>> stages;  // By stage and step.
  for (const auto& [name, rank] : ranks_) {
    const auto stage = rank.groups.Stage();
    if (!stage) continue;
    for (const auto& [number, load] : rank.steps) {
      StageLoad& own = stages[*stage][number];
      ++own.ranks;
      own.sums.Merge(load);
    }
  }
  if (stages.size() < 2) return;
  Members members;
  for (const auto& [stage, steps] : stages) {
    for (const auto& [number, load] : steps) {
      members.Add(std::to_string(stage), number, load.sums.compute_ns / load.ranks,
                  load.sums.total_ns / load.ranks);
    }
  }
  EmitImbalanceRow("stages", "", -1, members, nullptr, sink);
}

/// The group whose ranks share the experts of a rank; a group of all ranks is one where the rank
/// runs experts and nothing else is known.
std::optional<RankGroups::Found> ExpertsOf(const RankLoads& rank) {
  const auto told = rank.groups.Of(GroupKind::kExpert);
  if (told || !rank.has_experts()) return told;
  return rank.groups.Of(GroupKind::kWorld);
}

void Imbalance::EmitExperts(Sink* sink) const {
  std::map<std::pair<std::string_view, int64_t>, ExpertGroup> groups;  // By name and first rank.
  for (const auto& [name, rank] : ranks_) {
    const auto found = ExpertsOf(rank);
    if (!found) continue;
    ExpertGroup& group = groups[{*found->name, found->group->shape.first}];
    for (const auto& [number, load] : rank.steps) {
      group.members.Add(name, number, load.expert_ns, load.total_ns);
    }
    const auto sent = rank.sent_bytes.find(*found->name);
    if (sent == rank.sent_bytes.end()) continue;
    ++group.ranks;
    group.max_bytes = std::max(group.max_bytes, sent->second);
    SaturatingAdd(&group.sum_bytes, sent->second);
  }
  for (const auto& [key, group] : groups) {
    if (group.members.size() < 2) continue;
    EmitImbalanceRow("experts", key.first, key.second, group.members, &group, sink);
  }
}

void Imbalance::Emit(Sink* sink) const {
  EmitStages(sink);
  EmitExperts(sink);
}

std::vector<std::string> Imbalance::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  const bool any = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) {
    return rank.second.groups.Stage() || ExpertsOf(rank.second);
  });
  if (!ranks_.empty() && !any) {
    notes.emplace_back(
        "imbalance: the profiles tell of no group of stages or of experts: there is nothing to "
        "compare");
  }
  return notes;
}

}  // namespace

std::unique_ptr<Partial> MakeImbalance(const ViewOptions& /*options*/) {
  return std::make_unique<Imbalance>();
}

}  // namespace oplens::prof
