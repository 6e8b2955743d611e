#include "parse/readers/kineto/kineto_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace oplens::parse {
namespace {

constexpr int64_t kKinetoContextNsPerMicrosecond = 1000;

}  // namespace

int64_t KinetoContext::NumberOf(simdjson::dom::element id) {
  int64_t number = 0;
  if (TakeInt(id, &number)) return number;
  const std::string_view text = TextOf(id);
  const auto found = id_texts_.find(text);
  if (found != id_texts_.end()) return found->second;
  const int64_t next = -2 - static_cast<int64_t>(id_texts_.size());
  id_texts_.emplace(text, next);
  return next;
}

ThreadIndex KinetoContext::ThreadOf(const KinetoEvent& event) {
  const std::pair<int64_t, int64_t> key(event.has_process ? NumberOf(event.process) : 0,
                                        event.has_thread ? NumberOf(event.thread) : 0);
  if (key == last_key_ && !trace.threads.empty()) return last_thread_;
  const auto [place, added] = threads_.emplace(key, static_cast<ThreadIndex>(trace.threads.size()));
  if (added) trace.AddThread({key.first, key.second, 0});
  last_key_ = key;
  last_thread_ = place->second;
  return last_thread_;
}

void KinetoContext::CountBad(Reason reason, const KinetoEvent& event) {
  constexpr size_t kLongestName = 60;
  diagnostics.Count(reason, diagnostics.KeepsExample(reason)
                                ? fmt::format("event {} ({}), {}", event.number, event.category,
                                              event.name.substr(0, kLongestName))
                                : std::string());
}

bool KinetoContext::RawTimesOf(const KinetoEvent& event, KinetoTimes* times) {
  if (!ReadKinetoTimes(event, times)) return false;
  any_time_ = true;
  all_digits_ |= times->all_digits;
  fraction_ |= times->fraction;
  latest_ns_ = std::max(latest_ns_, times->start_ns);
  return true;
}

bool KinetoContext::TimesOf(const KinetoEvent& event, Reason reason, Reason reversed,
                            KinetoTimes* times) {
  if (!RawTimesOf(event, times)) {
    CountBad(reason, event);
    return false;
  }
  if (times->end_ns < times->start_ns) {
    CountBad(reversed, event);
    return false;
  }
  return true;
}

int64_t KinetoContext::ClockResolutionNs() const {
  if (!any_time_) return 1;
  if (!fraction_) return kKinetoContextNsPerMicrosecond;
  if (all_digits_) return 1;
  // Microseconds since 1970 with a fraction exceed a double: if another program rewrote the file,
  // its times are multiples of a quarter of a microsecond.
  const double latest = static_cast<double>(latest_ns_) / kKinetoContextNsPerMicrosecond;
  const double step = std::nextafter(latest, std::numeric_limits<double>::infinity()) - latest;
  return std::max(int64_t{1},
                  static_cast<int64_t>(std::llround(step * kKinetoContextNsPerMicrosecond)));
}

bool KinetoContext::MomentOf(const KinetoEvent& event, int64_t* ns) {
  KinetoTimes times;
  if (!ReadKinetoStart(event, &times)) {
    CountBad(Reason::kBadEvent, event);
    return false;
  }
  *ns = times.start_ns;
  return true;
}

}  // namespace oplens::parse
