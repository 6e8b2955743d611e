#include "prof/views/collectives/group_kinds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace oplens::prof::group_kinds_test {
namespace {

/// A trace of a run of 8 ranks that lists one group.
GroupKinds Listing(std::string_view name, std::string_view description,
                   std::vector<int64_t> ranks) {
  Trace trace;
  trace.world_size = 8;
  ProcessGroup& group = trace.process_groups.emplace_back();
  group.name = trace.strings.Intern(name);
  group.description = trace.strings.Intern(description);
  group.size = static_cast<int64_t>(ranks.size());
  group.ranks = std::move(ranks);
  GroupKinds kinds;
  kinds.Add(trace);
  return kinds;
}

void Call(const CollectiveGroup& group, CollectiveKind kind, GroupKinds* kinds) {
  CollectiveSet::Recording recording;
  recording.world_size = 8;
  CollectiveRow row;
  row.recording = &recording;
  row.group = &group;
  row.call.kind = kind;
  kinds->AddCalls({&row, 1});
}

const CollectiveGroup kPair = {"1", "[0, 4]", 2};

TEST(GroupKindsTest, ADescriptionGoesBeforeShapeAndUse) {
  GroupKinds kinds = Listing("1", "TENSOR_MODEL_PARALLEL_GROUP", {0, 4});
  Call(kPair, CollectiveKind::kSend, &kinds);
  EXPECT_EQ(kinds.Of(kPair), GroupKind::kTensor);
}

TEST(GroupKindsTest, ADescriptionIsOfItsRanksAlone) {
  GroupKinds kinds = Listing("1", "TENSOR_MODEL_PARALLEL_GROUP", {2, 3});
  Call(kPair, CollectiveKind::kAllReduce, &kinds);
  EXPECT_EQ(kinds.Of(kPair), GroupKind::kData);  // By its stride.
  // Of a call without a list of ranks the name says enough.
  EXPECT_EQ(kinds.Of({"1", "", -1}), GroupKind::kTensor);
  EXPECT_EQ(kinds.Of({"1", "", 2}), GroupKind::kTensor);
  EXPECT_EQ(kinds.Of({"1", "", 4}), GroupKind::kUnknown);
}

TEST(GroupKindsTest, WhatRanksSayDifferentlyNobodySays) {
  GroupKinds kinds = Listing("1", "TENSOR_MODEL_PARALLEL_GROUP", {0, 4});
  kinds.Merge(Listing("1", "pp", {0, 4}));
  EXPECT_EQ(kinds.Of(kPair), GroupKind::kData);  // By its stride.
  EXPECT_EQ(kinds.Of({"1", "", -1}), GroupKind::kUnknown);
}

TEST(GroupKindsTest, OneRankThatUsesItOtherwiseCounts) {
  GroupKinds kinds;
  Call(kPair, CollectiveKind::kSend, &kinds);
  EXPECT_EQ(kinds.Of(kPair), GroupKind::kPipeline);
  GroupKinds more;
  Call(kPair, CollectiveKind::kAllToAll, &more);
  kinds.Merge(more);
  EXPECT_EQ(kinds.Of(kPair), GroupKind::kExpert);
  EXPECT_EQ(kinds.Of({}), GroupKind::kUnknown);
  EXPECT_EQ(kinds.Of({"0", "", 8}), GroupKind::kWorld);
}

TEST(GroupKindsTest, SavesAndLoads) {
  GroupKinds kinds = Listing("1", "pp", {0, 4});
  Call({"2", "[0, 1]", 2}, CollectiveKind::kAllReduce, &kinds);
  ByteWriter writer;
  writer.Values(&kinds);
  const std::string bytes = writer.Take();
  ByteReader reader(bytes, "test");
  GroupKinds loaded;
  reader.Values(&loaded);
  reader.End();
  EXPECT_EQ(loaded.Of(kPair), GroupKind::kPipeline);
  EXPECT_EQ(loaded.Of({"2", "[0, 1]", 2}), GroupKind::kTensor);
  EXPECT_EQ(loaded.Of({"0", "", 8}), GroupKind::kWorld);
}

}  // namespace
}  // namespace oplens::prof::group_kinds_test
