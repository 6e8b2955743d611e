#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "mcp/tool_parts.h"
#include "mcp/tools.h"

namespace oplens::mcp {
namespace {

constexpr std::chrono::seconds kMostTime{10};
/// Rows that are counted; more are not looked at.
constexpr size_t kMostCounted = 100'000;
constexpr int kMostValueBytes = 1 << 20;
constexpr sqlite3_int64 kMostSqliteBytes = sqlite3_int64{1} << 30;
constexpr int kOpsBetweenLooks = 10'000;

/// What stops a statement.
struct Watch {
  std::chrono::steady_clock::time_point end;
  const CallContext* context;
  bool too_long = false;
};

int Look(void* watch) {
  auto* const of = static_cast<Watch*>(watch);
  if (std::chrono::steady_clock::now() > of->end) of->too_long = true;
  return of->too_long || of->context->cancelled() ? 1 : 0;
}

/// Allows to read, and nothing else: no writing, no other file, no setting, no extension.
int Allow(void*, int action, const char*, const char* function, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      constexpr std::string_view kRefused[] = {"load_extension", "fts3_tokenizer", "edit",
                                               "readfile",       "writefile",      "zeroblob",
                                               "randomblob"};
      return std::ranges::find(kRefused, function) != std::end(kRefused) ? SQLITE_DENY : SQLITE_OK;
    }
    default:
      return SQLITE_DENY;
  }
}

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

Database OpenForReading(const std::string& path, Watch* watch) {
  // Shared by all databases of the process.
  sqlite3_soft_heap_limit64(kMostSqliteBytes);
  sqlite3_hard_heap_limit64(kMostSqliteBytes);
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (result != SQLITE_OK) throw Error(path, "cannot be opened", "check TMPDIR");
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMostValueBytes);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_exec(opened, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(opened, Allow, nullptr);
  sqlite3_progress_handler(opened, kOpsBetweenLooks, Look, watch);
  return database;
}

OrderedJson ValueOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return RoundedCell(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
      return nullptr;
    default: {
      const auto* const text =
          reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      if (text == nullptr) return nullptr;
      return SafeText({text, bytes}, kSentenceColumns);
    }
  }
}

[[noreturn]] void Fail(sqlite3* database, int result, const Watch& watch) {
  if (watch.context->cancelled()) throw Interrupted();
  if (watch.too_long) {
    throw UsageError(
        fmt::format("the statement takes more than {} s: ask for less", kMostTime.count()));
  }
  if (result == SQLITE_AUTH) throw UsageError("query: only SELECT statements are run");
  if (result == SQLITE_NOMEM) throw UsageError("the statement takes too much memory: ask for less");
  throw UsageError(fmt::format("query: {}", sqlite3_errmsg(database)));
}

}  // namespace

Found SqlTool(const Arguments& asked, OpenedRuns* runs, CallContext* context) {
  const std::shared_ptr<OpenedRun> run = runs->Open(asked.path, context->meter());
  const screen::Screen& facts = run->Facts(context->meter());
  const std::string& path = run->Database(context->meter());
  Watch watch{std::chrono::steady_clock::now() + kMostTime, context};
  const Database database = OpenForReading(path, &watch);
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  int result = sqlite3_prepare_v2(database.get(), asked.query.c_str(),
                                  static_cast<int>(asked.query.size()), &prepared, &rest);
  const Statement statement(prepared);
  if (result != SQLITE_OK) Fail(database.get(), result, watch);
  if (prepared == nullptr) throw UsageError("query: there is no statement");
  if (std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    throw UsageError("query: one statement at a time");
  }
  if (sqlite3_stmt_readonly(prepared) == 0) {
    throw UsageError("query: only SELECT statements are run");
  }
  Found found{{}, AnswerRows(static_cast<size_t>(asked.skip))};
  const int columns = sqlite3_column_count(prepared);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) {
    names.push_back(SafeText(sqlite3_column_name(prepared, i), kNameColumns));
  }
  found.rows.BeginPlain(std::move(names));
  const size_t most = static_cast<size_t>(asked.skip) + kMostCounted;
  while (found.rows.all() < most && (result = sqlite3_step(prepared)) == SQLITE_ROW) {
    std::vector<OrderedJson> row;
    if (found.rows.Wants()) {
      for (int i = 0; i < columns; ++i) row.push_back(ValueOf(prepared, i));
    }
    found.rows.Add(std::move(row));
  }
  if (result != SQLITE_ROW && result != SQLITE_DONE) Fail(database.get(), result, watch);
  Answer& answer = found.answer;
  const bool cut = found.rows.all() >= most;
  answer.title = fmt::format("{}{} rows", cut ? "at least " : "", found.rows.all());
  if (cut) answer.notes.emplace_back("rows were counted no further: add conditions or LIMIT");
  answer.evidence = {
      fmt::format("{}; sqlite3 run.db {}",
                  CommandOf({"kernels", "--sqlite", "run.db", "--raw"}, run->place().named),
                  "QUERY"),
      run->place().named, run->hash(), "recorded+computed", ShareOf(facts)};
  answer.next = NextOf(facts, run->place().named, "");
  return found;
}

}  // namespace oplens::mcp
