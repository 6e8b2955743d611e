#ifndef OPLENS_PARSE_JOIN_NAMED_PASS_H_
#define OPLENS_PARSE_JOIN_NAMED_PASS_H_

#include <string_view>

#include "parse/model/phase.h"

namespace oplens::parse {

/// Returns the pass that a range of a program with its own backward pass names in brackets:
/// "dispatch(F)" is forward; "combine(B)", gradients of inputs, and "mlp(W)", gradients of weights,
/// are backward. kUnknown for other texts.
Phase PassNamedBy(std::string_view text);

/// Returns "dispatch" for "dispatch(F)"; "" if the text names no pass.
std::string_view WorkNamedBy(std::string_view text);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_NAMED_PASS_H_
