#include "prof/views/path/stream_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/checked.h"
#include "ops/dtype.h"
#include "ops/gpu/roofline.h"
#include "ops/op_model.h"
#include "ops/op_name.h"
#include "parse/model/compute_capability.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

using ops::KernelFamily;

constexpr size_t kMostSizes = 16;
constexpr size_t kMostWords = 4096;
constexpr int kFewBits = 8;
constexpr int64_t kMostFlashHead = 256;
constexpr int kFirstWithFlash = 80;

bool HasText(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Elements of each shape of "(32,128,768);(3072,768);()".
void ReadSizes(std::string_view shapes, std::vector<int64_t>* sizes) {
  Checked elements = 1;
  int64_t extent = -1;
  const auto end_extent = [&] {
    if (extent >= 0) elements *= extent;
    extent = -1;
  };
  for (const char c : shapes) {
    if (c >= '0' && c <= '9') {
      if (extent < INT64_MAX / 100) extent = std::max<int64_t>(extent, 0) * 10 + (c - '0');
    } else if (c == '(') {
      elements = 1;
    } else if (c == ',') {
      end_extent();
    } else if (c == ')') {
      end_extent();
      if (sizes->size() < kMostSizes) sizes->push_back(elements.Value().value_or(-1));
    }
  }
}

ops::DType FactorTypeOf(const PricedKernel& kernel) {
  if (kernel.price != nullptr && kernel.price->product &&
      kernel.price->product->left != ops::DType::kUnknown) {
    return kernel.price->product->left;
  }
  return ops::ParseDType(kernel.dtype).value_or(ops::DType::kUnknown);
}

bool IsFewBitsType(ops::DType type) {
  return type != ops::DType::kUnknown && type != ops::DType::kBool && ops::BitsOf(type) <= kFewBits;
}

/// "A=mxfp4,B=bf16,...": whether a factor has few bits.
bool NamesFewBits(std::string_view facts) {
  constexpr std::string_view kTypes[] = {"fp8", "fp6", "fp4", "mxfp", "nvfp4", "int8", "int4"};
  for (const std::string_view factor : {"A=", "B="}) {
    const size_t at = facts.find(factor);
    if (at == facts.npos) continue;
    const std::string_view type = facts.substr(at + factor.size());
    if (std::any_of(std::begin(kTypes), std::end(kTypes),
                    [&](std::string_view word) { return type.starts_with(word); })) {
      return true;
    }
  }
  return false;
}

bool IsMemoryFamily(KernelFamily family) {
  switch (family) {
    case KernelFamily::kNorm:
    case KernelFamily::kSoftmax:
    case KernelFamily::kElementwise:
    case KernelFamily::kReduction:
    case KernelFamily::kLayout:
    case KernelFamily::kRandom:
    case KernelFamily::kFill:
      return true;
    default:
      return false;
  }
}

NameWords NameWordsOf(std::string_view name) {
  return {.hadamard = HasText(name, "hadamard") || HasText(name, "Hadamard"),
          .rope = HasText(name, "rotary") || HasText(name, "_rope") || HasText(name, "rope_"),
          .cache = HasText(name, "cache")};
}

StreamWork WorkOf(const PricedKernel& kernel, KernelFamily family, const NameWords& words) {
  if (kernel.replay) return StreamWork::kOther;
  const std::string_view name = kernel.record->long_name;
  if (kernel.share.flops_mma.value_or(0) > 0) {
    const bool attention = kernel.price != nullptr && kernel.price->product &&
                           kernel.price->product->kind == ops::MatrixProduct::Kind::kAttention;
    return attention ? StreamWork::kAttention : StreamWork::kProduct;
  }
  if (family == KernelFamily::kQuantise || words.hadamard) return StreamWork::kQuantise;
  if (family == KernelFamily::kAttention) return StreamWork::kAttention;
  if (family == KernelFamily::kGemm || family == KernelFamily::kConv ||
      family == KernelFamily::kGroupedGemm) {
    return StreamWork::kProduct;
  }
  const bool compiled = name.starts_with("triton_");
  // Someone's "sum_kernel" may do anything.
  const bool guessed = !HasOwnOp(kernel) && kernel.facts != nullptr &&
                       kernel.facts->family().by_word && !HasText(name, "at::native::");
  const bool memory = IsMemoryFamily(family) && !compiled && !guessed;
  return memory ? StreamWork::kMemory : StreamWork::kOther;
}

/// Bytes of all inputs and of all outputs, for a kernel that does all of an op's forward work.
void ReadTraffic(const PricedKernel& kernel, StreamKernel* own) {
  const ops::PricedOp* price = kernel.price;
  if (price == nullptr || !kernel.share.bytes || price->forward.size() != 1) return;
  const std::optional<int64_t> whole = price->forward[0].work.bytes.Value();
  if (!whole || *whole != *kernel.share.bytes) return;
  std::optional<int64_t> read;
  if (own->family == KernelFamily::kFill) {
    read = 0;
  } else if (price->source_bytes) {
    read = price->source_bytes->Value();
  } else if (price->argument_bytes) {
    read = price->argument_bytes->Value();
    // Then an output is among the arguments, or not all of an input is read.
    if (read && *read >= *whole) read.reset();
  } else if (price->moved_elements && (kernel.op == "cat" || kernel.op == "stack")) {
    read = *whole / 2;
  }
  if (!read || *read < 0 || *read > *whole) return;
  own->read_bytes = *read;
  own->written_bytes = *whole - *read;
}

/// Elements that a kernel writes: as many as its largest tensor, or what fits into the bytes of a
/// reduction.
int64_t WrittenOf(const StreamKernel& own, ops::DType type) {
  if (own.family != KernelFamily::kReduction) return own.largest;
  if (own.written_bytes < 0 || type == ops::DType::kUnknown) return -1;
  const int64_t bits = ops::BitsOf(type);
  return own.written_bytes > INT64_MAX / 8 ? -1 : own.written_bytes * 8 / bits;
}

/// Time of the kernel's FLOPs at the peak of their units, ns; 0 without FLOPs, nullopt: unknown.
std::optional<double> MathNsOf(const PricedKernel& kernel) {
  if (!kernel.share.flops) return std::nullopt;
  if (*kernel.share.flops == 0) return 0;
  const MathRoof roof = MathRoofOf(kernel);
  const double peak = roof.unit ? kernel.gpu->Peak(*roof.unit) : 0;
  if (peak <= 0) return std::nullopt;
  return static_cast<double>(roof.flops) / peak * 1e9;
}

void ReadRoofs(const PricedKernel& kernel, StreamKernel* own) {
  if (kernel.gpu == nullptr) return;
  own->dram_bytes_per_s = static_cast<double>(kernel.gpu->dram_bytes_per_s);
  own->peak_per_s = ProductPeakOf(kernel);
  const bool is_long = own->time_ns >= advice::kLongKernelNs;
  if (own->work != StreamWork::kMemory && !is_long) return;
  const std::optional<double> math_ns = MathNsOf(kernel);
  const auto time_ns = static_cast<double>(own->time_ns);
  if (own->work == StreamWork::kMemory) {
    own->math_ns = std::llround(std::clamp(math_ns.value_or(0), 0.0, time_ns));
  }
  if (!is_long || !math_ns || !kernel.share.bytes || own->dram_bytes_per_s <= 0) return;
  const double memory_ns = static_cast<double>(*kernel.share.bytes) / own->dram_bytes_per_s * 1e9;
  own->roof_ns = std::llround(std::clamp(std::max(memory_ns, *math_ns), 0.0, time_ns));
}

void ReadProduct(const PricedKernel& kernel, StreamKernel* own) {
  const ops::DType type = FactorTypeOf(kernel);
  own->few_bits =
      IsFewBitsType(type) || (kernel.facts != nullptr && NamesFewBits(kernel.facts->name_facts()));
  if (!own->is_main || kernel.price == nullptr || !kernel.price->product) return;
  const ops::MatrixProduct& product = *kernel.price->product;
  own->batch = product.batch;
  own->m = product.m;
  own->n = product.n;
  own->k = product.k;
  own->mma_flops = kernel.share.flops_mma.value_or(0);
  own->element_bits = type == ops::DType::kUnknown ? 0 : ops::BitsOf(type);
  own->tensor_peak_per_s = own->peak_per_s;
  if (type == ops::DType::kFloat32 && kernel.gpu != nullptr) {
    const double tf32 = kernel.gpu->Peak(ops::MathUnit::kTensorTf32);
    own->tensor_peak_per_s = std::max(own->peak_per_s, tf32);
  }
  // FlashAttention takes no bias.
  own->could_flash = own->work == StreamWork::kAttention && own->element_bits == 16 &&
                     HasText(kernel.record->long_name, "fmha_cutlass") && kernel.gpu != nullptr &&
                     kernel.gpu->compute_capability >= kFirstWithFlash && own->sizes.size() == 3 &&
                     product.k <= kMostFlashHead;
}

std::string_view ShortNameOf(const PricedKernel& kernel) {
  return kernel.record->short_name.empty() ? kernel.record->long_name : kernel.record->short_name;
}

void ReadTexts(const PricedKernel& kernel, TextIds* texts, StreamKernel* own) {
  const std::string_view name = ShortNameOf(kernel);
  own->name = texts->Of(name);
  own->op = !HasOwnOp(kernel) ? own->name : texts->Of(ops::ParseOpName(kernel.op).name);
  own->params = texts->Of(kernel.params);
  std::string place(HasOwnOp(kernel) ? kernel.op : name);
  if (!kernel.params.empty()) place.append(" ").append(kernel.params);
  own->place = texts->Of(place);
  std::string layers;
  for (const std::string_view layer : kernel.layer) layers.append(":").append(layer);
  own->layer = texts->Of(layers);
  if (!kernel.path.empty()) own->outer = texts->Of(kernel.path.front());
}

void ReadKind(const PricedKernel& kernel, const NameWords& of_name, const NameWords& of_op,
              StreamKernel* own) {
  own->is_copy = own->family == KernelFamily::kLayout && !of_name.cache && !of_op.cache;
  own->is_rope = of_name.rope || of_op.rope;
  own->is_complex = kernel.dtype.starts_with("c");
}

/// Without the number of "LlamaRMSNorm_3".
std::string_view WithoutNumber(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits == name.npos || digits + 1 == name.size() || name[digits] != '_') return name;
  return name.substr(0, digits);
}

std::string_view InnermostLayer(std::string_view layer) {
  return layer.substr(layer.rfind(':') + 1);
}

}  // namespace

TextId TextIds::Of(std::string_view text) {
  if (text.empty()) return 0;
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const auto id = static_cast<TextId>(views_.size());
  views_.push_back(ids_.emplace(text, id).first->first);
  return id;
}

NameWords TextIds::WordsOf(std::string_view text) {
  const auto known = words_.find(text);
  if (known != words_.end()) return known->second;
  if (words_.size() >= kMostWords) words_.clear();
  return words_.emplace(text, NameWordsOf(text)).first->second;
}

void TextIds::Clear() {
  ids_.clear();
  views_.resize(1);
  words_.clear();
}

StreamKernel StreamKernelOf(const PricedKernel& kernel, int64_t time_ns, TextIds* texts) {
  StreamKernel own;
  own.index = kernel.work;
  own.time_ns = time_ns;
  own.family = FamilyOf(kernel).value_or(KernelFamily::kOther);
  const NameWords of_name = texts->WordsOf(kernel.record->long_name);
  own.work = WorkOf(kernel, own.family, of_name);
  own.phase = kernel.phase;
  own.instance = kernel.instance;
  own.is_main = kernel.share.role == ops::Role::kMain || kernel.share.role == ops::Role::kUnknown;
  ReadTexts(kernel, texts, &own);
  ReadSizes(kernel.shapes, &own.sizes);
  if (!own.sizes.empty()) own.largest = *std::max_element(own.sizes.begin(), own.sizes.end());
  ReadKind(kernel, of_name, texts->WordsOf(kernel.op), &own);
  ReadTraffic(kernel, &own);
  own.written = WrittenOf(own, ops::ParseDType(kernel.dtype).value_or(ops::DType::kUnknown));
  ReadRoofs(kernel, &own);
  if (own.work == StreamWork::kProduct || own.work == StreamWork::kAttention) {
    ReadProduct(kernel, &own);
  }
  own.is_core = own.work == StreamWork::kAttention && own.is_main;
  return own;
}

bool EnclosesLayer(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) &&
         (inner.size() == outer.size() || outer.empty() || inner[outer.size()] == ':');
}

std::string_view AttentionLayerOf(std::string_view layer) {
  const auto is_attention = [](std::string_view text) {
    return HasText(InnermostLayer(text), "ttention");
  };
  if (!is_attention(layer)) return layer;
  for (;;) {
    const size_t end = layer.rfind(':');
    if (end == layer.npos || !is_attention(layer.substr(0, end))) return layer;
    layer = layer.substr(0, end);
  }
}

std::string_view LayerName(std::string_view layer) { return WithoutNumber(InnermostLayer(layer)); }

}  // namespace oplens::prof
