#include "prof/views/calls/before_calls.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/collective_calls.h"
#include "prof/run/run.h"

namespace oplens::prof {

BeforeCallsMaker::BeforeCallsMaker(const Run& run)
    : run_(run), gap_start_ns_(run.origin_ns()), busy_until_ns_(run.origin_ns()) {}

void BeforeCallsMaker::Add(const PricedKernel& kernel) {
  // Behind the last call nobody asks.
  if (before_.calls.size() == run_.collectives().size()) return;
  const Kernel* const own = ComputeKernelOf(run_, kernel);
  if (own == nullptr) return;
  PassCalls(own->start_ns);
  int64_t& time_ns = times_ns_[PlaceOf(kernel, &texts_).key()];
  SaturatingAdd(&time_ns, LengthOf({own->start_ns, own->end_ns}));
  SaturatingAdd(&busy_ns_, LengthOf({std::max(busy_until_ns_, own->start_ns), own->end_ns}));
  busy_until_ns_ = std::max(busy_until_ns_, own->end_ns);
}

void BeforeCallsMaker::PassCalls(int64_t until_ns) {
  const auto& calls = run_.collectives();
  while (before_.calls.size() < calls.size() && calls[before_.calls.size()].start_ns <= until_ns) {
    const int64_t end_ns = calls[before_.calls.size()].end_ns;
    EndGap();
    // What it waited in the call itself is not of this.
    gap_start_ns_ = std::max(gap_start_ns_, end_ns);
    busy_until_ns_ = std::max(busy_until_ns_, gap_start_ns_);
  }
}

void BeforeCallsMaker::EndGap() {
  const int64_t start_ns = run_.collectives()[before_.calls.size()].start_ns;
  BeforeCall& before = before_.calls.emplace_back();
  before.idle_permille = 0;
  const int64_t gap_ns = LengthOf({gap_start_ns_, start_ns});
  const int64_t busy_ns = std::min(busy_ns_, gap_ns);
  if (gap_ns > 0) {
    const double idle = BeforeCall::kWholePermille * static_cast<double>(gap_ns - busy_ns);
    before.idle_permille = static_cast<int32_t>(idle / static_cast<double>(gap_ns));
  }
  // Of equal ones that of the least texts, so that nothing depends on their numbers.
  const std::pair<const uint64_t, int64_t>* most = nullptr;
  const auto name_of = [&](uint64_t key) { return NameOf(WorkPlace::OfKey(key), texts_); };
  for (const auto& sum : times_ns_) {
    if (most != nullptr && sum.second < most->second) continue;
    if (most != nullptr && sum.second == most->second &&
        name_of(most->first) < name_of(sum.first)) {
      continue;
    }
    most = &sum;
  }
  if (most != nullptr) before.work = before_.works.NumberOf(name_of(most->first));
  times_ns_.clear();
  busy_ns_ = 0;
}

BeforeCalls BeforeCallsMaker::Take() {
  PassCalls(INT64_MAX);
  return std::move(before_);
}

}  // namespace oplens::prof
