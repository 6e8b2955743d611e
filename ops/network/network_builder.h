#ifndef OPLENS_OPS_NETWORK_NETWORK_BUILDER_H_
#define OPLENS_OPS_NETWORK_NETWORK_BUILDER_H_

#include <cstdint>
#include <vector>

#include "ops/network/config_reader.h"
#include "ops/network/network.h"

namespace oplens::ops {

using Blocks = std::vector<int64_t>;

/// Numbers from 0 to `count` - 1.
Blocks AllBlocks(int64_t count);

/// The number of layers, named by one of `names`.
int64_t ReadLayers(const ConfigReader& config, ConfigReader::Names names = {"num_hidden_layers"});

/// Copies of a matrix in a block.
struct Copies {
  int64_t all = 1;
  int64_t active = 1;
};

/// Adds the weights of a network one by one.
class NetworkBuilder {
 public:
  NetworkBuilder(int64_t layers, int64_t hidden);

  /// A matrix with a bias of `out` elements or without. Empty `blocks`: one, outside of the blocks.
  NetworkWeight& Matrix(NetworkPart part, int64_t in, int64_t out, bool bias, const Blocks& blocks,
                        Copies copies = {});
  /// `count` vectors that are added or looked up.
  void Vector(int64_t count, int64_t width, const Blocks& blocks) {
    Table(NetworkPart::kNorm, count, width, blocks);
  }
  void Table(NetworkPart part, int64_t count, int64_t width, const Blocks& blocks = {});
  /// The table of the vocabulary and the product with it at the end.
  void Vocabulary(int64_t words, bool tied, bool has_head = true);
  void Heads(int64_t heads, int64_t head_dim, int64_t value_dim);

  int64_t hidden() const { return hidden_; }
  const Blocks& blocks() const { return blocks_; }
  Network& network() { return network_; }
  Network Take() { return std::move(network_); }

 private:
  Network network_;
  int64_t hidden_;
  Blocks blocks_;
};

/// Heads of attention, and their sizes where query, key and value are matrices of their own.
struct HeadSizes {
  int64_t heads = 0;
  int64_t key_heads = 0;
  int64_t head_dim = 0;
};

/// `bias`: of query, key and value; `output_bias`: of the layer after them.
void AddAttention(const HeadSizes& sizes, bool bias, bool output_bias, NetworkBuilder* builder);

/// Gate, up and down; without `gated` up and down.
void AddMlp(int64_t width, bool gated, bool bias, const Blocks& blocks, NetworkBuilder* builder);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_NETWORK_BUILDER_H_
