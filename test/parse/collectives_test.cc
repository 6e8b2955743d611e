#include "parse/join/collectives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace oplens::parse {
namespace {

/// "all_reduce 8:float32 world_size=2"
std::string Made(std::string_view name, std::string_view dtype, int64_t in, int64_t out,
                 int64_t ranks) {
  StringPool strings;
  Communication communication;
  communication.name = strings.Intern(name);
  communication.dtype = strings.Intern(dtype);
  communication.input_elements = in;
  communication.output_elements = out;
  communication.group_size = ranks;
  const OpCall call = CommunicationCall(communication, strings);
  EXPECT_EQ(call.mod, "c10d");
  std::string text = call.op;
  for (const OpArg& arg : call.args) {
    text += arg.kind == OpArg::Kind::kTensor ? fmt::format(" {}:{}", arg.shape.at(0), arg.dtype)
                                             : fmt::format(" {}={}", arg.name, arg.int_value);
  }
  return text;
}

TEST(CommunicationCallTest, TakesTheWholeBuffer) {
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, 2), "all_reduce 8:float32 world_size=2");
  EXPECT_EQ(Made("allreduce_coalesced", "Half", 8, 8, 2), "all_reduce 8:float16 world_size=2");
  EXPECT_EQ(Made("_allgather_base", "BFloat16", 8, 64, 8), "all_gather 64:bfloat16 world_size=8");
  EXPECT_EQ(Made("allgather_into_tensor_coalesced", "Byte", 8, 64, 8),
            "all_gather 64:uint8 world_size=8");
  EXPECT_EQ(Made("_reduce_scatter_base", "Double", 64, 8, 8),
            "reduce_scatter 64:float64 world_size=8");
  EXPECT_EQ(Made("reduce_scatter", "Int", 64, 8, 8), "reduce_scatter 64:int32 world_size=8");
  // What is sent, however much is received.
  EXPECT_EQ(Made("all_to_allv", "Long", 60, 64, 8), "all_to_all 60:int64 world_size=8");
  EXPECT_EQ(Made("all_to_all", "Char", -1, 64, 8), "all_to_all 64:int8 world_size=8");
  EXPECT_EQ(Made("broadcast", "Bool", 5, 5, 2), "broadcast 5:bool world_size=2");
  EXPECT_EQ(Made("send", "Float8_e5m2", 5, 5, 2), "send 5:float8_e5m2 world_size=2");
  EXPECT_EQ(Made("recv", "Float", 0, 5, 2), "recv 5:float32 world_size=2");
}

TEST(CommunicationCallTest, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(Made("allreduce", "Float", -1, -1, 2), "all_reduce world_size=2");
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, -1), "all_reduce 8:float32");
  EXPECT_EQ(Made("allreduce", "Float", 8, 8, 0), "all_reduce 8:float32");
  EXPECT_EQ(Made("no such", "Float99", 8, INT64_MAX, 2),
            "no such 9223372036854775807:Float99 world_size=2");
}

}  // namespace
}  // namespace oplens::parse
