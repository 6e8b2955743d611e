#include "parse/join/joined.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "parse/join/collectives.h"
#include "parse/join/forward_backward.h"
#include "parse/join/inference.h"
#include "parse/join/launch_sweep.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/step_index.h"
#include "parse/join/surroundings_reader.h"
#include "parse/join/thread_ranges.h"
#include "parse/join/vocabulary_ranges.h"

namespace oplens::parse {
namespace {

std::unique_ptr<RangeRoles> MakeRoles(const Trace& trace, const RangeTexts& texts) {
  auto roles = std::make_unique<RangeRoles>(trace, texts);
  roles->KeepFacts();
  return roles;
}

/// Names of kernels made by torch.compile's back ends.
bool IsCompiledKernel(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"triton_poi_", "triton_red_", "triton_per_",
                                            "triton_tem_", "triton_for_", "triton_mm_"};
  if (!name.starts_with("triton_")) return false;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::unique_ptr<RangeTexts> Classified(Trace* trace, Diagnostics* diagnostics) {
  auto texts = std::make_unique<RangeTexts>(&trace->strings, diagnostics);
  texts->ClassifyAll(*trace);
  return texts;
}

bool LacksOps(const Trace& trace) {
  return std::any_of(trace.kernels.begin(), trace.kernels.end(), HasNoRecordedOp);
}

/// Whether ops may be inferred from the surroundings of kernels of this trace.
bool ExplainsOthers(const Trace& trace, const JoinOptions& options) {
  return options.for_reference || !trace.captured.empty() ||
         (options.evidence.repetition && LacksOps(trace));
}

/// Forgets captures older than every range: the recording began after them, so only what is around
/// the replay is known.
void DropCapturesBeforeRanges(Trace* trace) {
  if (trace->ranges.empty()) return;
  std::optional<int64_t> first_ns;  // Looked for if there is a capture: few traces have some.
  for (Kernel& kernel : trace->kernels) {
    if (kernel.capture == kNoLaunch) continue;
    if (!first_ns) {
      first_ns = std::ranges::min_element(trace->ranges, {}, &Range::start_ns)->start_ns;
    }
    if (trace->launches[kernel.capture].start_ns < *first_ns) kernel.capture = kNoLaunch;
  }
}

/// Returns the trace, with captures removed that tell nothing or that the options do not allow, and
/// what was captured unless it can explain a kernel.
Trace* Allowed(Trace* trace, const JoinOptions& options) {
  DropCapturesBeforeRanges(trace);
  if (!options.evidence.capture) {
    for (Kernel& kernel : trace->kernels) kernel.capture = kNoLaunch;
    trace->captured.clear();
  }
  if (!trace->captured.empty() && !options.for_reference && !LacksOps(*trace)) {
    trace->captured.clear();
  }
  return trace;
}

}  // namespace

Joined::Joined(Trace* trace, const JoinOptions& options, Diagnostics* diagnostics)
    : trace_(*trace),
      threads_(
          std::make_unique<ThreadRanges>(Allowed(trace, options), [&] { work_.emplace(trace); })),
      texts_(Classified(trace, diagnostics)),
      vocabulary_(
          std::make_unique<VocabularyRanges>(trace, texts_.get(), options.evidence.vocabulary)),
      leaks_(std::make_unique<LeakedRanges>(*trace, *threads_, texts_.get(), diagnostics)),
      roles_(MakeRoles(*trace, *texts_)),
      contexts_(std::make_unique<StepContexts>(*trace, *threads_, *leaks_, *roles_)),
      links_(std::make_unique<ForwardBackward>(*trace, *threads_, *leaks_, *contexts_, *roles_)),
      calls_(std::make_unique<OpCalls>(trace, *threads_, *links_, *vocabulary_, texts_.get())),
      known_(new RangeKnowledge{*trace, *threads_, *leaks_, *texts_, *vocabulary_, *contexts_,
                                *links_, options.keep_open, ExplainsOthers(*trace, options)}),
      sweep_(std::make_unique<LaunchSweep>(*known_, *work_, calls_.get())),
      lists_(&sweep_->lists()),
      around_work_(sweep_->around_work()),
      steps_(std::make_unique<StepIndex>(*trace)),
      collectives_(std::make_unique<Collectives>(trace)),
      inference_(std::make_unique<Inference>(*this, options.reference, options.evidence.repetition,
                                             !options.for_reference)) {
  CountReasons(diagnostics);
}

Joined::~Joined() = default;

ReasonSet Joined::ReasonsOf(size_t index) const {
  const Kernel& kernel = trace_.kernels[index];
  const Surroundings* around = SurroundingsOf(static_cast<WorkIndex>(index));
  ReasonSet reasons;
  if (kernel.bad_row) reasons.Add(Reason::kBadKernelRow);
  if (kernel.name == 0) reasons.Add(Reason::kUnknownKernelName);
  if (around != nullptr) {
    if (around->nothing) reasons.Add(Reason::kNoMarker);
    if (around->only_leaks) reasons.Add(Reason::kOnlyLeakedRanges);
    if (around->open_range) reasons.Add(Reason::kOpenRange);
  }
  if (kernel.launch == kNoLaunch) {
    const bool unnumbered = trace_.unnumbered_calls && kernel.correlation_id == kUnknownId;
    reasons.Add(unnumbered ? Reason::kUnnumberedLaunch : Reason::kNoLaunchCall);
  }
  // Kernels without a single op: replays of a graph whose capture is not in the file, whatever
  // surrounds the replay, and kernels that a compiler made of several ops.
  if (kernel.graph && kernel.capture == kNoLaunch) reasons.Add(Reason::kGraphKernel);
  const bool has_op = around != nullptr && !RangesOf(*around, Around::kOps).empty();
  if (!has_op && IsCompiledKernel(trace_.strings.View(kernel.name))) {
    reasons.Add(Reason::kCompiledKernel);
  }
  if (!kernel.timed()) {
    reasons.Add(Reason::kUntimed);
  } else if (kernel.end_ns < kernel.start_ns) {
    reasons.Add(Reason::kBadTimes);
  }
  return reasons;
}

void Joined::CountReasons(Diagnostics* diagnostics) const {
  constexpr Reason kOfRows[] = {Reason::kNoLaunchCall, Reason::kUnnumberedLaunch,
                                Reason::kGraphKernel,  Reason::kCompiledKernel,
                                Reason::kUntimed,      Reason::kBadTimes};
  constexpr Reason kOfRanges[] = {Reason::kNoMarker, Reason::kOnlyLeakedRanges};
  for (size_t i = 0; i < trace_.kernels.size(); ++i) {
    const Kernel& kernel = trace_.kernels[i];
    const ReasonSet reasons = ReasonsOf(i);
    for (const Reason reason : kOfRows) {
      if (!reasons.Has(reason)) continue;
      diagnostics->Count(reason, diagnostics->KeepsExample(reason)
                                     ? fmt::format("row {}, correlation id {}", kernel.row_id,
                                                   kernel.correlation_id)
                                     : std::string());
    }
    for (const Reason reason : kOfRanges) {
      if (reasons.Has(reason)) diagnostics->CountMany(reason, 1);
    }
  }
}

std::span<const uint32_t> Joined::CallersOf(const Surroundings& around) const {
  return sweep_->callers().RangesOf(around.callers);
}

std::span<const uint32_t> Joined::LayersOf(const Surroundings& around) const {
  const std::span<const uint32_t> own = RangesOf(around, Around::kLayers);
  return own.empty() && around.served() != 0 ? LayersOfForward(around.served()) : own;
}

std::span<const uint32_t> Joined::LayersOfForward(uint32_t forward) const {
  const Surroundings* around = SurroundingsOfForward(forward);
  return around == nullptr ? std::span<const uint32_t>() : RangesOf(*around, Around::kLayers);
}

const Surroundings* Joined::SurroundingsOfSilentForward(uint32_t forward) const {
  const LaunchSweep::ForwardPlace place = sweep_->PlaceOf(forward);
  return place.silent ? At(place.around) : nullptr;
}

const Surroundings* Joined::SurroundingsOfForward(uint32_t forward) const {
  return At(sweep_->PlaceOf(forward).around);
}

std::optional<int64_t> Joined::StepOf(const LaunchCall& call) const {
  return steps_->empty() ? std::nullopt : steps_->Find(call.thread, call.start_ns);
}

StringId Joined::LayerOf(uint32_t range) const {
  const Range& layer = trace_.ranges[range];
  const VocabularyRanges::Words* words = vocabulary_->Of(layer);
  if (words != nullptr && words->layer != 0) return words->layer;
  return layer.kind == RangeKind::kModule ? layer.text : texts_->Of(layer.text).op;
}

StringId Joined::PathTextOf(uint32_t index) const {
  const Range& range = trace_.ranges[index];
  const StringId open_text = range.open() ? texts_->OpenTextOf(range.text) : 0;
  return open_text == 0 ? range.text : open_text;
}

}  // namespace oplens::parse
