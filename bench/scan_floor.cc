// scan_floor DB: what stepping once through the columns of an nvprof database that a parser needs
// costs with SQLite alone, memory-mapped. Every value is fetched and folded into a sum; nothing is
// joined, sorted or kept. bench/pipeline.sh divides by it.

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// All rows of each table in row order.
constexpr const char* kQueries[] = {
    "SELECT _id_, value FROM StringTable",
    "SELECT _id_, flags, timestamp, id, objectKind, objectId, name FROM CUPTI_ACTIVITY_KIND_MARKER",
    "SELECT start, end, processId, threadId, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, processId, threadId, correlationId FROM CUPTI_ACTIVITY_KIND_DRIVER",
    ("SELECT start, end, deviceId, streamId, gridX, gridY, gridZ, blockX, blockY, blockZ, "
     "correlationId, name FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"),
};

struct Totals {
  uint64_t rows = 0;
  uint64_t sum = 0;
};

uint64_t Fold(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<uint64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_TEXT:
      return *sqlite3_column_text(statement, column) +
             static_cast<uint64_t>(sqlite3_column_bytes(statement, column));
    case SQLITE_BLOB: {
      const void* bytes = sqlite3_column_blob(statement, column);
      return bytes == nullptr ? 0 : *static_cast<const unsigned char*>(bytes);
    }
    default:
      return 0;
  }
}

void Scan(sqlite3* database, const char* query, Totals* totals) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, query, -1, &raw, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(database));
  }
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw, sqlite3_finalize);
  const int columns = sqlite3_column_count(raw);
  int status = sqlite3_step(raw);
  for (; status == SQLITE_ROW; status = sqlite3_step(raw)) {
    ++totals->rows;
    for (int column = 0; column < columns; ++column) totals->sum += Fold(raw, column);
  }
  if (status != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database));
}

Totals ScanAll(const char* path) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(path, &raw, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(raw, sqlite3_close);
  if (status != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(raw));
  sqlite3_exec(raw, "PRAGMA mmap_size = 8589934592", nullptr, nullptr, nullptr);
  Totals totals;
  for (const char* query : kQueries) Scan(raw, query, &totals);
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: scan_floor DB\n");
    return 2;
  }
  try {
    const Totals totals = ScanAll(argv[1]);
    fmt::print("{} rows, sum {:016x}\n", totals.rows, totals.sum);
  } catch (const std::exception& error) {
    fmt::print(stderr, "scan_floor: {}: {}\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
