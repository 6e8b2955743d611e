#include "test/support/nsys_builder.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace oplens::test {
namespace {

namespace fs = std::filesystem;

/// A column, and the schema version (major * 100 + minor) that it came with.
struct ColumnSince {
  const char* name;
  int since = 0;
};

struct NsysTable {
  const char* name;
  std::vector<ColumnSince> columns;
};

constexpr int kLast2 = 209;    // 2022.1
constexpr int kGreen = 311;    // 2024.2
constexpr int kBinary = 316;   // 2024.6
constexpr int kGraphId = 324;  // 2025.5.2

const std::vector<NsysTable>& Tables() {
  static const auto* const tables = new std::vector<NsysTable>{
      {"ANALYSIS_DETAILS",
       {{"globalVid", kLast2}, {"duration", kLast2}, {"startTime", kLast2}, {"stopTime", kLast2}}},
      {"PROCESSES", {{"globalPid", kLast2}, {"pid", kLast2}, {"name", kLast2}}},
      {"ThreadNames", {{"nameId"}, {"priority"}, {"globalTid"}}},
      {"TARGET_INFO_GPU",
       {{"vmId"},
        {"id"},
        {"name"},
        {"l2CacheSize"},
        {"totalMemory"},
        {"memoryBandwidth"},
        {"clockRate"},
        {"smCount"},
        {"uuid"},
        {"cuDevice"},
        {"computeMajor"},
        {"computeMinor"},
        {"smMajor"},
        {"smMinor"}}},
      {"TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid"}, {"uuid"}}},
      {"NVTX_EVENTS",
       {{"start"},
        {"end"},
        {"eventType"},
        {"rangeId"},
        {"category"},
        {"color"},
        {"text"},
        {"globalTid"},
        {"endGlobalTid"},
        {"textId"},
        {"domainId"},
        {"uint64Value"},
        {"int64Value"},
        {"doubleValue"},
        {"uint32Value"},
        {"int32Value"},
        {"floatValue"},
        {"jsonTextId", kLast2},
        {"jsonText", kLast2},
        {"binaryData", kBinary}}},
      {"CUPTI_ACTIVITY_KIND_RUNTIME",
       {{"start"},
        {"end"},
        {"eventClass"},
        {"globalTid"},
        {"correlationId"},
        {"nameId"},
        {"returnValue"},
        {"callchainId"}}},
      {"CUPTI_ACTIVITY_KIND_KERNEL",
       {{"start"},
        {"end"},
        {"deviceId"},
        {"contextId"},
        {"greenContextId", kGreen},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"demangledName"},
        {"shortName"},
        {"mangledName", kLast2},
        {"launchType"},
        {"cacheConfig"},
        {"registersPerThread"},
        {"gridX"},
        {"gridY"},
        {"gridZ"},
        {"blockX"},
        {"blockY"},
        {"blockZ"},
        {"staticSharedMemory"},
        {"dynamicSharedMemory"},
        {"localMemoryPerThread"},
        {"localMemoryTotal"},
        {"gridId"},
        {"sharedMemoryExecuted"},
        {"graphNodeId"},
        {"sharedMemoryLimitConfig"},
        {"graphId", kGraphId}}},
      {"CUPTI_ACTIVITY_KIND_MEMCPY",
       {{"start"},
        {"end"},
        {"deviceId"},
        {"contextId"},
        {"greenContextId", kGreen},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"bytes"},
        {"copyKind"},
        {"deprecatedSrcId"},
        {"srcKind"},
        {"dstKind"},
        {"srcDeviceId"},
        {"srcContextId"},
        {"dstDeviceId"},
        {"dstContextId"},
        {"migrationCause"},
        {"graphNodeId"},
        {"virtualAddress", kLast2},
        {"copyCount", kGraphId}}},
      {"CUPTI_ACTIVITY_KIND_MEMSET",
       {{"start"},
        {"end"},
        {"deviceId"},
        {"contextId"},
        {"greenContextId", kGreen},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"value"},
        {"bytes"},
        {"graphNodeId"},
        {"memKind"}}},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
       {{"start"},
        {"end"},
        {"deviceId"},
        {"contextId"},
        {"greenContextId", kGreen},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"syncType"},
        {"eventId"}}},
      {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
       {{"deviceId"},
        {"contextId"},
        {"greenContextId", kGreen},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"eventId"}}},
      {"META_DATA_CAPTURE", {{"name"}, {"value"}}},
      {"TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs"}, {"utcTime"}, {"localTime"}}},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
       {{"start"},
        {"end"},
        {"deviceId"},
        {"contextId"},
        {"streamId"},
        {"correlationId"},
        {"globalPid"},
        {"graphId"},
        {"graphExecId"}}},
      {"CUDA_GRAPH_NODE_EVENTS",
       {{"start"},
        {"end"},
        {"eventClass"},
        {"globalTid"},
        {"nameId"},
        {"graphNodeId"},
        {"originalGraphNodeId"}}},
      {"CUDA_GRAPH_EVENTS",
       {{"start"},
        {"end"},
        {"eventClass"},
        {"globalTid"},
        {"nameId"},
        {"graphId"},
        {"originalGraphId"},
        {"graphExecId"}}},
      {"CUDA_GPU_MEMORY_USAGE_EVENTS",
       {{"start"},
        {"globalPid"},
        {"deviceId"},
        {"contextId"},
        {"address"},
        {"pc"},
        {"bytes"},
        {"memKind"},
        {"memoryOperationType"},
        {"name"},
        {"correlationId"}}},
      {"PROFILER_OVERHEAD", {{"start"}, {"end"}, {"globalTid"}, {"nameId"}, {"returnValue"}}},
  };
  return *tables;
}

std::vector<std::string> ColumnsOfTable(const NsysTable& table, const NsysOptions& options) {
  std::vector<std::string> columns;
  const int version = options.major * 100 + options.minor;
  for (const ColumnSince& column : table.columns) {
    const auto dropped = std::pair<std::string, std::string>(table.name, column.name);
    if (column.since > version) continue;
    if (std::count(options.drop_columns.begin(), options.drop_columns.end(), dropped) > 0) continue;
    columns.emplace_back(column.name);
  }
  for (const auto& [name, column] : options.extra_columns) {
    if (name == table.name) columns.insert(columns.begin(), column);
  }
  if (options.reverse_columns) std::reverse(columns.begin(), columns.end());
  return columns;
}

void Bind(SQLite::Statement* statement, int index, const Value& value) {
  struct Binder {
    SQLite::Statement& statement;
    int index;
    void operator()(std::monostate) const { statement.bind(index); }
    void operator()(int64_t number) const { statement.bind(index, number); }
    void operator()(double number) const { statement.bind(index, number); }
    void operator()(const std::string& text) const { statement.bind(index, text); }
    void operator()(const Blob& blob) const {
      statement.bind(index, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
    }
  };
  std::visit(Binder{*statement, index}, value);
}

bool IsOld(const NsysOptions& options) { return options.major * 100 + options.minor <= kLast2; }

/// The name of the table of whole graphs was that of their nodes before.
std::string NameOf(const NsysTable& table, const NsysOptions& options) {
  const std::string name = table.name;
  return IsOld(options) && name == "CUDA_GRAPH_NODE_EVENTS" ? "CUDA_GRAPH_EVENTS" : name;
}

bool IsLaterNameOfOther(const NsysTable& table, const NsysOptions& options) {
  return IsOld(options) && std::string(table.name) == "CUDA_GRAPH_EVENTS";
}

void WriteTable(SQLite::Database* database, const NsysTable& table, const std::deque<Row>& rows,
                const NsysOptions& options) {
  const std::vector<std::string> columns = ColumnsOfTable(table, options);
  if (columns.empty()) return;
  std::string declared;
  std::string marks;
  for (const std::string& column : columns) {
    // The declared type decides what SQLite stores: numbers given as text would become numbers.
    const bool text = column == "text" || column == "name" || column == "jsonText";
    declared +=
        fmt::format("{}\"{}\" {}", declared.empty() ? "" : ", ", column, text ? "TEXT" : "INTEGER");
    marks += marks.empty() ? "?" : ", ?";
  }
  const std::string name = NameOf(table, options) + options.table_suffix;
  database->exec(fmt::format("CREATE TABLE {}({})", name, declared));
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (options.shuffle_seed) {
    std::shuffle(order.begin(), order.end(), std::mt19937(*options.shuffle_seed));
  }
  SQLite::Statement insert(*database, fmt::format("INSERT INTO {} VALUES ({})", name, marks));
  for (const size_t i : order) {
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto value = rows[i].find(columns[c]);
      Bind(&insert, static_cast<int>(c) + 1, value == rows[i].end() ? Value() : value->second);
    }
    insert.exec();
    insert.reset();
  }
}

void WriteVersion(SQLite::Database* database, const NsysOptions& options) {
  if (options.major == 0) return;
  const bool old = options.major * 100 + options.minor < 306;
  const std::string table = old ? "EXPORT_META_DATA" : "META_DATA_EXPORT";
  database->exec(fmt::format("CREATE TABLE {}(name TEXT, value TEXT)", table));
  SQLite::Statement insert(*database, fmt::format("INSERT INTO {} VALUES (?, ?)", table));
  const std::pair<std::string, std::string> entries[] = {
      {"EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"},
      {"EXPORT_PRODUCT_VERSION", options.product},
      {"EXPORT_SCHEMA_VERSION", fmt::format("{}.{}.1", options.major, options.minor)}};
  for (const auto& [name, value] : entries) {
    insert.bind(1, name);
    insert.bind(2, value);
    insert.exec();
    insert.reset();
  }
}

void WriteNsysStrings(SQLite::Database* database,
                      const std::vector<std::pair<int64_t, Value>>& strings) {
  database->exec("CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT)");
  SQLite::Statement insert(*database, "INSERT INTO StringIds VALUES (?, ?)");
  for (const auto& [id, value] : strings) {
    insert.bind(1, id);
    Bind(&insert, 2, value);
    insert.exec();
    insert.reset();
  }
}

}  // namespace

int64_t NsysBuilder::Intern(std::string_view text) {
  const auto [entry, is_new] =
      string_ids_.try_emplace(std::string(text), static_cast<int64_t>(string_ids_.size()) + 1);
  if (is_new) AddString(entry->second, std::string(text));
  return entry->second;
}

void NsysBuilder::AddString(int64_t id, Value value) {
  strings_.emplace_back(id, std::move(value));
}

Row& NsysBuilder::Add(const std::string& table, Row row) {
  return rows_[table].emplace_back(std::move(row));
}

void NsysBuilder::Write(const fs::path& path, const NsysOptions& options) const {
  fs::remove(path);
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(fmt::format("PRAGMA encoding = '{}'", options.encoding));
  SQLite::Transaction transaction(database);
  WriteNsysStrings(&database, strings_);
  WriteVersion(&database, options);
  for (const NsysTable& table : Tables()) {
    const auto& dropped = options.drop_tables;
    if (std::count(dropped.begin(), dropped.end(), table.name) > 0) continue;
    if (IsLaterNameOfOther(table, options)) continue;
    const auto rows = rows_.find(table.name);
    if (rows != rows_.end() && !rows->second.empty()) {
      WriteTable(&database, table, rows->second, options);
    } else if (options.empty_tables) {
      WriteTable(&database, table, {}, options);
    }
  }
  transaction.commit();
}

Row& NsysThread::Push(const std::string& text, Row more) {
  Row row = {{"start", ++now_},
             {"eventType", int64_t{59}},
             {"text", text},
             {"globalTid", global_tid()},
             {"domainId", int64_t{0}}};
  for (auto& [column, value] : more) row[column] = std::move(value);
  Row& added = builder_.Add("NVTX_EVENTS", std::move(row));
  open_.push_back(&added);
  return added;
}

void NsysThread::Pop() {
  (*open_.back())["end"] = ++now_;
  open_.pop_back();
}

int64_t NsysThread::Call(const std::string& api, int64_t event_class) {
  now_ += 2;
  const int64_t correlation_id = builder_.NextCorrelation(process_id_);
  builder_.Add("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", now_ - 1},
                                               {"end", now_},
                                               {"eventClass", event_class},
                                               {"globalTid", global_tid()},
                                               {"correlationId", correlation_id},
                                               {"nameId", builder_.Intern(api)},
                                               {"returnValue", int64_t{0}}});
  return correlation_id;
}

int64_t NsysThread::Launch(const LaunchOptions& options) {
  const int64_t correlation_id = Call(options.api, options.event_class);
  const int64_t name = builder_.Intern(options.name);
  builder_.Add("CUPTI_ACTIVITY_KIND_KERNEL", {{"start", now_ + 10},
                                              {"end", now_ + 10 + options.duration_ns},
                                              {"deviceId", int64_t{0}},
                                              {"contextId", int64_t{1}},
                                              {"streamId", options.stream},
                                              {"correlationId", correlation_id},
                                              {"globalPid", global_pid()},
                                              {"demangledName", name},
                                              {"shortName", name},
                                              {"mangledName", name},
                                              {"registersPerThread", int64_t{32}},
                                              {"gridX", int64_t{2}},
                                              {"gridY", int64_t{3}},
                                              {"gridZ", int64_t{4}},
                                              {"blockX", int64_t{64}},
                                              {"blockY", int64_t{1}},
                                              {"blockZ", int64_t{1}},
                                              {"staticSharedMemory", int64_t{16}},
                                              {"dynamicSharedMemory", int64_t{8}}});
  return correlation_id;
}

}  // namespace oplens::test
