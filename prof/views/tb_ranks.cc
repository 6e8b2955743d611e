#include "prof/views/tb_ranks.h"

#include <algorithm>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/tb_steps.h"
#include "prof/views/overview_classes.h"
#include "prof/views/step_times.h"

namespace oplens::prof {
namespace {

std::vector<StepParts> TbRanksPartsOf(const std::vector<Step>& steps,
                                      const ClassIntervals& classes) {
  const std::vector<StepTimes> times = TensorBoardTimesOf(steps, classes);
  constexpr auto kComm = static_cast<size_t>(TimeClass::kComm);
  std::vector<StepParts> parts;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepParts& own = parts.emplace_back();
    own.number = steps[i].number;
    own.total_ns = LengthOf(steps[i].span);
    own.overlap_ns = times[i].hidden[kComm].value_or(0);
    own.communication_ns = times[i].exposed[kComm].value_or(0);
    for (const TimeClass compute : {TimeClass::kKernel, TimeClass::kCpu}) {
      const auto& exposed = times[i].exposed[static_cast<size_t>(compute)];
      if (exposed) own.computation_ns = *exposed;
    }
  }
  return parts;
}

}  // namespace

void TbRanks::Add(const Run& run) {
  TbRecording& recording = ranks_[std::string(run.rank())].emplace_back();
  const std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
  if (steps.empty()) return;
  const ClassIntervals classes = TimeClassesOf(run, Compat::kTensorBoard);
  recording.steps = TbRanksPartsOf(steps, classes);
  recording.communicates = !classes.Of(static_cast<size_t>(TimeClass::kComm)).empty();
  recording.calls = FindTbCollectives(run, steps);
}

void TbRanks::Merge(const TbRanks& other) {
  for (const auto& [name, recordings] : other.ranks_) {
    auto& own = ranks_[name];
    own.insert(own.end(), recordings.begin(), recordings.end());
  }
}

std::string TbRanks::Refusal() const {
  const TbRecording* first = nullptr;
  for (const auto& [name, recordings] : ranks_) {
    if (recordings.size() > 1) return "several profiles have one rank";
    const TbRecording& own = recordings.front();
    if (!own.communicates || own.calls.empty()) {
      return "the plugin knows no collective in the profile of a rank";
    }
    if (first == nullptr) first = &own;
    if (own.calls.size() != first->calls.size()) return "ranks have different counts of calls";
    for (size_t i = 0; i < own.calls.size(); ++i) {
      if (own.calls[i].ranges.size() != first->calls[i].ranges.size()) {
        return "ranks have different counts of kernels of a call";
      }
    }
  }
  return first == nullptr ? "there is no profile" : "";
}

TbRanks::Transfers TbRanks::ShortestOf() const {
  Transfers shortest;
  for (const auto& [name, recordings] : ranks_) {
    const std::vector<TbCollective>& calls = recordings.front().calls;
    shortest.resize(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      shortest[i].resize(calls[i].ranges.size(), INT64_MAX);
      for (size_t j = 0; j < calls[i].ranges.size(); ++j) {
        shortest[i][j] = std::min(shortest[i][j], LengthOf(calls[i].ranges[j]));
      }
    }
  }
  return shortest;
}

void TbLengths::Add(const TbCollective& call, const std::vector<int64_t>& shortest) {
  ++calls;
  size_bytes = SaturatingSum(size_bytes, call.size_bytes);
  for (size_t j = 0; j < call.ranges.size(); ++j) {
    const Interval& range = call.ranges[j];
    ranges.push_back(range);
    // A range of more than can be said is transfer as a whole.
    int64_t start_ns = 0;
    if (__builtin_sub_overflow(range.end_ns, shortest[j], &start_ns)) start_ns = range.start_ns;
    transfers.push_back({std::max(range.start_ns, start_ns), range.end_ns});
  }
}

}  // namespace oplens::prof
