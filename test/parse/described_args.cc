#include "test/parse/described_args.h"

#include <fmt/format.h>

namespace oplens::test {

std::string Describe(const std::vector<OpArg>& args) {
  std::string text;
  for (const OpArg& arg : args) {
    if (!text.empty()) text += " ";
    switch (arg.kind) {
      case OpArg::Kind::kTensor:
        if (arg.list > 0) text += fmt::format("{}:", arg.list);
        text += fmt::format("tensor[{}]{}", fmt::join(arg.shape, ","), arg.dtype);
        break;
      case OpArg::Kind::kInt:
        text += fmt::format("int:{}", arg.int_value);
        break;
      case OpArg::Kind::kFloat:
        text += fmt::format("float:{}", arg.float_value);
        break;
      case OpArg::Kind::kBool:
        text += arg.int_value != 0 ? "True" : "False";
        break;
      case OpArg::Kind::kIntList:
        text += fmt::format("list[{}]", fmt::join(arg.int_list, ","));
        break;
      case OpArg::Kind::kFloatList:
        text += fmt::format("floats[{}]", fmt::join(arg.float_list, ","));
        break;
      case OpArg::Kind::kNone:
        text += "None";
        break;
      case OpArg::Kind::kString:
        text += "'" + arg.text + "'";
        break;
      case OpArg::Kind::kOther:
        text += fmt::format("({})", arg.type);
        break;
    }
  }
  return text;
}

}  // namespace oplens::test
