// Every shape in which nvprof's schema comes: versions, tables and columns that are missing, added
// or in another order, text encodings, page sizes, journals. The records must not change.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::schema_test {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// Ten annotated kernels, a copy, a fill: something in every table that is read.
void Fill(SmallProfile* profile) {
  const ScriptRange epoch(&profile->thread, "epoch 0 \xc3\xa9");  // Not ASCII: shows encodings.
  for (int i = 0; i < 10; ++i) {
    profile->AnnotatedKernel("add", i + 1, fmt::format("kernel_{}", i));
  }
  const int64_t id = profile->thread.CallApi(41);
  profile->builder.Add("MEMCPY", {{"copyKind", int64_t{1}}, {"correlationId", id}});
  profile->builder.Add("MEMSET", {{"bytes", int64_t{64}}, {"correlationId", id + 1}});
}

std::string PlainOutput() {
  SmallProfile profile;
  Fill(&profile);
  return RunParse({profile.Write().string()}).out;
}

struct Case {
  const char* name;
  NvprofOptions options;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Schema : public testing::TestWithParam<Case> {};

TEST_P(Schema, GivesTheSameRecords) {
  const std::string expected = PlainOutput();
  ASSERT_EQ(LineCount(expected), 10);
  ASSERT_THAT(expected, HasSubstr("epoch 0 \xc3\xa9"));

  SmallProfile profile;
  Fill(&profile);
  const RunResult result = RunParse({profile.Write(GetParam().options).string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, expected);
}

using Journal = NvprofOptions::Journal;

INSTANTIATE_TEST_SUITE_P(
    Shapes, Schema,
    testing::Values(
        Case{"Version8", {.version = 8}}, Case{"Version9", {.version = 9}},
        Case{"Version11", {.version = 11}}, Case{"Version16", {.version = 16}},
        Case{"Version17", {.version = 17}}, Case{"Version18", {.version = 18}},
        Case{"Version22", {.version = 22}}, Case{"VersionOfTheFuture", {.version = 99}},
        Case{"PageSize512", {.page_size = 512}}, Case{"PageSize65536", {.page_size = 65536}},
        Case{"Utf16LittleEndian", {.encoding = "UTF-16le"}},
        Case{"Utf16BigEndian", {.encoding = "UTF-16be"}},
        Case{"WalCheckpointed", {.journal = Journal::kWalCheckpointed}},
        Case{"WalPending", {.journal = Journal::kWalPending}},
        Case{"NoIndices", {.indices = false}}, Case{"NoConstraints", {.not_null = false}},
        Case{"ReversedColumns", {.reverse_columns = true}},
        Case{"NoDomainColumn", {.drop_columns = {{"MARKER", "domain"}}}},
        Case{"NoUnusedTables",
             {.drop_tables = {"MARKER_DATA", "PCIE", "OVERHEAD", "SYNCHRONIZATION", "MEMCPY",
                              "MEMCPY2", "MEMSET", "STREAM", "CONTEXT", "NAME", "CDP_KERNEL"}}},
        Case{"ExtraColumns",
             {.extra_columns = {{"RUNTIME", "name"},
                                {"CONCURRENT_KERNEL", "note"},
                                {"MARKER", "text"}}}},
        Case{"EmptyDriverDropped", {.drop_tables = {"DRIVER"}}}),
    [](const auto& test) { return test.param.name; });

// A table that carries something is missing: one sentence says so, and the rest is there.
struct MissingTable {
  const char* kind;
  const char* key;    // A key of the records that shows the loss,
  const char* value;  // and its value then.
};

void PrintTo(const MissingTable& c, std::ostream* out) { *out << c.kind; }

class SchemaWithout : public testing::TestWithParam<MissingTable> {};

TEST_P(SchemaWithout, CostsOneSentence) {
  SmallProfile profile;
  Fill(&profile);
  const fs::path file = profile.Write({.drop_tables = {GetParam().kind}});
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(std::string("CUPTI_ACTIVITY_KIND_") + GetParam().kind));
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), 10u);
  for (const std::string& line : lines) {
    EXPECT_EQ(DictValue(line, GetParam().key), GetParam().value);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SchemaWithout,
                         testing::Values(MissingTable{"RUNTIME", "tid", "0"},
                                         MissingTable{"MARKER", "marker", "[]"},
                                         MissingTable{"DEVICE", "deviceName", "None"}),
                         [](const auto& test) { return test.param.kind; });

TEST(SchemaWithoutKernels, SaysSoAndSucceeds) {
  SmallProfile profile;
  const fs::path file = profile.Write({.drop_tables = {"CONCURRENT_KERNEL", "KERNEL"}});
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("kernel"));
}

TEST(SchemaWithoutKernels, StrictExitsWithThree) {
  SmallProfile profile;
  EXPECT_EQ(RunParse({"--strict", profile.Write().string()}).exit_code, 3);
}

// Launches through the driver API alone, as OpenACC programs make them.
TEST(Launches, DriverRowsCountWhereTheRuntimeHasNone) {
  SmallProfile profile;
  {
    const ScriptRange range(&profile.thread, "add, seq = 7");
    const int64_t id = profile.thread.CallApi(307, "DRIVER");
    profile.thread.RunKernel({}, id);
  }
  const auto records = Records(profile.Write());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["tid"], 3940300608);
  EXPECT_EQ(records[0]["seqId"], nlohmann::json({7}));
  EXPECT_EQ(records[0]["launch"], "cuLaunchKernel");
}

TEST(Launches, RuntimeRowWinsOverADriverRowOfTheSameId) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel");
  Row driver = profile.builder.rows("RUNTIME")[0];
  driver["cbid"] = int64_t{307};
  driver["start"] = int64_t{1};
  driver["end"] = int64_t{2};
  profile.builder.Add("DRIVER", driver);
  const auto records = Records(profile.Write());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["launch"], "cudaLaunchKernel");
  EXPECT_EQ(records[0]["seqId"], nlohmann::json({1}));
}

// An end row may stand before its start row, kernels before launches: the order says nothing.
TEST(RowOrder, DoesNotChangeTheOutput) {
  const std::string demo = SourceDir() + "/examples/data/demo.sql";
  const std::string expected = RunParse({demo}).out;
  ASSERT_GT(LineCount(expected), 100);
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const fs::path shuffled = TestDir() / fmt::format("shuffled_{}.sql", seed);
    fs::copy_file(demo, shuffled);
    fs::permissions(shuffled, fs::perms::owner_all);
    ShuffleRows(shuffled, seed);
    ASSERT_NE(DumpSql(shuffled), DumpSql(demo));
    EXPECT_EQ(RunParse({shuffled.string()}).out, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace oplens::test::schema_test
