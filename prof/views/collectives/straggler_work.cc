#include "prof/views/collectives/straggler_work.h"

#include <algorithm>
#include <utility>

#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"

namespace oplens::prof {

StragglerWorkMaker::StragglerWorkMaker(const Run& run) : run_(run) {
  work_.origin_ns = run.origin_ns();
  const auto steps = run.steps().all();
  const std::vector<Interval> windows = WindowsOf(run.steps());
  for (size_t i = 0; i < steps.size(); ++i) {
    work_.steps.push_back({steps[i].number, steps[i].steady(), LengthOf(windows[i])});
  }
  const size_t most = StragglerWork::kMostTimes / 2 / std::max<size_t>(1, steps.size());
  most_places_ = std::clamp<size_t>(most, 1, StragglerWork::kMostPlaces);
}

void StragglerWorkMaker::AddTo(Places* all, WorkPlace place, size_t step, int64_t time_ns) {
  PlaceTimes& times = (*all)[place.key()];
  times.place = place;
  times.total_ns += time_ns;
  if (times.times_ns.empty() || times.times_ns.back().first != step) {
    times.times_ns.emplace_back(static_cast<uint32_t>(step), 0);
  }
  times.times_ns.back().second += time_ns;
}

void StragglerWorkMaker::Add(const PricedKernel& kernel) {
  const Kernel* const own = ComputeKernelOf(run_, kernel);
  if (own == nullptr) return;
  const size_t step = run_.StepOf(*own, kernel.work);
  if (step == Steps::kNone) return;
  const int64_t time_ns = LengthOf({own->start_ns, own->end_ns});
  const WorkPlace place = PlaceOf(kernel, &texts_);
  AddTo(&ops_, {place.op, 0}, step, time_ns);
  if (place.layer != 0) AddTo(&layers_, place, step, time_ns);
}

void StragglerWorkMaker::Keep(const Places& all, std::vector<WorkName>* names) {
  std::vector<std::pair<WorkName, const PlaceTimes*>> sorted;
  for (const auto& [key, times] : all) sorted.emplace_back(NameOf(times.place, texts_), &times);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (a.second->total_ns != b.second->total_ns) return a.second->total_ns > b.second->total_ns;
    return a.first < b.first;
  });
  if (sorted.size() > most_places_) sorted.resize(most_places_);
  for (const auto& [name, times] : sorted) {
    names->push_back(name);
    const size_t first = work_.times_ns.size();
    work_.times_ns.resize(first + work_.steps.size());
    for (const auto& [step, time_ns] : times->times_ns) work_.times_ns[first + step] += time_ns;
  }
}

StragglerWork StragglerWorkMaker::Take() {
  Keep(ops_, &work_.ops);
  Keep(layers_, &work_.layers);
  return std::move(work_);
}

}  // namespace oplens::prof
