#include "parse/readers/common/other_calls.h"

#include <algorithm>
#include <tuple>

namespace oplens::parse {

void OtherCalls::Place(Trace* trace, const std::function<ThreadIndex(int64_t)>& thread_of) {
  // Names are compared as texts: their ids depend on the order of rows.
  const auto key = [trace](const Call& call) {
    return std::tuple(call.call.start_ns, call.call.end_ns, call.thread, call.call.correlation_id,
                      trace->strings.View(call.call.api));
  };
  std::sort(calls_.begin(), calls_.end(),
            [&key](const Call& a, const Call& b) { return key(a) < key(b); });
  const auto last = std::unique(calls_.begin(), calls_.end(),
                                [&key](const Call& a, const Call& b) { return key(a) == key(b); });
  calls_.erase(last, calls_.end());
  trace->launches.reserve(trace->launches.size() + calls_.size());
  for (Call& call : calls_) {
    call.call.thread = thread_of(call.thread);
    trace->launches.push_back(call.call);
  }
  std::vector<Call>().swap(calls_);
}

}  // namespace oplens::parse
