#include "prof/views/step_times.h"

#include <algorithm>

#include "base/saturating.h"
#include "ops/dtype.h"

namespace oplens::prof {
namespace {

constexpr uint32_t StepTimesBitOf(size_t index) { return 1u << index; }

/// The bits of the classes [first, last).
constexpr uint32_t BitsOf(size_t first, size_t last) {
  return (uint32_t{1} << last) - (uint32_t{1} << first);
}

MaskTimes MeasureStepTimes(const Step& step, const ClassIntervals& classes) {
  MaskTimes times;
  classes.AddTimes(step.span, &times);
  return times;
}

/// Gives each moment to the first class that runs, of those from `first[class]` on.
void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step) {
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    step->parts[i] = times.Of(StepTimesBitOf(i), BitsOf(first[i], i));
  }
  const int64_t taken_ns = times.Of(BitsOf(first[kTimeClassCount], kTimeClassCount));
  step->parts[kTimeClassCount] = std::max<int64_t>(0, total_ns - taken_ns);
}

constexpr std::array<size_t, kTimeClassCount + 1> kAllFromFirst{};

/// From which class on each one, and what is left, loses time to those before it.
std::array<size_t, kTimeClassCount + 1> TensorBoardFirst(const MaskTimes& all, int64_t total_ns) {
  std::array<size_t, kTimeClassCount + 1> first{};
  size_t begin = 0;
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    first[i] = begin;
    const bool full = all.Of(BitsOf(begin, i + 1)) >= total_ns;
    if (full && i + 1 < kTimeClassCount) begin = i + 1;
  }
  first[kTimeClassCount] = begin;
  return first;
}

}  // namespace

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes) {
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    const MaskTimes times = MeasureStepTimes(step, classes);
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

std::vector<StepTimes> TensorBoardTimesOf(std::span<const Step> steps,
                                          const ClassIntervals& classes) {
  MaskTimes together;
  int64_t total_ns = 0;
  for (const Step& step : steps) {
    classes.AddTimes(step.span, &together);
    SaturatingAdd(&total_ns, LengthOf(step.span));
  }
  const auto first = TensorBoardFirst(together, total_ns);
  constexpr auto kKernel = static_cast<size_t>(TimeClass::kKernel);
  constexpr auto kCpu = static_cast<size_t>(TimeClass::kCpu);
  constexpr auto kComm = static_cast<size_t>(TimeClass::kComm);
  const size_t compute = classes.Of(kKernel).empty() ? kCpu : kKernel;
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    const MaskTimes times = MeasureStepTimes(step, classes);
    StepTimes& own = all.emplace_back();
    FillParts(times, first, LengthOf(step.span), &own);
    const int64_t both_ns = times.Of(StepTimesBitOf(compute), 0, StepTimesBitOf(kComm));
    for (const size_t i : {compute, kComm}) {
      own.hidden[i] = both_ns;
      own.exposed[i] = times.Of(StepTimesBitOf(i)) - both_ns;
    }
  }
  return all;
}

}  // namespace oplens::prof
