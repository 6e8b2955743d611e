#ifndef OPLENS_PARSE_JOIN_NAMED_PASS_H_
#define OPLENS_PARSE_JOIN_NAMED_PASS_H_

#include <string_view>

#include "parse/model/phase.h"

namespace oplens::parse {

/// The pass that a range of a program which runs its own backward pass names in brackets behind
/// what it does: "dispatch(F)" is forward; "combine(B)", gradients of inputs, and "mlp(W)",
/// gradients of weights, are backward. kUnknown for every other text.
Phase PassNamedBy(std::string_view text);

/// "dispatch" of "dispatch(F)"; "" where the text names no pass.
std::string_view WorkNamedBy(std::string_view text);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_NAMED_PASS_H_
