#include "prof/views/common/grouped_partial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "prof/views/common/series_partial.h"
#include "prof/views/common/time_keys.h"
#include "test/support/view_rows.h"

namespace oplens::prof::grouped_partial_test {
namespace {

using test::RowsOf;
using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

struct MadeSums {
  Sum ns;
  Max<int64_t> longest_ns;
  Histogram lengths;
};

constexpr std::string_view kWords[] = {"step", "rank"};
constexpr Column<GroupRow<TimeKey, MadeSums>> kMadeColumns[] = {
    KeyColumn<&TimeKey::rank>{kRankField},
    ByColumn<&TimeKey::step>(kStepField),
    FigureColumn<&MadeSums::ns>{"ns", "Ns", "ns", 10, "sum"},
    FigureColumn<&MadeSums::longest_ns>{"longest_ns", "Longest", "ns", 10, "longest"},
    FigureColumn<&MadeSums::lengths, 50>{"p50_ns", "P50", "ns", 10, "median"},
    FigureColumn<&MadeSums::lengths, Extreme::kLeast>{"least_ns", "Least", "ns", 10, "least"},
    {AsRatio({"pct", "Pct", "%", FieldType::kDecimal, 8, "share"}, {"longest_ns", "ns", 100}),
     [](const GroupRow<TimeKey, MadeSums>& row) {
       return PercentCell(row.sums.longest_ns.value, row.sums.ns);
     }},
};

class Made : public GroupedPartial<TimeKey, MadeSums> {
 public:
  explicit Made(const ViewOptions& options)
      : GroupedPartial("made", options, kWords, kMadeColumns) {}

  using GroupedPartial::Add;
  void Add(std::string_view rank, int64_t step, int64_t ns) {
    MadeSums sums;
    sums.ns = ns;
    sums.longest_ns.Add(ns);
    sums.lengths.Add(ns);
    Take({RankName(rank), step}, sums);
  }
};

ViewOptions By(std::vector<std::string> words) {
  ViewOptions options;
  options.by = std::move(words);
  return options;
}

TEST(GroupedPartialTest, WordsThatTheViewDoesNotKnowAreRefused) {
  try {
    Made made(By({"rank", "device"}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--by device: the view made takes step, rank");
  }
}

TEST(GroupedPartialTest, KeysOfByAreColumns) {
  const auto keys = [](const std::vector<Field>& fields) {
    std::vector<std::string_view> found;
    for (const Field& field : fields) found.push_back(field.key);
    return found;
  };
  EXPECT_THAT(keys(Made({}).Fields()),
              ElementsAre("rank", "ns", "longest_ns", "p50_ns", "least_ns", "pct"));
  EXPECT_THAT(keys(Made(By({"step"})).Fields()),
              ElementsAre("rank", "step", "ns", "longest_ns", "p50_ns", "least_ns", "pct"));
  EXPECT_EQ(FieldsWithoutBy<kMadeColumns>().size(), Made({}).Fields().size());
}

TEST(GroupedPartialTest, TypesTellHowFiguresFold) {
  const std::vector<Field> fields = Made({}).Fields();
  EXPECT_EQ(fields[1].fold, Fold::kSum);
  EXPECT_EQ(fields[2].fold, Fold::kMax);
  EXPECT_EQ(fields[3].fold, Fold::kQuantiles);
  EXPECT_EQ(fields[4].fold, Fold::kMin);
}

TEST(GroupedPartialTest, RowsAreByRankAndKey) {
  Made made(By({"step"}));
  made.Add("10", 1, 3);
  made.Add("2", 2, 4);
  made.Add("2", 1, 5);
  Made more(By({"step"}));
  more.Add("2", 1, 15);
  more.Add("x", 0, 0);
  made.Merge(more);
  const std::vector<ViewRow> rows = RowsOf(made);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], (ViewRow{{"rank", "2"},
                              {"step", "1"},
                              {"ns", "20"},
                              {"longest_ns", "15"},
                              {"p50_ns", "5"},
                              {"least_ns", "5"},
                              {"pct", "75"}}));
  EXPECT_EQ(rows[1].at("step"), "2");
  EXPECT_EQ(rows[2].at("rank"), "10");
  EXPECT_EQ(rows[3].at("rank"), "x");
  EXPECT_EQ(rows[3].at("pct"), "");
}

TEST(GroupedPartialTest, LoadsWhatItSaves) {
  Made made({});
  made.Add("2", 0, 4);
  made.Add("x", 0, 7);
  ByteWriter saved;
  made.Save(&saved);
  Made loaded({});
  ByteReader bytes(saved.bytes(), "made");
  loaded.Load(&bytes);
  bytes.End();
  EXPECT_EQ(RowsOf(loaded), RowsOf(made));
  for (size_t size = 0; size < saved.size(); ++size) {
    const std::string cut = saved.bytes().substr(0, size);
    ByteReader damaged(cut, "made");
    Made other({});
    EXPECT_THROW(other.Load(&damaged), Error) << size;
  }
}

TEST(SeriesPointsTest, MergeByTimeAndComeBack) {
  SeriesPoints points({{110, 1}, {130, 2}}, 100);
  points.Merge(SeriesPoints({{20, 5}}, 0));
  ByteWriter saved;
  saved.Values(&points);
  SeriesPoints loaded;
  ByteReader bytes(saved.bytes(), "points");
  bytes.Values(&loaded);
  EXPECT_THAT(std::vector<SeriesPoint>(loaded.begin(), loaded.end()),
              ElementsAre(SeriesPoint{10, 1}, SeriesPoint{20, 5}, SeriesPoint{30, 2}));
}

TEST(SeriesPointsTest, ThatDoNotAscendAreRefused) {
  ByteWriter saved;
  saved.Number(2);
  for (const int64_t change : {7, 0, -1, 0}) saved.Signed(change);
  ByteReader bytes(saved.bytes(), "points");
  SeriesPoints loaded;
  try {
    bytes.Values(&loaded);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("points do not ascend"));
  }
}

}  // namespace
}  // namespace oplens::prof::grouped_partial_test
