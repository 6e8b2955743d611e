// What the adaptor makes of PyTorch 2: torch_2_cases.cc, compiled with stand-ins for three of its
// versions (headers_2).

#include <gmock/gmock.h>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::versions_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class VersionsTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// What was called, without the facts behind the arguments: an indented line each.
  static std::vector<std::string> Calls() {
    std::vector<std::string> lines =
        RunTorch({BuildFile("bin/torch_2_") + GetParam() + "_cases"}).Outline();
    for (std::string& line : lines) line = line.substr(0, line.find(", 'oplens'"));
    return lines;
  }
  /// Those of an op, arguments only.
  static std::vector<std::string> ArgsOf(const std::string& op) {
    const std::string start = "'op': '" + op + "', 'args': ";
    std::vector<std::string> args;
    for (const std::string& line : Calls()) {
      const size_t at = line.find(start);
      if (at != line.npos) args.push_back(line.substr(at + start.size()));
    }
    return args;
  }
  static std::string Tensor(const std::string& shape, const std::string& dtype,
                            const std::string& list = "") {
    return "{'name': '', 'type': 'tensor', 'shape': " + shape + ", 'dtype': '" + dtype + "'" +
           list + "}";
  }
  static std::string Named(const std::string& name, const std::string& type,
                           const std::string& value) {
    return ", {'name': '" + name + "', 'type': '" + type + "', 'value': " + value + "}";
  }
};

TEST_P(VersionsTest, AllocatorsAreObserved) {
  const TorchRun run = RunTorch({BuildFile("bin/torch_2_") + GetParam() + "_cases", "memory"});
  EXPECT_EQ(run.result.out, "memory: started 1, observed 1, slot 1 and left 1, restored 1\n");
}

TEST_P(VersionsTest, CompiledRegionsAreLabelsAroundTheirOps) {
  const std::vector<std::string> calls = Calls();
  EXPECT_THAT(calls, Contains("Torch-Compiled Region: 0/0"));
  EXPECT_THAT(calls, Contains(::testing::ContainsRegex("^ +## Call CompiledFxGraph f3k ##")));
  EXPECT_THAT(calls, Not(Contains(HasSubstr("'op': 'Torch-Compiled"))));
  EXPECT_THAT(ArgsOf("CompiledFunction"), ElementsAre("[" + Tensor("(4, 8)", "float32") + "]"));
  EXPECT_THAT(calls, Contains(HasSubstr("CompiledFunctionBackward, seq = 7")));
}

TEST_P(VersionsTest, NewElementTypesAndSymbolicSizes) {
  EXPECT_THAT(ArgsOf("mm"), ElementsAre("[" + Tensor("(4, 8)", "float32") + ", " +
                                            Tensor("(8, 16)", "float8_e4m3fn") + "]",
                                        "[{'name': '', 'type': 'Tensor', 'value': None}, " +
                                            Tensor("(6,)", "uint16") + "]"));
  const std::string self = "[" + Tensor("(4, 8)", "float32");
  EXPECT_THAT(ArgsOf("reshape"), ElementsAre(self + Named("", "list", "None") + "]",
                                             self + Named("", "int", "32") + "]",
                                             self + Named("", "SymInt", "None") + "]",
                                             self + Named("", "SymFloat", "None") + "]"));
}

TEST_P(VersionsTest, OperatorsAtTheAddressesOfRemovedOnes) {
  const std::string call = "[" + Tensor("(6,)", "uint16") + "]";
  EXPECT_THAT(ArgsOf("first"), ElementsAre(call, call));
  EXPECT_THAT(ArgsOf("second"), ElementsAre(call, call));
}

TEST_P(VersionsTest, CollectivesOfEachLayout) {
  const std::string tensors = "[" + Tensor("(4, 8)", "float32", ", 'list': 1, 'times': 2");
  const std::string rank = Named("rank", "int", "1");
  EXPECT_THAT(ArgsOf("allreduce"), ElementsAre(tensors + rank + "]"));
  EXPECT_THAT(ArgsOf("broadcast"),
              ElementsAre(tensors + rank + Named("world_size", "int", "8") + "]"));
  EXPECT_THAT(ArgsOf("reduce"), ElementsAre(tensors + Named("group", "str", "'3'") + rank +
                                            Named("world_size", "int", "8") + "]"));
  EXPECT_THAT(
      ArgsOf("all_to_allv"),
      ElementsAre(tensors + Named("group", "str", "'3'") + rank + Named("world_size", "int", "2") +
                  Named("in_split_sizes", "tuple", "(3, 1)") +
                  Named("out_split_sizes", "tuple", "(3, 1)") + "]"));
  EXPECT_THAT(ArgsOf("_allgather_base"),
              ElementsAre(tensors + Named("group", "str", "'0'") + Named("rank", "int", "0") +
                          Named("world_size", "int", "4") + "]"));
  EXPECT_THAT(ArgsOf("barrier"), ElementsAre("[" + Named("group", "str", "'0'").substr(2) + rank +
                                             Named("world_size", "int", "4") + "]"));
  // One that nobody knows stays what it was.
  EXPECT_THAT(ArgsOf("record_param_comms"),
              ElementsAre("[" + Named("", "str", "'allreduce'").substr(2) + "]"));
}

INSTANTIATE_TEST_SUITE_P(PyTorch2, VersionsTest, ::testing::Values("0", "3", "9"),
                         [](const auto& version) { return std::string("_") + version.param; });

}  // namespace
}  // namespace oplens::test::versions_test
