#ifndef OPLENS_PARSE_READERS_COMMON_SCAN_BESIDE_H_
#define OPLENS_PARSE_READERS_COMMON_SCAN_BESIDE_H_

#include <cstdint>
#include <functional>
#include <future>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/threads.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// The scan of a table, which a thread may do while the caller scans others.
class ScanBeside {
 public:
  /// Whether that is worth a thread: pages of many rows are read. Looks up the table.
  static bool Pays(SqliteDatabase* database, std::string_view table) {
    constexpr int64_t kFewestRows = int64_t{64} << 10;
    return ThreadLimit() > 1 && database->ReadsPagesOf(table) &&
           database->MaxRowCount(table) >= kFewestRows;
  }

  /// Begins `scan` if it is to run beside the caller, and a thread can be started. Threads that
  /// read pages for the scan go on when the caller has nothing to do but wait for it.
  void Begin(bool beside, std::function<void()> scan) {
    scan_ = std::move(scan);
    if (!beside) return;
    try {
      running_ = std::async(std::launch::async, scan_);
    } catch (const std::system_error&) {
      // Finish() does it.
    }
  }
  /// Returns when it is done; does it unless it was begun. Throws what it throws.
  void Finish() {
    if (running_.valid()) {
      running_.get();
    } else {
      scan_();
    }
  }

 private:
  std::function<void()> scan_;
  std::future<void> running_;  // Its destructor waits.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_SCAN_BESIDE_H_
