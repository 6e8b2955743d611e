#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "parse/model/trace_devices.h"
#include "parse/model/trace_needs.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
#include "prof/table/field.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kSetupViewFields[] = {
    {"fact", "Fact", "", kText, 18,
     "gpu, gpus, sms, clock_mhz, memory_mib, profiler, world_size, steps, step_source, "
     "clock_step_ns, or a version that the file tells",
     Fold::kKey},
    {"value", "Value", "", kText, Field::kShared, "what it is", Fold::kKey},
    {"inputs", "Inputs", "", kInteger, 7, "how many inputs say so", Fold::kSum},
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

/// On what ran, and what of it was recorded.
class Setup : public SavedPartial<Setup> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    TransferMap(bytes, &self->facts_, [&](auto fact, int64_t inputs) {
      if constexpr (Bytes::kReads) {
        bytes->Check(inputs >= 0 && inputs <= ByteReader::kMostCount, "a count is impossible");
        self->facts_[std::move(fact)] += inputs;
      }
    });
    bytes->Values(&self->notes_);
  }

  void Begin(const Run* run) override {
    if (run == nullptr) notes_.insert("setup needs the profile itself: records do not tell it");
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

  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Setup&>(other);
    for (const auto& [fact, inputs] : more.facts_) facts_[fact] += inputs;
    notes_.insert(more.notes_.begin(), more.notes_.end());
  }

  std::vector<Field> Fields() const override {
    return {std::begin(kSetupViewFields), std::end(kSetupViewFields)};
  }

  void Emit(Sink* sink) const override {
    for (const auto& [fact, inputs] : facts_) {
      const Cell cells[] = {Text(fact.first), Text(fact.second), Integer(inputs)};
      sink->Row(cells);
    }
  }

  std::vector<std::string> Notes() const override { return {notes_.begin(), notes_.end()}; }

 private:
  void Say(std::string fact, std::string value) {
    if (!value.empty()) ++facts_[{std::move(fact), std::move(value)}];
  }

  /// Of the GPUs that did something: what they are, each kind once.
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

  std::map<std::pair<std::string, std::string>, int64_t> facts_;  // Inputs by fact and value.
  std::set<std::string> notes_;
};

}  // namespace

constexpr View kSetupView = {.name = "setup",
                             .help = "on what the run ran: GPUs, clocks, versions, steps",
                             .fields = FieldsWithoutBy<kSetupViewFields>,
                             .make = MakePartial<Setup>,
                             .saved_form = 1};

}  // namespace oplens::prof
