#include "ops/network/network_builder.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace oplens::ops {

Blocks AllBlocks(int64_t count) {
  Blocks blocks(static_cast<size_t>(count));
  std::iota(blocks.begin(), blocks.end(), int64_t{0});
  return blocks;
}

int64_t ReadLayers(const ConfigReader& config, ConfigReader::Names names) {
  constexpr int64_t kMostLayers = 10'000;
  const int64_t layers = config.Need(names);
  if (layers > kMostLayers) {
    config.Refuse(*names.begin(), fmt::format("is {}", layers),
                  fmt::format("give at most {}", kMostLayers));
  }
  return layers;
}

NetworkBuilder::NetworkBuilder(int64_t layers, int64_t hidden)
    : hidden_(hidden), blocks_(AllBlocks(layers)) {
  network_.layers = layers;
  network_.hidden = hidden;
}

NetworkWeight& NetworkBuilder::Matrix(NetworkPart part, int64_t in, int64_t out, bool bias,
                                      const Blocks& blocks, Copies copies) {
  NetworkWeight& weight = network_.weights.emplace_back();
  weight.part = part;
  weight.in = in;
  weight.out = out;
  weight.elements =
      static_cast<double>(in) * static_cast<double>(out) + static_cast<double>(bias ? out : 0);
  weight.blocks = blocks;
  weight.copies = copies.all;
  weight.active = copies.active;
  return weight;
}

void NetworkBuilder::Table(NetworkPart part, int64_t count, int64_t width, const Blocks& blocks) {
  NetworkWeight& weight = network_.weights.emplace_back();
  weight.part = part;
  weight.elements = static_cast<double>(count) * static_cast<double>(width);
  weight.blocks = blocks;
  weight.applied = Applied::kNever;
}

void NetworkBuilder::Vocabulary(int64_t words, bool tied, bool has_head) {
  network_.vocabulary = words;
  network_.tied = tied;
  Table(NetworkPart::kEmbedding, words, hidden_);
  if (has_head) Matrix(NetworkPart::kHead, hidden_, words, false, {}).tied = tied;
}

void NetworkBuilder::Heads(int64_t heads, int64_t head_dim, int64_t value_dim) {
  network_.heads = heads;
  network_.head_dim = head_dim;
  network_.value_dim = value_dim;
}

void AddAttention(const HeadSizes& sizes, bool bias, bool output_bias, NetworkBuilder* builder) {
  const int64_t hidden = builder->hidden();
  const int64_t queries = sizes.heads * sizes.head_dim;
  const int64_t keys = sizes.key_heads * sizes.head_dim;
  builder->Heads(sizes.heads, sizes.head_dim, sizes.head_dim);
  builder->Matrix(NetworkPart::kQuery, hidden, queries, bias, builder->blocks());
  builder->Matrix(NetworkPart::kKey, hidden, keys, bias, builder->blocks());
  builder->Matrix(NetworkPart::kValue, hidden, keys, bias, builder->blocks());
  builder->Matrix(NetworkPart::kAttentionOutput, queries, hidden, output_bias, builder->blocks());
}

void AddMlp(int64_t width, bool gated, bool bias, const Blocks& blocks, NetworkBuilder* builder) {
  const int64_t hidden = builder->hidden();
  if (blocks.empty()) return;
  if (gated) builder->Matrix(NetworkPart::kGate, hidden, width, bias, blocks);
  builder->Matrix(NetworkPart::kUp, hidden, width, bias, blocks);
  builder->Matrix(NetworkPart::kDown, width, hidden, bias, blocks);
}

}  // namespace oplens::ops
