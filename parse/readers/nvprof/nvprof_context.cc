#include "parse/readers/nvprof/nvprof_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {
namespace {

/// Takes the first `count` numbers of an object's id; bytes beyond are left over from other ids.
bool TakeObject(const Cell& cell, size_t count, uint32_t* numbers) {
  const size_t size = count * sizeof(uint32_t);
  if (cell.type() != Cell::Type::kBlob || cell.bytes().size() < size) return false;
  std::memcpy(numbers, cell.bytes().data(), size);
  return true;
}

}  // namespace

bool IsOfThread(const Cell& object_kind) {
  return object_kind.is_int() && object_kind.integer() == nvprof::kObjectThread;
}

bool ThreadObject::Take(const Cell& cell) {
  uint32_t numbers[2] = {};
  if (!TakeObject(cell, 2, numbers)) return false;
  process_id = numbers[0];
  thread_id = numbers[1];
  return true;
}

void ReadNvprofNames(NvprofContext* context) {
  constexpr std::string_view kColumns[] = {"objectKind", "objectId", "name"};
  Trace& trace = context->trace;
  std::map<int64_t, StringId> processes;
  for (const Thread& thread : trace.threads) processes[thread.process_id] = 0;
  std::map<int64_t, StringId> threads;  // By NvprofContext::ThreadKey.
  context->ForEachWholeRow(nvprof::kNameTable, kColumns, [&](int64_t row_id, const Cell* row) {
    const int64_t kind = row[0].is_int() ? row[0].integer() : 0;
    if (row[0].is_int() && kind != nvprof::kObjectProcess && kind != nvprof::kObjectThread) return;
    const bool thread = kind == nvprof::kObjectThread;
    uint32_t object[2] = {};
    const StringId name = context->TextOf(row[2]);
    if (!row[0].is_int() || name == 0 || !TakeObject(row[1], thread ? 2 : 1, object)) {
      context->CountBadRow(Reason::kBadOtherRow, nvprof::kNameTable, row_id);
      return;
    }
    // The last name counts: a process may become another program.
    if (thread) {
      threads[NvprofContext::ThreadKey(object[0], object[1])] = name;
    } else {
      const std::string_view command = trace.strings.View(name);
      processes[object[0]] = trace.strings.Intern(command.substr(0, command.find(' ')));
    }
  });
  for (const auto& [id, name] : processes) trace.processes.push_back({id, name});
  for (Thread& thread : trace.threads) {
    const auto name = threads.find(NvprofContext::ThreadKey(thread.process_id, thread.thread_id));
    if (name != threads.end()) thread.name = name->second;
  }
}

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
    trace.AddThread({(key >> 32) & kLow32Bits, key & kLow32Bits, 0});
  }
  return last_thread_;
}

}  // namespace oplens::parse
