#include "prof/price/op_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/shown_text.h"
#include "ops/kernels/communication.h"
#include "ops/kernels/gradient_evidence.h"
#include "ops/op_model.h"
#include "parse/model/gradient_hooks.h"
#include "parse/model/node_name.h"
#include "prof/price/annotation.h"
#include "prof/price/forward_op.h"

namespace oplens::prof {
namespace {

bool HasPart(const std::vector<ops::PartWork>& parts, ops::Part part) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const ops::PartWork& other) { return other.part == part; });
}

/// The gradient of its node's forward op that a kernel with its own priced annotation computes: in
/// `linear`'s node, the product that sums over the rows is wgrad. nullopt: unknown.
std::optional<ops::GradientGuess> GradientOfOwnCall(const Annotation& own, const ForwardOp& forward,
                                                    Annotations* annotations) {
  // A gradient function names its gradients.
  if (own.price->forward.empty() || own.price->forward.front().part != ops::Part::kForward) {
    return std::nullopt;
  }
  const Annotation* outer = nullptr;
  for (size_t i = forward.markers.size(); i-- > 0 && outer == nullptr;) {
    const Annotation* annotation = annotations->Of(forward.markers[i]);
    if (annotation->price && annotation->price->product) outer = annotation;
  }
  if (outer == nullptr) return std::nullopt;
  if (own.price->product) return ops::GradientOfInner(*outer->price->product, *own.price->product);
  if (HasPart(outer->price->backward, ops::Part::kBgrad) && ops::NormalizeOpName(own.op) == "sum") {
    return ops::GradientGuess{ops::Part::kBgrad, .95};
  }
  return std::nullopt;
}

/// The gradient, of a priced call for several, that the function directly around the kernel
/// computes (cudnn_convolution_backward_weight); nullopt: none.
std::optional<ops::GradientGuess> GradientOfFunctionInside(const Annotation& call,
                                                           const Annotation& innermost) {
  if (innermost.price) return std::nullopt;
  const std::optional<ops::Part> part = ops::PartOfFunction(innermost.op);
  if (!part || !HasPart(call.price->forward, *part)) return std::nullopt;
  return ops::GradientGuess{*part, 1};
}

/// PyProf writes "na" for unknown.
std::string_view KnownWord(std::string_view word) {
  return word == "na" ? std::string_view() : word;
}

std::string_view FirstKnown(const std::vector<std::string_view>& words) {
  return words.empty() ? std::string_view() : KnownWord(words.front());
}

/// The i-th word of a list parallel to the annotations; empty if their lengths differ.
std::string_view WordForCall(const std::vector<std::string_view>& words, size_t i,
                             size_t annotations) {
  return words.size() == annotations ? KnownWord(words[i]) : std::string_view();
}

/// PyProf's own files only record the direction.
Phase PhaseOfRecord(const KernelRecord& record) {
  if (record.phase != Phase::kUnknown) return record.phase;
  return record.direction == Direction::kBackward ? Phase::kBackward : Phase::kUnknown;
}

/// Kernels between nodes, and recomputed forwards, have no forward op to look for.
bool IsInNode(const KernelRecord& record) {
  return record.direction == Direction::kBackward && PhaseOfRecord(record) == Phase::kBackward;
}

bool IsForward(const KernelRecord& record) {
  return record.direction == Direction::kForward || record.phase == Phase::kRecompute;
}

/// Why a kernel has no annotated op; a reason given by parse takes precedence.
Reason WhyWithoutOp(const KernelRecord& record) {
  for (const Reason known :
       {Reason::kNoLaunchCall, Reason::kUnnumberedLaunch, Reason::kOnlyLeakedRanges,
        Reason::kLeakedRange, Reason::kGraphKernel, Reason::kCompiledKernel, Reason::kNoMarker}) {
    if (record.reasons.Has(known)) return known;
  }
  const bool any_range = !record.range.empty() || !record.layer.empty() ||
                         !record.seq_markers.empty() || !record.markers.empty() ||
                         !record.op.empty();
  return any_range ? Reason::kNoArguments : Reason::kNoMarker;
}

/// "nccl:all_reduce", if the innermost label is a collective's.
std::string_view LabelOf(const KernelRecord& record) {
  const bool labelled = !record.range.empty() && ops::IsCommunicationRange(record.range.back());
  return labelled ? record.range.back() : std::string_view();
}

/// Whether gradient hooks launched this collective, for the parameters of many layers.
bool IsHookedCollective(const KernelRecord& record, const KernelFacts& facts) {
  const auto in_operator_node = [&] {
    return std::any_of(record.seq_markers.begin(), record.seq_markers.end(), IsOperatorNode);
  };
  if (!IsOfGradientHooks(PhaseOfRecord(record), in_operator_node)) return false;
  return facts.communicates() ||
         (!LabelOf(record).empty() && !ops::IsTensorKernel(record.long_name));
}

/// Takes a backward kernel's missing layer and stack from its forward op.
void TakeSurroundings(const ForwardOp& forward, PricedKernel* row) {
  if (row->layer.empty()) row->layer = forward.layer;
  if (row->trace.empty()) row->trace = forward.trace;
}

}  // namespace

void RuleMisfits::Add(const ops::RuleMisfit& misfit) {
  Found& found = found_[misfit.rule];
  if (found.last_kernel == kernel_) return;
  found.last_kernel = kernel_;
  if (found.kernels++ == 0) found.why = misfit.why;
  found.has_others = found.has_others || found.why != misfit.why;
}

void RuleMisfits::Merge(const RuleMisfits& other) {
  for (const auto& [rule, its] : other.found_) {
    Found& found = found_[rule];
    if (found.kernels == 0) found.why = its.why;
    found.has_others = found.has_others || its.has_others || found.why != its.why;
    found.kernels += its.kernels;
  }
}

std::vector<std::string> RuleMisfits::Sentences(const ops::Rules& rules) const {
  std::vector<std::string> sentences;
  for (const auto& [rule, found] : found_) {
    if (rule >= rules.ops().size()) continue;
    const ops::OpRule& op = rules.ops()[rule];
    sentences.push_back(
        fmt::format("--rules: {}: the rule of '{}' does not fit the calls of {} kernel{}{}: {}",
                    op.place, ShownText(op.name), found.kernels, found.kernels == 1 ? "" : "s",
                    found.has_others ? ", for several reasons, such as" : "", found.why));
  }
  return sentences;
}

OpResolver::OpResolver(OpChoice choice, const ops::Gpu* gpu, const ops::Rules* rules,
                       RuleMisfits* misfits)
    : annotations_(&epochs_, rules),
      kernels_(&epochs_, rules),
      gpus_(&epochs_, gpu),
      linker_(&epochs_),
      calls_(choice, &annotations_),
      misfits_(misfits) {}

Resolution OpResolver::Resolve(const KernelRecord& record, PricedKernel* row,
                               std::vector<OuterCall>* outer) {
  if (outer != nullptr) outer->clear();
  Resolution resolution = ResolveOp(record, row, outer);
  if (!row->layer.empty() && IsHookedCollective(record, *row->facts)) row->layer = {};
  return resolution;
}

Resolution OpResolver::ResolveOp(const KernelRecord& record, PricedKernel* row,
                                 std::vector<OuterCall>* outer) {
  Resolution resolution;
  resolution.pin = epochs_.Current();
  FillKernel(record, row, &resolution);
  const Source source = FindCalls(record, row, &resolution);
  const NestedCalls::Call* chosen = calls_.Chosen();
  ReportMisfits(chosen);
  // The ranges around a graph replay belong to the whole graph, not to a single kernel's op.
  const bool priced = chosen != nullptr && chosen->annotation->price.has_value();
  const bool inferred = IsInferred(record.evidence, record.confidence);
  if (!priced && !inferred && record.reasons.Has(Reason::kGraphKernel)) return resolution;
  if (chosen == nullptr && IsHookedCollective(record, *row->facts)) {
    row->op = LabelOf(record);
    row->reasons.Add(WhyWithoutOp(record));
    return resolution;
  }
  if (chosen == nullptr) {
    // Otherwise the lists belong to ignored annotations, or the op is free text, which is in
    // `range` (PyProf's files only have the op).
    if (source.texts->empty() && (!record.seq_markers.empty() || record.range.empty())) {
      row->op = FirstKnown(*source.ops);
      row->mod = FirstKnown(*source.mods);
    }
    row->reasons.Add(source.why_none.value_or(WhyWithoutOp(record)));
    return resolution;
  }
  ShowCall(*chosen, source, row);
  if (priced) {
    Price(*chosen, source, record, &resolution, outer);
  } else if (record.evidence == Evidence::kVocabulary) {
    row->reasons.Add(Reason::kNoArguments);  // Whatever the op, and also if it is several.
  } else {
    row->reasons.Add(chosen->annotation->reason);
  }
  return resolution;
}

void OpResolver::FillKernel(const KernelRecord& record, PricedKernel* row, Resolution* resolution) {
  const KernelFacts& facts = *kernels_.Of(record.long_name);
  resolution->kernel_id = facts.id;
  resolution->kind = facts.ruled_kind ? *facts.ruled_kind : facts.named_kind();
  row->record = &record;
  row->replay = false;
  row->reasons = record.reasons;
  row->facts = &facts;
  row->verdict = &facts.verdict;
  row->tensor_core = facts.verdict.use;
  row->gpu = gpus_.Of(record);
  row->figures.reset();
  row->op = {};
  row->op_by_name = false;
  row->name_confidence = Confidence::kUnknown;
  row->mod = {};
  row->params = {};
  row->extents = {};
  row->op_layout = {};
  row->layer = record.layer;
  row->layer_by_order = false;
  row->trace = record.trace;
  row->path.clear();
  row->sizes_by_launch = false;
  row->has_shapes = false;
  row->has_all_types = false;
  row->shapes = {};
  row->dtype = {};
  row->price = nullptr;
  row->phase = PhaseOfRecord(record);
}

OpResolver::Source OpResolver::FindCalls(const KernelRecord& record, PricedKernel* row,
                                         Resolution* resolution) {
  Source own{&record.markers, &record.op, &record.mod};
  calls_.Collect(record.markers, record.direction);
  // It happens to run in another op's node.
  if (IsHookedCollective(record, *row->facts)) return own;
  if (IsForward(record)) {
    linker_.AddForward(record);
  } else if (IsInNode(record) && calls_.NamesOnly()) {
    return TakeForwardOp(record, own, row, resolution);
  } else if (IsInNode(record)) {
    own.around = linker_.Find(record).op;
    if (own.around != nullptr) TakeSurroundings(*own.around, row);
  }
  return own;
}

OpResolver::Source OpResolver::TakeForwardOp(const KernelRecord& record, const Source& own,
                                             PricedKernel* row, Resolution* resolution) {
  const bool unannotated = calls_.calls().empty();
  const ForwardMatch match = linker_.Find(record);
  if (match.op != nullptr) {
    calls_.Collect(match.op->markers, Direction::kForward);
    calls_.DropInsideOfNode(record.seq_markers);
    // A sequence number may also be that of an op without a node; a node is its op's own.
    const bool made_node = !record.nodes.empty() || calls_.MayHaveNode(record.seq_markers);
    if (made_node && (unannotated || calls_.HasPrice())) {
      resolution->forward = match.op;
      resolution->forward_run = match.run;
      row->layer = match.op->layer;
      row->trace = match.op->trace;
      return {&match.op->markers, &match.op->op, &match.op->mod};
    }
    calls_.Collect(record.markers, record.direction);
    if (!unannotated) TakeSurroundings(*match.op, row);
  }
  Source source = own;
  if (unannotated) source.why_none = match.reason;
  return source;
}

void OpResolver::ReportMisfits(const NestedCalls::Call* chosen) const {
  if (misfits_ == nullptr || (chosen != nullptr && chosen->annotation->rules.fits)) return;
  misfits_->BeginKernel();
  for (const NestedCalls::Call& call : calls_.calls()) {
    for (const ops::RuleMisfit& misfit : call.annotation->rules.misfits) misfits_->Add(misfit);
  }
}

void OpResolver::ShowCall(const NestedCalls::Call& chosen, const Source& source,
                          PricedKernel* row) const {
  const size_t texts = source.texts->size();
  for (const NestedCalls::Call& call : calls_.calls()) {
    const std::string_view op = call.annotation->op;
    row->path.push_back(op.empty() ? WordForCall(*source.ops, call.index, texts) : op);
  }
  const Annotation& annotation = *chosen.annotation;
  row->op = row->path[static_cast<size_t>(&chosen - calls_.calls().data())];
  row->mod = annotation.op.empty() ? WordForCall(*source.mods, chosen.index, texts)
                                   : KnownWord(annotation.mod);
  row->has_shapes = annotation.has_shapes;
  row->has_all_types = annotation.has_all_types;
  row->shapes = annotation.shapes;
  row->dtype = annotation.dtype;
  if (!annotation.price) return;
  row->params = annotation.price->params;
  row->price = &*annotation.price;
}

void OpResolver::Price(const NestedCalls::Call& chosen, const Source& source,
                       const KernelRecord& record, Resolution* resolution,
                       std::vector<OuterCall>* outer) {
  const Annotation& annotation = *chosen.annotation;
  resolution->priced = &annotation;
  if (source.around != nullptr) {
    resolution->gradient = GradientOfOwnCall(annotation, *source.around, &annotations_);
  }
  if (!resolution->gradient) {
    const Annotation& innermost = *calls_.calls().back().annotation;
    resolution->gradient = GradientOfFunctionInside(annotation, innermost);
  }
  const std::vector<int64_t>& starts_ns = record.marker_starts_ns;
  if (resolution->forward != nullptr || starts_ns.size() != source.texts->size()) return;
  resolution->call_start_ns = starts_ns[chosen.index];
  if (outer != nullptr) CollectOuter(chosen, starts_ns, outer);
}

void OpResolver::CollectOuter(const NestedCalls::Call& chosen,
                              const std::vector<int64_t>& starts_ns,
                              std::vector<OuterCall>* outer) const {
  for (const NestedCalls::Call& call : calls_.calls()) {
    if (&call == &chosen) return;
    if (call.annotation->price) outer->push_back({call.annotation, starts_ns[call.index]});
  }
}

}  // namespace oplens::prof
