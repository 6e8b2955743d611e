#ifndef OPLENS_OPS_FAMILIES_COMPILED_NAME_H_
#define OPLENS_OPS_FAMILIES_COMPILED_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// TorchInductor's kernel category (get_kernel_category_by_source_code in torch/_inductor/utils.py,
/// abbreviated to three letters).
enum class CompiledKind : uint8_t {
  kOther,       ///< "for" (several kernels in one), "unk", none.
  kPointwise,   ///< "poi": elementwise.
  kReduction,   ///< "red": loops over the reduced dimensions; "spl": a split scan.
  kPersistent,  ///< "per": the reduced dimensions at once.
  kTemplate,    ///< "tem", or an autotuning candidate ("mm", "bmm").
};

/// What the name of a TorchInductor kernel says.
struct CompiledName {
  CompiledKind kind = CompiledKind::kOther;
  /// A fused op. The name lists each once, sorted, however often computed; unknown words are
  /// skipped.
  struct Fused {
    std::string op;         ///< Normalised: "to" of "_to_copy", "layer_norm".
    bool backward = false;  ///< A gradient ("native_layer_norm_backward").
  };
  std::vector<Fused> ops;
  /// `ops` comes from the graph nodes, with each op as often as it is computed.
  bool every_node = false;
};

/// Parses "triton_poi_fused_add_mul_0". Op names are aten's without namespace and overload, sorted
/// and joined by '_', which they also contain: the longest known name wins.
CompiledName ParseCompiledName(std::string_view name);

/// The op of an FX node: "add" of "add_tensor_3", "mul" of "mul_12". False if unknown.
bool ParseNodeName(std::string_view node, CompiledName::Fused* fused);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_NAME_H_
