// Rows of every activity table: each column gets a value of its own and must come back.

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "record/nvprof_tables.h"
#include "record/nvprof_writer.h"
#include "record/spool/activity_columns.h"
#include "test/record/spool_test.h"

namespace oplens::record::activity_conversion_test {
namespace {

using spool::Table;
using test::RowRecord;
using test::SpoolStream;
using test::SpoolValue;
using testing::ElementsAre;
using testing::IsEmpty;

class ActivityConversion : public SpoolTest {
 protected:
  void SetUp() override {
    image_ = MakeImage([](spool::ProcessPage* page) { page->cuda = spool::CudaState::kRecording; });
  }
  void Append(Table table, const std::vector<SpoolValue>& values) {
    activity_.emplace(*image_, spool::kActivityStream);
    activity_->Append(RowRecord(table, values));
  }

  std::optional<std::filesystem::path> image_;
  std::optional<SpoolStream> activity_;
};

std::vector<std::string> ExtraColumns(const ActivityTable& table) {
  std::vector<std::string> names;
  if (table.extra_columns == nullptr) return names;
  std::istringstream tokens(table.extra_columns);
  for (std::string name; tokens >> name;) names.push_back(name);
  return names;
}

/// One value a column, and how they come back from nvprof's table and ours.
struct Golden {
  std::vector<SpoolValue> values;
  std::string nvprof;
  std::string extra;
};

Golden MakeGolden(const ActivityTable& table) {
  Golden golden;
  const auto add = [&](const SpoolValue& value, const std::string& shown, std::string* row) {
    golden.values.push_back(value);
    *row += (row->empty() ? "" : "|") + shown;
  };
  int64_t number = 100;
  if (table.kind != nullptr) {
    for (const auto& column : NvprofTable(table.kind).columns) {
      ++number;
      if (column.blob) {
        std::string hex;
        const std::string bytes = fmt::format("b{}", number);
        for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<int>(c));
        add(bytes, "x'" + hex + "'", &golden.nvprof);
      } else if (column.name == "name") {
        add(fmt::format("name {}", number), "2", &golden.nvprof);
      } else {
        add(number, std::to_string(number), &golden.nvprof);
      }
    }
    golden.extra = "1";  // The row of nvprof's table.
  }
  for (const std::string& name : ExtraColumns(table)) {
    ++number;
    if (name.back() == '\'') {
      add(fmt::format("name {}", number), "2", &golden.extra);
    } else {
      add(number, std::to_string(number), &golden.extra);
    }
  }
  return golden;
}

class EveryTable : public ActivityConversion, public testing::WithParamInterface<ActivityTable> {};

TEST_P(EveryTable, KeepsEveryColumn) {
  const ActivityTable& table = GetParam();
  const Golden golden = MakeGolden(table);
  Append(table.table, golden.values);
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.odd_rows, 0);
  EXPECT_EQ(summary.damage, "");
  if (table.kind != nullptr) {
    std::string columns;
    for (const auto& column : NvprofTable(table.kind).columns) {
      columns += (columns.empty() ? "" : ", ") + column.name;
    }
    // Where there is one text it follows the command line, which is string 1.
    const std::string from = NvprofTableName(table.kind);
    EXPECT_THAT(
        Query(output(), fmt::format("SELECT {} FROM {} ORDER BY _id_ DESC LIMIT 1", columns, from)),
        ElementsAre(golden.nvprof));
  }
  if (table.extra_table != nullptr) {
    std::string columns = table.kind != nullptr ? "row" : "";
    for (std::string name : ExtraColumns(table)) {
      if (name.back() == '\'') name.pop_back();
      columns += (columns.empty() ? "" : ", ") + name;
    }
    EXPECT_THAT(Query(output(), fmt::format("SELECT {} FROM {}", columns, table.extra_table)),
                ElementsAre(golden.extra));
  }
}

TEST_P(EveryTable, RefusesAnotherNumberOfValues) {
  const ActivityTable& table = GetParam();
  Golden golden = MakeGolden(table);
  golden.values.push_back(int64_t{1});
  Append(table.table, golden.values);
  EXPECT_EQ(ConvertOne().odd_rows, 1);
  EXPECT_EQ(Meta()["odd_rows"], "1");
  if (table.extra_table != nullptr) {
    EXPECT_THAT(Query(output(), fmt::format("SELECT * FROM {}", table.extra_table)), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, EveryTable, testing::ValuesIn(kActivityTables), [](const auto& table) {
      return std::string(table.param.kind != nullptr ? table.param.kind : table.param.extra_table);
    });

TEST_F(ActivityConversion, AbsentValuesAreNullInOurTablesOnly) {
  // OVERHEAD: overheadKind objectKind objectId start end, correlationId
  Append(Table::kOverhead, {kAbsent, int64_t{1}, std::string(), int64_t{3}, int64_t{4}, kAbsent});
  ConvertOne();
  EXPECT_THAT(Query(output(),
                    "SELECT overheadKind, objectKind, objectId FROM "
                    "CUPTI_ACTIVITY_KIND_OVERHEAD"),
              ElementsAre("0|1|x''"));
  EXPECT_THAT(Query(output(), "SELECT * FROM OPLENS_OVERHEAD"), IsEmpty());
}

TEST_F(ActivityConversion, SomeAbsentValuesLeaveTheOthers) {
  Append(Table::kCudaEvent,
         {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, kAbsent, int64_t{6}, kAbsent});
  ConvertOne();
  EXPECT_THAT(Query(output(), "SELECT * FROM OPLENS_CUDA_EVENT"), ElementsAre("1|NULL|6|NULL"));
}

TEST_F(ActivityConversion, NullTextsAreRowZero) {
  SpoolStream activity(*image_, spool::kActivityStream);
  activity.Append(RowRecord(Table::kName, {int64_t{3}, std::string(12, 'x'), std::monostate()}));
  std::vector<SpoolValue> memory(12, int64_t{5});
  memory.push_back(std::monostate());
  activity.Append(RowRecord(Table::kMemoryOperation, memory));
  ConvertOne();
  EXPECT_THAT(Query(output(), "SELECT name FROM CUPTI_ACTIVITY_KIND_NAME WHERE objectKind = 3"),
              ElementsAre("0"));
  EXPECT_THAT(Query(output(), "SELECT name FROM OPLENS_MEMORY"), ElementsAre("0"));
}

TEST_F(ActivityConversion, ThreadsOfCallsAreSigned) {
  SpoolStream activity(*image_, spool::kActivityStream);
  for (const int64_t thread : {int64_t{0xEADC3740}, int64_t{0x7fffffff}, int64_t{-354666688}}) {
    const std::vector<SpoolValue> values = {int64_t{211}, int64_t{1}, int64_t{2}, int64_t{4711},
                                            thread,       int64_t{7}, int64_t{0}};
    activity.Append(RowRecord(Table::kRuntime, values));
    activity.Append(RowRecord(Table::kDriver, values));
  }
  EXPECT_EQ(ConvertOne().calls, 6);
  for (const char* const table : {"RUNTIME", "DRIVER"}) {
    EXPECT_THAT(Query(output(), fmt::format("SELECT threadId FROM CUPTI_ACTIVITY_KIND_{}", table)),
                ElementsAre("-354666688", "2147483647", "-354666688"));
  }
}

TEST_F(ActivityConversion, KeepsTheExtremesOfNumbers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Append(Table::kExternalCorrelation, {kMost, -kMost, int64_t{-1}});
  ConvertOne();
  EXPECT_THAT(Query(output(),
                    "SELECT externalKind, externalId, correlationId FROM "
                    "CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION"),
              ElementsAre("9223372036854775807|-9223372036854775807|-1"));
}

TEST_F(ActivityConversion, CountsWhatTheSummaryTells) {
  SpoolStream activity(*image_, spool::kActivityStream);
  const std::pair<Table, int> rows[] = {{Table::kConcurrentKernel, 3}, {Table::kMemcpy, 2},
                                        {Table::kMemcpy2, 1},          {Table::kMemset, 4},
                                        {Table::kRuntime, 5},          {Table::kDriver, 6}};
  for (const auto& [table, count] : rows) {
    const auto values = MakeGolden(kActivityTables[static_cast<size_t>(table)]).values;
    for (int i = 0; i < count; ++i) activity.Append(RowRecord(table, values));
  }
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.kernels, 3);
  EXPECT_EQ(summary.copies, 7);
  EXPECT_EQ(summary.calls, 11);
}

TEST_F(ActivityConversion, BadRowsAreCountedAndTheRestIsKept) {
  SpoolStream activity(*image_, spool::kActivityStream);
  const std::vector<SpoolValue> good = {int64_t{1}, int64_t{2}, int64_t{3}};
  activity.Append(RowRecord(Table::kExternalCorrelation, good));
  activity.Append(RowRecord(static_cast<Table>(77), good));
  // A text that says to be longer than the record.
  activity.Append(RowRecord(Table::kName, {int64_t{1}, int64_t{1} << 40, int64_t{3}}));
  activity.Append(
      RowRecord(Table::kName, {int64_t{1}, std::numeric_limits<int64_t>::max(), int64_t{3}}));
  activity.Append(RowRecord(Table::kExternalCorrelation, good));
  EXPECT_EQ(ConvertOne().odd_rows, 3);
  EXPECT_THAT(Query(output(), "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION"),
              ElementsAre("2"));
}

TEST_F(ActivityConversion, NotesAreToldOnce) {
  SpoolStream activity(*image_, spool::kActivityStream);
  for (const char* const text : {"b happened", "a happened", "b happened"}) {
    activity.Append(test::EventRecord(spool::RecordKind::kNote, 1, {.text = text}));
  }
  EXPECT_THAT(ConvertOne().notes, ElementsAre("a happened", "b happened"));
  EXPECT_THAT(Query(output(), "SELECT text FROM OPLENS_NOTE"),
              ElementsAre("a happened", "b happened"));
}

}  // namespace
}  // namespace oplens::record::activity_conversion_test
