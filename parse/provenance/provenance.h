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

/// Where a kernel of TorchInductor comes from. nullopt: not in any file, or different at the
/// several call sites of a kernel in the generated code.
struct KernelOrigin {
  using Names = std::optional<std::vector<std::string>>;
  Names nodes;    ///< FX nodes of the post-grad graph, which were fused: "mul_1", "add_tensor".
  Names sources;  ///< FX nodes of the user's graph: "linear",
                  ///< "l_self_modules_fc1_parameters_weight_".
  Names frames;   ///< Source lines, outermost first: "model.py:12".
  std::optional<std::string> signature;  ///< "in_ptr0, out_ptr0, xnumel"
};

/// What TorchInductor's files say about its kernels (torch/_inductor/debug.py; PyTorch's page
/// "TorchInductor and AOTInductor Provenance Tracking").
class KernelOrigins {
 public:
  /// Each takes the text of one file; returns false if it is none of that kind.
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
  /// Structured logs of the compiler (compile_log.h), which hold the texts of the last three of
  /// each graph: what graphs say differently of kernels of one name is not used. False if they hold
  /// none.
  bool AddLogs(const std::vector<std::string>& logs);

  /// Finds by kernel name, without the number of the call site (":3"); of the CPU, as its calls are
  /// recorded ("graph_0_cpp_fused_add_0").
  const KernelOrigin* Find(std::string_view kernel) const;
  bool empty() const { return origins_.empty(); }

 private:
  std::map<std::string, KernelOrigin, std::less<>> origins_;
};

/// The layer of FX nodes of the user's graph: paths of modules if their names hold them
/// ("blocks.0.attn" for "l_self_modules_blocks_modules_0_modules_attn_parameters_weight_", "fc1"
/// for "l__self___fc1"), else their names, joined by '+', each once. "" if there are none.
std::string LayerOfNodes(const std::vector<std::string>& sources);

/// Completes a trace of PyTorch's profiler by TorchInductor's files in its folder
/// (kProvenanceNames): calls of compiled kernels get their source lines, a layer from the names of
/// FX nodes, the fused ops one by one and the use of each parameter. Notes unusable files.
void AddProvenance(const std::string& trace_path, Trace* trace, Diagnostics* diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROVENANCE_PROVENANCE_H_
