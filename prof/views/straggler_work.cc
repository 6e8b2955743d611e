#include "prof/views/straggler_work.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"

namespace oplens::prof {

StragglerWorkMaker::StragglerWorkMaker(const Run& run, TextNumbers* texts)
    : run_(run), texts_(*texts) {
  work_.origin_ns = run.origin_ns();
  const auto steps = run.steps().all();
  const std::vector<Interval> windows = WindowsOf(run.steps());
  for (size_t i = 0; i < steps.size(); ++i) {
    work_.steps.push_back({steps[i].number, steps[i].complete, LengthOf(windows[i]), 0, 0});
  }
  const size_t most = StragglerWork::kMostTimes / 2 / std::max<size_t>(1, steps.size());
  most_places_ = std::clamp<size_t>(most, 1, StragglerWork::kMostPlaces);
}

void StragglerWorkMaker::AddTo(Sums* sums, WorkPlace place, size_t step, int64_t time_ns) {
  Sum& sum = (*sums)[place.key()];
  sum.place = place;
  SaturatingAdd(&sum.total_ns, time_ns);
  if (sum.times_ns.empty() || sum.times_ns.back().first != step) {
    sum.times_ns.emplace_back(static_cast<uint32_t>(step), 0);
  }
  int64_t& step_ns = sum.times_ns.back().second;
  SaturatingAdd(&step_ns, time_ns);
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

void StragglerWorkMaker::Keep(Sums* sums, std::vector<WorkPlace>* places) {
  std::vector<Sum*> sorted;
  for (auto& [key, sum] : *sums) sorted.push_back(&sum);
  const auto costs_more = [&](const Sum* a, const Sum* b) {
    if (a->total_ns != b->total_ns) return a->total_ns > b->total_ns;
    return std::pair(texts_.TextOf(a->place.op), texts_.TextOf(a->place.layer)) <
           std::pair(texts_.TextOf(b->place.op), texts_.TextOf(b->place.layer));
  };
  std::sort(sorted.begin(), sorted.end(), costs_more);
  if (sorted.size() > most_places_) sorted.resize(most_places_);
  for (const Sum* sum : sorted) {
    places->push_back(sum->place);
    const size_t first = work_.times_ns.size();
    work_.times_ns.resize(first + work_.steps.size());
    for (const auto& [step, time_ns] : sum->times_ns) {
      int64_t& all_ns = work_.times_ns[first + step];
      SaturatingAdd(&all_ns, time_ns);
    }
  }
  sums->clear();
}

StragglerWork StragglerWorkMaker::Take() {
  Keep(&ops_, &work_.ops);
  Keep(&layers_, &work_.layers);
  return std::move(work_);
}

}  // namespace oplens::prof
