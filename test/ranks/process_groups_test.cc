#include "prof/views/collectives/process_groups.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace oplens::prof::process_groups_test {
namespace {

TEST(ProcessGroupsTest, ADescriptionTellsTheKind) {
  struct Case {
    std::string_view description;
    GroupKind kind;
  };
  constexpr Case kCases[] = {
      {"", GroupKind::kUnknown},
      {"default_pg", GroupKind::kUnknown},
      {"undefined", GroupKind::kUnknown},
      {"MODEL_PARALLEL_GROUP", GroupKind::kUnknown},
      {"TENSOR_MODEL_PARALLEL_GROUP", GroupKind::kTensor},
      {"PIPELINE_MODEL_PARALLEL_GROUP", GroupKind::kPipeline},
      {"DATA_PARALLEL_GROUP", GroupKind::kData},
      {"DATA_PARALLEL_GROUP_WITH_CP", GroupKind::kData},
      {"CONTEXT_PARALLEL_GROUP", GroupKind::kContext},
      {"EXPERT_MODEL_PARALLEL_GROUP", GroupKind::kExpert},
      {"EXPERT_DATA_PARALLEL_GROUP", GroupKind::kData},
      {"EXPERT_TENSOR_PARALLEL_GROUP", GroupKind::kTensor},
      {"TENSOR_AND_DATA_PARALLEL_GROUP", GroupKind::kUnknown},
      {"mesh_dp_shard", GroupKind::kData},
      {"mesh_tp", GroupKind::kTensor},
      {"tp:0", GroupKind::kTensor},
      {"pp", GroupKind::kPipeline},
      {"ep", GroupKind::kExpert},
      {"stop", GroupKind::kUnknown},  // No word of it is "tp".
  };
  for (const Case& one : kCases) {
    EXPECT_EQ(GroupKindWord(KindOfDescription(one.description)), GroupKindWord(one.kind))
        << one.description;
  }
}

GroupShape Shape(const std::vector<int64_t>& ranks) { return ShapeOf(ranks); }

TEST(ProcessGroupsTest, ShapesAreOfRanksEvenlyApart) {
  EXPECT_EQ(Shape({4, 5, 6}), (GroupShape{3, 4, 1}));
  EXPECT_EQ(Shape({1, 5, 9}), (GroupShape{3, 1, 4}));
  EXPECT_EQ(Shape({0, 1, 5}), (GroupShape{3, 0, 0}));
  EXPECT_EQ(Shape({5, 1}), (GroupShape{2, 5, 0}));
  EXPECT_EQ(Shape({7}), (GroupShape{1, 7, 0}));
  EXPECT_EQ(Shape({}), (GroupShape{0, -1, 0}));
  EXPECT_EQ(Shape({0, INT64_MAX, 2}), (GroupShape{3, 0, 0}));
}

TEST(ProcessGroupsTest, ReadsListsOfRanks) {
  EXPECT_EQ(RanksInText("[0, 1, 12]"), (std::vector<int64_t>{0, 1, 12}));
  EXPECT_EQ(RanksInText("[0,3]"), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(RanksInText("[]"), std::vector<int64_t>());
  for (const std::string_view text :
       {"", "[", "0, 1", "[0, -1]", "[0, x]", "[0 ... 7]", "[99999999999999999999]", "[0, 1"}) {
    EXPECT_EQ(RanksInText(text), std::nullopt) << text;
  }
}

TEST(ProcessGroupsTest, InfersWhatIsNotTold) {
  const GroupShape next = Shape({4, 5});
  const GroupShape apart = Shape({0, 4});
  const GroupShape uneven = Shape({0, 1, 5});
  EXPECT_EQ(InferGroupKind(Shape({0, 1, 2, 3}), 4, kUsedOtherwise), GroupKind::kWorld);
  EXPECT_EQ(InferGroupKind(Shape({3}), 8, kUsedOtherwise), GroupKind::kUnknown);
  EXPECT_EQ(InferGroupKind(next, 8, kUsedOtherwise), GroupKind::kTensor);
  EXPECT_EQ(InferGroupKind(apart, 8, kUsedOtherwise), GroupKind::kData);
  EXPECT_EQ(InferGroupKind(apart, 8, kUsedByPairs), GroupKind::kPipeline);
  EXPECT_EQ(InferGroupKind(apart, 8, kUsedByPairs | kUsedOtherwise), GroupKind::kData);
  EXPECT_EQ(InferGroupKind(next, 8, kUsedByAllToAll | kUsedOtherwise), GroupKind::kExpert);
  EXPECT_EQ(InferGroupKind(uneven, 8, kUsedOtherwise), GroupKind::kUnknown);
  EXPECT_EQ(InferGroupKind({}, 8, 0), GroupKind::kUnknown);
}

}  // namespace
}  // namespace oplens::prof::process_groups_test
