#ifndef OPLENS_PROF_INPUT_LOADED_PROFILE_H_
#define OPLENS_PROF_INPUT_LOADED_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_line.h"
#include "parse/counters/counter_join.h"
#include "parse/counters/counter_table.h"
#include "parse/counters/sampled_counters.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/records/kernel_records.h"
#include "prof/input/record_source.h"

namespace oplens::prof {

/// A profile in memory. Not to be moved: its parts point to each other.
struct LoadedProfile {
  LoadedProfile() = default;
  LoadedProfile(const LoadedProfile&) = delete;
  LoadedProfile& operator=(const LoadedProfile&) = delete;

  std::string path;
  Trace trace;
  std::optional<parse::KernelRecords> kernels;  ///< Once joined.
  std::optional<parse::CounterTable> table;     ///< Of which the trace was made.
  std::optional<parse::CounterJoin> counters;
  std::optional<parse::SampledCounters> samples;  ///< Where nothing counted each kernel.
  Diagnostics losses;                             ///< Of reading, from LoadAll(),
  Diagnostics join_losses;                        ///< and of joining.

  /// What the hardware counted of a kernel; null if nothing did.
  const KernelCounters* CountersOf(size_t kernel) const;
};

/// The records of a joined profile in order.
class ProfileCursor {
 public:
  /// kRecord, kReplay or kEnd. The record points into `profile`.
  RecordSource::Step Next(const LoadedProfile& profile, WaitingRow* row);
  /// Kernels given so far.
  int64_t kernels() const { return static_cast<int64_t>(kernel_); }

 private:
  bool ReplayIsNext(const LoadedProfile& profile) const;

  size_t kernel_ = 0;
  size_t replay_ = 0;
};

using LoadedProfiles = std::span<const std::unique_ptr<LoadedProfile>>;

/// The total for a meter that counts the records of these profiles.
int64_t KernelsOf(LoadedProfiles profiles);

/// The records of loaded profiles, as often as wanted: one object each time.
class LoadedRecords : public RecordSource {
 public:
  /// `profiles` and `meter`, which was started and may stop the work, must outlive this. Others may
  /// count their kernels by the same meter.
  LoadedRecords(LoadedProfiles profiles, WorkMeter* meter) : profiles_(profiles), meter_(meter) {}

  /// Does not count the losses of reading, which the profiles keep.
  Step Next(WaitingRow* row, Diagnostics* diagnostics) override;
  bool counts_reasons() const override { return true; }
  Family family() const override { return profile_->trace.family; }
  const parse::KernelRecords* profile() const override { return &*profile_->kernels; }
  std::string_view name() const override {
    return profile_ == nullptr ? std::string_view() : profile_->path;
  }

 private:
  void CountKernels();

  LoadedProfiles profiles_;
  WorkMeter* meter_;
  const LoadedProfile* profile_ = nullptr;  // The current one.
  size_t next_ = 0;                         // The one after it.
  bool in_input_ = false;
  ProfileCursor cursor_;
  int64_t counted_ = 0;  // Kernels of the current profile that the meter has.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_LOADED_PROFILE_H_
