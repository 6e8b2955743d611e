#ifndef OPLENS_OPS_NETWORK_NETWORK_H_
#define OPLENS_OPS_NETWORK_NETWORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// What a matrix of a network is for. Words: NetworkPartWord().
enum class NetworkPart : uint8_t {
  kEmbedding,  ///< Looked up: no product.
  kPositions,  ///< Learned positions, looked up.
  kPatches,    ///< Patches of an image into the hidden size: a convolution.
  kQuery,      ///< Of attention, as are the next ones.
  kKey,
  kValue,
  kQueryDown,  ///< Low-rank query, first factor (DeepSeek).
  kQueryUp,
  kKeyValueDown,  ///< Low-rank keys and values with the rotary key, first factor.
  kKeyValueUp,
  kAttentionOutput,
  kTemporalOutput,  ///< A second output layer of attention over frames.
  kGate,            ///< Of a gated MLP.
  kUp,
  kDown,
  kRouter,
  kExpertGate,
  kExpertUp,
  kExpertDown,
  kSharedGate,  ///< Of experts that every token passes.
  kSharedUp,
  kSharedDown,
  kSharedRouter,  ///< The factor of shared experts.
  kTransform,     ///< Before the vocabulary of a masked model.
  kPooler,
  kHead,  ///< To the vocabulary or to the labels.
  kNorm,  ///< Vectors without a product.
};

/// "query", "expert_down".
std::string_view NetworkPartWord(NetworkPart part);

/// How often a matrix is applied.
enum class Applied : uint8_t {
  kToTokens,
  kToPatches,        ///< To tokens without the class token.
  kToFramedPatches,  ///< To patches, and once per frame to a copy of the class token.
  kToSamples,        ///< Once per sample.
  kNever,            ///< Looked up or added.
};

/// A matrix that a token's row of `in` values is multiplied with, or a table or vector.
struct NetworkWeight {
  NetworkPart part = NetworkPart::kNorm;
  int64_t in = 0;  ///< 0: no product.
  int64_t out = 0;
  double elements = 0;          ///< Parameters of one copy, with its bias.
  std::vector<int64_t> blocks;  ///< Numbers of the blocks that have it; empty: one, outside.
  int64_t copies = 1;           ///< In each block: the number of experts.
  int64_t active = 1;           ///< Of these, applied to one token.
  Applied applied = Applied::kToTokens;
  /// Its elements are those of the embedding.
  bool tied = false;
  /// The configuration does not say whether the run has it.
  bool optional = false;

  int64_t BlockCount() const { return blocks.empty() ? 1 : static_cast<int64_t>(blocks.size()); }
};

/// Attention's scores and weighted sums in the blocks that have them alike.
struct NetworkAttention {
  std::vector<int64_t> blocks;  ///< Their numbers.
  int64_t heads = 0;
  int64_t head_dim = 0;  ///< Of queries and keys.
  int64_t value_dim = 0;
  bool causal = true;
  int64_t window = 0;  ///< Keys that a query sees, itself included; 0: all.
  /// Which tokens attend to each other.
  enum class Among : uint8_t { kSample, kFrame, kPlace } among = Among::kSample;
};

/// A transformer by its configuration. Sizes are those of the whole network, not of a shard.
struct Network {
  std::string family;  ///< model_type of the configuration, or "" for values by hand.
  int64_t layers = 0;
  std::optional<int64_t> hidden;
  std::optional<int64_t> vocabulary;
  std::optional<int64_t> heads;
  std::optional<int64_t> head_dim;  ///< Of queries and keys.
  std::optional<int64_t> value_dim;
  std::optional<int64_t> experts;
  std::optional<int64_t> active_experts;
  bool tied = false;      ///< One table for the embedding and the head.
  int64_t positions = 0;  ///< Learned positions of the table, each `hidden` wide; 0: none.
  int64_t frames = 0;     ///< Frames of a sample of video; 0: none.
  /// Tokens of a sample where the configuration fixes them (images); 0: any.
  int64_t sample_tokens = 0;
  /// Values by hand that take the place of sums over `weights`.
  std::optional<double> parameters;
  std::optional<double> active_parameters;
  /// Every matrix, table and vector; empty if only values by hand are known.
  std::vector<NetworkWeight> weights;
  std::vector<NetworkAttention> attention;

  bool HasWeights() const { return !weights.empty(); }
};

/// Parameters by what a convention counts.
struct ParameterCount {
  double all = 0;        ///< With positions for `tokens` tokens, and a tied table once.
  double active = 0;     ///< Of experts only those that a token passes.
  double embedding = 0;  ///< Of these, looked up only: untied input table, and positions.
};

/// For sequences of `sequence` tokens: as many learned positions count. nullopt if unknown. Of
/// parts that the configuration leaves open (NetworkWeight::optional) none counts.
std::optional<ParameterCount> ParametersOf(const Network& network, int64_t sequence);

/// What is computed at once. Tokens are of all samples.
struct NetworkInput {
  double tokens = 0;
  double samples = 1;
  double Sequence() const { return samples > 0 ? tokens / samples : tokens; }
};

/// Rows of the product of a weight with this input, in each of its blocks; 0 without a product.
/// Experts: as if the tokens spread evenly, `active` times the tokens over all of them.
double RowsOf(const NetworkWeight& weight, const Network& network, const NetworkInput& input);

/// FLOPs of the forward products with a weight, over all its blocks.
double ForwardFlopsOf(const NetworkWeight& weight, const Network& network,
                      const NetworkInput& input);

/// Pairs of a query and a key that it sees, in one block.
double VisiblePairsOf(const NetworkAttention& attention, const Network& network,
                      const NetworkInput& input);
/// All pairs of tokens that attend to each other, masked ones included.
double AllPairsOf(const NetworkAttention& attention, const Network& network,
                  const NetworkInput& input);

/// FLOPs of attention's two products for one pair: 2 heads (head_dim + value_dim).
double FlopsPerPair(const NetworkAttention& attention);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_NETWORK_H_
