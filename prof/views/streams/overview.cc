#include "prof/views/streams/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/price/figures.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/device_work.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/run.h"
#include "prof/run/step_proposals.h"
#include "prof/run/step_times.h"
#include "prof/run/steps.h"
#include "prof/run/steps_coverage.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

struct OverviewStep {
  int64_t start_ns = 0;  ///< From the rank's first event.
  int64_t number = 0;
  StepState state = StepState::kSteady;
  ServedPhase phase = ServedPhase::kUnknown;
  std::optional<int64_t> requests;
  std::optional<int64_t> tokens;
  std::optional<int64_t> kv_tokens;
  Sum total_ns;
  std::optional<int64_t> host_ns;
  StepTimes times;
  Sum ideal_ps;     ///< Of its products at peak rates.
  Sum capacity_ns;  ///< total_ns of each GPU.

  /// By all that is shown, so that the order of merging has no effect.
  friend bool operator<(const OverviewStep& a, const OverviewStep& b) {
    const auto key = [](const OverviewStep& step) {
      return std::tie(step.start_ns, step.total_ns, step.number, step.state, step.phase,
                      step.requests, step.tokens, step.kv_tokens, step.host_ns, step.times,
                      step.ideal_ps, step.capacity_ns);
    };
    return key(a) < key(b);
  }
};

struct RankSteps {
  std::vector<OverviewStep> steps;
  Any has_product;
};

/// A step, or the mean of several.
struct OverviewRow {
  const RankName& rank;
  std::string label;
  std::span<const OverviewStep> steps;
  bool mean = false;
  bool ours = true;  ///< Our rules: with state and start.
  bool has_product = false;

  /// nullopt if one value is unknown.
  template <typename F>
  std::optional<double> SumOf(F value_of) const {
    double sum = 0;
    for (const OverviewStep& step : steps) {
      const std::optional<int64_t> value = value_of(step);
      if (!value) return std::nullopt;
      sum += static_cast<double>(*value);
    }
    return sum;
  }
  /// kUnknown if they differ.
  ServedPhase Phase() const {
    const bool same = std::ranges::all_of(
        steps, [&](const OverviewStep& step) { return step.phase == steps[0].phase; });
    return same ? steps[0].phase : ServedPhase::kUnknown;
  }
  template <typename F>
  Cell FigureOf(F value_of) const {
    if (!mean) return Integer(std::optional<int64_t>(value_of(steps[0])));
    const auto sum = SumOf(value_of);
    return sum ? Cell{*sum / static_cast<double>(steps.size())} : Cell();
  }
};

constexpr int kOverviewWidth = 13;

template <auto list, auto of>
constexpr Column<OverviewRow> TimeColumn(std::string_view key, std::string_view header,
                                         std::string_view help) {
  return {{key, header, "ns", FieldType::kInteger, kOverviewWidth, help, Fold::kSum},
          [](const OverviewRow& row) {
            return row.FigureOf([](const OverviewStep& step) {
              return (step.times.*list)[static_cast<size_t>(of)];
            });
          }};
}

constexpr Column<OverviewRow> kOverviewColumns[] = {
    {{"rank", "Rank", "", FieldType::kText, 4, "rank", Fold::kKey},
     [](const OverviewRow& row) { return CellOf(row.rank); }},
    {{"step",
      "Step",
      "",
      FieldType::kText,
      6,
      "number of the step; mean: over the steady steps, if any",
      Fold::kKey,
      {},
      {},
      "mean"},
     [](const OverviewRow& row) { return Text(row.label); }},
    {{"state", "State", "", FieldType::kText, 11,
      "steady: counts in the mean; cut: never closed, or the last step with less than 80 % of the "
      "GPU work of the one before; warm-up, other-work, filling, ending, profiler, other-phase: "
      "unlike the others, for this reason"},
     [](const OverviewRow& row) {
       if (row.mean || !row.ours) return Cell();
       return Text(StepStateWord(row.steps[0].state));
     }},
    {{"phase", "Phase", "", FieldType::kText, 7,
      "what a server of language models does, if labels tell it: prefill, decode, mixed"},
     [](const OverviewRow& row) {
       const ServedPhase phase = row.Phase();
       return phase == ServedPhase::kUnknown ? Cell() : Text(ServedPhaseWord(phase));
     }},
    {{"requests", "Requests", "", FieldType::kInteger, 8, "requests in the step, as labels tell"},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.requests; });
     }},
    {{"tokens", "Tokens", "", FieldType::kInteger, 8,
      "tokens that the model takes in, as labels tell", Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.tokens; });
     }},
    {{"kv_tokens", "KvTokens", "", FieldType::kInteger, 9,
      "tokens whose keys and values the requests attend to, as labels tell", Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.kv_tokens; });
     }},
    {{"start_ns", "Start(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "start of the span, from the rank's first event", Fold::kMin},
     [](const OverviewRow& row) {
       return row.mean || !row.ours ? Cell() : Integer(row.steps[0].start_ns);
     }},
    {{"total_ns", "Total(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "length of the span = kernel + memcpy + memset + comm + runtime + dataloader + cpu + other",
      Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return int64_t{step.total_ns}; });
     }},
    {{"host_ns", "Host(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "length of the step on the host", Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.host_ns; });
     }},
    TimeColumn<&StepTimes::parts, TimeClass::kKernel>("kernel_ns", "Kernel(ns)",
                                                      "a compute kernel or graph replay runs"),
    TimeColumn<&StepTimes::parts, TimeClass::kMemcpy>("memcpy_ns", "Memcpy(ns)",
                                                      "otherwise, a copy runs"),
    TimeColumn<&StepTimes::parts, TimeClass::kMemset>("memset_ns", "Memset(ns)",
                                                      "otherwise, a memset runs"),
    TimeColumn<&StepTimes::parts, TimeClass::kComm>("comm_ns", "Comm(ns)",
                                                    "otherwise, a communication kernel runs"),
    TimeColumn<&StepTimes::parts, TimeClass::kRuntime>(
        "runtime_ns", "Runtime(ns)",
        "idle, and the next work waits for an API call (idle: launch, module-load, sync, "
        "pageable-copy, api-call)"),
    TimeColumn<&StepTimes::parts, TimeClass::kDataLoader>("dataloader_ns", "DataLoader(ns)",
                                                          "idle, and it waits for the data loader"),
    TimeColumn<&StepTimes::parts, TimeClass::kCpu>(
        "cpu_ns", "CPU(ns)",
        "idle, and it waits for an operator or a collective on the host (idle: host-op, "
        "communication)"),
    TimeColumn<&StepTimes::parts, kTimeClassCount>(
        "other_ns", "Other(ns)",
        "idle for other reasons: queued, cold-start, code without recorded calls, end of the run"),
    {{"queued_ns", "Queued(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "part of other_ns: launched, and held back by the device, a stream, an event or a copy",
      Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.times.queued; });
     }},
    {{"cold_ns", "Cold(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "part of other_ns: before 0.1 % of the work of the run is done", Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.times.cold; });
     }},
    {{"end_ns", "End(ns)", "ns", FieldType::kInteger, kOverviewWidth,
      "part of other_ns: after the last work of a run without steps", Fold::kSum},
     [](const OverviewRow& row) {
       return row.FigureOf([](const OverviewStep& step) { return step.times.ended; });
     }},
    TimeColumn<&StepTimes::exposed, TimeClass::kKernel>(
        "kernel_exposed_ns", "KernelExposed(ns)",
        "compute kernels run, and nothing else runs on the GPUs"),
    TimeColumn<&StepTimes::exposed, TimeClass::kMemcpy>(
        "memcpy_exposed_ns", "MemcpyExposed(ns)", "copies run, and nothing else runs on the GPUs"),
    TimeColumn<&StepTimes::exposed, TimeClass::kMemset>(
        "memset_exposed_ns", "MemsetExposed(ns)", "memsets run, and nothing else runs on the GPUs"),
    TimeColumn<&StepTimes::exposed, TimeClass::kComm>(
        "comm_exposed_ns", "CommExposed(ns)",
        "communication runs, and nothing else runs on the GPUs"),
    TimeColumn<&StepTimes::exposed, TimeClass::kRuntime>("runtime_exposed_ns", "RuntimeExposed(ns)",
                                                         "API calls run, and the GPUs are idle"),
    TimeColumn<&StepTimes::exposed, TimeClass::kDataLoader>(
        "dataloader_exposed_ns", "LoaderExposed(ns)",
        "the data loader runs, and the GPUs are idle"),
    TimeColumn<&StepTimes::exposed, TimeClass::kCpu>(
        "cpu_exposed_ns", "CPUExposed(ns)",
        "calls or annotations of host threads run, and the GPUs are idle"),
    TimeColumn<&StepTimes::hidden, TimeClass::kKernel>(
        "kernel_hidden_ns", "KernelHidden(ns)", "time of compute kernels - kernel_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kMemcpy>("memcpy_hidden_ns", "MemcpyHidden(ns)",
                                                       "time of copies - memcpy_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kMemset>("memset_hidden_ns", "MemsetHidden(ns)",
                                                       "time of memsets - memset_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kComm>("comm_hidden_ns", "CommHidden(ns)",
                                                     "time of communication - comm_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kRuntime>("runtime_hidden_ns", "RuntimeHidden(ns)",
                                                        "time of API calls - runtime_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kDataLoader>(
        "dataloader_hidden_ns", "LoaderHidden(ns)",
        "time of the data loader - dataloader_exposed_ns"),
    TimeColumn<&StepTimes::hidden, TimeClass::kCpu>(
        "cpu_hidden_ns", "CPUHidden(ns)",
        "time of calls or annotations of host threads - cpu_exposed_ns"),
    {AsRatio({"busy_pct", "Busy(%)", "%", FieldType::kDecimal, 8,
              "100 x time in which any GPU work runs / total_ns"},
             {"kernel_ns+memcpy_ns+memset_ns+comm_ns", "total_ns", 100}),
     [](const OverviewRow& row) {
       const auto busy = row.SumOf([](const OverviewStep& step) { return step.times.busy; });
       const auto total =
           row.SumOf([](const OverviewStep& step) { return int64_t{step.total_ns}; });
       return busy ? Decimal(Percent(*busy, *total)) : Cell();
     }},
    {{"mfu_pct", "MFU(%)", "%", FieldType::kDecimal, 8,
      "100 x sum of FLOPs / peak rate over the products launched in the step / (total_ns x GPUs)"},
     [](const OverviewRow& row) {
       const auto ideal =
           row.SumOf([](const OverviewStep& step) { return int64_t{step.ideal_ps}; });
       const auto capacity =
           row.SumOf([](const OverviewStep& step) { return int64_t{step.capacity_ns}; });
       return row.has_product ? Decimal(Percent(*ideal, *capacity * 1e3)) : Cell();
     }},
};

class Overview : public GroupedPartial<RankName, RankSteps, OverviewRow, TextNotes> {
 public:
  /// `find`: null for the steps of the run, with all that is known of them.
  explicit Overview(const ViewOptions& options, OverviewSteps (*find)(const Run& run) = nullptr)
      : GroupedPartial("overview", options, {}, kOverviewColumns), find_(find) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;

 private:
  void NoteMissingFacts(const Run& run, std::span<const Step> steps);
  void EmitGroup(const RankName& rank, const RankSteps& found,
                 TableOf<OverviewRow>* table) const override;

  OverviewSteps (*find_)(const Run& run);
  // Of the current run:
  const Run* run_ = nullptr;
  RankSteps read_;
};

void Overview::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || find_ != nullptr || kernel.work == PricedKernel::kNoWork ||
      kernel.phase == Phase::kRecompute) {
    return;
  }
  const double peak = ProductPeakOf(kernel);
  if (peak <= 0) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  const size_t step = run_->steps().OfEvent(
      {own.start_ns, own.end_ns, kernel.work, own.device_id, own.stream_id, WorkClass::kCompute});
  read_.has_product |= true;
  if (step == Steps::kNone) return;
  const double ps = static_cast<double>(*ModelFlopsOf(kernel)) / peak * 1e12;
  constexpr double kMost = 9e18;
  read_.steps[step].ideal_ps += std::llround(std::clamp(ps, 0.0, kMost));
}

/// If a file has no API call or no GPU work, their times are unknown, not 0.
void ForgetWhatIsNotRecorded(const Run& run, StepTimes* times) {
  const auto forget = [times](TimeClass time_class) {
    const auto place = static_cast<size_t>(time_class);
    times->parts[place].reset();
    times->exposed[place].reset();
    times->hidden[place].reset();
  };
  const Trace& trace = run.trace();
  if (trace.launches.empty() && trace.api_times.empty()) forget(TimeClass::kRuntime);
  const bool worked = !trace.kernels.empty() || !trace.copies.empty() || !trace.sets.empty() ||
                      !trace.graph_replays.empty();
  if (worked) return;
  for (const TimeClass time_class :
       {TimeClass::kKernel, TimeClass::kMemcpy, TimeClass::kMemset, TimeClass::kComm}) {
    forget(time_class);
  }
  times->busy.reset();
}

OverviewSteps OwnStepsOf(const Run& run) {
  const std::span<const Step> steps = run.steps().all();
  return {{steps.begin(), steps.end()},
          steps.empty() ? std::vector<StepTimes>() : run.step_times()};
}

// Everything except FLOPs is computed here, so that temporary memory is freed before other views
// begin.
void Overview::Begin(const Run* run) {
  run_ = run;
  read_ = {};
  if (run == nullptr) {
    notes_.Add("overview needs the profile itself: records hold no steps and no API calls");
    return;
  }
  const bool ours = find_ == nullptr;
  const auto [steps, times] = ours ? OwnStepsOf(*run) : find_(*run);
  if (steps.empty()) return;
  const int64_t origin_ns = run->origin_ns();
  const int64_t gpus = GpuCountOf(run->device_work());
  for (size_t i = 0; i < steps.size(); ++i) {
    OverviewStep& row = read_.steps.emplace_back();
    row.start_ns = LengthOf({origin_ns, steps[i].span.start_ns});
    row.number = steps[i].number;
    row.state = ours ? steps[i].state : steps[i].complete ? StepState::kSteady : StepState::kCut;
    row.total_ns = LengthOf(steps[i].span);
    row.times = times[i];
    if (ours && steps[i].served) {
      row.phase = steps[i].served->phase;
      row.requests = steps[i].served->requests;
      row.tokens = steps[i].served->tokens;
      row.kv_tokens = steps[i].served->kv_tokens;
    }
    if (ours) {
      row.host_ns = LengthOf(steps[i].host);
      ForgetWhatIsNotRecorded(*run, &row.times);
    }
    row.capacity_ns = SaturatingProduct(row.total_ns, gpus);
  }
  if (ours) NoteMissingFacts(*run, steps);
}

void Overview::End(const Run* run) {
  run_ = nullptr;
  if (run != nullptr && !read_.steps.empty()) Take(RankName(run->rank()), read_);
  read_ = {};
}

/// "2 steps of prefill (median 400.000 ms), 300 of decode (median 7.100 ms)"; "" below two phases.
std::string PhasesOf(std::span<const Step> steps) {
  std::array<std::vector<double>, WordCountOf(ServedPhase())> lengths_ns;
  for (const Step& step : steps) {
    if (!step.served || !step.complete) continue;
    lengths_ns[static_cast<size_t>(step.served->phase)].push_back(
        static_cast<double>(LengthOf(step.span)));
  }
  std::string text;
  size_t phases = 0;
  for (size_t i = 0; i < lengths_ns.size(); ++i) {
    const std::string_view word = ServedPhaseWord(static_cast<ServedPhase>(i));
    const size_t count = lengths_ns[i].size();
    if (count == 0 || word.empty()) continue;
    text += fmt::format("{}{}{} of {} (median {:.3f} ms)", phases > 0 ? ", " : "", count,
                        phases > 0   ? ""
                        : count == 1 ? " step"
                                     : " steps",
                        word, LowerMedianOf(std::move(lengths_ns[i])) / 1e6);
    ++phases;
  }
  return phases > 1 ? text : std::string();
}

void Overview::NoteMissingFacts(const Run& run, std::span<const Step> steps) {
  const Trace& trace = run.trace();
  const auto note = [&](std::string text, MissingFact lack) {
    const std::string_view flag = RecordingFlag(lack, trace.family);
    if (!flag.empty()) text += fmt::format("; recorded by {}", flag);
    notes_.Add(std::move(text));
  };
  if (run.steps().source() == StepSource::kNone) {
    note("overview: no steps are marked and no kernels repeat: the whole run is step 0",
         MissingFact::kSteps);
  } else if (run.steps().source() == StepSource::kRepetition) {
    note("overview: no steps are marked: a step is a period of the kernels that repeat",
         MissingFact::kSteps);
  }
  if (const OutsideSteps* outside = run.outside_steps()) {
    notes_.Add("overview: " + SentenceOf(*outside));
  }
  if (const StepProposal* proposal = run.step_proposal()) {
    notes_.Add("overview: " + SentenceOf(*proposal));
  }
  if (const std::string phases = PhasesOf(steps); !phases.empty()) {
    notes_.Add("overview: " + phases);
  }
  if (run.device_work().events().empty()) {
    note("overview: the profile holds no work of a GPU", MissingFact::kKernels);
  } else if (trace.launches.empty() && trace.api_times.empty()) {
    note("overview: the profile holds no API calls: runtime_ns is not known",
         MissingFact::kApiCalls);
  }
  std::array<size_t, WordCountOf(StepState())> counts{};
  std::array<int64_t, WordCountOf(StepState())> first{};
  for (const Step& step : steps) {
    const auto state = static_cast<size_t>(step.state);
    if (counts[state]++ == 0) first[state] = step.number;
  }
  std::string left_out;
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string_view reason = StepStateReason(static_cast<StepState>(i));
    if (counts[i] == 0 || reason.empty()) continue;
    left_out += fmt::format(
        "{}{} ({})", left_out.empty() ? "" : ", ",
        counts[i] == 1 ? fmt::format("step {}", first[i]) : fmt::format("{} steps", counts[i]),
        reason);
  }
  if (!left_out.empty()) {
    notes_.Add(fmt::format("overview: mean is without {}; --all-steps takes all that are not cut",
                           left_out));
  }
}

void Overview::EmitGroup(const RankName& rank, const RankSteps& found,
                         TableOf<OverviewRow>* table) const {
  std::vector<OverviewStep> steps = found.steps;
  std::sort(steps.begin(), steps.end());
  std::vector<OverviewStep> steady;
  OverviewRow row = {rank, "", {}, false, find_ == nullptr, found.has_product};
  for (const OverviewStep& step : steps) {
    row.label = std::to_string(step.number);
    row.steps = {&step, 1};
    table->Add(row);
    if (step.state == StepState::kSteady) steady.push_back(step);
  }
  row.label = "mean";
  row.steps = steady.empty() ? steps : steady;
  row.mean = true;
  if (!row.steps.empty()) table->Add(row);
}

}  // namespace

std::unique_ptr<Partial> MakeOverviewOf(OverviewSteps (*find)(const Run& run)) {
  return std::make_unique<Overview>(ViewOptions(), find);
}

extern constexpr View kOverviewView = {
    .name = "overview",
    .help = "where the time of each step went",
    .needs = kIdleGapsNeeds | TraceNeeds{TracePart::kApiTimes},
    .fields = FieldsWithoutBy<kOverviewColumns>,
    .make = MakePartial<Overview>,
    .narrow = "total_ns,kernel_ns,comm_ns,memcpy_ns,runtime_ns,dataloader_ns,cpu_ns,busy_pct",
    .important =
        "step,total_ns,kernel_ns,comm_ns,dataloader_ns,cpu_ns,busy_pct,other_ns,runtime_"
        "ns,rank,mfu_pct",
    .saved_form = 4};

}  // namespace oplens::prof
