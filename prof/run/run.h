#ifndef OPLENS_PROF_RUN_RUN_H_
#define OPLENS_PROF_RUN_RUN_H_

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/model/kernel_names.h"
#include "parse/records/kernel_records.h"
#include "prof/run/call_work.h"
#include "prof/run/collective_calls.h"
#include "prof/run/device_work.h"
#include "prof/run/memory_life.h"
#include "prof/run/selection.h"
#include "prof/run/steps.h"

namespace oplens::prof {

/// What a run is looked at with.
struct RunOptions {
  Selection selection = {};
  /// The number of the step that a range or layer with this text is; nullopt: it is none. Empty:
  /// steps are what the file says.
  std::function<std::optional<int64_t>(std::string_view text)> step_in = {};
};

/// One rank's profile as the views see it: the trace, the join, and what several views compute of
/// them, made when it is first asked for.
class Run {
 public:
  /// `records` must outlive this object.
  explicit Run(const parse::KernelRecords& records, RunOptions options = {})
      : records_(records), options_(std::move(options)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const parse::Joined& joined() const { return records_.joined(); }
  const Trace& trace() const { return joined().trace(); }
  const KernelNames& names() const { return records_.names(); }
  /// "" where there is one rank only, or it is not known.
  std::string_view rank() const { return trace().strings.View(trace().rank_name); }

  /// The work of the GPUs that is selected.
  const DeviceWork& work() const;
  /// What ran on the selected GPU, at any time and whoever launched it: for times within windows.
  const DeviceWork& device_work() const;
  /// The stretches of time that are looked at, by their starts: the spans of the selected steps, or
  /// the selected time; nullopt: all of it.
  std::optional<std::vector<Interval>> windows() const;
  /// From the start of the first window to the end of the last; without any that of the steps.
  Interval window() const;
  /// The first event of the file, whatever is selected.
  int64_t origin_ns() const;
  bool selects_all() const { return options_.selection.empty(); }
  /// The selected steps.
  const Steps& steps() const;
  const parse::CallTree& calls() const;
  const CallWork& call_work() const;
  /// Of all memory events, whatever is selected; a view of them needs TracePart::kMemoryEvents.
  const MemoryLife& memory() const;
  /// What MemoryOwners answers.
  const std::vector<uint32_t>& memory_owners() const;
  /// The selected calls of collectives, by start.
  const std::vector<CollectiveCall>& collectives() const;

  /// Whether something that a GPU did is looked at.
  bool Selects(const DeviceEvent& event) const;
  bool Selects(const Kernel& kernel, uint32_t index) const;
  bool Selects(const GraphReplay& replay, uint32_t index) const;
  /// The place of its step in steps().all().
  size_t StepOf(const Kernel& kernel, uint32_t index) const;
  size_t StepOf(const GraphReplay& replay, uint32_t index) const;
  /// Whether something that a host thread did at a time is.
  bool SelectsHost(int64_t time_ns) const;
  /// Whether what lies on a device is; negative ids are the host, which no selected GPU is.
  bool SelectsDevice(int64_t device_id) const {
    return !options_.selection.device || *options_.selection.device == device_id;
  }

 private:
  /// All of it, whatever is selected.
  const DeviceWork& all_work() const;
  bool SelectsTime(int64_t time_ns) const;
  std::vector<HostStep> StepsOfPattern() const;

  const parse::KernelRecords& records_;
  RunOptions options_;
  mutable std::optional<DeviceWork> all_work_;
  mutable std::optional<DeviceWork> work_;         // Where something is selected.
  mutable std::optional<DeviceWork> device_work_;  // Where a GPU is.
  mutable std::optional<Steps> steps_;
  mutable std::optional<parse::CallTree> calls_;
  mutable std::optional<Interval> time_;  // Selected, on the file's clock.
  mutable std::optional<CallWork> call_work_;
  mutable std::optional<MemoryLife> memory_;
  mutable std::optional<std::vector<uint32_t>> memory_owners_;
  mutable std::optional<std::vector<CollectiveCall>> collectives_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_RUN_H_
