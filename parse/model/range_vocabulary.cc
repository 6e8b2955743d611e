#include "parse/model/range_vocabulary.h"

#include <algorithm>
#include <iterator>

#include "base/affixes.h"
#include "base/ascii.h"
#include "base/literal.h"
#include "parse/model/vocabulary_ops.h"

namespace oplens {
namespace {

/// Longer texts are nobody's names.
constexpr size_t kMaxRangeText = 65536;

/// Whether it is a Python path: "a.b_2.C".
bool IsDottedName(std::string_view text) {
  char before = '.';
  for (const char c : text) {
    const bool fits = c == '.' ? before != '.' : IsNameCharacter(c);
    if (!fits) return false;
    before = c;
  }
  return before != '.';
}

/// Removes what follows the last dot, and returns it; "" if there is no dot.
std::string_view DropLastName(std::string_view* text) {
  const size_t dot = text->rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view last = text->substr(dot + 1);
  *text = text->substr(0, dot);
  return last;
}

std::optional<RangeWords> ReadModuleHook(std::string_view text) {
  if (!text.starts_with("{'Module': ")) return std::nullopt;
  LiteralScanner in(text);
  std::string storage;
  std::string_view key;
  std::string_view name;
  in.EnterDict();
  if (!in.NextKey(&storage, &key) || key != "Module") return std::nullopt;
  if (in.Peek() != LiteralKind::kString || !in.ReadString(&storage, &name)) return std::nullopt;
  while (in.NextKey(&storage, &key)) in.Skip();
  if (!in.Finish()) return std::nullopt;
  // Some versions quote the name themselves.
  if (name.size() > 2 && name.front() == '\'' && name.back() == '\'') {
    name = name.substr(1, name.size() - 2);
  }
  if (!IsDottedName(name) || name == "unknown") return std::nullopt;
  return RangeWords{{}, std::string(name)};
}

/// "transformer_engine._Linear.forward.qkv.gemm": only the ranges around a single product, since
/// the others run several ops.
std::optional<RangeWords> ReadTransformerEngine(std::string_view text) {
  if (!DropPrefix("transformer_engine._", &text) || !IsDottedName(text)) return std::nullopt;
  const std::string_view part = DropLastName(&text);
  const std::string_view module = text.substr(0, text.find('.'));
  if (!IsUpper(module.front())) return std::nullopt;
  const std::string_view pass = text.substr(module.size());
  const bool forward = pass == ".forward" || pass.starts_with(".forward.");
  const bool backward = pass == ".backward" || pass.starts_with(".backward.");
  const bool product =
      (forward && part == "gemm") || (backward && (part == "dgrad_gemm" || part == "wgrad_gemm"));
  if (!product) return std::nullopt;
  return RangeWords{"mm", {}};
}

/// "megatron.core.transformer.transformer_layer._forward_attention.self_attention": the function
/// that pushed the range, and the part of the block.
std::optional<RangeWords> ReadMegatron(std::string_view text) {
  constexpr std::string_view kParts[] = {
      "activation",   "core_attention", "linear_fc1", "linear_fc2",     "linear_proj",
      "mlp",          "mlp_bda",        "qkv",        "rotary_pos_emb", "self_attention",
      "self_attn_bda"};
  if (!text.starts_with("megatron.core.") || !IsDottedName(text)) return std::nullopt;
  const std::string_view part = DropLastName(&text);
  if (std::find(std::begin(kParts), std::end(kParts), part) == std::end(kParts)) {
    return std::nullopt;
  }
  return RangeWords{{}, std::string(part)};
}

std::optional<RangeWords> ReadLightning(std::string_view text) {
  const std::optional<std::string_view> name = LightningModule(text);
  if (!name || !IsDottedName(*name)) return std::nullopt;
  return RangeWords{{}, std::string(*name)};
}

/// "Conv.12(/layer1/conv1/Conv)"
std::optional<RangeWords> ReadOnnxRuntime(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const VocabularyOp* const type = FindVocabularyOp(text.substr(0, dot));
  if (type == nullptr || !IsUpper(text.front())) return std::nullopt;
  std::string_view rest = text.substr(dot + 1, text.size() - dot - 2);
  const size_t open = rest.find('(');
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  if (!std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(open), IsDigit)) {
    return std::nullopt;
  }
  return RangeWords{std::string(type->op), LayerOfNode(rest.substr(open + 1))};
}

/// "Conv2D: model/conv1/Conv2D"
std::optional<RangeWords> ReadTensorFlow(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const VocabularyOp* const type = FindVocabularyOp(text.substr(0, colon));
  if (type == nullptr) return std::nullopt;
  return RangeWords{std::string(type->op), LayerOfNode(text.substr(colon + 2))};
}

constexpr RangeVocabulary kVocabularies[] = {
    {.product = "TensorRT",
     .domain = "TensorRT",
     .seen = "7 to 10",
     .source = "layers of engines in Nsight Systems' exports and TensorRT's verbose logs",
     .example = "/layer1/layer1.0/conv1/Conv + /layer1/layer1.0/relu/Relu",
     .modules = false,
     .read = ReadTensorRtRange},
    {.product = "XLA",
     .domain = "TSL",
     .seen = "2022 to 2026",
     .source = "xla/service/gpu: GetThunkInfo, MakeInstructionTitle; rename_fusions",
     .example = "Thunk:#name=jit(f)/jit(main)/Dense_0/dot_general,hlo_op=custom-call.3#",
     .modules = false,
     .read = ReadXlaRange},
    {.product = "TensorFlow",
     .domain = "tensorflow-core",
     .seen = "NVIDIA's builds of 1.15 and 2",
     .source = "tensorflow/core/profiler/nvtx_utils.h: CoreDomain, GetNodeExecutionRangeMessage",
     .example = "Conv2D: model/conv1/Conv2D",
     .modules = false,
     .read = ReadTensorFlow},
    {.product = "torch.nn.Module",
     .domain = "",
     .seen = "2025 to 2026",
     .source = "layerwise NVTX hooks of vLLM, SGLang and TensorRT-LLM",
     .example = "{'Module': 'model.layers.0.self_attn', 'Inputs': [[512, 4096]]}",
     .modules = true,
     .read = ReadModuleHook},
    {.product = "TransformerEngine",
     .domain = "",
     .seen = "2",
     .source = "transformer_engine/pytorch/module, NVTE_NVTX_ENABLED=1",
     .example = "transformer_engine._Linear.forward.qkv.gemm",
     .modules = false,
     .read = ReadTransformerEngine},
    {.product = "Megatron-LM",
     .domain = "",
     .seen = "core 0.12 to 0.18",
     .source = "megatron/core: utils.nvtx_range_push in transformer, --nvtx-ranges",
     .example = "megatron.core.transformer.transformer_layer._forward_attention.self_attention",
     .modules = false,
     .read = ReadMegatron},
    {.product = "PyTorch Lightning",
     .domain = "",
     .seen = "1.5 to 2",
     .source = "profilers/pytorch.py: RegisterRecordFunction",
     .example = "[pl][module]torch.nn.modules.linear.Linear: net.fc",
     .modules = true,
     .read = ReadLightning},
    {.product = "ONNX Runtime",
     .domain = "",
     .seen = "1.8 and later",
     .source = "onnxruntime/core/framework/sequential_executor.cc, ENABLE_NVTX_PROFILE",
     .example = "Conv.12(/layer1/conv1/Conv)",
     .modules = false,
     .read = ReadOnnxRuntime},
};

}  // namespace

std::span<const RangeVocabulary> RangeVocabularies() { return kVocabularies; }

bool HasVocabulary(std::string_view domain) {
  return std::any_of(std::begin(kVocabularies), std::end(kVocabularies),
                     [domain](const RangeVocabulary& known) { return known.domain == domain; });
}

std::optional<FoundWords> WordsOfRange(std::string_view domain, std::string_view text) {
  if (text.empty() || text.size() > kMaxRangeText) return std::nullopt;
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (control) return std::nullopt;
  for (const RangeVocabulary& vocabulary : kVocabularies) {
    if (vocabulary.domain != domain) continue;
    if (std::optional<RangeWords> words = vocabulary.read(text)) {
      return FoundWords{&vocabulary, *std::move(words)};
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> LightningModule(std::string_view text) {
  if (!DropPrefix("[pl][module]", &text)) return std::nullopt;
  constexpr std::string_view kSeparator = ": ";
  const size_t separator = text.find(kSeparator);
  if (separator == std::string_view::npos) return text;
  return text.substr(separator + kSeparator.size());
}

}  // namespace oplens
