#include "oplens/run_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "base/ratio.h"
#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace_devices.h"
#include "prof/run/device_work.h"
#include "prof/run/step_proposals.h"
#include "prof/run/steps.h"
#include "prof/run/steps_coverage.h"

namespace oplens::screen {
namespace {

constexpr std::string_view kProfilerNames[kFamilyCount] = {"", "nvprof", "Nsight Systems",
                                                           "PyTorch's profiler"};

std::string ProfilerOf(const Trace& trace) {
  const std::string_view name = kProfilerNames[static_cast<size_t>(trace.family)];
  // "2024.6.2.225 (schema 3.16.1)"
  const std::string_view version =
      std::string_view(trace.producer).substr(0, trace.producer.find(" ("));
  return version.empty() ? std::string(name) : fmt::format("{} {}", name, version);
}

StepFacts::Source SourceOf(prof::StepSource source) {
  switch (source) {
    case prof::StepSource::kNone:
      return StepFacts::Source::kRun;
    case prof::StepSource::kRanges:
    case prof::StepSource::kPattern:
      return StepFacts::Source::kMarked;
    case prof::StepSource::kRepetition:
      return StepFacts::Source::kRepetition;
  }
  return StepFacts::Source::kUnknown;
}

}  // namespace

void RunFacts::Begin(const prof::Run* run) {
  is_records_ = run == nullptr;
  counted_ = !is_records_;
  family_ = Family::kUnknown;
  priced_gpus_.clear();
  if (is_records_) return;  // It may still turn out to hold no records.
  ++runs_;
  if (run->trace().rank != kUnknownId) {
    ++ranks_;
    numbers_.insert(run->trace().rank);
  }
  family_ = run->trace().family;
  if (first_family_ == Family::kUnknown) first_family_ = family_;
  std::string profiler = ProfilerOf(run->trace());
  if (std::ranges::find(profilers_, profiler) == profilers_.end()) {
    profilers_.push_back(std::move(profiler));
  }
}

void RunFacts::Add(const prof::PricedKernel& kernel) {
  coverage_.Add(kernel, family_);
  if (kernel.gpu != nullptr && kernel.gpu->dram_bytes_per_s > 0) peaks_known_ = true;
  if (!is_records_) {
    if (kernel.gpu != nullptr) priced_gpus_.try_emplace(kernel.record->device_id, kernel.gpu->name);
    return;
  }
  if (!counted_) ++runs_;
  counted_ = true;
  records_ = true;
  if (!kernel.record->device_name) return;
  const std::string device = fmt::format("{}\n{}", kernel.record->rank.value_or(std::string_view()),
                                         kernel.record->device_id);
  if (record_gpus_.find(device) == record_gpus_.end()) {
    record_gpus_.emplace(device, *kernel.record->device_name);
  }
}

void RunFacts::End(const prof::Run* run) {
  coverage_.EndInput();
  if (run == nullptr) return;
  std::set<int32_t> used;
  for (const prof::DeviceEvent& event : run->work().events()) used.insert(event.device_id);
  for (const int32_t id : used) {
    const DeviceMatch match = FindDevice(run->trace(), id);
    std::string name;
    if (match.device != nullptr) name = run->trace().strings.View(match.device->name);
    const bool named = !name.empty();
    // A GPU without a name may still match a row of the table of GPUs.
    const auto priced = priced_gpus_.find(id);
    if (!named && priced != priced_gpus_.end()) name = priced->second;
    const bool taken = !name.empty() && (match.taken || !named);
    ++gpus_[{std::move(name), taken}];
  }
  if (step_source_ == StepFacts::Source::kUnknown && !run->steps().all().empty()) {
    step_source_ = SourceOf(run->steps().source());
    if (const auto* proposal = run->step_proposal()) step_proposal_ = SentenceOf(*proposal);
    if (const auto* outside = run->outside_steps()) outside_steps_ = SentenceOf(*outside);
  }
}

void RunFacts::Fill(Screen* screen) const {
  screen->profilers = profilers_;
  GpuCounts gpus = gpus_;
  for (const auto& [device, name] : record_gpus_) ++gpus[{name, false}];
  for (const auto& [gpu, count] : gpus) screen->gpus.push_back({gpu.first, count, gpu.second});
  screen->runs = runs_;
  screen->are_ranks = ranks_ == runs_;
  screen->one_run = records_ || runs_ < 2 || numbers_.size() == runs_;
  screen->records = records_;
  screen->peaks_known = peaks_known_;
  screen->layers_flag = RecordingFlag(MissingFact::kLayers, first_family_);
  screen->kernels_flag = RecordingFlag(MissingFact::kKernels, first_family_);
  const auto share_of = [&](Evidence evidence) {
    return Percent(coverage_.evidence_ns(evidence), coverage_.kernel_ns()).value_or(0);
  };
  for (const Evidence evidence : kEvidences) {
    screen->op_by_pct[static_cast<size_t>(evidence)] = share_of(evidence);
  }
  screen->flops_by_launch_pct =
      Percent(coverage_.flops_by_launch_ns(), coverage_.kernel_ns()).value_or(0);
  screen->captures_matched = coverage_.matched_capture_ns() > 0;
  for (const prof::Coverage::Gap& gap : coverage_.Gaps()) {
    // Shown as losses.
    if (gap.lack == MissingFact::kLaunches || gap.lack == MissingFact::kEarlyLaunches ||
        gap.lack == MissingFact::kRanges || gap.lack == MissingFact::kGraphKernels) {
      continue;
    }
    if (screen->gap && screen->gap->share_pct >= gap.share_pct) continue;
    screen->gap = GapFact{std::string(gap.raises), gap.share_pct, std::string(gap.remedy)};
  }
}

}  // namespace oplens::screen
