#include "prof/views/step_times.h"

#include <algorithm>

#include "ops/dtype.h"

namespace oplens::prof {
namespace {

constexpr uint32_t StepTimesBitOf(size_t index) { return 1u << index; }

constexpr std::array<size_t, kTimeClassCount + 1> kAllFromFirst{};

}  // namespace

void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step) {
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    step->parts[i] = times.Of(StepTimesBitOf(i), BitsOf(first[i], i));
  }
  const int64_t taken_ns = times.Of(BitsOf(first[kTimeClassCount], kTimeClassCount));
  step->parts[kTimeClassCount] = std::max<int64_t>(0, total_ns - taken_ns);
}

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes) {
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    MaskTimes times;
    classes.AddTimes(step.span, &times);
    StepTimes& own = all.emplace_back();
    FillParts(times, kAllFromFirst, LengthOf(step.span), &own);
    for (size_t i = 0; i < kTimeClassCount; ++i) {
      own.exposed[i] = times.Of(StepTimesBitOf(i), kDeviceClasses & ~StepTimesBitOf(i));
      own.hidden[i] = times.Of(StepTimesBitOf(i)) - *own.exposed[i];
    }
    own.busy = times.Of(kDeviceClasses);
  }
  return all;
}

}  // namespace oplens::prof
