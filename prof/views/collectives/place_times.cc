#include "prof/views/collectives/place_times.h"

#include <algorithm>

#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"

namespace oplens::prof {

void PlaceTimesMaker::Add(const PricedKernel& kernel) {
  const Kernel* const own = ComputeKernelOf(run_, kernel);
  if (own == nullptr) return;
  const size_t step = run_.StepOf(*own, kernel.work);
  if (step == Steps::kNone) return;
  const int64_t time_ns = LengthOf({own->start_ns, own->end_ns});
  const auto add = [&](WorkPlace place, Places* all) {
    PlaceTimes& times = (*all)[place.key()];
    times.place = place;
    times.total_ns += time_ns;
    times.flops += kernel.share.flops.value_or(0);
    ++times.kernels;
    if (times.times_ns.empty() || times.times_ns.back().first != step) {
      times.times_ns.emplace_back(static_cast<uint32_t>(step), 0);
    }
    times.times_ns.back().second += time_ns;
  };
  const WorkPlace place = PlaceOf(kernel, &texts_);
  add({place.op, 0}, &ops_);
  if (place.layer != 0) add({0, place.layer}, &layers_);
}

std::vector<PlaceTimesMaker::Named> PlaceTimesMaker::Longest(const Places& all, size_t most) const {
  std::vector<Named> sorted;
  for (const auto& [key, times] : all) sorted.emplace_back(NameOf(times.place, texts_), &times);
  std::sort(sorted.begin(), sorted.end(), [](const Named& a, const Named& b) {
    if (a.second->total_ns != b.second->total_ns) return a.second->total_ns > b.second->total_ns;
    return a.first < b.first;
  });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

}  // namespace oplens::prof
