// Times and arguments of operators, as traces of PyTorch's profiler write them.

#include "parse/readers/kineto/kineto_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/torch_call.h"
#include "parse/readers/kineto/kineto_event.h"
#include "test/parse/described_args.h"

namespace oplens::parse::kineto_calls_test {
namespace {

using test::Describe;

struct TimeCase {
  const char* json;
  bool good;
  int64_t ns;
  bool fraction;
};

TEST(KinetoTime, ReadsEveryForm) {
  constexpr TimeCase kCases[] = {
      {"0", true, 0, false},
      {"1661203462598738", true, 1'661'203'462'598'738'000, false},
      {"68.0", true, 68'000, false},
      {"0.001", true, 1, true},
      {"-2.5", true, -2'500, true},
      {"1419247332972.313", true, 1'419'247'332'972'313, true},
      {"6520488433299.504", true, 6'520'488'433'299'504, true},
      {"\"1712195495519695.853\"", true, 1'712'195'495'519'695'853, true},
      {"\"12.3456\"", true, 12'346, true},
      {"\"-0.25\"", true, -250, true},
      {"\"1e3\"", false, 0, false},
      {"\"1.5e3\"", true, 1'500'000, false},
      {"9223372036854775807", false, 0, false},
      {"18446744073709551615", false, 0, false},
      {"1e300", false, 0, false},
      {"\"99999999999999999999\"", false, 0, false},
      {"\"\"", false, 0, false},
      {"\"N/A\"", false, 0, false},
      {"null", false, 0, false},
      {"[1]", false, 0, false},
  };
  for (const TimeCase& c : kCases) {
    simdjson::dom::parser parser;
    const simdjson::dom::array list = parser.parse(fmt::format("[{}]", c.json));
    int64_t ns = 0;
    bool fraction = false;
    const bool good = MicrosecondsToNs(list.at(0), &ns, &fraction);
    EXPECT_EQ(good, c.good) << c.json;
    EXPECT_EQ(good ? ns : 0, c.ns) << c.json;
    EXPECT_EQ(fraction, c.fraction) << c.json;
  }
}

std::vector<OpArg> ReadArguments(const std::string& dims, const std::string& types,
                                 const std::string& values) {
  simdjson::dom::parser dims_parser;
  simdjson::dom::parser types_parser;
  simdjson::dom::parser values_parser;
  KinetoArguments arguments;
  arguments.has_dims = dims_parser.parse(dims).get(arguments.dims) == simdjson::SUCCESS;
  arguments.has_types = types_parser.parse(types).get(arguments.types) == simdjson::SUCCESS;
  arguments.has_values = values_parser.parse(values).get(arguments.values) == simdjson::SUCCESS;
  return ReadKinetoArguments(arguments);
}

TEST(KinetoArgumentsTest, ReadsTensorsAndScalars) {
  const std::string half(TorchDType("c10::Half"));
  EXPECT_EQ(
      Describe(ReadArguments(
          "[[4, 3], [], [], [], [], [], [], [], []]",
          R"(["c10::Half", "Scalar", "Scalar", "Scalar", "ScalarList", "ScalarList", "", "Scalar", "float"])",
          R"(["", "-1", "0.5", "True", "[1, -2]", "[]", "", "", ""])")),
      fmt::format("tensor[4,3]{} int:-1 float:0.5 True list[1,-2] list[] (object) (Scalar) "
                  "tensor[]{}",
                  half, TorchDType("float")));
}

TEST(KinetoArgumentsTest, ReadsValuesBehindTheExtents) {
  const std::string values = R"x(["", "", "", "(2,2)", "[3, 3]", "(1,)", "False", "()", "1"])x";
  const std::string dims = "[[1, 3, 9, 9], [4, 3, 3, 3]]";
  EXPECT_EQ(
      Describe(ReadArguments(dims, R"(["float", "float"])", values)),
      fmt::format("tensor[1,3,9,9]{0} tensor[4,3,3,3]{0} (object) list[2,2] list[3,3] list[1] "
                  "False list[] int:1",
                  TorchDType("float")));
  // With a value at a tensor the lists are not parallel.
  EXPECT_EQ(Describe(ReadArguments(dims, R"(["float", "float"])", R"(["", "2", "1"])")),
            fmt::format("tensor[1,3,9,9]{0} tensor[4,3,3,3]{0}", TorchDType("float")));
  EXPECT_EQ(Describe(ReadArguments("[]", "[]", R"(["2"])")), "");
}

TEST(KinetoArgumentsTest, FlattensListsOfTensors) {
  EXPECT_EQ(Describe(ReadArguments("[[[2, 3], [4, 3]], []]", R"(["TensorList", "Scalar"])",
                                   R"(["", "0"])")),
            "1:tensor[2,3] 1:tensor[4,3] int:0");
  EXPECT_EQ(Describe(ReadArguments("[[], []]", R"(["TensorList", "Scalar"])", R"(["", "0"])")),
            "(TensorList) int:0");
  // Where one ends and the next begins; those without members have no number.
  EXPECT_EQ(
      Describe(ReadArguments("[[[2], []], [], [[2], []], [3], []]",
                             R"(["TensorList", "TensorList", "TensorList", "float", "Scalar"])",
                             R"(["", "", "", "", "-0.5"])")),
      "1:tensor[2] 1:tensor[] (TensorList) 2:tensor[2] 2:tensor[] tensor[3]float32 float:-0.5");
}

TEST(KinetoArgumentsTest, ReadsOldForms) {
  // Types of scalars, no values.
  EXPECT_EQ(Describe(ReadArguments("[[2], [], [], []]", R"(["float", "GenericList", "Int", ""])",
                                   "null")),
            fmt::format("tensor[2]{} (GenericList) (Int) (object)", TorchDType("float")));
  // Extents alone.
  EXPECT_EQ(Describe(ReadArguments("[[2, 3], []]", "[]", "null")), "tensor[2,3] (object)");
}

TEST(KinetoArgumentsTest, SurvivesOddForms) {
  EXPECT_EQ(Describe(ReadArguments(R"([[-1, 2], "x", 5, {"a": 1}, [[1], 2], [1.5]])",
                                   R"(["float", "float", 7])", R"(["", 3])")),
            "(float) (float) (object) (object) (object) (object)");
  EXPECT_EQ(Describe(ReadArguments("[[], [], [], []]",
                                   R"(["Scalar", "ScalarList", "ScalarList", "ScalarList"])",
                                   R"(["inf", "[0.5, 1]", "[1, ", "[True]"])")),
            "float:inf floats[0.5,1] (list) list[1]");
}

}  // namespace
}  // namespace oplens::parse::kineto_calls_test
