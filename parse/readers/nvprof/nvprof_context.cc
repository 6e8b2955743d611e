#include "parse/readers/nvprof/nvprof_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {

std::vector<bool> NvprofContext::MissingColumns(std::string_view table,
                                                std::span<const std::string_view> columns) {
  std::vector<bool> missing;
  for (const std::string_view column : columns) {
    missing.push_back(database.HasTable(table) && !database.HasColumn(table, column));
    if (missing.back()) {
      diagnostics.Note(
          fmt::format("{}: table {} has no column {}", database.path(), table, column));
    }
  }
  return missing;
}

bool NvprofContext::HasAll(std::string_view table, std::span<const std::string_view> columns) {
  const std::vector<bool> missing = MissingColumns(table, columns);
  return std::find(missing.begin(), missing.end(), true) == missing.end();
}

void NvprofContext::CountBadRow(Reason reason, std::string_view table, int64_t row_id) {
  diagnostics.Count(reason, diagnostics.WantsExample(reason)
                                ? fmt::format("table {}, row {}", table, row_id)
                                : std::string());
}

void NvprofContext::ReadStrings() {
  constexpr std::string_view kColumns[] = {"_id_", "value"};
  ForEachWholeRow(nvprof::kStringTable, kColumns, [&](int64_t row_id, const Cell* row) {
    if (!row[0].is_int() || row[1].type() != Cell::Type::kText) {
      CountBadRow(Reason::kBadOtherRow, nvprof::kStringTable, row_id);
      return;
    }
    const std::string_view text = row[1].bytes();
    if (row[0].integer() == 0 && text == nvprof::kNullString) return;
    string_ids_.FindOrInsert(row[0].integer(), trace.strings.Intern(text));
  });
}

ThreadIndex NvprofContext::ThreadOf(int64_t key) {
  if (key == last_thread_key_ && !trace.threads.empty()) return last_thread_;
  const auto next = static_cast<ThreadIndex>(trace.threads.size());
  last_thread_key_ = key;
  last_thread_ = threads_.FindOrInsert(key, next);
  if (last_thread_ == next) {
    trace.threads.push_back({(key >> 32) & kLow32Bits, key & kLow32Bits, 0});
  }
  return last_thread_;
}

}  // namespace oplens::parse
