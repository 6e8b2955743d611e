#include "report/timeline/signatures.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "ops/kernels/name_variant.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"

namespace oplens::report {
namespace {

constexpr std::string_view kOtherName = "(other)";

constexpr std::string_view kWords[] = {"compute", "communication", "copy",       "fill",
                                       "replay",  "operator",      "annotation", "module",
                                       "frame",   "step",          "marker",     "api"};

constexpr Signatures::Field kFields[] = {
    {"name", "Name", "", "name", "kernel (short name), copy, operator, range or call"},
    {"variant", "Variant", "", "text",
     "functor or tile that tells the kernel from others of its short name"},
    {"op", "Op", "", "text", "op that the kernel belongs to"},
    {"evidence", "Evidence", "", "text",
     "where the op comes from: range, capture; inferred: repetition, reference"},
    {"confidence", "Confidence", "", "text", "how sure an inferred op is: high, medium or low"},
    {"layer", "Layer", "", "text", "names of the layers around it, outermost first, joined by ':'"},
    {"shapes", "Shapes", "", "text", "shapes of the tensors of the op, or of the operator's call"},
    {"dir", "Direction", "", "text", "fprop (forward) or bprop (backward)"},
    {"dtype", "DType", "", "text", "data type of the first of these tensors"},
    {"grid", "Grid", "blocks", "text", "blocks of the launch, x,y,z"},
    {"block", "Block", "threads", "text", "threads per block, x,y,z"},
    {"flops", "FLOPs", "FLOP", "integer",
     "floating point operations; the kernel's share of its op"},
    {"bytes", "Bytes", "B", "integer",
     "kernel: its share of its op's least DRAM traffic; copy or memset: its size"},
    {"tc", "TC", "", "integer", "1: uses Tensor Cores, 0: does not"},
    {"class", "Class", "", "text",
     "compute, communication, copy, fill, replay; operator, annotation, module, frame, step, "
     "marker, api"},
    {"full_name", "Full name", "", "name", "kernel with templates and arguments"},
};

void AddExtent(const Dim3& extent, Column* column) {
  if (!extent.known()) return column->AddUnknown();
  column->AddText(fmt::format("{},{},{}", extent.x, extent.y, extent.z));
}

void AddInteger(const std::optional<int64_t>& value, Column* column) {
  if (value) {
    column->AddInteger(*value);
  } else {
    column->AddUnknown();
  }
}

void AddText(std::string_view text, Column* column) {
  if (text.empty()) return column->AddUnknown();
  column->AddText(text);
}

std::string_view Or(std::string_view word, std::string_view otherwise) {
  return word.empty() ? otherwise : word;
}

}  // namespace

std::string_view EventClassWord(EventClass of) { return kWords[static_cast<size_t>(of)]; }

EventClass ClassOf(RangeKind kind) {
  switch (kind) {
    case RangeKind::kMarker:
      return EventClass::kMarker;
    case RangeKind::kOperator:
      return EventClass::kOperator;
    case RangeKind::kFrame:
      return EventClass::kFrame;
    case RangeKind::kModule:
      return EventClass::kModule;
    case RangeKind::kAnnotation:
      return EventClass::kAnnotation;
    case RangeKind::kStep:
      return EventClass::kStep;
  }
  return EventClass::kMarker;
}

std::span<const Signatures::Field> Signatures::Fields() { return kFields; }

size_t Signatures::Hash::operator()(const Key& key) const {
  uint64_t hash = 0;
  const auto mix = [&](uint64_t value) { hash = MixHash(hash, value); };
  mix(uint64_t{key.name} << 32 | key.op);
  mix(uint64_t{key.layer} << 32 | key.shapes);
  mix(uint64_t{key.dtype} << 32 | key.full_name);
  for (const int64_t extent : {key.grid.x, key.grid.y, key.grid.z, key.block.x, key.block.y,
                               key.block.z, key.flops.value_or(-1), key.bytes.value_or(-1)}) {
    mix(static_cast<uint64_t>(extent));
  }
  mix(uint64_t{static_cast<uint8_t>(key.evidence)} << 32 |
      uint64_t{static_cast<uint8_t>(key.confidence)} << 24 |
      uint64_t{static_cast<uint8_t>(key.of)} << 16 |
      uint64_t{static_cast<uint8_t>(key.direction)} << 8 |
      (key.tensor_core ? uint64_t{*key.tensor_core} : 2));
  return hash;
}

StringId Signatures::Intern(std::string_view text) {
  if (text_bytes_ > kMaxTextBytes) text = text.empty() ? text : kOtherName;
  const size_t before = texts_.size();
  const StringId id = texts_.Intern(text);
  if (texts_.size() > before) text_bytes_ += text.size();
  return id;
}

uint32_t Signatures::NumberOf(Key key) {
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) return known->second;
  if (all_.size() >= kMaxDetailed) {
    Key plain;
    plain.name = all_.size() >= kMaxNamed ? texts_.Intern(kOtherName) : key.name;
    plain.of = key.of;
    key = plain;
  }
  const auto [at, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(all_.size()));
  if (is_new) all_.push_back(&at->first);
  return at->second;
}

uint32_t Signatures::OfKernel(const prof::PricedKernel& kernel, EventClass of) {
  const KernelRecord& record = *kernel.record;
  Key key;
  key.name = Intern(record.short_name);
  if (record.long_name != record.short_name) key.full_name = Intern(record.long_name);
  key.op = Intern(kernel.op);
  key.evidence = prof::EvidenceOf(kernel);
  key.confidence = prof::ConfidenceOf(kernel);
  scratch_.clear();
  for (const std::string_view layer : kernel.layer) {
    if (!scratch_.empty()) scratch_.push_back(':');
    scratch_.append(layer);
  }
  key.layer = Intern(scratch_);
  key.shapes = Intern(kernel.shapes);
  key.dtype = Intern(kernel.dtype);
  key.grid = record.grid;
  key.block = record.block;
  key.flops = kernel.share.flops;
  key.bytes = kernel.share.bytes;
  const ops::TensorCoreUse use = prof::TensorCoreUseOf(kernel);
  if (use != ops::TensorCoreUse::kUnknown) key.tensor_core = use == ops::TensorCoreUse::kYes;
  if (prof::IsDirectionKnown(kernel)) key.direction = record.direction;
  key.of = of;
  return NumberOf(key);
}

uint32_t Signatures::OfCopy(const MemoryCopy& copy) {
  Key key;
  key.name = Intern(fmt::format("Memcpy {} ({} -> {})", Or(CopyKindWord(copy.copy_kind), "?"),
                                Or(MemoryKindTitle(copy.source_kind), "Unknown"),
                                Or(MemoryKindTitle(copy.target_kind), "Unknown")));
  if (copy.size_bytes >= 0) key.bytes = copy.size_bytes;
  key.of = EventClass::kCopy;
  return NumberOf(key);
}

uint32_t Signatures::OfFill(const MemorySet& fill) {
  Key key;
  key.name = Intern("Memset");
  if (fill.size_bytes >= 0) key.bytes = fill.size_bytes;
  key.of = EventClass::kFill;
  return NumberOf(key);
}

uint32_t Signatures::OfReplay(const GraphReplay& replay) {
  return OfName(fmt::format("CUDA graph {}", replay.graph_id), EventClass::kReplay);
}

uint32_t Signatures::OfOperator(std::string_view name, const Tensors& tensors) {
  Key key;
  key.name = Intern(name);
  key.shapes = Intern(tensors.shapes);
  key.dtype = Intern(tensors.dtype);
  key.of = EventClass::kOperator;
  return NumberOf(key);
}

uint32_t Signatures::OfName(std::string_view name, EventClass of) {
  Key key;
  key.name = Intern(name);
  key.of = of;
  return NumberOf(key);
}

std::vector<Column> Signatures::Columns(const PathCutter* cutter) const {
  std::vector<Column> columns;
  std::unordered_map<StringId, std::string> variants;  // By full name.
  for (const Field& field : kFields) columns.emplace_back(field.type == "integer", cutter);
  for (const Key* key : all_) {
    Column* column = columns.data();
    AddText(texts_.View(key->name), column++);
    const auto [variant, is_new] = variants.try_emplace(key->full_name);
    if (is_new) variant->second = ops::NameVariantOf(texts_.View(key->full_name));
    AddText(variant->second, column++);
    AddText(texts_.View(key->op), column++);
    AddText(EvidenceWord(key->evidence), column++);
    AddText(ConfidenceWord(key->confidence), column++);
    AddText(texts_.View(key->layer), column++);
    AddText(texts_.View(key->shapes), column++);
    AddText(DirectionWord(key->direction), column++);
    AddText(texts_.View(key->dtype), column++);
    AddExtent(key->grid, column++);
    AddExtent(key->block, column++);
    AddInteger(key->flops, column++);
    AddInteger(key->bytes, column++);
    AddInteger(key->tensor_core ? std::optional<int64_t>(*key->tensor_core ? 1 : 0) : std::nullopt,
               column++);
    AddText(EventClassWord(key->of), column++);
    AddText(texts_.View(key->full_name), column);
  }
  return columns;
}

}  // namespace oplens::report
