#include "ops/network/model_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ops/network/network_builder.h"

namespace oplens::ops {
namespace {

/// What tells gated decoders with rotary positions apart: defaults of their configurations.
struct DecoderTraits {
  std::string_view type;
  bool query_bias = false;  ///< Of query, key, value, whatever the configuration says.
  bool query_key_norm = false;
  int64_t head_dim = 0;  ///< 0: hidden size / heads.
  bool tied = false;
  int64_t norms = 2;  ///< Of a block.
  enum class Windows : uint8_t {
    kNowhere,
    kAll,
    kFlag,
    kEven,
    kPattern
  } windows = Windows::kNowhere;
  enum class Experts : uint8_t { kNone, kLocal, kSparse } experts = Experts::kNone;
};

using enum DecoderTraits::Windows;
using enum DecoderTraits::Experts;

constexpr DecoderTraits kDecoders[] = {
    {"llama"},
    {.type = "mistral", .windows = kAll},
    {.type = "mixtral", .windows = kAll, .experts = kLocal},
    {.type = "qwen2", .query_bias = true, .windows = kFlag},
    {.type = "qwen2_moe", .query_bias = true, .windows = kFlag, .experts = kSparse},
    {.type = "qwen3", .query_key_norm = true, .head_dim = 128, .windows = kFlag},
    {.type = "qwen3_moe", .query_key_norm = true, .windows = kFlag, .experts = kSparse},
    {.type = "gemma", .head_dim = 256, .tied = true},
    {.type = "gemma2", .head_dim = 256, .tied = true, .norms = 4, .windows = kEven},
    {.type = "gemma3_text",
     .query_key_norm = true,
     .head_dim = 256,
     .tied = true,
     .norms = 4,
     .windows = kPattern},
};

template <std::string_view const& type>
Network ReadDecoder(const ConfigReader& config) {
  return ReadGatedDecoder(config, type);
}

/// Whether the layer attends within the window.
bool HasWindow(const ConfigReader& config, const DecoderTraits& traits, int64_t layer) {
  switch (traits.windows) {
    case kNowhere:
      return false;
    case kAll:
      return true;
    case kFlag:
      return config.Flag("use_sliding_window", false) &&
             layer >= config.Or("max_window_layers", 0, 0);
    case kEven:
      return layer % 2 == 0;
    case kPattern:
      return (layer + 1) % config.Or("sliding_window_pattern", 6) != 0;
  }
  return false;
}

void AddDecoderPairs(const ConfigReader& config, const DecoderTraits& traits,
                     NetworkBuilder* builder) {
  Network& network = builder->network();
  const int64_t window = config.Or("sliding_window", 0, 0);
  const std::vector<std::string> types = config.Texts("layer_types");
  NetworkAttention whole{{}, *network.heads, *network.head_dim, *network.value_dim};
  NetworkAttention windowed = whole;
  windowed.window = window;
  for (const int64_t layer : builder->blocks()) {
    const auto place = static_cast<size_t>(layer);
    const bool has = window > 0 && (place < types.size() ? types[place] == "sliding_attention"
                                                         : HasWindow(config, traits, layer));
    (has ? windowed : whole).blocks.push_back(layer);
  }
  for (NetworkAttention& attention : {std::ref(whole), std::ref(windowed)}) {
    if (!attention.blocks.empty()) network.attention.push_back(attention);
  }
}

/// Blocks with experts, and the others.
struct ExpertBlocks {
  Blocks with;
  Blocks without;
};

void AddExperts(int64_t width, int64_t experts, int64_t active, const Blocks& blocks,
                NetworkBuilder* builder) {
  const int64_t hidden = builder->hidden();
  const Copies copies{experts, active};
  builder->network().experts = experts;
  builder->network().active_experts = active;
  builder->Matrix(NetworkPart::kRouter, hidden, experts, false, blocks);
  builder->Matrix(NetworkPart::kExpertGate, hidden, width, false, blocks, copies);
  builder->Matrix(NetworkPart::kExpertUp, hidden, width, false, blocks, copies);
  builder->Matrix(NetworkPart::kExpertDown, width, hidden, false, blocks, copies);
}

void AddSharedExperts(int64_t width, const Blocks& blocks, NetworkBuilder* builder) {
  const int64_t hidden = builder->hidden();
  builder->Matrix(NetworkPart::kSharedGate, hidden, width, false, blocks);
  builder->Matrix(NetworkPart::kSharedUp, hidden, width, false, blocks);
  builder->Matrix(NetworkPart::kSharedDown, width, hidden, false, blocks);
}

int64_t ReadActive(const ConfigReader& config, int64_t experts) {
  const int64_t active = config.Need({"num_experts_per_tok"});
  if (active > experts) {
    config.Refuse("num_experts_per_tok", fmt::format("is {}", active),
                  fmt::format("there are {} experts", experts));
  }
  return active;
}

ExpertBlocks SparseBlocksOf(const ConfigReader& config, const Blocks& blocks) {
  const int64_t step = config.Or("decoder_sparse_step", 1);
  const std::vector<int64_t> dense = config.Integers("mlp_only_layers");
  ExpertBlocks found;
  for (const int64_t layer : blocks) {
    const bool sparse = std::ranges::find(dense, layer) == dense.end() && (layer + 1) % step == 0;
    (sparse ? found.with : found.without).push_back(layer);
  }
  return found;
}

void AddDecoderMlps(const ConfigReader& config, const DecoderTraits& traits,
                    NetworkBuilder* builder) {
  const int64_t width = config.Need({"intermediate_size"});
  const Blocks& blocks = builder->blocks();
  switch (traits.experts) {
    case kNone:
      AddMlp(width, true, config.Flag("mlp_bias", false), blocks, builder);
      return;
    case kLocal: {
      const int64_t experts = config.Need({"num_local_experts"});
      AddExperts(width, experts, ReadActive(config, experts), blocks, builder);
      return;
    }
    case kSparse: {
      const int64_t experts = config.Need({"num_experts"});
      const ExpertBlocks parted = SparseBlocksOf(config, blocks);
      if (!parted.with.empty()) {
        AddExperts(config.Need({"moe_intermediate_size"}), experts, ReadActive(config, experts),
                   parted.with, builder);
        if (const auto shared = config.Find({"shared_expert_intermediate_size"})) {
          AddSharedExperts(*shared, parted.with, builder);
          builder->Matrix(NetworkPart::kSharedRouter, builder->hidden(), 1, false, parted.with);
        }
      }
      AddMlp(width, true, false, parted.without, builder);
      return;
    }
  }
}

constexpr std::string_view kLlama = "llama";
constexpr std::string_view kMistral = "mistral";
constexpr std::string_view kMixtral = "mixtral";
constexpr std::string_view kQwen2 = "qwen2";
constexpr std::string_view kQwen2Moe = "qwen2_moe";
constexpr std::string_view kQwen3 = "qwen3";
constexpr std::string_view kQwen3Moe = "qwen3_moe";
constexpr std::string_view kGemma = "gemma";
constexpr std::string_view kGemma2 = "gemma2";
constexpr std::string_view kGemma3 = "gemma3_text";

constexpr ModelFamily kFamilies[] = {
    {"bert", ReadBert},
    {"deepseek_v2", ReadDeepSeek},
    {"deepseek_v3", ReadDeepSeek},
    {kGemma, ReadDecoder<kGemma>},
    {kGemma2, ReadDecoder<kGemma2>},
    {kGemma3, ReadDecoder<kGemma3>},
    {"gpt2", ReadGpt2},
    {"gpt_neox", ReadGptNeoX},
    {kLlama, ReadDecoder<kLlama>},
    {kMistral, ReadDecoder<kMistral>},
    {kMixtral, ReadDecoder<kMixtral>},
    {"mpt", ReadMpt},
    {kQwen2, ReadDecoder<kQwen2>},
    {kQwen2Moe, ReadDecoder<kQwen2Moe>},
    {kQwen3, ReadDecoder<kQwen3>},
    {kQwen3Moe, ReadDecoder<kQwen3Moe>},
    {"timesformer", ReadTimeSformer},
    {"vit", ReadVit},
};

}  // namespace

std::span<const ModelFamily> ModelFamilies() { return kFamilies; }

const ModelFamily* FindModelFamily(std::string_view type) {
  const auto* const found = std::ranges::find(kFamilies, type, &ModelFamily::type);
  return found == std::end(kFamilies) ? nullptr : found;
}

Network ReadGatedDecoder(const ConfigReader& config, std::string_view type) {
  const DecoderTraits& traits = *std::ranges::find(kDecoders, type, &DecoderTraits::type);
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  HeadSizes sizes;
  sizes.heads = config.Need({"num_attention_heads"});
  sizes.key_heads = config.Or("num_key_value_heads", sizes.heads);
  const bool divides = hidden % sizes.heads == 0;
  if (traits.head_dim == 0 && !divides && !config.Has("head_dim")) {
    config.Refuse("num_attention_heads", fmt::format("is {}", sizes.heads),
                  fmt::format("it must divide hidden_size, {}, or head_dim be given", hidden));
  }
  sizes.head_dim =
      config.Or("head_dim", traits.head_dim > 0 ? traits.head_dim : hidden / sizes.heads);
  builder.Vocabulary(config.Need({"vocab_size"}), config.Flag("tie_word_embeddings", traits.tied));
  const bool bias = config.Flag("attention_bias", false);
  AddAttention(sizes, bias || traits.query_bias, bias, &builder);
  if (traits.query_key_norm) builder.Vector(2, sizes.head_dim, builder.blocks());
  builder.Vector(traits.norms, hidden, builder.blocks());
  builder.Vector(1, hidden, {});
  AddDecoderMlps(config, traits, &builder);
  AddDecoderPairs(config, traits, &builder);
  return builder.Take();
}

// Attention with low-rank query, keys and values (multi-head latent attention).
Network ReadDeepSeek(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  const Blocks& blocks = builder.blocks();
  const int64_t heads = config.Need({"num_attention_heads"});
  const int64_t rotary = config.Need({"qk_rope_head_dim"});
  const int64_t head_dim = config.Need({"qk_nope_head_dim"}) + rotary;
  const int64_t value_dim = config.Need({"v_head_dim"});
  const int64_t rank = config.Need({"kv_lora_rank"});
  builder.Vocabulary(config.Need({"vocab_size"}), config.Flag("tie_word_embeddings", false));
  builder.Heads(heads, head_dim, value_dim);
  if (const auto query_rank = config.Find({"q_lora_rank"})) {
    builder.Matrix(NetworkPart::kQueryDown, hidden, *query_rank, false, blocks);
    builder.Vector(1, *query_rank, blocks);
    builder.Matrix(NetworkPart::kQueryUp, *query_rank, heads * head_dim, false, blocks);
  } else {
    builder.Matrix(NetworkPart::kQuery, hidden, heads * head_dim, false, blocks);
  }
  builder.Matrix(NetworkPart::kKeyValueDown, hidden, rank + rotary, false, blocks);
  builder.Vector(1, rank, blocks);
  builder.Matrix(NetworkPart::kKeyValueUp, rank, heads * (head_dim - rotary + value_dim), false,
                 blocks);
  builder.Matrix(NetworkPart::kAttentionOutput, heads * value_dim, hidden, false, blocks);
  builder.Vector(2, hidden, blocks);
  builder.Vector(1, hidden, {});
  const int64_t experts = config.Need({"n_routed_experts"});
  const int64_t dense = config.Or("first_k_dense_replace", 0, 0);
  const int64_t every = config.Or("moe_layer_freq", 1);
  ExpertBlocks parted;
  for (const int64_t layer : blocks) {
    (layer >= dense && layer % every == 0 ? parted.with : parted.without).push_back(layer);
  }
  if (!parted.with.empty()) {
    const int64_t width = config.Need({"moe_intermediate_size"});
    AddExperts(width, experts, ReadActive(config, experts), parted.with, &builder);
    // A bias for each expert's score, where they are balanced without a loss.
    if (config.Text("topk_method") == "noaux_tc") builder.Vector(1, experts, parted.with);
    const int64_t shared = config.Or("n_shared_experts", 0, 0);
    if (shared > 0) AddSharedExperts(shared * width, parted.with, &builder);
  }
  AddMlp(config.Need({"intermediate_size"}), true, false, parted.without, &builder);
  builder.network().attention.push_back({blocks, heads, head_dim, value_dim});
  return builder.Take();
}

}  // namespace oplens::ops
