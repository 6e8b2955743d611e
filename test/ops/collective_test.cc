#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::collective_test {
namespace {

TEST(CollectiveTest, Prices) {
  CheckCases({
      // 2 x 3/4 of 4000 bytes; 3/4 of 1000 additions.
      {"all_reduce", "[10,100]float32 world_size=4", "N=1000,fp32,ranks=4", {0, 750, 6000}, {}},
      {"c10d::allreduce_", "[1000]float16 world_size=4", "N=1000,fp16,ranks=4", {0, 750, 3000}, {}},
      {"nccl:all_reduce", "[1000]float32 group_size=2", "N=1000,fp32,ranks=2", {0, 500, 4000}, {}},
      {"all_reduce", "[1000]float32 world_size=1", "N=1000,fp32,ranks=1", {0, 0, 0}, {}},
      {"allreduce_coalesced_",
       "1:[600]float32 1:[400]float32 world_size=4",
       "N=1000,fp32,ranks=4",
       {0, 750, 6000},
       {}},
      // What does not divide: 2 x 2/3 of 40, 2/3 of 10.
      {"all_reduce", "[10]float32 world_size=3", "N=10,fp32,ranks=3", {0, 6, 53}, {}},

      {"reduce_scatter", "[1000]float16 world_size=8", "N=1000,fp16,ranks=8", {0, 875, 1750}, {}},
      {"_reduce_scatter_base_",
       "[250]float32 [1000]float32",
       "N=1000,fp32,ranks=4",
       {0, 750, 3000},
       {}},
      {"reduce_scatter",
       "output=[50]float32 input_list=[50]float32 input_list=[50]float32",
       "N=100,fp32,ranks=2",
       {0, 50, 200},
       {}},
      {"_c10d_functional::reduce_scatter_tensor",
       "[1000]float32 'sum' 4 '0'",
       "N=1000,fp32,ranks=4",
       {0, 750, 3000},
       {}},

      {"all_gather", "[1000]bfloat16 world_size=4", "N=1000,bf16,ranks=4", {0, 0, 1500}, {}},
      {"all_gather",
       "1:[50]float32 1:[50]float32 [50]float32",
       "N=100,fp32,ranks=2",
       {0, 0, 200},
       {}},
      {"_allgather_base_",
       "[8,10]bfloat16 [1,10]bfloat16 None False -1",
       "N=80,bf16,ranks=8",
       {0, 0, 140},
       {}},
      // The only tensor is one rank's.
      {"_c10d_functional::all_gather_into_tensor",
       "[250]float32 4 '0'",
       "N=1000,fp32,ranks=4",
       {0, 0, 3000},
       {}},
      {"nccl:_all_gather_base",
       "[250]float32 world_size=4",
       "N=1000,fp32,ranks=4",
       {0, 0, 3000},
       {}},

      {"all_to_all_single",
       "[1000]float32 [1000]float32 world_size=4",
       "N=1000,fp32,ranks=4",
       {0, 0, 3000},
       {}},
      // Unequal parts: the input is what is sent.
      {"alltoall_base_",
       "[900]float32 [1000]float32 world_size=4",
       "N=1000,fp32,ranks=4",
       {0, 0, 3000},
       {}},
      {"alltoall_",
       "1:[30]float32 1:[20]float32 2:[60]float32 2:[40]float32",
       "N=100,fp32,ranks=2",
       {0, 0, 200},
       {}},

      {"broadcast", "[1000]float32", "N=1000,fp32", {0, 0, 4000}, {}},
      {"broadcast", "[1000]float32 0", "N=1000,fp32", {0, 0, 4000}, {}},
      {"send", "[1000]float32 3 0", "N=1000,fp32", {0, 0, 4000}, {}},
      {"recv_", "[1000]float32 3 0", "N=1000,fp32", {0, 0, 4000}, {}},
      {"reduce", "[1000]float32 world_size=4", "N=1000,fp32,ranks=4", {0, 750, 4000}, {}},
      {"all_reduce", "[0]float32 world_size=4", "N=0,fp32,ranks=4", {0, 0, 0}, {}},
      {"all_reduce", "[]float32 world_size=2", "N=1,fp32,ranks=2", {0, 0, 4}, {}},

      // The number of ranks is not known, or none.
      {"all_reduce", "[1000]float32", Reason::kUnsupportedArgs},
      {"all_reduce", "[1000]float32 0", Reason::kUnsupportedArgs},
      {"all_reduce", "[1000]float32 world_size=0", Reason::kUnsupportedArgs},
      {"all_reduce", "[1000]float32 world_size=-2", Reason::kUnsupportedArgs},
      {"all_reduce", "[1000]float32 world_size=2.0", Reason::kUnsupportedArgs},
      {"reduce", "[1000]float32", Reason::kUnsupportedArgs},
      {"_allgather_base_", "[250]float32", Reason::kUnsupportedArgs},
      {"alltoall_base_", "[1000]float32 [1000]float32", Reason::kUnsupportedArgs},
      // No tensors.
      {"all_reduce", "world_size=4", Reason::kUnsupportedArgs},
      {"allreduce_", "?TensorList None ? -1", Reason::kUnsupportedArgs},
      // A list whose end is not known.
      {"all_gather", "[50]float32 [50]float32 [50]float32", Reason::kUnsupportedArgs},
      // Contradictions.
      {"_allgather_base_", "[80]float32 [30]float32", Reason::kShapeMismatch},
      {"_allgather_base_", "[80]float32 [10]float32 world_size=4", Reason::kShapeMismatch},
      {"_reduce_scatter_base_", "[80]float32 [10]float32", Reason::kShapeMismatch},
      {"alltoall_", "1:[5]float32 1:[5]float32 2:[5]float32 2:[5]float32 world_size=3",
       Reason::kShapeMismatch},
      {"all_reduce", "[1000]float32 world_size=4 group_size=2", Reason::kUnsupportedArgs},
      {"all_reduce", "[9223372036854775807]float32 world_size=4", Reason::kCostOverflow},
      {"barrier", "[1]float32 world_size=4", Reason::kUnknownOp},
  });
}

TEST(CollectiveTest, IsNoComputation) {
  const PriceResult result = PriceCall(MakeCall("all_reduce", "[8]float32 world_size=4"));
  ASSERT_TRUE(result.price);
  EXPECT_EQ(result.price->op_class, OpClass::kCollective);
  EXPECT_FALSE(result.price->vec_estimated);
  EXPECT_FALSE(result.price->matmul_like);
}

// An all-reduce is a reduce-scatter and an all-gather.
TEST(CollectiveTest, AnAllReduceIsTwoHalves) {
  for (const int64_t ranks : {1, 2, 4, 8, 64}) {
    const auto work_of = [&](const std::string& op) {
      const std::string args = "[4096]float32 world_size=" + std::to_string(ranks);
      return FiguresOf(PriceCall(MakeCall(op, args)).price.value().forward.at(0).work).value();
    };
    const Figures scatter = work_of("reduce_scatter");
    const Figures gather = work_of("all_gather");
    EXPECT_EQ(work_of("all_reduce"),
              (Figures{0, scatter.vec + gather.vec, scatter.bytes + gather.bytes}));
    EXPECT_EQ(scatter.bytes, 16384 / ranks * (ranks - 1));
  }
}

TEST(CollectiveTest, CustomAllReduces) {
  CheckCases({
      // 2 * 3/4 of 16 bytes; 3/4 of 8 additions.
      {"multimem_all_reduce_", "[8]bf16 ? ? world_size=4", "N=8,bf16,ranks=4", {0, 6, 24}, {}},
      {"two_shot_all_reduce_", "[8]bf16 ? ? world_size=4", "N=8,bf16,ranks=4", {0, 6, 24}, {}},
      // One message, though its result is another tensor.
      {"all_reduce", "3 [8]bf16 [8]bf16 world_size=4", "N=8,bf16,ranks=4", {0, 6, 24}, {}},
      {"multimem_all_reduce_", "[8]bf16 ? ?", Reason::kUnsupportedArgs},
  });
}

}  // namespace
}  // namespace oplens::ops::test::collective_test
