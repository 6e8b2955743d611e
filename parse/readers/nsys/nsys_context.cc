#include "parse/readers/nsys/nsys_context.h"

#include <fmt/format.h>

#include "base/parse_number.h"

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

bool NsysContext::HasAll(std::string_view table, std::span<const std::string_view> columns,
                         Diagnostics* sink) {
  const std::string_view found = Find(table);
  if (found.empty()) return false;
  bool all = true;
  for (const std::string_view column : columns) {
    if (database.HasColumn(found, column)) continue;
    all = false;
    sink->Note(fmt::format("{}: table {} has no column {}; its rows are left out", database.path(),
                           found, column));
  }
  return all;
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
  return TextOfId(cell, &last_string_);
}

StringId NsysContext::TextOfId(const Cell& cell, IdPages::Last* last) const {
  if (!cell.is_int()) return 0;
  const uint32_t found = string_ids_.Find(cell.integer(), last);
  return found == IdPages::kNone ? 0 : found;
}

ThreadIndex NsysContext::ThreadOf(int64_t global_tid) {
  const ThreadIndex thread = threads_.Of(global_tid);
  if (thread == trace.threads.size()) {
    const int64_t process_id = nsys::ProcessIdOf(nsys::ProcessKey(global_tid));
    trace.AddThread({process_id, nsys::ThreadIdOf(global_tid), 0});
    ProcessOf(global_tid);
  }
  return thread;
}

bool NsysContext::IsForeign(const Cell& global_id) const {
  return only_ && global_id.is_int() && nsys::ProcessKey(global_id.integer()) != *only_;
}

bool NsysContext::KnowsProcess(int64_t global_id) const {
  return processes_.Find(nsys::ProcessKey(global_id)) != IdNumbers::kNone;
}

}  // namespace oplens::parse
