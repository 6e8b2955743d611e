#ifndef OPLENS_PARSE_PROVENANCE_COMPILE_LOG_H_
#define OPLENS_PARSE_PROVENANCE_COMPILE_LOG_H_

#include <string>
#include <string_view>
#include <vector>

namespace oplens::parse {

/// A text that PyTorch's compiler logged, under its name: "inductor_output_code", or that of an
/// artifact: "inductor_provenance_tracking_node_mappings".
struct LoggedText {
  std::string name;
  std::string text;
};

/// Whether a file of this name is a structured log of PyTorch's compiler, as TORCH_TRACE=FOLDER and
/// TORCH_COMPILE_DEBUG=1 write it: "dedicated_log_torch_trace_rank_0_x1y2.log".
bool IsCompileLogName(std::string_view name);

/// The texts of such a log with one of `names`, in its order: a line "V1127 .. file.py:1624]
/// {"artifact": {"name": NAME}, ..}", then lines that begin with a tab. Other lines are skipped.
std::vector<LoggedText> ReadCompileLog(std::string_view log,
                                       const std::vector<std::string_view>& names);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROVENANCE_COMPILE_LOG_H_
