#include "prof/views/recording/column_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prof/table/kept_rows.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/prof/rows.h"

namespace oplens::prof::column_check_test {
namespace {

using testing::HasSubstr;

TEST(ColumnCheckTest, CountsWhatIsKnownAndWhyTheRestIsNot) {
  ColumnCheck check(SelectKernelColumns("idx,op,flops,layer,range,rank,reason"));
  KernelRecord record = test::PlainRecord();
  PricedKernel row;
  row.record = &record;
  row.op = "mm";
  row.share.flops = 0;  // Known.
  check.Add(row);
  row.op = {};
  row.share.flops.reset();
  row.reasons.Add(Reason::kNoMarker);
  check.Add(row);
  row.reasons.Add(Reason::kUntimed);
  record.rank = "3";
  record.range = {"epoch"};
  check.Add(row);
  EXPECT_EQ(check.Render(),
            "columns, and the kernels that have them\n"
            "  idx                   3 of 3\n"
            "  op                    1 of 3          2 no-range, 1 untimed\n"
            "  flops                 1 of 3          2 no-range, 1 untimed\n"
            "  layer                 0 of 3\n"
            "  range                 1 of 3\n"
            "  rank                  1 of 3\n"
            "  reason                3 of 3\n");
  KeptRows rows;
  KeepingSink sink(&rows);
  check.Emit(&sink);
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows.Text(1, "column"), "op");
  EXPECT_EQ(rows.Count(1, "kernels"), 1);
  EXPECT_EQ(rows.Count(1, "of"), 3);
  EXPECT_EQ(rows.Text(1, "why_not"), "2 no-range, 1 untimed");
  EXPECT_EQ(rows.Text(0, "why_not"), "");
}

TEST(ColumnCheckTest, NamesTheMostFrequentReasons) {
  ColumnCheck check(SelectKernelColumns("flops"));
  const KernelRecord record = test::PlainRecord();
  const Reason reasons[] = {Reason::kNoMarker, Reason::kUnknownOp, Reason::kNoArguments,
                            Reason::kShapeMismatch};
  for (size_t i = 0; i < std::size(reasons); ++i) {
    for (size_t n = 0; n <= i; ++n) {
      PricedKernel row;
      row.record = &record;
      row.reasons.Add(reasons[i]);
      check.Add(row);
    }
  }
  EXPECT_THAT(
      check.Render(),
      HasSubstr("0 of 10         4 shape-mismatch, 3 no-arguments, 2 no-cost-model, ...\n"));
}

}  // namespace
}  // namespace oplens::prof::column_check_test
