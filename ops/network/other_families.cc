#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/network/model_families.h"
#include "ops/network/network_builder.h"

namespace oplens::ops {
namespace {

int64_t HeadDimOf(const ConfigReader& config, std::string_view key, int64_t hidden, int64_t heads) {
  if (hidden % heads == 0) return hidden / heads;
  config.Refuse(key, fmt::format("is {}", heads),
                fmt::format("it must divide the hidden size, {}", hidden));
}

void AddPairs(NetworkBuilder* builder, bool causal,
              NetworkAttention::Among among = NetworkAttention::Among::kSample) {
  Network& network = builder->network();
  network.attention.push_back(
      {builder->blocks(), *network.heads, *network.head_dim, *network.value_dim, causal, 0, among});
}

/// Whether a class of the run ends with one of `endings`.
bool IsBuiltAs(const ConfigReader& config, std::initializer_list<std::string_view> endings) {
  const std::vector<std::string> classes = config.Texts("architectures");
  return std::ranges::any_of(classes, [&](const std::string& name) {
    return std::ranges::any_of(endings,
                               [&](std::string_view ending) { return name.ends_with(ending); });
  });
}

int64_t LabelsOf(const ConfigReader& config) {
  constexpr int64_t kUsual = 2;
  return config.SizeOf("id2label").value_or(config.Or("num_labels", kUsual));
}

/// The shape of images; `patches`: of one image.
struct ImageSizes {
  int64_t patch_elements = 0;  ///< Inputs of a patch, all channels.
  int64_t patches = 0;
};

/// Height and width, given as one number or as two.
std::pair<int64_t, int64_t> SidesOf(const ConfigReader& config, std::string_view key,
                                    int64_t usual) {
  constexpr int64_t kMostSide = 100'000;
  std::pair<int64_t, int64_t> sides;
  if (config.IsList(key)) {
    const std::vector<int64_t> both = config.Integers(key);
    if (both.size() == 2) sides = {both[0], both[1]};
  } else {
    const int64_t side = config.Or(key, usual);
    sides = {side, side};
  }
  const auto [least, most] = std::minmax(sides.first, sides.second);
  if (least < 1 || most > kMostSide) {
    config.Refuse(key, "is no size of an image",
                  fmt::format("give one or two numbers up to {}", kMostSide));
  }
  return sides;
}

ImageSizes ReadImages(const ConfigReader& config) {
  constexpr int64_t kUsualImage = 224;
  constexpr int64_t kUsualPatch = 16;
  constexpr int64_t kUsualChannels = 3;
  const auto [height, width] = SidesOf(config, "image_size", kUsualImage);
  const auto [patch_height, patch_width] = SidesOf(config, "patch_size", kUsualPatch);
  if (patch_height > height || patch_width > width) {
    config.Refuse("patch_size", "is larger than image_size", "give the config.json of the model");
  }
  return {config.Or("num_channels", kUsualChannels) * patch_height * patch_width,
          (height / patch_height) * (width / patch_width)};
}

/// Patches, the class token, and a position for each token of an image.
void AddPatches(const ImageSizes& images, NetworkBuilder* builder) {
  builder->Matrix(NetworkPart::kPatches, images.patch_elements, builder->hidden(), true, {})
      .applied = Applied::kToPatches;
  builder->Vector(1, builder->hidden(), {});
  builder->Table(NetworkPart::kPositions, images.patches + 1, builder->hidden());
  builder->network().positions = images.patches + 1;
}

void AddClasses(const ConfigReader& config, NetworkBuilder* builder, bool optional) {
  NetworkWeight& head =
      builder->Matrix(NetworkPart::kHead, builder->hidden(), LabelsOf(config), true, {});
  head.applied = Applied::kToSamples;
  head.optional = optional;
}

void AddPooler(NetworkBuilder* builder, bool optional) {
  NetworkWeight& pooler =
      builder->Matrix(NetworkPart::kPooler, builder->hidden(), builder->hidden(), true, {});
  pooler.applied = Applied::kToSamples;
  pooler.optional = optional;
}

}  // namespace

Network ReadGpt2(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config, {"n_layer"}), config.Need({"n_embd"})};
  const int64_t hidden = builder.hidden();
  const int64_t heads = config.Need({"n_head"});
  builder.Vocabulary(config.Need({"vocab_size"}), config.Flag("tie_word_embeddings", true));
  builder.network().positions = config.Need({"n_positions", "n_ctx"});
  builder.Table(NetworkPart::kPositions, builder.network().positions, hidden);
  AddAttention({heads, heads, HeadDimOf(config, "n_head", hidden, heads)}, true, true, &builder);
  AddMlp(config.Or("n_inner", 4 * hidden), false, true, builder.blocks(), &builder);
  builder.Vector(4, hidden, builder.blocks());
  builder.Vector(2, hidden, {});
  AddPairs(&builder, true);
  return builder.Take();
}

Network ReadGptNeoX(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  const int64_t heads = config.Need({"num_attention_heads"});
  const bool bias = config.Flag("attention_bias", true);
  builder.Vocabulary(config.Need({"vocab_size"}), config.Flag("tie_word_embeddings", false));
  AddAttention({heads, heads, HeadDimOf(config, "num_attention_heads", hidden, heads)}, bias, bias,
               &builder);
  AddMlp(config.Need({"intermediate_size"}), false, true, builder.blocks(), &builder);
  builder.Vector(4, hidden, builder.blocks());
  builder.Vector(2, hidden, {});
  AddPairs(&builder, true);
  return builder.Take();
}

Network ReadMpt(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config, {"n_layers"}), config.Need({"d_model"})};
  const int64_t hidden = builder.hidden();
  const int64_t heads = config.Need({"n_heads"});
  HeadSizes sizes{heads, heads, HeadDimOf(config, "n_heads", hidden, heads)};
  bool positions = config.Flag("learned_pos_emb", true);
  if (const auto attention = config.Inside("attn_config")) {
    const std::string type = attention->Text("attn_type");
    if (type == "multiquery_attention") sizes.key_heads = 1;
    if (type == "grouped_query_attention") sizes.key_heads = attention->Or("kv_n_heads", heads);
    positions = positions && !attention->Flag("alibi", false) && !attention->Flag("rope", false);
  }
  const bool bias = !config.Flag("no_bias", false);
  const int64_t norm = bias ? 2 * hidden : hidden;
  builder.Vocabulary(config.Need({"vocab_size"}), config.Flag("tie_word_embeddings", true));
  if (positions) {
    builder.network().positions = config.Need({"max_seq_len"});
    builder.Table(NetworkPart::kPositions, builder.network().positions, hidden);
  }
  AddAttention(sizes, bias, bias, &builder);
  AddMlp(config.Or("expansion_ratio", 4) * hidden, false, bias, builder.blocks(), &builder);
  builder.Vector(2, norm, builder.blocks());
  builder.Vector(1, norm, {});
  AddPairs(&builder, true);
  return builder.Take();
}

Network ReadBert(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  const int64_t words = config.Need({"vocab_size"});
  const int64_t heads = config.Need({"num_attention_heads"});
  const bool masked = IsBuiltAs(config, {"MaskedLM", "LMHeadModel", "PreTraining"});
  const bool pooled = IsBuiltAs(config, {"BertModel", "Classification", "NextSentencePrediction",
                                         "PreTraining", "MultipleChoice"});
  builder.Vocabulary(words, true, false);
  builder.network().positions = config.Need({"max_position_embeddings"});
  builder.Table(NetworkPart::kPositions, builder.network().positions, hidden);
  builder.Vector(config.Or("type_vocab_size", 2) + 2, hidden, {});  // Types of tokens, and a norm.
  AddAttention({heads, heads, HeadDimOf(config, "num_attention_heads", hidden, heads)}, true, true,
               &builder);
  AddMlp(config.Need({"intermediate_size"}), false, true, builder.blocks(), &builder);
  builder.Vector(4, hidden, builder.blocks());
  NetworkWeight& transform = builder.Matrix(NetworkPart::kTransform, hidden, hidden, true, {});
  transform.elements += 2 * static_cast<double>(hidden);  // Its norm.
  transform.optional = !masked;
  NetworkWeight& head = builder.Matrix(NetworkPart::kHead, hidden, words, false, {});
  head.tied = true;
  head.optional = !masked;
  AddPooler(&builder, !pooled);
  AddPairs(&builder, config.Flag("is_decoder", false));
  return builder.Take();
}

Network ReadVit(const ConfigReader& config) {
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  const int64_t heads = config.Need({"num_attention_heads"});
  const ImageSizes images = ReadImages(config);
  const bool classifies = IsBuiltAs(config, {"ForImageClassification"});
  builder.network().sample_tokens = images.patches + 1;
  AddPatches(images, &builder);
  AddAttention({heads, heads, HeadDimOf(config, "num_attention_heads", hidden, heads)},
               config.Flag("qkv_bias", true), true, &builder);
  AddMlp(config.Need({"intermediate_size"}), false, true, builder.blocks(), &builder);
  builder.Vector(4, hidden, builder.blocks());
  builder.Vector(2, hidden, {});
  AddClasses(config, &builder, !classifies);
  AddPooler(&builder, true);
  AddPairs(&builder, false);
  return builder.Take();
}

// Attention over frames, then over places, as "divided_space_time"; over both at once, as
// "joint_space_time"; or over places only.
Network ReadTimeSformer(const ConfigReader& config) {
  constexpr int64_t kUsualFrames = 8;
  NetworkBuilder builder{ReadLayers(config), config.Need({"hidden_size"})};
  const int64_t hidden = builder.hidden();
  const int64_t heads = config.Need({"num_attention_heads"});
  const ImageSizes images = ReadImages(config);
  const int64_t frames = config.Or("num_frames", kUsualFrames);
  const std::string type = config.Text("attention_type");
  constexpr std::string_view kDivided = "divided_space_time";
  constexpr std::string_view kJoint = "joint_space_time";
  if (!type.empty() && type != kDivided && type != kJoint) {
    config.Refuse("attention_type", fmt::format("is '{}'", type),
                  fmt::format("known are {} and {}", kDivided, kJoint));
  }
  const bool divided = type != kJoint;
  builder.network().frames = frames;
  builder.network().sample_tokens = frames * images.patches + 1;
  AddPatches(images, &builder);
  builder.Table(NetworkPart::kPositions, frames, hidden);
  const bool bias = config.Flag("qkv_bias", true);
  const size_t first = builder.network().weights.size();
  AddAttention({heads, heads, HeadDimOf(config, "num_attention_heads", hidden, heads)}, bias, true,
               &builder);
  if (divided) {
    std::vector<NetworkWeight>& weights = builder.network().weights;
    const std::vector<NetworkWeight> places(weights.begin() + static_cast<std::ptrdiff_t>(first),
                                            weights.end());
    for (size_t i = first; i < weights.size(); ++i) weights[i].applied = Applied::kToFramedPatches;
    for (NetworkWeight weight : places) {
      weight.applied = Applied::kToPatches;
      weights.push_back(weight);
    }
    builder.Matrix(NetworkPart::kTemporalOutput, hidden, hidden, true, builder.blocks()).applied =
        Applied::kToPatches;
    builder.Vector(2, hidden, builder.blocks());
    AddPairs(&builder, false, NetworkAttention::Among::kPlace);
    AddPairs(&builder, false, NetworkAttention::Among::kFrame);
  } else {
    AddPairs(&builder, false);
  }
  AddMlp(config.Need({"intermediate_size"}), false, true, builder.blocks(), &builder);
  builder.Vector(4, hidden, builder.blocks());
  builder.Vector(2, hidden, {});
  AddClasses(config, &builder, !IsBuiltAs(config, {"ForVideoClassification"}));
  return builder.Take();
}

}  // namespace oplens::ops
