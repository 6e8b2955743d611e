#include "prof/views/straggler_work.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"

namespace oplens::prof {
namespace {

uint64_t KeyOf(WorkPlace place) { return uint64_t{place.op} << 32 | place.layer; }

WorkPlace PlaceOfKey(uint64_t key) {
  return {static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
}

}  // namespace

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
  gap_start_ns_ = work_.origin_ns;
  busy_until_ns_ = work_.origin_ns;
}

WorkPlace StragglerWorkMaker::PlaceOf(const PricedKernel& kernel) {
  std::string layer;
  for (const std::string_view part : kernel.layer) {
    if (!layer.empty()) layer += '/';
    layer += part;
  }
  const std::string_view op = kernel.op.empty() ? kernel.record->short_name : kernel.op;
  return {texts_.NumberOf(op), texts_.NumberOf(layer)};
}

void StragglerWorkMaker::AddTo(Sums* sums, WorkPlace place, size_t step, int64_t time_ns) {
  Sum& sum = (*sums)[KeyOf(place)];
  if (sum.times_ns.empty()) {
    sum.place = place;
    sum.times_ns.resize(work_.steps.size());
  }
  sum.total_ns = SaturatingSum(sum.total_ns, time_ns);
  sum.times_ns[step] = SaturatingSum(sum.times_ns[step], time_ns);
}

void StragglerWorkMaker::Add(const PricedKernel& kernel) {
  if (kernel.work == PricedKernel::kNoWork) return;
  const Kernel& own = run_.trace().kernels[kernel.work];
  if (!own.timed() || own.end_ns < own.start_ns) return;
  if (run_.work().IsCommunication(kernel.work)) return;
  const int64_t time_ns = LengthOf({own.start_ns, own.end_ns});
  const WorkPlace place = PlaceOf(kernel);
  PassCalls(own.start_ns);
  int64_t& gap_ns = gap_times_ns_[KeyOf(place)];
  gap_ns = SaturatingSum(gap_ns, time_ns);
  busy_ns_ =
      SaturatingSum(busy_ns_, LengthOf({std::max(busy_until_ns_, own.start_ns), own.end_ns}));
  busy_until_ns_ = std::max(busy_until_ns_, own.end_ns);
  const size_t step = run_.StepOf(own, kernel.work);
  if (step == Steps::kNone) return;
  AddTo(&ops_, {place.op, 0}, step, time_ns);
  if (place.layer != 0) AddTo(&layers_, place, step, time_ns);
}

void StragglerWorkMaker::PassCalls(int64_t until_ns) {
  const auto& calls = run_.collectives();
  while (call_ < calls.size() && calls[call_].start_ns <= until_ns) {
    EndGap();
    // What it waited in the call itself is not of this.
    gap_start_ns_ = std::max(gap_start_ns_, calls[call_].end_ns);
    busy_until_ns_ = std::max(busy_until_ns_, gap_start_ns_);
    ++call_;
  }
}

void StragglerWorkMaker::EndGap() {
  const int64_t start_ns = run_.collectives()[call_].start_ns;
  StragglerWork::Before& before = work_.before.emplace_back();
  before.since_ns = LengthOf({work_.origin_ns, start_ns});
  const int64_t gap_ns = LengthOf({gap_start_ns_, start_ns});
  const int64_t busy_ns = std::min(busy_ns_, gap_ns);
  if (gap_ns > 0) {
    before.idle_permille = static_cast<uint32_t>(1000.0 * static_cast<double>(gap_ns - busy_ns) /
                                                 static_cast<double>(gap_ns));
  }
  // Of equal ones that of the least texts, so that nothing depends on their numbers.
  const std::pair<const uint64_t, int64_t>* most = nullptr;
  const auto texts_of = [&](uint64_t key) {
    return std::pair(texts_.TextOf(PlaceOfKey(key).op), texts_.TextOf(PlaceOfKey(key).layer));
  };
  for (const auto& sum : gap_times_ns_) {
    if (most != nullptr && sum.second < most->second) continue;
    if (most != nullptr && sum.second == most->second &&
        texts_of(most->first) < texts_of(sum.first)) {
      continue;
    }
    most = &sum;
  }
  if (most != nullptr) before.place = DoingOf(PlaceOfKey(most->first));
  gap_times_ns_.clear();
  busy_ns_ = 0;
}

uint32_t StragglerWorkMaker::DoingOf(WorkPlace place) {
  const auto [at, fresh] =
      doing_.try_emplace(KeyOf(place), static_cast<uint32_t>(work_.doing.size()));
  if (fresh) work_.doing.push_back(place);
  return at->second;
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
  PassCalls(INT64_MAX);
  Keep(&ops_, &work_.ops);
  Keep(&layers_, &work_.layers);
  return std::move(work_);
}

}  // namespace oplens::prof
