#ifndef OPLENS_TEST_SUPPORT_NSYS_BUILDER_H_
#define OPLENS_TEST_SUPPORT_NSYS_BUILDER_H_

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/support/nvprof_builder.h"

namespace oplens::test {

/// How the file deviates from what Nsight Systems 2024.6 exports.
struct NsysOptions {
  /// Schema version, major and minor: decides columns and the table that says it. 0.0: a file of
  /// 2020, which says none.
  int major = 3;
  int minor = 16;
  std::string product = "2024.6.2.225";
  std::string table_suffix = "";                                       ///< e.g. "_V2"
  std::vector<std::string> drop_tables = {};                           ///< Full names.
  std::vector<std::pair<std::string, std::string>> drop_columns = {};  ///< (table, column)
  std::vector<std::pair<std::string, std::string>> extra_columns = {};
  bool reverse_columns = false;
  bool empty_tables = false;  ///< All tables, not only those with rows.
  std::string encoding = "UTF-8";
  std::optional<uint32_t> shuffle_seed = {};  ///< Store the rows in random order.
};

/// Collects rows of an Nsight Systems export and writes them as a database with its schema. As in
/// real files, a table without rows is not there.
class NsysBuilder {
 public:
  /// The StringIds id of `text`; the same text has the same id.
  int64_t Intern(std::string_view text);
  /// Adds a StringIds row by hand: any id, any type.
  void AddString(int64_t id, Value value);

  /// Adds a row to a table by its full name and returns it for later changes. The reference stays
  /// valid. Columns that are not named become NULL.
  Row& Add(const std::string& table, Row row);
  std::deque<Row>& rows(const std::string& table) { return rows_[table]; }
  /// Correlation ids start at 1 in every process.
  int64_t NextCorrelation(int64_t process_id) { return ++correlations_[process_id]; }

  /// Writes the database, replacing any file at `path`. Throws SQLite::Exception when SQLite does.
  /// Values of columns that the chosen version does not have are left out.
  void Write(const std::filesystem::path& path, const NsysOptions& options = {}) const;

 private:
  std::vector<std::pair<int64_t, Value>> strings_;
  std::unordered_map<std::string, int64_t> string_ids_;
  std::map<std::string, std::deque<Row>> rows_;
  std::map<int64_t, int64_t> correlations_;
};

/// A global process id: machine, process, no thread.
constexpr int64_t GlobalPid(int64_t process_id, int64_t machine = 1) {
  return machine << 48 | process_id << 24;
}

/// A host thread that calls CUDA inside NVTX ranges, on a clock that advances with each event.
class NsysThread {
 public:
  struct LaunchOptions {
    std::string name = "_Z6kernelv";
    int64_t duration_ns = 100;
    std::string api = "cudaLaunchKernel_v7000";
    int64_t event_class = 0;
    int64_t stream = 7;
  };

  NsysThread(NsysBuilder* builder, int64_t process_id, int64_t thread_id, int64_t start_ns = 1000)
      : builder_(*builder), process_id_(process_id), thread_id_(thread_id), now_(start_ns) {}

  int64_t global_pid() const { return GlobalPid(process_id_); }
  int64_t global_tid() const { return global_pid() | thread_id_; }
  int64_t now() const { return now_; }

  /// Opens a range of the default domain; the row is NULL-ended until Pop. Further columns may be
  /// given.
  Row& Push(const std::string& text, Row more = {});
  void Pop();
  /// An API call; returns its correlation id.
  int64_t Call(const std::string& api, int64_t event_class = 0);
  /// A launch and its kernel; returns the correlation id.
  int64_t Launch(const LaunchOptions& options);
  int64_t Launch() { return Launch(LaunchOptions()); }

 private:
  NsysBuilder& builder_;
  int64_t process_id_;
  int64_t thread_id_;
  int64_t now_;
  std::vector<Row*> open_;
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_NSYS_BUILDER_H_
