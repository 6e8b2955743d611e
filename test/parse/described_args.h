#ifndef OPLENS_TEST_PARSE_DESCRIBED_ARGS_H_
#define OPLENS_TEST_PARSE_DESCRIBED_ARGS_H_

#include <string>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens::test {

/// "tensor[4,3]float32 int:-1 None", and before the members of a list of tensors its number: "1:".
std::string Describe(const std::vector<OpArg>& args);

}  // namespace oplens::test

#endif  // OPLENS_TEST_PARSE_DESCRIBED_ARGS_H_
