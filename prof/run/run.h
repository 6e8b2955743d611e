#ifndef OPLENS_PROF_RUN_RUN_H_
#define OPLENS_PROF_RUN_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/lazy.h"
#include "prof/run/interval_set.h"
#include "prof/run/selection.h"

namespace oplens {
class KernelNames;
struct GraphReplay;
struct Kernel;
struct Trace;
}  // namespace oplens

namespace oplens::parse {
class CallTree;
class Joined;
class KernelRecords;
}  // namespace oplens::parse

namespace oplens::prof {

class CallWork;
class DeviceWork;
class HostActivity;
class HostMoments;
class MemoryLife;
class Steps;
class StreamOrder;
struct SteadyIdle;
struct StepTimes;
struct CollectiveCall;
struct DeviceEvent;
struct HostStep;
struct OutsideSteps;
struct StepProposal;

/// What a text says to --step.
struct StepText {
  bool matches = false;
  std::optional<int64_t> number;  ///< In the text.
  bool picked = false;            ///< By a group of the pattern: it counts as it is.
};

/// How a run is analysed.
struct RunOptions {
  Selection selection = {};
  /// What the text of a range or layer says to --step. Empty: steps as in the file.
  std::function<StepText(std::string_view text)> step_in = {};
  /// Count every step that is not cut, also those that StatesOf leaves out.
  bool all_steps = false;
};

/// One rank's profile as views see it, in several threads: the trace, the join, and shared
/// intermediate results, computed on first use. Users of a part include its header.
class Run {
 public:
  /// `records` must outlive this object.
  explicit Run(const parse::KernelRecords& records, RunOptions options = {});
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  const parse::Joined& joined() const { return joined_; }
  const Trace& trace() const { return trace_; }
  const KernelNames& names() const { return names_; }
  /// "" if there is only one rank, or it is unknown.
  std::string_view rank() const;

  /// The selected work of the GPUs.
  const DeviceWork& work() const;
  /// What ran on the selected GPU at any time, whoever launched it: for times within windows.
  const DeviceWork& device_work() const;
  /// Selected stretches of time by start: spans of selected steps or selected time; nullopt: all.
  std::optional<std::vector<Interval>> windows() const;
  /// From the start of the first window to the end of the last; without windows, the steps' window.
  Interval window() const;
  /// RunExtent() of the file, whatever is selected.
  const std::optional<Interval>& extent() const;
  /// Its start; 0 without any event.
  int64_t origin_ns() const;
  bool selects_all() const { return options_.selection.empty(); }
  /// The selected steps.
  const Steps& steps() const;
  const parse::CallTree& calls() const;
  const CallWork& call_work() const;
  /// Not const: it analyses a thread on first use.
  HostActivity& host_activity() const;
  /// Of device_work(), for the critical path.
  const HostMoments& host_moments() const;
  const StreamOrder& stream_order() const;
  /// Needs kIdleGapsNeeds.
  const SteadyIdle& steady_idle() const;
  /// Of all steps: StepTimesOf. Needs kIdleGapsNeeds; without kApiTimes, API calls that launched
  /// nothing take no time.
  const std::vector<StepTimes>& step_times() const;
  /// ProposeSteps(); null: there is none.
  const StepProposal* step_proposal() const;
  /// FindOutsideSteps(); null: there is nothing to say.
  const OutsideSteps* outside_steps() const;
  /// Of all memory events, whatever is selected; views of them need TracePart::kMemoryEvents.
  const MemoryLife& memory() const;
  /// The result of MemoryOwners.
  const std::vector<uint32_t>& memory_owners() const;
  /// The selected calls of collectives, by start.
  const std::vector<CollectiveCall>& collectives() const;

  /// Whether the GPU work is selected.
  bool Selects(const DeviceEvent& event) const;
  bool Selects(const Kernel& kernel, uint32_t index) const;
  bool Selects(const GraphReplay& replay, uint32_t index) const;
  /// The index of its step in steps().all().
  size_t StepOf(const Kernel& kernel, uint32_t index) const;
  size_t StepOf(const GraphReplay& replay, uint32_t index) const;
  /// Whether host activity at this time is selected.
  bool SelectsHost(int64_t time_ns) const;
  /// Whether the device is selected; negative ids are the host, which no selected GPU is.
  bool SelectsDevice(int64_t device_id) const {
    return !options_.selection.device || *options_.selection.device == device_id;
  }

 private:
  /// All of it, whatever is selected.
  const DeviceWork& all_work() const;
  bool SelectsTime(int64_t time_ns) const;
  const Interval& SelectedTime() const;
  std::vector<HostStep> StepsOfPattern() const;

  const parse::Joined& joined_;
  const Trace& trace_;
  const KernelNames& names_;
  RunOptions options_;
  Lazy<std::unique_ptr<DeviceWork>> all_work_;
  Lazy<std::unique_ptr<DeviceWork>> work_;         // If something is selected.
  Lazy<std::unique_ptr<DeviceWork>> device_work_;  // If a GPU is selected.
  Lazy<std::unique_ptr<Steps>> steps_;
  Lazy<std::unique_ptr<parse::CallTree>> calls_;
  Lazy<std::optional<Interval>> extent_;
  Lazy<Interval> time_;  // Selected, on the file's clock.
  Lazy<std::unique_ptr<CallWork>> call_work_;
  Lazy<std::unique_ptr<HostActivity>> host_activity_;
  Lazy<std::unique_ptr<HostMoments>> host_moments_;
  Lazy<std::unique_ptr<StreamOrder>> stream_order_;
  Lazy<std::unique_ptr<SteadyIdle>> steady_idle_;
  Lazy<std::unique_ptr<std::vector<StepTimes>>> step_times_;
  Lazy<std::unique_ptr<StepProposal>> step_proposal_;
  Lazy<std::unique_ptr<OutsideSteps>> outside_steps_;
  Lazy<std::unique_ptr<MemoryLife>> memory_;
  Lazy<std::vector<uint32_t>> memory_owners_;
  Lazy<std::unique_ptr<std::vector<CollectiveCall>>> collectives_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_RUN_H_
