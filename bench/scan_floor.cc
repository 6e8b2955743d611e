// scan_floor DB: what stepping once through the columns of an nvprof or Nsight Systems database
// that a parser needs costs with SQLite alone, memory-mapped. Every value is fetched and folded
// into a sum; nothing is joined, sorted or kept. bench/pipeline.sh divides by it.

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// All rows of each table in row order.
constexpr const char* kNvprofQueries[] = {
    "SELECT _id_, value FROM StringTable",
    "SELECT _id_, flags, timestamp, id, objectKind, objectId, name FROM CUPTI_ACTIVITY_KIND_MARKER",
    "SELECT start, end, processId, threadId, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, end, processId, threadId, correlationId FROM CUPTI_ACTIVITY_KIND_DRIVER",
    ("SELECT start, end, deviceId, streamId, gridX, gridY, gridZ, blockX, blockY, blockZ, "
     "correlationId, name FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"),
};

// Tables of Nsight Systems are there only if they have rows: those that are missing are skipped.
constexpr const char* kNsysQueries[] = {
    "SELECT id, value FROM StringIds",
    ("SELECT start, end, eventType, globalTid, text, textId, domainId, category, uint64Value, "
     "int64Value, uint32Value, int32Value, doubleValue, floatValue, jsonText, jsonTextId FROM "
     "NVTX_EVENTS"),
    ("SELECT start, end, eventClass, globalTid, correlationId, nameId FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME"),
    ("SELECT start, end, correlationId, globalPid, deviceId, contextId, streamId, gridX, gridY, "
     "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, "
     "mangledName, demangledName, shortName, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL"),
    ("SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
     "srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
    ("SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, value "
     "FROM "
     "CUPTI_ACTIVITY_KIND_MEMSET"),
    ("SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType FROM "
     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
    "SELECT start, end, nameId FROM PROFILER_OVERHEAD",
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

bool CanRun(sqlite3* database, const char* query) {
  sqlite3_stmt* raw = nullptr;
  const bool can = sqlite3_prepare_v2(database, query, -1, &raw, nullptr) == SQLITE_OK;
  sqlite3_finalize(raw);
  return can;
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
  if (CanRun(raw, kNsysQueries[0])) {
    for (const char* query : kNsysQueries) {
      if (CanRun(raw, query)) Scan(raw, query, &totals);
    }
  } else {
    for (const char* query : kNvprofQueries) Scan(raw, query, &totals);
  }
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
