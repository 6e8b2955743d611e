#include "prof/diff/align_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "test/diff/made_sides.h"

namespace oplens::prof::align_places_test {
namespace {

using test::MadeNetwork;
using test::MadePlace;
using test::MadeSide;

/// Two sides and how they are aligned.
struct Aligned {
  Aligned(const MadeSide& made_base, const MadeSide& made_now)
      : base_tables(made_base.Tables()),
        now_tables(made_now.Tables()),
        base("base", base_tables->At(0), base_tables->At(1), base_tables->At(2)),
        now("new", now_tables->At(0), now_tables->At(1), now_tables->At(2)),
        alignment(AlignPlaces(base, now)) {}

  std::string Partner(std::string_view layer, std::string_view op) const {
    for (const PlacePair& pair : alignment.pairs) {
      if (!pair.base) continue;
      const SidePlace& place = base.places()[*pair.base];
      if (place.keys[SidePlace::kLayer] != layer || place.keys[SidePlace::kOp] != op) continue;
      if (!pair.now) return "gone";
      const auto& keys = now.places()[*pair.now].keys;
      return std::string(keys[SidePlace::kLayer]) + "/" + std::string(keys[SidePlace::kOp]) +
             std::string(keys[SidePlace::kShape]);
    }
    return "no such place";
  }

  std::unique_ptr<KeptTables> base_tables;
  std::unique_ptr<KeptTables> now_tables;
  Side base;
  Side now;
  Alignment alignment;
};

size_t Unpaired(const Alignment& alignment) {
  return static_cast<size_t>(
      std::count_if(alignment.pairs.begin(), alignment.pairs.end(),
                    [](const PlacePair& pair) { return !pair.base || !pair.now; }));
}

TEST(AlignPlacesTest, ARunIsAllPairedWithItself) {
  const Aligned aligned(MadeNetwork(5), MadeNetwork(5));
  EXPECT_EQ(aligned.alignment.pairs.size(), 17u);
  EXPECT_EQ(Unpaired(aligned.alignment), 0u);
  EXPECT_EQ(aligned.alignment.unordered, 0u);
}

TEST(AlignPlacesTest, EachPlaceComesOnce) {
  MadeSide now = MadeNetwork(7);
  now.places.erase(now.places.begin() + 4, now.places.begin() + 9);
  const Aligned aligned(MadeNetwork(5), now);
  std::set<size_t> base;
  std::set<size_t> seen_now;
  for (const PlacePair& pair : aligned.alignment.pairs) {
    EXPECT_TRUE(!pair.base || base.insert(*pair.base).second);
    EXPECT_TRUE(!pair.now || seen_now.insert(*pair.now).second);
  }
  EXPECT_EQ(base.size(), aligned.base.places().size());
  EXPECT_EQ(seen_now.size(), aligned.now.places().size());
}

TEST(AlignPlacesTest, ARemovedLayerIsGone) {
  MadeSide now = MadeNetwork(5);
  now.places.erase(now.places.begin() + 6, now.places.begin() + 9);  // block2
  const Aligned aligned(MadeNetwork(5), now);
  EXPECT_EQ(aligned.Partner("net:block2", "linear"), "gone");
  EXPECT_EQ(Unpaired(aligned.alignment), 3u);
}

TEST(AlignPlacesTest, ALayerOfAnotherNameIsFoundByWhatItRuns) {
  MadeSide now = MadeNetwork(5);
  for (size_t i = 6; i < 9; ++i) now.places[i].layer = "net:attention2";
  const Aligned aligned(MadeNetwork(5), now);
  EXPECT_EQ(aligned.Partner("net:block2", "linear"), "net:attention2/linear(32,66)");
  EXPECT_EQ(Unpaired(aligned.alignment), 0u);
}

TEST(AlignPlacesTest, OtherShapesOfACallAreTheSameCall) {
  MadeSide now = MadeNetwork(5);
  now.places[3].shape = "(64,65)";
  const Aligned aligned(MadeNetwork(5), now);
  EXPECT_EQ(aligned.Partner("net:block1", "linear"), "net:block1/linear(64,65)");
}

TEST(AlignPlacesTest, AKernelWithoutAnOpIsFoundByItsPlace) {
  MadeSide now = MadeNetwork(5);
  now.places[15].kernel = "renamed_kernel";
  const Aligned aligned(MadeNetwork(5), now);
  EXPECT_EQ(Unpaired(aligned.alignment), 0u);
  now.places[15].count = 2;
  const Aligned other(MadeNetwork(5), now);
  EXPECT_EQ(Unpaired(other.alignment), 2u) << "it runs twice: it is another";
}

TEST(AlignPlacesTest, AGapBeyondTheBoundIsSaid) {
  MadeSide base;
  MadeSide now;
  base.steps = now.steps = 1;
  for (size_t i = 0; i <= kMostEdits; ++i) {
    base.places.push_back({"a" + std::to_string(i), "add"});
    now.places.push_back({"b" + std::to_string(i), "add"});
  }
  const Aligned aligned(base, now);
  EXPECT_EQ(aligned.alignment.unordered, 2 * (kMostEdits + 1));
  EXPECT_EQ(Unpaired(aligned.alignment), 0u) << "by key and order";
}

TEST(AlignPlacesTest, AnEmptySideHasNoPartner) {
  MadeSide empty;
  const Aligned aligned(MadeNetwork(2), empty);
  EXPECT_EQ(Unpaired(aligned.alignment), aligned.base.places().size());
}

}  // namespace
}  // namespace oplens::prof::align_places_test
