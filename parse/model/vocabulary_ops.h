#ifndef OPLENS_PARSE_MODEL_VOCABULARY_OPS_H_
#define OPLENS_PARSE_MODEL_VOCABULARY_OPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// How much of a fused kernel's work an op is: the first named is the main one.
enum class OpWeight : uint8_t { kProduct, kNorm, kReduction, kPointwise, kLayout };

/// A type of node of ONNX, TensorFlow, TensorRT or HLO, and the word that recorded ops have for it.
struct VocabularyOp {
  std::string_view type;  ///< "Conv", "MatMul", "dot_general".
  std::string_view op;    ///< "convolution", "mm".
  OpWeight weight = OpWeight::kPointwise;
};

/// All, by type.
std::span<const VocabularyOp> VocabularyOps();

/// The entry of a type, exactly as spelled; null if there is none.
const VocabularyOp* FindVocabularyOp(std::string_view type);

/// The module that a node is in, by the node's path: "/layer1/layer1.1/conv1/Conv" is in
/// "layer1.1.conv1". PyTorch's exporter repeats the name of a container in those of its members.
/// "" if the path has no module.
std::string LayerOfNode(std::string_view path);

/// Gathers the ops that one range names; beyond 64 they are left out.
class NamedOps {
 public:
  /// Adds an op that the node at `path` computes; a repeated word counts once.
  void Add(std::string_view op, OpWeight weight, std::string_view path);
  bool empty() const { return ops_.empty(); }
  /// "convolution+relu": the weightiest first, else in order of addition; at most eight.
  std::string Joined() const;
  /// The path of the first of them; "" if there is none.
  std::string_view MainPath() const;

 private:
  struct Named {
    std::string_view op;
    OpWeight weight;
    std::string_view path;
  };
  size_t Main() const;

  std::vector<Named> ops_;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_VOCABULARY_OPS_H_
