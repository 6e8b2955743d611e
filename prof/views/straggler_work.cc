#include "prof/views/straggler_work.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"

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
  if (sum.times_ns.empty()) {
    sum.place = place;
    sum.times_ns.resize(work_.steps.size());
  }
  sum.total_ns = SaturatingSum(sum.total_ns, time_ns);
  sum.times_ns[step] = SaturatingSum(sum.times_ns[step], time_ns);
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
    work_.times_ns.insert(work_.times_ns.end(), sum->times_ns.begin(), sum->times_ns.end());
  }
  sums->clear();
}

StragglerWork StragglerWorkMaker::Take() {
  Keep(&ops_, &work_.ops);
  Keep(&layers_, &work_.layers);
  return std::move(work_);
}

}  // namespace oplens::prof
