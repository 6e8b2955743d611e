#ifndef OPLENS_PARSE_PROVENANCE_PROVENANCE_H_
#define OPLENS_PARSE_PROVENANCE_PROVENANCE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Where a kernel of TorchInductor comes from. nullopt: no file says it, or a kernel that the
/// generated code calls at several places has another answer at each.
struct KernelOrigin {
  using Names = std::optional<std::vector<std::string>>;
  Names nodes;    ///< FX nodes behind the gradients' graph: "mul_1", "add_tensor"; what is fused.
  Names sources;  ///< FX nodes of the user's graph: "linear",
                  ///< "l_self_modules_fc1_parameters_weight_".
  Names frames;   ///< Source lines, outermost first: "model.py:12".
  std::optional<std::string> signature;  ///< "in_ptr0, out_ptr0, xnumel"
};

/// What the files say that TorchInductor writes about its kernels (torch/_inductor/debug.py;
/// PyTorch's page "TorchInductor and AOTInductor Provenance Tracking").
class KernelOrigins {
 public:
  /// Each takes the text of one file; false where it is none of that kind.
  /// kernel_information.json: kernel -> stack_traces, post_grad_nodes, pre_grad_nodes; or the same
  /// by compiled region.
  bool AddInformation(std::string_view json);
  /// inductor_provenance_tracking_node_mappings.json: cppCodeToPost, postToPre.
  bool AddMappings(std::string_view json);
  /// inductor_provenance_tracking_kernel_stack_traces.json: kernel -> stack traces.
  bool AddStackTraces(std::string_view json);
  /// output_code.py: "def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK :
  /// tl.constexpr):".
  void AddCode(std::string_view python);

  /// By the name of the kernel, without the number of the place that it is called at (":3").
  const KernelOrigin* Find(std::string_view kernel) const;
  bool empty() const { return origins_.empty(); }

 private:
  std::map<std::string, KernelOrigin, std::less<>> origins_;
};

/// The layer that FX nodes of the user's graph tell: paths of modules where their names hold them
/// ("blocks.0.attn" of "l_self_modules_blocks_modules_0_modules_attn_parameters_weight_", "fc1" of
/// "l__self___fc1"), else their names, joined by '+', each once; "": there are none.
std::string LayerOfNodes(const std::vector<std::string>& sources);

/// Completes a trace of PyTorch's profiler with what TorchInductor wrote of its kernels into files
/// in the same folder (IsProvenanceName of parse/source/file_kind.h), if there are any: calls of
/// compiled kernels get the source lines, a layer by the names of FX nodes, the fused ops one by
/// one and the use of each parameter. A file that cannot be used is noted.
void AddProvenance(const std::string& trace_path, Trace* trace, Diagnostics* diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROVENANCE_PROVENANCE_H_
