#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "parse/model/trace_devices.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

struct Fact {
  std::string name;
  std::string value;

  friend auto operator<=>(const Fact&, const Fact&) = default;
};

struct FactSums {
  Balance inputs;

  std::string_view Problem() const {
    const bool possible = inputs >= 0 && inputs <= ByteReader::kMostCount;
    return possible ? std::string_view() : "a count is impossible";
  }
};

constexpr Column<GroupRow<Fact, FactSums>> kSetupColumns[] = {
    KeyColumn<&Fact::name>{{"fact", "Fact", "", FieldType::kText, 18,
                            "gpu, gpus, sms, clock_mhz, memory_mib, profiler, world_size, steps, "
                            "step_source, clock_step_ns, or a version that the file records",
                            Fold::kKey}},
    KeyColumn<&Fact::value>{
        {"value", "Value", "", FieldType::kText, Field::kShared, "value of the fact", Fold::kKey}},
    FigureColumn<&FactSums::inputs>{"inputs", "Inputs", "", 7, "number of inputs with this value"},
};

std::string_view SourceWord(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "none: the whole run is one step";
    case StepSource::kRanges:
      return "ranges";
    case StepSource::kPattern:
      return "--step";
    case StepSource::kRepetition:
      return "repeating kernels";
  }
  return {};
}

/// What ran on which machine, and what was recorded.
class Setup : public GroupedPartial<Fact, FactSums, GroupRow<Fact, FactSums>, TextNotes> {
 public:
  explicit Setup(const ViewOptions& options)
      : GroupedPartial("setup", options, {}, kSetupColumns) {}

  void Begin(const Run* run) override {
    if (run == nullptr) notes_.Add("setup needs the profile itself: records do not hold it");
  }

  void End(const Run* run) override {
    if (run == nullptr) return;
    const Trace& trace = run->trace();
    AddDevices(*run);
    Say("profiler", trace.producer.empty()
                        ? std::string(FamilyWord(trace.family))
                        : fmt::format("{} {}", FamilyWord(trace.family), trace.producer));
    if (trace.world_size > 0) Say("world_size", std::to_string(trace.world_size));
    size_t whole = 0;
    for (const Step& step : run->steps().all()) whole += step.complete ? 1 : 0;
    Say("steps", std::to_string(whole));
    Say("step_source", std::string(SourceWord(run->steps().source())));
    Say("clock_step_ns", std::to_string(trace.clock_resolution_ns));
    for (const auto& [name, version] : trace.versions) {
      Say(std::string(trace.strings.View(name)), std::string(trace.strings.View(version)));
    }
  }

 private:
  void Say(std::string fact, std::string value) {
    if (!value.empty()) ++rows_[{std::move(fact), std::move(value)}].inputs;
  }

  /// Distinct kinds of the GPUs that did work.
  void AddDevices(const Run& run) {
    std::set<int32_t> used;
    for (const DeviceEvent& event : run.work().events()) used.insert(event.device_id);
    if (used.empty()) return;
    Say("gpus", std::to_string(used.size()));
    std::set<std::pair<std::string, std::string>> said;
    const auto say = [&](std::string fact, std::string value) {
      if (said.emplace(fact, value).second) Say(std::move(fact), std::move(value));
    };
    for (const int32_t id : used) {
      const DeviceMatch match = FindDevice(run.trace(), id);
      if (match.device == nullptr) continue;
      const Device& device = *match.device;
      say("gpu", std::string(run.trace().strings.View(device.name)));
      if (device.multiprocessors > 0) say("sms", std::to_string(device.multiprocessors));
      if (device.core_clock_hz > 0) {
        say("clock_mhz", std::to_string(device.core_clock_hz / 1'000'000));
      }
      if (device.memory_bytes > 0) {
        say("memory_mib", std::to_string(device.memory_bytes / (int64_t{1} << 20)));
      }
    }
  }
};

}  // namespace

extern constexpr View kSetupView = {.name = "setup",
                                    .help = "what the run ran on: GPUs, clocks, versions, steps",
                                    .fields = FieldsWithoutBy<kSetupColumns>,
                                    .make = MakePartial<Setup>,
                                    .saved_form = 1};

}  // namespace oplens::prof
