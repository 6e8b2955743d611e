#include "parse/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/append_format.h"
#include "base/checked.h"
#include "base/utf8.h"
#include "parse/check/survey.h"
#include "parse/join/joined.h"
#include "parse/model/need.h"
#include "parse/model/recording_advice.h"
#include "parse/records/kernel_records.h"

namespace oplens::parse {
namespace {

struct NeedCheck {
  Need need = Need::kNothing;
  bool (*met)(const KernelFacts& kernel) = nullptr;
  std::string_view missing;         ///< What is missing in the file if a kernel does not meet it.
  std::optional<MissingFact> lack;  ///< What to record then.
  /// Necessary but not sufficient: only pricing shows whether there is a value.
  bool at_most = false;
};

constexpr std::string_view kNoArguments = "no op with its arguments";

constexpr bool kAtMost = true;

bool HasArguments(const KernelFacts& kernel) { return kernel.arguments; }

bool HasGpu(const KernelFacts& kernel) {
  return kernel.record.gpu.has_value() || kernel.record.device_name.has_value();
}

bool HasOccupancy(const KernelFacts& kernel) {
  const KernelRecord& record = kernel.record;
  const bool shared = record.shared_memory_bytes ||
                      (record.static_shared_memory_bytes && record.dynamic_shared_memory_bytes);
  return HasGpu(kernel) && record.registers_per_thread && shared;
}

bool HasDirection(const KernelFacts& kernel) {
  const KernelRecord& record = kernel.record;
  return record.direction == Direction::kBackward || !record.markers.empty() ||
         !record.seq_markers.empty();
}

bool HasSequence(const KernelFacts& kernel) { return !kernel.record.seq_ids.empty(); }
bool HasAlternative(const KernelFacts& kernel) { return !kernel.record.alt_seq_ids.empty(); }

constexpr NeedCheck kNeedChecks[] = {
    {Need::kNothing, [](const KernelFacts&) { return true; }, "", std::nullopt},
    {Need::kName, [](const KernelFacts& kernel) { return !kernel.record.short_name.empty(); },
     "no name of the kernel", MissingFact::kKernelNames},
    {Need::kTensorCoreName,
     [](const KernelFacts& kernel) {
       return !kernel.record.reasons.Has(Reason::kUnknownKernelName) || kernel.arguments;
     },
     "no name of the kernel", MissingFact::kKernelNames, kAtMost},
    {Need::kTime, [](const KernelFacts& kernel) { return kernel.record.timed(); },
     "no time of the kernel", MissingFact::kKernelTimes},
    {Need::kLaunchConfiguration,
     [](const KernelFacts& kernel) { return kernel.record.grid.known(); },
     "no launch configuration", MissingFact::kLaunchConfigurations},
    {Need::kLaunch, [](const KernelFacts& kernel) { return kernel.record.launch_api.has_value(); },
     "no call that launched it", MissingFact::kLaunches},
    {Need::kLaunchedAndTimed,
     [](const KernelFacts& kernel) {
       return kernel.record.timed() && kernel.record.launch_end_ns.has_value();
     },
     "no call that launched it, or no time", MissingFact::kLaunches},
    {Need::kCorrelation,
     [](const KernelFacts& kernel) { return kernel.record.correlation_id.has_value(); },
     "no number that it shares with its launch", MissingFact::kLaunches},
    {Need::kProcess, [](const KernelFacts& kernel) { return kernel.record.process_id.has_value(); },
     "no call that launched it", MissingFact::kLaunches},
    {Need::kRank, [](const KernelFacts& kernel) { return kernel.record.rank.has_value(); },
     "the file does not say its rank", MissingFact::kRank},
    {Need::kOp, [](const KernelFacts& kernel) { return kernel.op; }, "no op around the launch",
     MissingFact::kOps, kAtMost},
    {Need::kModule, nullptr, "", std::nullopt},
    {Need::kMarker, [](const KernelFacts& kernel) { return kernel.annotation; },
     "no annotated call around the launch", MissingFact::kTypedOps, kAtMost},
    {Need::kCost, HasArguments, kNoArguments, MissingFact::kArguments, kAtMost},
    {Need::kCostShare, HasArguments, kNoArguments, MissingFact::kArguments, kAtMost},
    {Need::kCostKinds, HasArguments, kNoArguments, MissingFact::kArguments, kAtMost},
    {Need::kRate, HasArguments, kNoArguments, MissingFact::kArguments, kAtMost},
    {Need::kShapes, HasArguments, kNoArguments, MissingFact::kArguments, kAtMost},
    {Need::kRoofline, [](const KernelFacts& kernel) { return kernel.arguments && HasGpu(kernel); },
     "no op with its arguments, or no GPU", MissingFact::kRoof, kAtMost},
    {Need::kOccupancy, HasOccupancy, "no GPU, registers or shared memory", MissingFact::kGpu,
     kAtMost},
    {Need::kDirection, HasDirection, "nothing says forward or backward", MissingFact::kOps},
    {Need::kSequence, HasSequence, "no sequence number around the launch", MissingFact::kGradients},
    {Need::kAlternative, HasAlternative, "no second sequence number", std::nullopt},
    {Need::kSubSequence,
     [](const KernelFacts& kernel) { return HasSequence(kernel) || HasAlternative(kernel); },
     "no sequence number around the launch", MissingFact::kGradients},
    {Need::kPhase, [](const KernelFacts& kernel) { return kernel.record.phase != Phase::kUnknown; },
     "nothing says what the step was doing", MissingFact::kOps},
    {Need::kStep, [](const KernelFacts& kernel) { return kernel.record.step.has_value(); },
     "no numbered step around the launch", MissingFact::kSteps},
    {Need::kGradient,
     [](const KernelFacts& kernel) { return kernel.record.direction == Direction::kBackward; },
     "no kernel of the backward pass", std::nullopt, kAtMost},
    {Need::kLayer, [](const KernelFacts& kernel) { return kernel.layer; },
     "no layer around the launch", MissingFact::kLayers, kAtMost},
    {Need::kStack, [](const KernelFacts& kernel) { return kernel.stack; }, "no call stack",
     MissingFact::kStacks, kAtMost},
    {Need::kRange, [](const KernelFacts& kernel) { return !kernel.record.range.empty(); },
     "no range of your own around the launch", MissingFact::kRanges},
    {Need::kCounters, [](const KernelFacts&) { return false; },
     "no counters: they come from an export of ncu, --counters", std::nullopt},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kNeedChecks); ++i) {
    if (static_cast<size_t>(kNeedChecks[i].need) != i) return false;
  }
  return std::size(kNeedChecks) == kNeedCount;
}
static_assert(InOrder(), "one entry a need, in the order of the enumeration");

/// Every need, in enumeration order. One without `met` shares the result and line of the one
/// before.
std::span<const NeedCheck> NeedChecks() { return kNeedChecks; }

/// Something that a profile may hold besides the columns of kernels.
struct Part {
  std::string_view name;
  int64_t (*count)(const Trace& trace, const TraceSurvey& survey);
  std::optional<MissingFact> lack = {};  ///< What to record if there is none.
};

template <auto Member>
int64_t SizeOf(const Trace& trace, const TraceSurvey&) {
  return static_cast<int64_t>((trace.*Member).size());
}

template <auto Member>
int64_t Counted(const Trace&, const TraceSurvey& survey) {
  return survey.*Member;
}

constexpr Part kParts[] = {
    {"launch and other API calls", SizeOf<&Trace::launches>, MissingFact::kApiCalls},
    {"NVTX ranges", Counted<&TraceSurvey::markers>, MissingFact::kNvtxRanges},
    {"user annotations", Counted<&TraceSurvey::annotations>, MissingFact::kAnnotations},
    {"ops", Counted<&TraceSurvey::ops>, MissingFact::kTypedOps},
    {"ops with arguments", Counted<&TraceSurvey::ops_with_arguments>, MissingFact::kArguments},
    {"sequence numbers", Counted<&TraceSurvey::numbered>, MissingFact::kOps},
    {"layers and modules", Counted<&TraceSurvey::layers>, MissingFact::kLayers},
    {"call stacks", Counted<&TraceSurvey::stacks>, MissingFact::kStacks},
    {"Python calls", Counted<&TraceSurvey::frames>, MissingFact::kFrames},
    {"steps", Counted<&TraceSurvey::steps>, MissingFact::kSteps},
    {"copies", SizeOf<&Trace::copies>},
    {"fills", SizeOf<&Trace::sets>},
    {"waits", SizeOf<&Trace::synchronizations>},
    {"memory events", SizeOf<&Trace::memory_events>, MissingFact::kMemoryEvents},
    {"communications", SizeOf<&Trace::communications>},
    {"forward-backward links", SizeOf<&Trace::forward_backward_links>},
    {"graph kernels", Counted<&TraceSurvey::graph_kernels>},
    {"graph replays without kernels", SizeOf<&Trace::graph_replays>},
};

constexpr size_t kMaxListed = 8;

class Description {
 public:
  Description(const Trace& trace, const KernelRecords& kernels, const Diagnostics& diagnostics)
      : trace_(trace), kernels_(kernels), diagnostics_(diagnostics), survey_(SurveyTrace(trace)) {}

  std::string Render(const std::string& path, std::span<const ColumnNeed> columns) {
    AddHead(path);
    AddKernels();
    AddParts();
    AddRangeTrouble();
    AddGraphAdvice();
    AddColumns(columns);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    AppendFormat(&out_, format, std::forward<Args>(args)...);
    out_.push_back('\n');
  }

  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  void AddHead(const std::string& path) {
    const bool said = trace_.producer.find("schema") != std::string::npos;
    std::string version;
    if (trace_.schema_version > 0 && !said) {
      version = fmt::format(", schema {}", trace_.schema_version);
    }
    if (!trace_.producer.empty()) {
      version += fmt::format(", written by {}", Printable(trace_.producer));
    }
    Line("{}: {}{}", LineText(path), FamilyWord(trace_.family), version);
    AddDevices();
    AddProcesses();
    Line("  rank {}", RankText());
  }

  std::string RankText() const {
    std::string text = trace_.rank == kUnknownId ? "not recorded" : fmt::format("{}", trace_.rank);
    if (trace_.world_size != kUnknownId) text += fmt::format(" of {}", trace_.world_size);
    const std::string_view name = View(trace_.rank_name);
    if (!name.empty() && name != text) text += fmt::format(", shown as {}", Printable(name));
    return text;
  }

  /// Names from a file may hold anything; one line stays one line.
  static std::string Printable(std::string_view text) {
    constexpr size_t kMost = 120;
    std::string shown;
    for (const char c : text.substr(0, kMost)) shown.push_back(c >= 0x20 && c < 0x7F ? c : '?');
    return text.size() > kMost ? shown + "..." : shown;
  }

  void AddDevices() {
    if (trace_.devices.empty()) Line("  GPU not recorded");
    for (size_t i = 0; i < std::min(trace_.devices.size(), kMaxListed); ++i) {
      const Device& device = trace_.devices[i];
      const std::string_view name = View(device.name);
      Line("  GPU {}: {}, compute capability {}.{}, {} multiprocessors", device.id,
           name.empty() ? "unnamed" : Printable(name), device.compute_capability_major,
           device.compute_capability_minor, device.multiprocessors);
    }
    AddMore(trace_.devices.size());
  }

  void AddProcesses() {
    std::map<int64_t, int64_t> threads;
    for (const Thread& thread : trace_.threads) ++threads[thread.process_id];
    size_t listed = 0;
    for (const auto& [process, count] : threads) {
      if (listed++ == kMaxListed) break;
      Line("  process {}: {} thread{}", process, count, count == 1 ? "" : "s");
    }
    AddMore(threads.size());
  }

  void AddMore(size_t count) {
    if (count > kMaxListed) Line("  ... and {} more", count - kMaxListed);
  }

  void AddKernels() {
    const auto span = Checked(survey_.last_kernel_ns) - Checked(survey_.first_kernel_ns);
    Line("holds");
    Line("  {:<30} {:>9}  {} ns of GPU time within {} ns", "kernels", kernels_.kernel_count(),
         survey_.kernel_ns, span.Value().value_or(INT64_MAX));
  }

  void AddParts() {
    for (const Part& part : kParts) {
      const int64_t count = part.count(trace_, survey_);
      const std::string_view advice = FlagFor(part.lack);
      if (count > 0 || advice.empty()) {
        Line("  {:<30} {:>9}", part.name, count);
      } else {
        Line("  {:<30} {:>9}  to add: {}", part.name, count, advice);
      }
    }
  }

  void AddRangeTrouble() {
    const int64_t leaked = diagnostics_.CountOf(Reason::kLeakedRange);
    if (survey_.open_ranges == 0 && leaked == 0) return;
    Line("  {:<30} {:>9}  never closed, {} of them left out as leaked", "open ranges",
         survey_.open_ranges, leaked);
  }

  void AddGraphAdvice() {
    const bool unplaced = survey_.graph_kernels > survey_.placed_graph_kernels;
    const std::string_view advice = FlagFor(MissingFact::kGraphKernels);
    if ((!trace_.graph_replays.empty() || unplaced) && !advice.empty()) {
      Line("  to add: {}", advice);
    }
  }

  std::vector<size_t> CountNeeds() const {
    const std::span<const NeedCheck> checks = NeedChecks();
    std::vector<size_t> counts(checks.size(), 0);
    FactFinder finder(kernels_.joined());
    KernelRecord record;
    for (size_t i = 0; i < kernels_.kernel_count(); ++i) {
      kernels_.RecordOf(i, &record);
      if (trace_.rank_name != 0) record.rank = View(trace_.rank_name);
      const KernelFacts facts = finder.FactsOf(i, record);
      for (size_t n = 0; n < checks.size(); ++n) {
        if (checks[n].met != nullptr && checks[n].met(facts)) ++counts[n];
      }
    }
    return counts;
  }

  void AddColumns(std::span<const ColumnNeed> columns) {
    const std::span<const NeedCheck> checks = NeedChecks();
    const std::vector<size_t> counts = CountNeeds();
    Line("columns of prof, and the kernels that have them");
    if (kernels_.kernel_count() == 0) AddNoKernels();
    std::string keys;
    for (size_t n = 0, first = 0; n < checks.size(); ++n) {
      if (checks[n].met != nullptr) first = n;
      for (const ColumnNeed& column : columns) {
        if (column.need == checks[n].need) (keys += keys.empty() ? "" : " ") += column.key;
      }
      const bool goes_on = n + 1 < checks.size() && checks[n + 1].met == nullptr;
      if (goes_on || keys.empty()) continue;
      AddNeed(checks[first], keys, counts[first]);
      keys.clear();
    }
  }

  void AddNoKernels() {
    Line("  the profile holds no kernel; to add: {}", FlagFor(MissingFact::kKernels));
  }

  void AddNeed(const NeedCheck& check, std::string_view keys, size_t count) {
    const size_t total = kernels_.kernel_count();
    const std::string share =
        fmt::format("{}{} of {}", check.at_most && count > 0 ? "at most " : "", count, total);
    if (count == total) return Line("  {:<36} {:>23}", keys, share);
    const std::string_view advice = FlagFor(check.lack);
    Line("  {:<36} {:>23}  {}{}{}", keys, share, check.missing,
         advice.empty() ? "" : "; to add: ", advice);
  }

  /// What to record; "" if nothing adds it.
  std::string_view FlagFor(std::optional<MissingFact> lack) const {
    if (!lack) return {};
    // prof --gpu knows only NVIDIA's GPUs.
    if (OfAnotherMaker() && *lack == MissingFact::kGpu) return {};
    if (OfAnotherMaker() && *lack == MissingFact::kRoof) lack = MissingFact::kArguments;
    return RecordingFlag(*lack, trace_.family);
  }

  /// Whether the GPUs are known not to be NVIDIA's: their warps do not have 32 threads.
  bool OfAnotherMaker() const {
    constexpr int64_t kWarpThreads = 32;
    return std::any_of(trace_.devices.begin(), trace_.devices.end(), [](const Device& device) {
      return device.warp_threads > 0 && device.warp_threads != kWarpThreads;
    });
  }

  const Trace& trace_;
  const KernelRecords& kernels_;
  const Diagnostics& diagnostics_;
  TraceSurvey survey_;
  std::string out_;
};

}  // namespace

std::string DescribeProfile(const std::string& path, const Trace& trace,
                            const KernelRecords& kernels, const Diagnostics& diagnostics,
                            std::span<const ColumnNeed> columns) {
  return Description(trace, kernels, diagnostics).Render(path, columns);
}

}  // namespace oplens::parse
