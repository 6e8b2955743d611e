#include "prof/views/collectives/straggler_work.h"

#include <algorithm>
#include <utility>

#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"

namespace oplens::prof {

StragglerWorkMaker::StragglerWorkMaker(const Run& run)
    : places_(run, PlaceTimesMaker::LayerKey::kOpAndLayer) {
  work_.origin_ns = run.origin_ns();
  const auto steps = run.steps().all();
  const std::vector<Interval> windows = WindowsOf(run.steps());
  for (size_t i = 0; i < steps.size(); ++i) {
    work_.steps.push_back({steps[i].number, steps[i].steady(), LengthOf(windows[i])});
  }
  const size_t most = StragglerWork::kMostTimes / 2 / std::max<size_t>(1, steps.size());
  most_places_ = std::clamp<size_t>(most, 1, StragglerWork::kMostPlaces);
}

void StragglerWorkMaker::Keep(const std::vector<PlaceTimesMaker::Named>& longest,
                              std::vector<WorkName>* names) {
  for (const auto& [name, times] : longest) {
    names->push_back(name);
    const size_t first = work_.times_ns.size();
    work_.times_ns.resize(first + work_.steps.size());
    for (const auto& [step, time_ns] : times->times_ns) work_.times_ns[first + step] += time_ns;
  }
}

StragglerWork StragglerWorkMaker::Take() {
  Keep(places_.LongestOps(most_places_), &work_.ops);
  Keep(places_.LongestLayers(most_places_), &work_.layers);
  return std::move(work_);
}

}  // namespace oplens::prof
