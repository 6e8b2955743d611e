#include "parse/readers/kineto/kineto_samples.h"

#include <cmath>
#include <string_view>

#include "base/parse_number.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kGpuPrefix = "GPU ";
constexpr std::string_view kCountersSuffix = " Counters";

/// The GPU of a process: a number, or "GPU 0 Counters".
bool TakeSampledDevice(const KinetoEvent& event, int32_t* device_id) {
  if (!event.has_process) return false;
  if (TakeInt(event.process, device_id)) return true;
  std::string_view text = TextOf(event.process);
  if (!text.starts_with(kGpuPrefix) || !text.ends_with(kCountersSuffix)) return false;
  text.remove_prefix(kGpuPrefix.size());
  if (text.size() < kCountersSuffix.size()) return false;
  text.remove_suffix(kCountersSuffix.size());
  return ParseNumber(text, device_id);
}

/// The only member, whose key is empty.
bool TakeSampledValue(const KinetoEvent& event, double* value) {
  if (!event.has_args || event.args.size() != 1) return false;
  return (*event.args.begin()).value.get(*value) == simdjson::SUCCESS && std::isfinite(*value);
}

}  // namespace

void KinetoSamples::Read(const KinetoEvent& event) {
  CounterSample sample;
  if (!context_.MomentOf(event, &sample.start_ns)) return;
  if (event.name.empty() || !TakeSampledDevice(event, &sample.device_id) ||
      !TakeSampledValue(event, &sample.value)) {
    context_.CountBad(Reason::kBadOtherRow, event);
    return;
  }
  sample.metric = context_.trace.strings.Intern(event.name);
  context_.trace.counter_samples.push_back(sample);
}

}  // namespace oplens::parse
