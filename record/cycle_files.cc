#include "record/cycle_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "parse/readers/nvprof/nvprof_schema.h"
#include "record/marker_rows.h"
#include "record/spool/activity_columns.h"
#include "record/unfinished_launches.h"

namespace oplens::record {
namespace {

/// How a table's rows are assigned to cycles.
enum class By : uint8_t {
  kTime,    ///< By their time in `column`.
  kCall,    ///< By time; the call's launched work follows.
  kLaunch,  ///< By the call with the same correlation id, else by time.
  kMarker,  ///< By the range or mark whose id is in `column`.
  kEnd,     ///< MARKER: an end goes with its start.
};

struct Rule {
  const char* table;
  By by;
  const char* column;  ///< kLaunch: "" if rows have no time.
};

// Ordered so that calls precede rows that refer to them, and MARKER the tables that belong to it.
// An nvprof table and its table of extras (spool::Table) share a rule.
constexpr Rule kRules[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", By::kCall, "start"},
    {"CUPTI_ACTIVITY_KIND_DRIVER", By::kCall, "start"},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", By::kLaunch, "start"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", By::kLaunch, "start"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY2", By::kLaunch, "start"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", By::kLaunch, "start"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", By::kLaunch, "start"},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", By::kLaunch, ""},
    {"CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION", By::kLaunch, ""},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", By::kTime, "start"},
    {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", By::kTime, "start"},
    {"CUPTI_ACTIVITY_KIND_MARKER", By::kEnd, "timestamp"},
    {"CUPTI_ACTIVITY_KIND_MARKER_DATA", By::kMarker, "id"},
    {"OPLENS_PAYLOAD", By::kMarker, "marker"},
    {"OPLENS_CALL", By::kMarker, "marker"},
    {"OPLENS_MEMORY", By::kTime, "timestamp"},
    {"OPLENS_ALLOCATION", By::kTime, "timestamp"},
};
constexpr size_t kRuleCount = std::size(kRules);

constexpr char kEverything[] = "everything";

const Rule* RuleOf(std::string_view table) {
  const Rule* const end = kRules + kRuleCount;
  const Rule* const rule =
      std::find_if(kRules, end, [&](const Rule& r) { return r.table == table; });
  return rule == end ? nullptr : rule;
}

size_t PlaceOf(const Rule& rule) { return static_cast<size_t>(&rule - kRules); }

/// The nvprof table that a table of extras belongs to; "" if none.
std::string ParentOf(std::string_view extra_table) {
  for (const ActivityTable& table : kActivityTables) {
    if (table.kind != nullptr && table.extra_table != nullptr && table.extra_table == extra_table) {
      return NvprofTableName(table.kind);
    }
  }
  return "";
}

/// Fills OPLENS_CYCLE_ROW: cycle (index), place (index of the table among the rules), row.
class Assignment {
 public:
  Assignment(std::vector<Cycle> cycles, NvprofWriter* all)
      : cycles_(std::move(cycles)), all_(*all) {
    all_.Execute(
        "CREATE TABLE OPLENS_CYCLE_ROW(cycle INT, place INT, row INT, "
        "PRIMARY KEY(cycle, place, row)) WITHOUT ROWID; "
        "CREATE TABLE OPLENS_CYCLE_CALL(correlation INTEGER PRIMARY KEY, cycle INT); "
        "CREATE TABLE OPLENS_CYCLE_MARKER(id INTEGER PRIMARY KEY, cycle INT)");
  }

  CycleCounts Run() {
    for (const Rule& rule : kRules) {
      switch (rule.by) {
        case By::kTime:
        case By::kCall:
          ByTime(rule, fmt::format("SELECT rowid, {} FROM {}", rule.column, rule.table));
          if (rule.by == By::kCall) KeepCalls(rule);
          break;
        case By::kLaunch:
          ByLaunch(rule);
          break;
        case By::kEnd:
          ByStart(rule);
          break;
        case By::kMarker:
          TakeOfMarkers(rule);
          break;
      }
    }
    return counts_;
  }

  /// Chooses only ranges around the creation of graph nodes, and what belongs to them, as a single
  /// cycle.
  CycleCounts TakeCaptures() {
    using parse::nvprof::kMarkerEnd;
    using parse::nvprof::kMarkerStart;
    const Rule& markers = *RuleOf(NvprofTableName("MARKER"));
    all_.Execute(fmt::format("CREATE INDEX OPLENS_CYCLE_ENDS ON {}(id)", markers.table));
    const std::vector<NodeMade> nodes = NodesMade(&all_);
    SQLite::Statement keep =
        all_.Prepare("INSERT OR IGNORE INTO OPLENS_CYCLE_MARKER VALUES (?, 0)");
    SQLite::Statement select = all_.Prepare(fmt::format(
        "SELECT s.id, s.objectId, s.timestamp, e.timestamp FROM {0} s LEFT JOIN {0} e ON "
        "e.id = s.id AND e.flags & {1} != 0 WHERE s.flags & {2} != 0",
        markers.table, kMarkerEnd, kMarkerStart));
    while (select.executeStep()) {
      const NodeMade begin = {ThreadOf(select.getColumn(1)), select.getColumn(2).getInt64()};
      const SQLite::Column end = select.getColumn(3);
      const auto node = std::lower_bound(nodes.begin(), nodes.end(), begin);
      if (node == nodes.end() || node->thread_id != begin.thread_id ||
          (!end.isNull() && node->time_ns > end.getInt64())) {
        continue;
      }
      ++counts_.ranges;
      keep.bind(1, select.getColumn(0).getInt64());
      keep.exec();
      keep.reset();
    }
    all_.Execute(
        fmt::format("INSERT INTO OPLENS_CYCLE_ROW SELECT 0, {}, t.rowid FROM {} t JOIN "
                    "OPLENS_CYCLE_MARKER m ON m.id = t.id",
                    PlaceOf(markers), markers.table));
    for (const Rule& rule : kRules) {
      if (rule.by == By::kMarker) TakeOfMarkers(rule);
    }
    counts_.kernels = Count(
        "OPLENS_GRAPH_NODE WHERE originalGraphNodeId = 0 AND nodeType = 0 AND graphNodeId NOT "
        "IN (SELECT graphNodeId FROM OPLENS_GRAPH_NODE WHERE originalGraphNodeId != 0)");
    return counts_;
  }

 private:
  /// The thread in MARKER's objectId, as OPLENS_GRAPH_NODE stores it.
  static int64_t ThreadOf(const SQLite::Column& object) {
    ThreadObject ids{};
    if (object.getBytes() < static_cast<int>(sizeof ids)) return 0;
    std::memcpy(ids.data(), object.getBlob(), sizeof ids);
    return static_cast<int32_t>(ids[1]);
  }

  void TakeOfMarkers(const Rule& rule) {
    all_.Execute(
        fmt::format("INSERT INTO OPLENS_CYCLE_ROW SELECT m.cycle, {}, t.rowid FROM {} t JOIN "
                    "OPLENS_CYCLE_MARKER m ON m.id = t.{}",
                    PlaceOf(rule), rule.table, rule.column));
  }

  /// The index of the cycle at a time; -1: none.
  int64_t CycleAt(int64_t time_ns) const {
    const auto after =
        std::upper_bound(cycles_.begin(), cycles_.end(), time_ns,
                         [](int64_t time, const Cycle& cycle) { return time < cycle.begin_ns; });
    if (after == cycles_.begin()) return -1;
    const auto cycle = std::prev(after);
    return time_ns < cycle->end_ns ? cycle - cycles_.begin() : -1;
  }

  /// `rows` selects rows and times.
  void ByTime(const Rule& rule, const std::string& rows) {
    SQLite::Statement add =
        all_.Prepare(fmt::format("INSERT INTO OPLENS_CYCLE_ROW VALUES (?, {}, ?)", PlaceOf(rule)));
    SQLite::Statement select = all_.Prepare(rows);
    while (select.executeStep()) {
      const int64_t cycle = CycleAt(select.getColumn(1).getInt64());
      if (cycle < 0) continue;
      add.bind(1, cycle);
      add.bind(2, select.getColumn(0).getInt64());
      add.exec();
      add.reset();
    }
  }

  /// Includes calls in no cycle, so that their work is in none either. The first call with an id
  /// counts.
  void KeepCalls(const Rule& rule) {
    SQLite::Statement add = all_.Prepare("INSERT OR IGNORE INTO OPLENS_CYCLE_CALL VALUES (?, ?)");
    SQLite::Statement select =
        all_.Prepare(fmt::format("SELECT correlationId, start FROM {}", rule.table));
    while (select.executeStep()) {
      add.bind(1, select.getColumn(0).getInt64());
      add.bind(2, CycleAt(select.getColumn(1).getInt64()));
      add.exec();
      add.reset();
    }
  }

  void ByLaunch(const Rule& rule) {
    all_.Execute(
        fmt::format("INSERT INTO OPLENS_CYCLE_ROW SELECT c.cycle, {}, t.rowid FROM {} t JOIN "
                    "OPLENS_CYCLE_CALL c ON c.correlation = t.correlationId WHERE c.cycle >= 0",
                    PlaceOf(rule), rule.table));
    if (*rule.column != '\0') {
      ByTime(rule, fmt::format("SELECT rowid, {} FROM {} WHERE correlationId NOT IN (SELECT "
                               "correlation FROM OPLENS_CYCLE_CALL)",
                               rule.column, rule.table));
    }
    if (std::string_view(rule.table) == NvprofTableName("CONCURRENT_KERNEL")) {
      counts_.kernels = Count(fmt::format("OPLENS_CYCLE_ROW WHERE place = {}", PlaceOf(rule)));
    }
  }

  void ByStart(const Rule& rule) {
    using parse::nvprof::kMarkerEnd;
    ByTime(rule, fmt::format("SELECT rowid, {} FROM {} WHERE flags & {} = 0", rule.column,
                             rule.table, kMarkerEnd));
    all_.Execute(
        fmt::format("INSERT OR IGNORE INTO OPLENS_CYCLE_MARKER SELECT t.id, r.cycle FROM "
                    "OPLENS_CYCLE_ROW r JOIN {} t ON t.rowid = r.row WHERE r.place = {}",
                    rule.table, PlaceOf(rule)));
    counts_.ranges =
        Count(fmt::format("{} t JOIN OPLENS_CYCLE_MARKER m ON m.id = t.id WHERE "
                          "t.flags & {} != 0",
                          rule.table, parse::nvprof::kMarkerStart));
    all_.Execute(
        fmt::format("INSERT INTO OPLENS_CYCLE_ROW SELECT m.cycle, {}, t.rowid FROM {} t JOIN "
                    "OPLENS_CYCLE_MARKER m ON m.id = t.id WHERE t.flags & {} != 0",
                    PlaceOf(rule), rule.table, kMarkerEnd));
  }

  int64_t Count(const std::string& of) {
    SQLite::Statement count = all_.Prepare("SELECT count(*) FROM " + of);
    count.executeStep();
    return count.getColumn(0).getInt64();
  }

  const std::vector<Cycle> cycles_;
  NvprofWriter& all_;
  CycleCounts counts_;
};

class CycleCopy {
 public:
  CycleCopy(size_t cycle, NvprofWriter* writer) : cycle_(cycle), writer_(*writer) {}

  void Run() {
    std::vector<std::string> tables;
    SQLite::Statement select = writer_.Prepare(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT IN ('StringTable', "
        "'Version')");
    while (select.executeStep()) tables.push_back(select.getColumn(0).getString());
    select.reset();
    for (const std::string& table : tables) CopyTable(table);
    CopyTexts();
  }

 private:
  void CopyTable(const std::string& table) {
    const std::string parent = ParentOf(table);
    const Rule* const rule = RuleOf(parent.empty() ? table : parent);
    if (rule == nullptr) {
      writer_.Execute(
          fmt::format("INSERT INTO main.{0} SELECT * FROM {1}.{0}", table, kEverything));
      return;
    }
    // CROSS JOIN forces this order.
    writer_.Execute(fmt::format(
        "INSERT INTO main.{0} SELECT t.* FROM {1}.OPLENS_CYCLE_ROW r CROSS JOIN {1}.{0} "
        "t ON t.rowid = r.row WHERE r.cycle = {2} AND r.place = {3}",
        table, kEverything, cycle_, PlaceOf(*rule)));
  }

  /// Copies the texts that rows refer to: columns called `name`, and a few more.
  void CopyTexts() {
    std::string ids =
        "SELECT domain FROM main.CUPTI_ACTIVITY_KIND_MARKER UNION SELECT domain FROM "
        "main.OPLENS_CATEGORY UNION SELECT domain FROM main.OPLENS_SCHEMA";
    SQLite::Statement select = writer_.Prepare(
        "SELECT m.name FROM main.sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = "
        "'table' AND c.name = 'name'");
    while (select.executeStep()) {
      ids += fmt::format(" UNION SELECT name FROM main.{}", select.getColumn(0).getString());
    }
    select.reset();
    writer_.Execute(
        fmt::format("INSERT OR IGNORE INTO main.StringTable SELECT _id_, value FROM "
                    "{}.StringTable WHERE _id_ IN ({})",
                    kEverything, ids));
  }

  const size_t cycle_;
  NvprofWriter& writer_;
};

}  // namespace

std::string CycleOutput(const std::string& output, int64_t number) {
  const std::filesystem::path path = output;
  const std::string name =
      fmt::format("{}.{}{}", path.stem().string(), number, path.extension().string());
  return (path.parent_path() / name).string();
}

CycleCounts AssignToCycles(const std::vector<Cycle>& cycles, NvprofWriter* all) {
  return Assignment(cycles, all).Run();
}

void WriteCycle(const std::filesystem::path& all, const std::vector<Cycle>& cycles, size_t index,
                const std::filesystem::path& part, const std::function<void(double)>& progress) {
  const Cycle& cycle = cycles[index];
  NvprofWriter writer(part, NvprofWriter::Pages::kSmall);  // There may be many databases.
  writer.Attach(all, kEverything);
  CycleCopy(index, &writer).Run();
  writer.AddMeta("cycle", cycle.number);
  writer.AddMeta("last_cycle", cycle.last_number);
  writer.AddMeta("cycle_complete", cycle.complete ? 1 : 0);
  writer.Detach(kEverything);
  writer.Finish(progress);
}

CycleCounts AssignToCaptures(NvprofWriter* all) { return Assignment({}, all).TakeCaptures(); }

void WriteCaptures(const std::filesystem::path& all, const std::filesystem::path& part,
                   const std::function<void(double)>& progress) {
  NvprofWriter writer(part, NvprofWriter::Pages::kSmall);
  writer.Attach(all, kEverything);
  CycleCopy(0, &writer).Run();
  writer.AddMeta("reference", 1);
  writer.Detach(kEverything);
  writer.Finish(progress);
}

}  // namespace oplens::record
