#include "prof/input/loaded_profile.h"

namespace oplens::prof {
namespace {

// What several threads count is told seldom.
constexpr int64_t kCountedAtOnce = 256;

}  // namespace

const KernelCounters* LoadedProfile::CountersOf(size_t kernel) const {
  if (counters) return counters->Of(kernel);
  return samples ? samples->Of(kernel) : nullptr;
}

/// Whether a replay started before the next kernel.
bool ProfileCursor::ReplayIsNext(const LoadedProfile& profile) const {
  if (replay_ == profile.kernels->replay_count()) return false;
  if (kernel_ == profile.kernels->kernel_count()) return true;
  const Kernel& kernel = profile.trace.kernels[kernel_];
  // Untimed kernels come last.
  return !kernel.timed() || profile.trace.graph_replays[replay_].start_ns < kernel.start_ns;
}

RecordSource::Step ProfileCursor::Next(const LoadedProfile& profile, WaitingRow* row) {
  if (ReplayIsNext(profile)) {
    row->row.work = static_cast<uint32_t>(replay_);
    row->row.counters = nullptr;
    profile.kernels->ReplayOf(replay_++, &row->record);
    return RecordSource::Step::kReplay;
  }
  if (kernel_ == profile.kernels->kernel_count()) return RecordSource::Step::kEnd;
  row->row.work = static_cast<uint32_t>(kernel_);
  row->row.counters = profile.CountersOf(kernel_);
  profile.kernels->RecordOf(kernel_++, &row->record);
  return RecordSource::Step::kRecord;
}

int64_t KernelsOf(LoadedProfiles profiles) {
  size_t count = 0;
  for (const auto& profile : profiles) count += profile->kernels->kernel_count();
  return static_cast<int64_t>(count);
}

void LoadedRecords::CountKernels() {
  meter_->Add(cursor_.kernels() - counted_);
  counted_ = cursor_.kernels();
}

RecordSource::Step LoadedRecords::Next(WaitingRow* row, Diagnostics* diagnostics) {
  static_cast<void>(diagnostics);
  if (!in_input_) {
    if (next_ == profiles_.size()) return Step::kEnd;
    profile_ = profiles_[next_++].get();
    cursor_ = {};
    counted_ = 0;
    in_input_ = true;
    return Step::kInput;
  }
  const Step step = cursor_.Next(*profile_, row);
  if (step != Step::kEnd) {
    meter_->Check();
    if (cursor_.kernels() - counted_ >= kCountedAtOnce) CountKernels();
    return step;
  }
  CountKernels();
  in_input_ = false;
  return next_ == profiles_.size() ? Step::kEnd : Step::kEndOfInput;
}

}  // namespace oplens::prof
