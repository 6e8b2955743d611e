#include "parse/readers/nsys/nsys_context.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "parse/readers/nsys/nsys_schema.h"

namespace oplens::parse {
namespace {

/// Returns n for "<table>_V<n>"; 0 for another name.
uint32_t VersionOf(std::string_view name, std::string_view table) {
  if (!name.starts_with(table)) return 0;
  name.remove_prefix(table.size());
  if (!name.starts_with("_V")) return 0;
  uint32_t version = 0;
  ParseNumber(name.substr(2), &version);
  return version;
}

}  // namespace

std::string_view NsysContext::Find(std::string_view table) const {
  std::string_view found;
  uint32_t newest = 0;
  for (const std::string& name : database.table_names()) {
    if (name == table) return name;
    const uint32_t version = VersionOf(name, table);
    if (version <= newest) continue;
    newest = version;
    found = name;
  }
  return found;
}

bool NsysContext::HasColumn(std::string_view table, std::string_view column) {
  return database.HasColumn(Find(table), column);
}

bool NsysContext::HasAll(std::string_view table, std::span<const std::string_view> columns) {
  const std::string_view found = Find(table);
  if (found.empty()) return false;
  bool all = true;
  for (const std::string_view column : columns) {
    if (database.HasColumn(found, column)) continue;
    all = false;
    diagnostics.Note(fmt::format("{}: table {} has no column {}; its rows are left out",
                                 database.path(), found, column));
  }
  return all;
}

void NsysContext::CountBadRow(Reason reason, std::string_view table, int64_t row_id) {
  diagnostics.Count(reason, diagnostics.KeepsExample(reason)
                                ? fmt::format("table {}, row {}", table, row_id)
                                : std::string());
}

void NsysContext::ReadStrings() {
  constexpr std::string_view kColumns[] = {"id", "value"};
  ForEachWholeRow(nsys::kStringTable, kColumns, 2, [&](int64_t row_id, const Cell* row) {
    if (!row[0].is_int() || row[1].type() != Cell::Type::kText) {
      CountBadRow(Reason::kBadOtherRow, nsys::kStringTable, row_id);
      return;
    }
    string_ids_.FindOrInsert(row[0].integer(), trace.strings.Intern(row[1].bytes()));
  });
}

StringId NsysContext::TextOf(const Cell& cell) {
  if (cell.type() == Cell::Type::kText) return trace.strings.Intern(cell.bytes());
  if (!cell.is_int()) return 0;
  const uint32_t found = string_ids_.Find(cell.integer());
  return found == IdMap::kNone ? 0 : found;
}

ThreadIndex NsysContext::ThreadOf(int64_t global_tid) {
  if (!global_tids_.empty() && global_tids_[last_thread_] == global_tid) return last_thread_;
  const auto next = static_cast<ThreadIndex>(global_tids_.size());
  last_thread_ = threads_.FindOrInsert(global_tid, next);
  if (last_thread_ == next) {
    global_tids_.push_back(global_tid);
    const int64_t process_id = nsys::ProcessIdOf(nsys::ProcessKey(global_tid));
    trace.threads.push_back({process_id, nsys::ThreadIdOf(global_tid), 0});
    ProcessOf(global_tid);
  }
  return last_thread_;
}

uint32_t NsysContext::ProcessOf(int64_t global_id) {
  const int64_t key = nsys::ProcessKey(global_id);
  if (last_process_ > 0 && process_keys_[last_process_ - 1] == key) return last_process_;
  const auto next = static_cast<uint32_t>(process_keys_.size()) + 1;
  last_process_ = processes_.FindOrInsert(key, next);
  if (last_process_ == next) process_keys_.push_back(key);
  return last_process_;
}

bool NsysContext::IsForeign(const Cell& global_id) const {
  return only_ && global_id.is_int() && nsys::ProcessKey(global_id.integer()) != *only_;
}

bool NsysContext::KnowsProcess(int64_t global_id) const {
  return processes_.Find(nsys::ProcessKey(global_id)) != IdMap::kNone;
}

}  // namespace oplens::parse
