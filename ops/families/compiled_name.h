#ifndef OPLENS_OPS_FAMILIES_COMPILED_NAME_H_
#define OPLENS_OPS_FAMILIES_COMPILED_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// What TorchInductor calls a kernel by how its code runs (get_kernel_category_by_source_code of
/// torch/_inductor/utils.py, three letters of it).
enum class CompiledKind : uint8_t {
  kOther,       ///< "for" (several kernels in one), "unk", none.
  kPointwise,   ///< "poi": each element on its own.
  kReduction,   ///< "red": a loop over the reduced dimensions; "spl": a scan in parts.
  kPersistent,  ///< "per": the reduced dimensions at once.
  kTemplate,    ///< "tem", or what the name of a tried one begins with ("mm", "bmm"): a template.
};

/// What the name of a kernel of TorchInductor says.
struct CompiledName {
  CompiledKind kind = CompiledKind::kOther;
  /// The fused ops, normalised, sorted as they are in the name, each once however often it is
  /// computed. Words that are no known op are left out.
  struct Fused {
    std::string op;         ///< Normalised: "to" of "_to_copy", "layer_norm".
    bool backward = false;  ///< Its gradient: of "native_layer_norm_backward".
  };
  std::vector<Fused> ops;
  /// `ops` holds each op as often as it is computed: taken from the nodes of the graph.
  bool every_node = false;
};

/// Takes "triton_poi_fused_add_mul_0" apart. The names of the ops are those of aten without
/// namespace and overload, sorted and joined by '_', of which they have some themselves: the
/// longest known name counts.
CompiledName ParseCompiledName(std::string_view name);

/// The op of an FX node: "add" of "add_tensor_3", "mul" of "mul_12". False when none is known.
bool ParseNodeName(std::string_view node, CompiledName::Fused* fused);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_NAME_H_
