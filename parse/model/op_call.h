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
    kString,   ///< text
    kIntList,  ///< int_list: a list or tuple of integers, possibly empty
    kOther,    ///< something else, kept only as its type
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
  /// Which of the call's lists of tensors the argument is a member of: 1 or more, ascending; 0: of
  /// none, or it is not told.
  int32_t list = 0;
};

/// One annotated call of an operator: {'mod': M, 'op': O, 'args': [ARG, ...]}.
struct OpCall {
  std::string mod;  ///< "torch", "Tensor", "torch.nn.functional", a class name, ...
  std::string op;   ///< As written, e.g. "__iadd__", "linear".
  std::vector<OpArg> args;
  /// Values of the call that its text says were left out, for want of room: the arguments are not
  /// all, and no figure can be made of them.
  int64_t cut = 0;
};

/// Parses the text of an op range: a Python dict literal with the keys mod, op and args, in any
/// order, other keys ignored but what 'oplens' says was cut. An argument that stands for several
/// alike ones ('times') becomes as many; 65536 at most are read. Nothing is evaluated; nesting
/// deeper than 32 is refused. Returns nullopt and one sentence in `error` when the text is not such
/// a literal, or an argument has no usable type, shape or value.
std::optional<OpCall> ParseOpCall(std::string_view text, std::string* error);

/// Appends the canonical text of a call, which ParseOpCall reads back as the same call: keys,
/// blanks and quotes fixed, so that equal calls have equal texts. Floats are written as the
/// shortest text that reads back the same; inf and nan are quoted.
void AppendOpCall(const OpCall& call, std::string* out);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_OP_CALL_H_
