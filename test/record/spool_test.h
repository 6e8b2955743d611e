#ifndef OPLENS_TEST_RECORD_SPOOL_TEST_H_
#define OPLENS_TEST_RECORD_SPOOL_TEST_H_

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/conversion.h"
#include "record/nvprof_writer.h"
#include "record/spool/activity_columns.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::record {

/// The rows that a query gives, "a|b|c" each; NULL is "NULL", a BLOB is x'..'.
inline std::vector<std::string> Query(const std::filesystem::path& path, const std::string& sql) {
  const SQLite::Database database(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(database, sql);
  std::vector<std::string> rows;
  while (query.executeStep()) {
    std::string row;
    for (int i = 0; i < query.getColumnCount(); ++i) {
      const SQLite::Column column = query.getColumn(i);
      if (i > 0) row += '|';
      if (column.isNull()) {
        row += "NULL";
      } else if (column.isBlob()) {
        row += "x'";
        for (const char c : column.getString()) {
          constexpr const char* kDigits = "0123456789abcdef";
          const auto byte = static_cast<unsigned char>(c);
          row += {kDigits[byte >> 4], kDigits[byte & 15]};
        }
        row += '\'';
      } else {
        row += column.getString();
      }
    }
    rows.push_back(row);
  }
  return rows;
}

/// A row of CONCURRENT_KERNEL, of a node of a graph unless that is 0.
inline std::vector<test::SpoolValue> KernelValues(int64_t start, int64_t end, int64_t correlation,
                                                  int64_t node) {
  std::vector<test::SpoolValue> values;
  for (const auto& column : NvprofTable("CONCURRENT_KERNEL").columns) {
    int64_t value = 1;
    if (column.name == "start") value = start;
    if (column.name == "end") value = end;
    if (column.name == "correlationId") value = correlation;
    if (column.name == "name") {
      values.emplace_back("my_kernel");
    } else if (column.blob) {
      values.emplace_back("\x11");
    } else {
      values.emplace_back(value);
    }
  }
  values.emplace_back(node);
  values.resize(values.size() + 12, kAbsent);
  return values;
}

/// Tests of spools in a folder of their own.
class SpoolTest : public testing::Test {
 protected:
  static constexpr int32_t kProcess = 4711;

  std::filesystem::path spool() const { return dir_ / "net.sql.spool"; }
  std::filesystem::path output() const { return dir_ / "net.sql"; }
  std::filesystem::path MakeImage(
      const std::function<void(spool::ProcessPage*)>& change = {}) const {
    return test::MakeSpoolImage(spool(), kProcess, output(), change);
  }
  ConversionOptions Options() const {
    ConversionOptions options;
    options.spool = spool();
    options.version = "1.2.3";
    return options;
  }
  std::vector<ProcessSummary> Convert() const {
    ConversionOptions options = Options();
    options.force = true;
    return Conversion(options).Finish({});
  }
  /// Converts the spool of one process.
  ProcessSummary ConvertOne() const {
    std::vector<ProcessSummary> summaries = Convert();
    EXPECT_EQ(summaries.size(), 1u);
    summaries.resize(1);
    return summaries[0];
  }
  /// All rows of MARKER in order: flags, time, id, thread, text, domain.
  std::vector<std::string> Markers() const {
    return Query(output(),
                 "SELECT flags, timestamp, id, substr(hex(objectId), 9, 8), n.value, d.value FROM "
                 "CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable n ON n._id_ = m.name JOIN "
                 "StringTable d ON d._id_ = m.domain ORDER BY m._id_");
  }
  std::map<std::string, std::string> Meta() const {
    const SQLite::Database database(output().string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(database, "SELECT key, value FROM OPLENS_META");
    std::map<std::string, std::string> meta;
    while (query.executeStep()) meta[query.getColumn(0)] = query.getColumn(1).getString();
    return meta;
  }

  const std::filesystem::path dir_ = test::TestDir();
};

}  // namespace oplens::record

#endif  // OPLENS_TEST_RECORD_SPOOL_TEST_H_
