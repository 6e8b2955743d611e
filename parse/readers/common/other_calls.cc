#include "parse/readers/common/other_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "parse/model/waiting_calls.h"

namespace oplens::parse {

void OtherCalls::PlaceTimes(Trace* trace) {
  if (!times_ascend_) {
    std::vector<std::pair<int64_t, int64_t>> times;
    times.reserve(times_.size());
    times_.ForEach([&](int64_t start_ns, int64_t end_ns) { times.emplace_back(start_ns, end_ns); });
    std::sort(times.begin(), times.end());
    times_ = {};
    for (const auto& [start_ns, end_ns] : times) times_.Append(start_ns, end_ns);
  }
  trace->api_times = std::exchange(times_, {});
}

bool OtherCalls::Waits(StringId api) {
  if (api >= waits_.size()) waits_.resize(strings_.size(), kUnasked);
  uint8_t& known = waits_[api];
  if (known == kUnasked) known = IsWaitingCall(strings_.View(api)) ? kWaits : kGoesOn;
  return known == kWaits;
}

void OtherCalls::Place(Trace* trace, const std::function<ThreadIndex(int64_t)>& thread_of) {
  PlaceTimes(trace);
  if (calls_.empty()) return;
  // Compares names as texts: their ids depend on the order of rows.
  const auto key = [&](const LaunchCall& call) {
    return std::tuple(call.start_ns, call.end_ns, keys_[call.thread], call.correlation_id,
                      trace->strings.View(call.api));
  };
  std::sort(calls_.begin(), calls_.end(),
            [&key](const LaunchCall& a, const LaunchCall& b) { return key(a) < key(b); });
  const auto last =
      std::unique(calls_.begin(), calls_.end(),
                  [&key](const LaunchCall& a, const LaunchCall& b) { return key(a) == key(b); });
  calls_.erase(last, calls_.end());
  std::vector<ThreadIndex> threads(keys_.size(), kNoThread);
  for (LaunchCall& call : calls_) {
    ThreadIndex& thread = threads[call.thread];
    if (thread == kNoThread) thread = thread_of(keys_[call.thread]);
    call.thread = thread;
  }
  // There may be millions, but few that work refers to: move the latter in front.
  const size_t referred = trace->launches.size();
  calls_.resize(referred + calls_.size());
  std::move_backward(calls_.begin(), calls_.end() - static_cast<std::ptrdiff_t>(referred),
                     calls_.end());
  std::copy(trace->launches.begin(), trace->launches.end(), calls_.begin());
  trace->launches = std::exchange(calls_, {});
}

}  // namespace oplens::parse
