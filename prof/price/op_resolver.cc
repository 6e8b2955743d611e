#include "prof/price/op_resolver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ops/dtype.h"
#include "ops/kernels/share_work.h"
#include "ops/pricing.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxAnnotationBytes = size_t{6} << 20;
constexpr size_t kMaxKernelBytes = size_t{4} << 20;
constexpr size_t kMaxGpuBytes = size_t{1} << 20;

/// Between the name of a GPU and its facts, which do not hold it.
constexpr char kGpuSeparator = '\n';

/// Python attribute look-ups that PyProf's patches annotate as if they were ops; some programs
/// leave hundreds of them open around every kernel.
constexpr std::string_view kNoiseOps[] = {"__getattr__", "size"};
constexpr std::string_view kNoisePrefix = "has_torch_function";

bool IsNoise(std::string_view op) {
  return op.starts_with(kNoisePrefix) ||
         std::find(std::begin(kNoiseOps), std::end(kNoiseOps), op) != std::end(kNoiseOps);
}

/// PyProf writes "na" for what it does not know.
std::string_view Known(std::string_view word) { return word == "na" ? std::string_view() : word; }

std::string_view FirstKnown(const std::vector<std::string_view>& words) {
  return words.empty() ? std::string_view() : Known(words.front());
}

/// The i-th word of a list that goes with the markers; empty when the lists do not match.
std::string_view WordOf(const std::vector<std::string_view>& words, size_t i, size_t markers) {
  return words.size() == markers ? Known(words[i]) : std::string_view();
}

/// Files of PyProf's parse say the direction only.
Phase PhaseOf(const KernelRecord& record) {
  if (record.phase != Phase::kUnknown) return record.phase;
  return record.direction == Direction::kBackward ? Phase::kBackward : Phase::kUnknown;
}

/// "(32,128,768);(3072,768)"
void AppendShape(const std::vector<int64_t>& shape, std::string* text) {
  if (!text->empty()) text->push_back(';');
  text->append(ops::TupleText(shape));
}

/// Why a kernel without an annotated op has none; what parse said of it already is enough.
Reason WhyWithoutOp(const KernelRecord& record) {
  for (const Reason known : {Reason::kNoLaunchCall, Reason::kOnlyLeakedRanges, Reason::kLeakedRange,
                             Reason::kGraphKernel, Reason::kCompiledKernel, Reason::kNoMarker}) {
    if (record.reasons.Has(known)) return known;
  }
  const bool any_range = !record.range.empty() || !record.layer.empty() ||
                         !record.seq_markers.empty() || !record.markers.empty() ||
                         !record.op.empty();
  return any_range ? Reason::kNoArguments : Reason::kNoMarker;
}

bool HasFlops(const ops::PricedOp& op) {
  return std::any_of(op.forward.begin(), op.forward.end(), [](const ops::PartWork& part) {
    return part.work.mma != 0 || part.work.vec != 0;
  });
}

/// Whether `inner` is what `outer` around it is for, and not work beside it. Bytes tell nothing:
/// the data types of `inner` are not known.
bool DoesWorkOf(const ops::PricedOp& inner, const ops::PricedOp& outer) {
  if (!HasFlops(outer)) return !HasFlops(inner);
  const ops::CoveredWork covered = ops::CoveredBy(outer, inner);
  return covered.main || covered.epilogue;
}

/// Whether both only move data, `outer` less of it, though some.
bool MovesLess(const ops::PricedOp& outer, const ops::PricedOp& inner) {
  const auto moves_only = [](const ops::PricedOp& op) {
    return op.bytes_known && op.op_class == ops::OpClass::kCompute && !HasFlops(op);
  };
  if (!moves_only(outer) || !moves_only(inner)) return false;
  const int64_t less = ops::SumOf(outer.forward).bytes.Value().value_or(0);
  return less > 0 && less < ops::SumOf(inner.forward).bytes.Value().value_or(0);
}

}  // namespace

const Annotation* OpResolver::Understand(std::string_view text) {
  bool is_new = false;
  Annotation& annotation = annotations_.Get(text, &is_new)->value;
  if (!is_new) return &annotation;
  std::string error;
  std::optional<OpCall> call = ParseOpCall(text, &error);
  if (!call) {
    annotation.reason = Reason::kBadMarkerText;
    return &annotation;
  }
  ops::PriceResult result = ops::PriceCall(*call, rules_);
  annotation.price = std::move(result.price);
  annotation.reason = result.reason;
  annotation.has_shapes = std::any_of(call->args.begin(), call->args.end(), [](const OpArg& arg) {
    return arg.kind == OpArg::Kind::kTensor;
  });
  for (const OpArg& arg : call->args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    AppendShape(arg.shape, &annotation.shapes);
    const std::optional<ops::DType> dtype = ops::ParseDType(arg.dtype);
    if (annotation.dtype.empty() && dtype) annotation.dtype = ops::DTypeWord(*dtype);
  }
  annotation.has_types = std::any_of(call->args.begin(), call->args.end(), [](const OpArg& arg) {
    return arg.kind == OpArg::Kind::kTensor && ops::ParseDType(arg.dtype).has_value();
  });
  annotation.names_only = call->args.empty();
  annotation.has_all_types =
      std::all_of(call->args.begin(), call->args.end(), [](const OpArg& arg) {
        return arg.kind != OpArg::Kind::kTensor || arg.list != 0 || ops::ParseDType(arg.dtype);
      });
  annotation.is_noise = IsNoise(call->op);
  annotation.is_backward_pass = call->op == "backward";
  annotation.op = std::move(call->op);
  annotation.mod = std::move(call->mod);
  return &annotation;
}

const ops::TensorCoreVerdict* OpResolver::TensorCoreOf(std::string_view long_name) {
  bool is_new = false;
  auto* const entry = kernels_.Get(long_name, &is_new);
  // The token of the verdict is a view into the cached name.
  if (is_new) entry->value = ops::TensorCoreVerdictOf(entry->text, rules_);
  return &entry->value;
}

const ops::Gpu* OpResolver::GpuOf(const KernelRecord& record) {
  if (given_gpu_ != nullptr) return given_gpu_;
  const std::string_view name = record.device_name.value_or(std::string_view());
  const std::string_view facts = record.gpu.value_or(std::string_view());
  if (name.empty() && facts.empty()) return nullptr;
  const std::string_view last = last_gpu_text_;
  const bool same = last_gpu_ != nullptr && last.size() == name.size() + 1 + facts.size() &&
                    last.starts_with(name) && last[name.size()] == kGpuSeparator &&
                    last.ends_with(facts);
  if (same) return last_gpu_;
  last_gpu_text_.assign(name);
  last_gpu_text_ += kGpuSeparator;
  last_gpu_text_ += facts;
  bool is_new = false;
  auto* const entry = gpus_.Get(last_gpu_text_, &is_new);
  if (is_new) entry->value = ops::ParseGpu(name, facts);
  last_gpu_ = &entry->value;
  return last_gpu_;
}

std::optional<ops::KernelKind> OpResolver::RuledKindOf(std::string_view long_name) {
  if (rules_ == nullptr) return std::nullopt;
  bool is_new = false;
  auto* const entry = ruled_kinds_.Get(long_name, &is_new);
  if (is_new) {
    const ops::KernelRule* rule = rules_->FindKernel(long_name);
    if (rule != nullptr) entry->value = rule->kind;
  }
  return entry->value;
}

void OpResolver::Collect(const std::vector<std::string_view>& texts, Direction direction) {
  markers_.clear();
  const size_t skipped = texts.size() - std::min(texts.size(), kMaxMarkers);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i == kMaxMarkers / 2) i += skipped;
    const Annotation* annotation = Understand(texts[i]);
    // PyProf's choice counts them.
    if (annotation->is_noise && choice_ == OpChoice::kInner) continue;
    if (annotation->is_backward_pass && direction == Direction::kBackward) continue;
    markers_.push_back({annotation, i});
  }
}

void OpResolver::DropInsideOfNode(const KernelRecord& backward) {
  if (markers_.size() < 2) return;
  const auto made_node = [&](const Marker& marker) {
    return FitsNode(marker.annotation->op, backward.seq_markers);
  };
  const auto inner = std::find_if(markers_.rbegin(), markers_.rend(), made_node);
  if (inner != markers_.rend()) markers_.erase(inner.base(), markers_.end());
}

bool OpResolver::MayHaveNode(const KernelRecord& backward) const {
  const Marker* chosen = ChoosePriced();
  if (chosen == nullptr || !chosen->annotation->price || backward.seq_markers.empty()) return true;
  return !chosen->annotation->price->backward.empty() ||
         FitsNode(chosen->annotation->op, backward.seq_markers);
}

bool OpResolver::NamesOnly() const {
  return std::all_of(markers_.begin(), markers_.end(),
                     [](const Marker& marker) { return marker.annotation->names_only; });
}

bool OpResolver::HasPrice() const {
  const Marker* chosen = ChoosePriced();
  return chosen != nullptr && chosen->annotation->price.has_value();
}

const OpResolver::Marker* OpResolver::ChoosePriced() const {
  if (markers_.empty()) return nullptr;
  if (choice_ == OpChoice::kOuter) return &markers_.front();
  for (size_t i = markers_.size(); i-- > 0;) {
    if (markers_[i].annotation->price) return WithFewerBytes(WithTypes(&markers_[i]));
  }
  return &markers_.back();
}

const OpResolver::Marker* OpResolver::WithTypes(const Marker* inner) const {
  if (inner->annotation->has_types || !inner->annotation->has_shapes) return inner;
  for (auto i = static_cast<size_t>(inner - markers_.data()); i-- > 0;) {
    const Annotation& around = *markers_[i].annotation;
    if (around.has_types && around.price && DoesWorkOf(*inner->annotation->price, *around.price)) {
      return &markers_[i];
    }
  }
  return inner;
}

const OpResolver::Marker* OpResolver::WithFewerBytes(const Marker* inner) const {
  const ops::PricedOp& work = *inner->annotation->price;
  for (auto i = static_cast<size_t>(inner - markers_.data()); i-- > 0;) {
    const std::optional<ops::PricedOp>& around = markers_[i].annotation->price;
    if (around && MovesLess(*around, work)) return &markers_[i];
  }
  return inner;
}

void OpResolver::CollectOuter(const Marker* chosen, const std::vector<int64_t>& starts_ns) {
  outer_.clear();
  for (const Marker* marker = markers_.data(); marker != chosen; ++marker) {
    if (marker->annotation->price) {
      outer_.push_back({marker->annotation, starts_ns[marker->index]});
    }
  }
}

Resolution OpResolver::Resolve(const KernelRecord& record, Row* row) {
  Resolution resolution;
  row->record = &record;
  row->replay = false;
  row->reasons = record.reasons;
  row->verdict = TensorCoreOf(record.long_name);
  resolution.kernel = row->verdict;
  row->tensor_core = row->verdict->use;
  row->gpu = GpuOf(record);
  row->figures.reset();
  resolution.kind = RuledKindOf(record.long_name);
  row->op = {};
  row->mod = {};
  row->params = {};
  row->extents = {};
  row->layer = record.layer;
  row->trace = record.trace;
  row->path.clear();
  row->has_shapes = false;
  row->has_all_types = false;
  row->shapes = {};
  row->dtype = {};
  row->price = nullptr;
  row->phase = PhaseOf(record);

  const ForwardOp* around = nullptr;  // Of a kernel with an annotation of its own.
  const std::vector<std::string_view>* texts = &record.markers;
  const std::vector<std::string_view>* ops = &record.op;
  const std::vector<std::string_view>* mods = &record.mod;
  std::optional<Reason> why;
  Collect(*texts, record.direction);
  // What runs between the nodes, or runs forward again, has no forward op to look for.
  const bool in_node = record.phase == Phase::kUnknown || record.phase == Phase::kBackward;
  const bool unannotated = markers_.empty();
  if (record.direction == Direction::kBackward && in_node && NamesOnly()) {
    const ForwardMatch match = linker_.Find(record);
    if (unannotated) why = match.reason;
    if (match.op != nullptr) {
      Collect(match.op->markers, Direction::kForward);
      DropInsideOfNode(record);
    }
    // A number may be that of an op which only ran before the one that made the node; a node is
    // the op's own.
    const bool made_node = match.op != nullptr && (!record.nodes.empty() || MayHaveNode(record));
    if (made_node && (unannotated || HasPrice())) {
      resolution.forward = match.op;
      resolution.forward_run = match.run;
      row->layer = match.op->layer;
      row->trace = match.op->trace;
      texts = &match.op->markers;
      ops = &match.op->op;
      mods = &match.op->mod;
      why.reset();
    } else {
      Collect(*texts, record.direction);
      if (!unannotated && match.op != nullptr) TakeSurroundings(*match.op, row);
    }
  } else if (record.direction == Direction::kForward || record.phase == Phase::kRecompute) {
    linker_.AddForward(record);
  } else if (record.direction == Direction::kBackward && in_node) {
    around = linker_.Find(record).op;
    if (around != nullptr) TakeSurroundings(*around, row);
  }

  const Marker* chosen = ChoosePriced();
  // What is around the replay of a graph is that of the whole graph, and no op of one kernel.
  const bool priced = chosen != nullptr && chosen->annotation->price.has_value();
  if (!priced && record.reasons.Has(Reason::kGraphKernel)) return resolution;
  if (chosen == nullptr) {
    // Else the lists go with markers that do not count; or the op is a free text, which is no op
    // and stands in `range` (PyProf's files have only the op).
    if (texts->empty() && (!record.seq_markers.empty() || record.range.empty())) {
      row->op = FirstKnown(*ops);
      row->mod = FirstKnown(*mods);
    }
    row->reasons.Add(why.value_or(WhyWithoutOp(record)));
    return resolution;
  }
  for (const Marker& marker : markers_) {
    const std::string_view op = marker.annotation->op;
    row->path.push_back(op.empty() ? WordOf(*ops, marker.index, texts->size()) : op);
  }
  const Annotation& annotation = *chosen->annotation;
  row->op = row->path[static_cast<size_t>(chosen - markers_.data())];
  row->mod =
      annotation.op.empty() ? WordOf(*mods, chosen->index, texts->size()) : Known(annotation.mod);
  row->has_shapes = annotation.has_shapes;
  row->has_all_types = annotation.has_all_types;
  row->shapes = annotation.shapes;
  row->dtype = annotation.dtype;
  if (!annotation.price) {
    row->reasons.Add(annotation.reason);
    return resolution;
  }
  row->params = annotation.price->params;
  row->price = &*annotation.price;
  if (around != nullptr) resolution.gradient = GradientOf(annotation, *around);
  if (!resolution.gradient) resolution.gradient = GradientInside(*chosen);
  resolution.priced = &annotation;
  if (resolution.forward == nullptr && record.marker_starts_ns.size() == texts->size()) {
    resolution.call_start_ns = record.marker_starts_ns[chosen->index];
    CollectOuter(chosen, record.marker_starts_ns);
    resolution.outer = outer_;
  }
  return resolution;
}

void OpResolver::TakeSurroundings(const ForwardOp& forward, Row* row) {
  if (row->layer.empty()) row->layer = forward.layer;
  if (row->trace.empty()) row->trace = forward.trace;
}

std::optional<ops::GradientGuess> OpResolver::GradientOf(const Annotation& own,
                                                         const ForwardOp& forward) {
  // A gradient function names its gradients itself.
  if (own.price->forward.empty() || own.price->forward.front().part != ops::Part::kForward) {
    return std::nullopt;
  }
  const Annotation* outer = nullptr;
  for (size_t i = forward.markers.size(); i-- > 0 && outer == nullptr;) {
    const Annotation* annotation = Understand(forward.markers[i]);
    if (annotation->price && annotation->price->product) outer = annotation;
  }
  if (outer == nullptr) return std::nullopt;
  if (own.price->product) return ops::GradientOfInner(*outer->price->product, *own.price->product);
  const bool has_bias =
      std::any_of(outer->price->backward.begin(), outer->price->backward.end(),
                  [](const ops::PartWork& part) { return part.part == ops::Part::kBgrad; });
  if (has_bias && ops::NormalizeOpName(own.op) == "sum") {
    return ops::GradientGuess{ops::Part::kBgrad, .95};
  }
  return std::nullopt;
}

std::optional<ops::GradientGuess> OpResolver::GradientInside(const Marker& chosen) const {
  const Annotation& inside = *markers_.back().annotation;
  const std::vector<ops::PartWork>& parts = chosen.annotation->price->forward;
  const std::optional<ops::Part> part = ops::PartOfFunction(inside.op);
  const bool has_part = part && std::any_of(parts.begin(), parts.end(),
                                            [&](const auto& other) { return other.part == *part; });
  if (inside.price || !has_part) return std::nullopt;
  return ops::GradientGuess{*part, 1};
}

bool OpResolver::IsFull() const {
  return annotations_.young_bytes() > kMaxAnnotationBytes ||
         kernels_.young_bytes() > kMaxKernelBytes || gpus_.young_bytes() > kMaxGpuBytes ||
         ruled_kinds_.young_bytes() > kMaxKernelBytes || linker_.IsFull();
}

void OpResolver::Advance() {
  annotations_.Advance();
  kernels_.Advance();
  gpus_.Advance();
  last_gpu_ = nullptr;
  ruled_kinds_.Advance();
  linker_.Advance();
}

}  // namespace oplens::prof
