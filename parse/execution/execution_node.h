#ifndef OPLENS_PARSE_EXECUTION_EXECUTION_NODE_H_
#define OPLENS_PARSE_EXECUTION_EXECUTION_NODE_H_

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens::parse {

/// A node of an execution trace: a call recorded by PyTorch. Views live as long as the document.
struct ExecutionNode {
  /// Numbers of at::RecordScope.
  enum Scope : int64_t { kFunction = 0, kBackwardFunction = 1, kUser = 7 };

  std::string_view name;        ///< "aten::mm", without its overload.
  int64_t call_number = 0;      ///< rf_id, which is emit_nvtx's op_id; 0: a thread or the process.
  int64_t sequence = -1;        ///< seq_id: links a forward op with its node; -1: none.
  int64_t scope = kFunction;    ///< A Scope, or another number.
  int32_t forward_thread = 0;   ///< fw_tid: for a node, PyTorch's number of the forward thread.
  simdjson::dom::array values;  ///< Of the inputs; three parallel lists.
  simdjson::dom::array shapes;
  simdjson::dom::array types;
};

/// Reads a node as written by 1.13 and 2.0 (members "rf_id", "input_shapes", ...) or by later
/// versions ("attrs", "inputs" with "values", "shapes" and "types"). Returns nullopt if a member
/// above is missing or of another type.
std::optional<ExecutionNode> ReadExecutionNode(simdjson::dom::object object);

struct ExecutionArguments {
  /// Positional, in the order of the operator's schema; members of tensor lists one by one.
  std::vector<OpArg> args;
  /// Values not in the file: members beyond PyTorch's limit, tensors whose extents are not numbers.
  int64_t cut = 0;
};

/// Returns nullopt if the lists of a node do not fit each other.
std::optional<ExecutionArguments> ReadExecutionArguments(const ExecutionNode& node);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_EXECUTION_EXECUTION_NODE_H_
