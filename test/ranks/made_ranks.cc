#include "test/ranks/made_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace oplens::test {
namespace {

constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
constexpr int64_t kOpNs[] = {30'000, 60'000, 90'000, 15'000};  // A layer.
constexpr int64_t kStepNs = 2 * MadeRanks::kLayers * 195'000;
constexpr int64_t kTransferNs = 80'000;
constexpr std::string_view kLayerNames[] = {"layer0", "layer1", "layer2", "layer3"};

class Maker {
 public:
  Maker(const Plant& plant, std::vector<std::unique_ptr<MadeRun>>* runs,
        std::vector<std::vector<int>>* layers)
      : plant_(plant), runs_(*runs), layers_(*layers), random_(plant.seed) {
    jitter_ = 0.01 + 0.02 * Uniform();
    now_ns_.assign(static_cast<size_t>(plant.ranks), 1'000'000);
    layers_.resize(now_ns_.size());
    for (int rank = 0; rank < plant.ranks; ++rank) {
      Trace& trace = runs_.emplace_back(std::make_unique<MadeRun>())->trace;
      trace.rank = rank;
      trace.world_size = plant.ranks;
      trace.clock_offset_ns = 0;  // All say that they tell the time of day.
      trace.rank_name = trace.strings.Intern(std::to_string(rank));
      all_.push_back(rank);
    }
  }

  void Make() {
    const int calls = plant_.steps * (plant_.group.empty() ? 2 : 3);
    int call = 0;
    for (int step = 0; step < plant_.steps; ++step) {
      const std::vector<int64_t> starts = now_ns_;
      const double all_take = 1 + 0.05 * Normal();  // What ranks share, such as longer texts.
      Compute(step, all_take);
      if (!plant_.group.empty()) Reduce("1", plant_.group, step, calls - call++);
      Reduce("0", all_, step, calls - call++);
      Compute(step, all_take);
      Reduce("0", all_, step, calls - call++);
      for (const int rank : all_) {
        const auto i = static_cast<size_t>(rank);
        runs_[i]->AddStep(step, OnClock(rank, starts[i]), OnClock(rank, now_ns_[i]));
      }
    }
  }

 private:
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum - 6;
  }

  bool IsSlow(int rank, int step) const {
    return rank == plant_.slow_rank && step >= plant_.slow_from;
  }
  int64_t OnClock(int rank, int64_t time_ns) const {
    if (rank != plant_.clock_rank) return time_ns;
    return time_ns + plant_.clock_ahead_ns +
           std::llround(static_cast<double>(time_ns) * plant_.clock_ppm * 1e-6);
  }

  void AddKernel(int rank, std::string_view name, int layer, int64_t start_ns, int64_t end_ns,
                 Kernel** added = nullptr) {
    MadeRun& run = *runs_[static_cast<size_t>(rank)];
    Kernel& kernel = run.AddKernel(OnClock(rank, start_ns), OnClock(rank, end_ns), kNoLaunch, name);
    layers_[static_cast<size_t>(rank)].push_back(layer);
    if (added != nullptr) *added = &kernel;
  }

  /// Half of a step.
  void Compute(int step, double all_take) {
    for (const int rank : all_) {
      int64_t& now_ns = now_ns_[static_cast<size_t>(rank)];
      for (int layer = 0; layer < MadeRanks::kLayers; ++layer) {
        for (size_t op = 0; op < std::size(kOpNs); ++op) {
          double time_ns = static_cast<double>(kOpNs[op]) * all_take * (1 + jitter_ * Normal());
          const bool slow = IsSlow(rank, step) && MadeRanks::kOps[op] == plant_.slow_op &&
                            (plant_.slow_layer < 0 || plant_.slow_layer == layer);
          if (slow) time_ns *= plant_.slow_times;
          const int64_t end_ns = now_ns + std::llround(std::max(100.0, time_ns));
          AddKernel(rank, MadeRanks::kOps[op], layer, now_ns, end_ns);
          now_ns = end_ns;
        }
      }
    }
  }

  /// `left`: calls up to the end, this one too.
  void Reduce(std::string_view group, const std::vector<int>& ranks, int step, int left) {
    int64_t last_ns = 0;
    for (const int rank : ranks) {
      int64_t& now_ns = now_ns_[static_cast<size_t>(rank)];
      now_ns += std::llround(-0.01 * kStepNs * std::log(1 - Uniform()));
      if (IsSlow(rank, step)) now_ns += std::llround(plant_.late_share * kStepNs / 2);
      last_ns = std::max(last_ns, now_ns);
    }
    for (const int rank : ranks) {
      int64_t& now_ns = now_ns_[static_cast<size_t>(rank)];
      const int64_t end_ns = last_ns + kTransferNs + std::llround(1'000 * Uniform());
      if (rank != plant_.cut_rank || left > plant_.cut_calls) {
        AddReduce(rank, group, ranks, now_ns, end_ns);
      }
      now_ns = end_ns;
    }
  }

  void AddReduce(int rank, std::string_view group, const std::vector<int>& ranks, int64_t start_ns,
                 int64_t end_ns) {
    Kernel* kernel = nullptr;
    AddKernel(rank, kReduce, -1, start_ns, end_ns, &kernel);
    Trace& trace = runs_[static_cast<size_t>(rank)]->trace;
    Communication& record = trace.communications.emplace_back();
    record.name = trace.strings.Intern("allreduce");
    record.dtype = trace.strings.Intern("Float");
    record.group = trace.strings.Intern(group);
    record.ranks = trace.strings.Intern(fmt::format("[{}]", fmt::join(ranks, ", ")));
    record.group_size = static_cast<int64_t>(ranks.size());
    record.input_elements = record.output_elements = 1'000'000;
    KernelDetails details;
    details.communication = static_cast<ItemIndex>(trace.communications.size() - 1);
    trace.SetDetails(details, kernel);
  }

  const Plant& plant_;
  std::vector<std::unique_ptr<MadeRun>>& runs_;
  std::vector<std::vector<int>>& layers_;
  std::mt19937_64 random_;
  double jitter_ = 0;
  std::vector<int> all_;
  std::vector<int64_t> now_ns_;  // By rank.
};

}  // namespace

MadeRanks::MadeRanks(const Plant& plant) { Maker(plant, &runs_, &layers_).Make(); }

std::unique_ptr<prof::Partial> MadeRanks::FindRank(const prof::View& view, size_t rank) const {
  return runs_[rank]->PartialOf(view.make, [&](prof::PricedKernel* kernel) { Name(rank, kernel); });
}

void MadeRanks::Name(size_t rank, prof::PricedKernel* kernel) const {
  const int layer = layers_[rank][kernel->work];
  kernel->op = kernel->record->short_name;
  if (layer >= 0) kernel->layer = {&kLayerNames[static_cast<size_t>(layer)], 1};
}

prof::CollectiveSet MadeRanks::Calls() const {
  prof::CollectiveSet calls;
  for (size_t rank = 0; rank < runs_.size(); ++rank) {
    calls.Merge(runs_[rank]->calls([&](prof::PricedKernel* kernel) { Name(rank, kernel); }));
  }
  return calls;
}

std::unique_ptr<prof::Partial> MadeRanks::Find(std::string_view name) const {
  const prof::View& view = ViewNamed(name);
  auto all = view.make({});
  for (size_t rank = 0; rank < runs_.size(); ++rank) all->Merge(*FindRank(view, rank));
  GiveCalls(Calls(), all.get());
  return all;
}

std::unique_ptr<prof::Partial> MadeRanks::FindSaved(std::string_view name, CallsGiven given) const {
  const prof::View& view = ViewNamed(name);
  auto all = view.make({});
  const prof::CollectiveSet calls = Calls();
  for (size_t rank = runs_.size(); rank-- > 0;) {
    const auto found = FindRank(view, rank);
    if (given == CallsGiven::kBefore) GiveCalls(calls, found.get());
    ByteWriter writer;
    found->Save(&writer);
    ByteReader reader(writer.bytes(), "what was saved");
    const auto loaded = view.make({});
    loaded->Load(&reader);
    reader.End();
    all->Merge(*loaded);
  }
  if (given == CallsGiven::kAfter) GiveCalls(calls, all.get());
  return all;
}

}  // namespace oplens::test
