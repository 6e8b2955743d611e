#include "prof/views/ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ratio.h"
#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/collective_notes.h"
#include "prof/views/host_mark.h"
#include "prof/views/rank_groups.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

/// Sums over steps.
struct StepSums {
  int64_t steps = 0;
  int64_t total_ns = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t calls = 0;
  int64_t matched = 0;  ///< Calls whose waiting is known.
  int64_t wait_ns = 0;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->steps, &self->calls, &self->matched);
    bytes->Sums(&self->total_ns, &self->busy_ns, &self->compute_ns, &self->communication_ns,
                &self->wait_ns);
  }
  void Merge(const StepSums& other) {
    for (const auto part :
         {&StepSums::steps, &StepSums::total_ns, &StepSums::busy_ns, &StepSums::compute_ns,
          &StepSums::communication_ns, &StepSums::calls, &StepSums::matched, &StepSums::wait_ns}) {
      SaturatingAdd(&(this->*part), other.*part);
    }
  }
  void AddCall(int64_t waited_ns) {
    ++calls;
    if (waited_ns < 0) return;
    ++matched;
    SaturatingAdd(&wait_ns, waited_ns);
  }
};

/// What one rank did.
struct RankSums {
  StepSums whole;
  StepSums all;
  int64_t kernels = 0;
  int64_t kernel_ns = 0;
  std::optional<int64_t> peak_bytes;
  std::set<std::string> nodes;
  RankGroups groups;
  /// Calls of whole groups, by GroupIdentity and name.
  std::map<std::pair<std::string, std::string>, int64_t> group_calls;
  /// Steps that are not whole, by the first event of their profile and their number.
  std::set<std::pair<int64_t, int64_t>> cut;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->whole, &self->all);
    bytes->Counts(&self->kernels);
    bytes->Sums(&self->kernel_ns);
    bytes->Values(&self->peak_bytes, &self->nodes, &self->groups, &self->group_calls, &self->cut);
  }
  void Merge(const RankSums& other) {
    whole.Merge(other.whole);
    all.Merge(other.all);
    SaturatingAdd(&kernels, other.kernels);
    SaturatingAdd(&kernel_ns, other.kernel_ns);
    peak_bytes = std::max(peak_bytes, other.peak_bytes);
    nodes.insert(other.nodes.begin(), other.nodes.end());
    groups.Merge(other.groups);
    for (const auto& [group, count] : other.group_calls) {
      SaturatingAdd(&group_calls[group], count);
    }
    cut.insert(other.cut.begin(), other.cut.end());
  }
  const StepSums& shown() const { return whole.steps > 0 ? whole : all; }
};

class Ranks : public SavedPartial<Ranks> {
 public:
  Ranks() : notes_("ranks") {}

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->call_notes_, &self->notes_);
  }

  void Begin(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    const auto fields = RanksFields();
    return {fields.begin(), fields.end()};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void NoteMissing(std::vector<std::string>* notes) const;

  std::map<std::string, RankSums, RankBefore> ranks_;
  CollectiveNotes call_notes_;
  ViewNotes notes_;
};

void AddRanksSteps(const Run& run, RankSums* rank) {
  const auto steps = run.steps().all();
  const std::vector<Interval> windows = WindowsOf(run.steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run.device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  for (size_t i = 0; i < steps.size(); ++i) {
    StepSums sums;
    sums.steps = 1;
    sums.total_ns = LengthOf(windows[i]);
    sums.busy_ns = times[i].AnyOf(kComputeBit | kCommunicationBit | kMemoryBit);
    sums.compute_ns = times[i].AnyOf(kComputeBit);
    sums.communication_ns =
        times[i].AnyOf(kCommunicationBit) - times[i].AllOf(kComputeBit | kCommunicationBit);
    rank->all.Merge(sums);
    if (steps[i].complete) {
      rank->whole.Merge(sums);
    } else {
      rank->cut.insert({run.origin_ns(), steps[i].number});
    }
  }
}

std::optional<int64_t> PeakOf(const Run& run) {
  std::optional<int64_t> peak_bytes;
  if (run.trace().memory_events.empty()) return peak_bytes;
  for (const MemoryLife::Pool& pool : run.memory().pools()) {
    if (pool.source != MemorySource::kFramework || pool.device_id < 0) continue;
    if (!run.SelectsDevice(pool.device_id)) continue;
    const int64_t place = run.memory().PeakOf(pool, run.windows());
    if (place == MemoryLife::kNowhere) continue;
    peak_bytes = std::max(peak_bytes, {run.memory().AllocatedBehind(pool, place)});
  }
  return peak_bytes;
}

void Ranks::Begin(const Run* run) {
  notes_.Begin(run);
  if (run == nullptr || run->work().events().empty()) return;
  RankSums& rank = ranks_[std::string(run->rank())];
  RankSums found;
  AddRanksSteps(*run, &found);
  for (const DeviceEvent& event : run->work().events()) {
    if (!event.IsKernel()) continue;
    ++found.kernels;
    SaturatingAdd(&found.kernel_ns, event.duration_ns());
  }
  found.peak_bytes = PeakOf(*run);
  const int64_t node = run->trace().node;
  const std::string& host = run->trace().host;
  if (node >= 0) {
    found.nodes.insert(std::to_string(node));
  } else if (!host.empty()) {
    found.nodes.insert(MarkedHost(host));
  }
  found.groups.Add(run->trace());
  rank.Merge(found);
}

void Ranks::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = ranks_.find(*calls.front().rank);
  if (at == ranks_.end()) return;
  call_notes_.Add(calls);
  RankSums& rank = at->second;
  rank.groups.AddCalls(calls);
  std::map<const CollectiveGroup*, int64_t> group_calls;
  for (const CollectiveRow& row : calls) {
    if (!IsPointToPoint(row.call.kind)) ++group_calls[row.group];
    const auto step = row.step();
    if (!step) continue;
    rank.all.AddCall(row.wait_ns());
    if (!rank.cut.contains({row.recording->origin_ns, *step})) rank.whole.AddCall(row.wait_ns());
  }
  for (const auto& [group, count] : group_calls) {
    int64_t& own = rank.group_calls[{GroupIdentity(*group), group->name}];
    SaturatingAdd(&own, count);
  }
}

void Ranks::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Ranks&>(other);
  for (const auto& [name, rank] : more.ranks_) ranks_[name].Merge(rank);
  call_notes_.Merge(more.call_notes_);
  notes_.Merge(more.notes_);
}

/// The count that half of the ranks reach.
int64_t RanksMedianOf(const std::vector<std::pair<std::string_view, int64_t>>& counts) {
  std::vector<int64_t> sorted;
  for (const auto& [name, count] : counts) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

/// Hosts by number in the order in which ranks have them.
class HostNumbers {
 public:
  std::string NodesOf(const std::set<std::string>& nodes) {
    std::set<std::string, RankBefore> shown;
    for (const std::string& node : nodes) shown.insert(NodeOf(node));
    return fmt::format("{}", fmt::join(shown, ", "));
  }

 private:
  std::string NodeOf(const std::string& node) {
    if (!IsMarkedHost(node)) return node;
    return fmt::format("h{}", numbers_.try_emplace(node, numbers_.size()).first->second);
  }

  std::map<std::string, size_t> numbers_;
};

void Ranks::Emit(Sink* sink) const {
  const auto share = [](int64_t part, int64_t whole) { return Decimal(Percent(part, whole)); };
  HostNumbers hosts;
  for (const auto& [name, rank] : ranks_) {
    const StepSums& sums = rank.shown();
    const std::string node = hosts.NodesOf(rank.nodes);
    const std::string place = rank.groups.Place();
    const Cell cells[] = {Text(name),
                          Text(node),
                          Integer(rank.groups.Stage()),
                          Text(place),
                          Text(rank.groups.PlaceSource()),
                          Integer(sums.steps),
                          sums.steps == 0 ? Cell{}
                                          : Cell{static_cast<double>(sums.total_ns) /
                                                 static_cast<double>(sums.steps)},
                          Integer(sums.total_ns),
                          Integer(sums.busy_ns),
                          Integer(sums.compute_ns),
                          Integer(sums.communication_ns),
                          share(sums.busy_ns, sums.total_ns),
                          share(sums.communication_ns, sums.total_ns),
                          Integer(sums.calls),
                          sums.matched > 0 || sums.calls == 0 ? Integer(sums.wait_ns) : Cell{},
                          Integer(rank.peak_bytes),
                          Integer(rank.kernels),
                          Integer(rank.kernel_ns)};
    sink->Row(cells);
  }
}

/// Ranks that have fewer calls of a group than most of its ranks.
void Ranks::NoteMissing(std::vector<std::string>* notes) const {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::string_view, int64_t>>>
      groups;
  for (const auto& [name, rank] : ranks_) {
    for (const auto& [group, count] : rank.group_calls) groups[group].emplace_back(name, count);
  }
  constexpr size_t kMost = 20;
  size_t left_out = 0;
  for (const auto& [group, ranks] : groups) {
    const int64_t usual = RanksMedianOf(ranks);
    for (const auto& [name, count] : ranks) {
      if (count >= usual) continue;
      if (notes->size() >= kMost) {
        ++left_out;
        continue;
      }
      notes->push_back(fmt::format(
          "ranks: rank {} lacks {} calls of collectives that others {}have", name, usual - count,
          group.second.empty() ? "" : fmt::format("of the group {} ", group.second)));
    }
  }
  if (left_out > 0) notes->push_back(fmt::format("ranks: {} more lack calls", left_out));
}

std::vector<std::string> Ranks::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  NoteMissing(&notes);
  for (std::string& note : call_notes_.Sentences("ranks", ranks_.size())) {
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace

std::unique_ptr<Partial> MakeRanks(const ViewOptions& /*options*/) {
  return std::make_unique<Ranks>();
}

}  // namespace oplens::prof
