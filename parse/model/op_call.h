#ifndef OPLENS_PARSE_MODEL_OP_CALL_H_
#define OPLENS_PARSE_MODEL_OP_CALL_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// One argument of an annotated call.
struct OpArg {
  enum class Kind : uint8_t {
    kTensor,  ///< shape and dtype are set
    kInt,     ///< int_value
    kFloat,   ///< float_value (also inf and nan, quoted or bare)
    kBool,    ///< int_value 0 or 1
    kNone,
    kString,     ///< text
    kIntList,    ///< int_list: a list or tuple of integers, possibly empty
    kFloatList,  ///< float_list: a list or tuple of numbers, at least one of them no integer
    kOther,      ///< something else, kept only as its type
  };
  std::string name;  ///< Keyword, or "" for a positional argument.
  Kind kind = Kind::kOther;
  std::string type;            ///< As written: "tensor", "int", "tuple", "NoneType", ...
  std::vector<int64_t> shape;  ///< Extents, outermost first; empty for a 0-d tensor.
  std::string dtype;           ///< As written, e.g. "float32", "torch.float16".
  int64_t int_value = 0;
  double float_value = 0;
  std::string text;
  std::vector<int64_t> int_list;
  std::vector<double> float_list;
  /// Number of the call's tensor list with this argument: from 1, ascending; 0: none or unknown.
  int32_t list = 0;
};

/// One annotated call of an operator: {'mod': M, 'op': O, 'args': [ARG, ...]}.
struct OpCall {
  std::string mod;  ///< "torch", "Tensor", "torch.nn.functional", a class name, ...
  std::string op;   ///< As written, e.g. "__iadd__", "linear".
  std::vector<OpArg> args;
  /// Number of values that the text says were left out for space. If not 0, the arguments are
  /// incomplete and the call cannot be priced.
  int64_t cut = 0;
};

/// Parses the text of an op range: a Python dict literal with the keys mod, op and args in any
/// order; ignores other keys, except what 'oplens' says was cut. Expands an argument that stands
/// for several equal ones ('times'); reads at most 65536 arguments. Evaluates nothing; rejects
/// nesting deeper than 32. Returns nullopt and one sentence in `error` if the text is not such a
/// literal, or an argument has no usable type, shape or value.
std::optional<OpCall> ParseOpCall(std::string_view text, std::string* error);

/// Appends the canonical text of a call, which ParseOpCall reads back as the same call: fixed keys,
/// blanks and quotes, so that equal calls have equal texts. Floats are the shortest text that reads
/// back the same; inf and nan are quoted.
void AppendOpCall(const OpCall& call, std::string* out);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_OP_CALL_H_
