#include "record/activity_rows.h"

#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace oplens::record {
namespace {

int64_t ValueAt(const unsigned char* values, size_t i) {
  int64_t value = 0;
  std::memcpy(&value, values + i * sizeof value, sizeof value);
  return value;
}

/// nvprof has threads as signed 32-bit numbers.
int64_t SignedThread(int64_t thread_id) {
  constexpr int64_t kAll = 0xffffffff;
  return thread_id >= 0 && thread_id <= kAll
             ? static_cast<int32_t>(static_cast<uint32_t>(thread_id))
             : thread_id;
}

}  // namespace

ActivityRows::ActivityRows(NvprofWriter* writer) : writer_(*writer) {
  for (const ActivityTable& source : kActivityTables) {
    Table& table = tables_[static_cast<size_t>(source.table)];
    if (source.kind != nullptr) AddNvprofColumns(source, &table);
    if (source.extra_table != nullptr) AddExtraColumns(source, &table);
  }
}

void ActivityRows::AddNvprofColumns(const ActivityTable& source, Table* table) {
  const TableSpec& spec = NvprofTable(source.kind);
  const bool calls =
      source.table == spool::Table::kRuntime || source.table == spool::Table::kDriver;
  std::string names;
  int parameter = 0;
  for (const ColumnSpec& column : spec.columns) {
    Form form = column.blob ? Form::kBlob : Form::kNumber;
    if (column.name == "name") form = Form::kText;
    if (calls && column.name == "threadId") form = Form::kThread;
    table->columns.push_back({form, false, ++parameter});
    names += (names.empty() ? "" : ", ") + column.name;
  }
  table->add.emplace(writer_.PrepareInsert(spec.name, names));
}

void ActivityRows::AddExtraColumns(const ActivityTable& source, Table* table) {
  table->numbered = source.kind != nullptr;
  std::string names = table->numbered ? "row" : "";
  int parameter = table->numbered ? 1 : 0;
  std::istringstream tokens(source.extra_columns);
  for (std::string name; tokens >> name;) {
    const bool text = name.back() == '\'';
    if (text) name.pop_back();
    table->columns.push_back({text ? Form::kText : Form::kNumber, true, ++parameter});
    names += (names.empty() ? "" : ", ") + name;
  }
  table->add_extra.emplace(writer_.PrepareInsert(source.extra_table, names));
}

void ActivityRows::BindBytes(SQLite::Statement* statement, const Column& column, int64_t length,
                             std::string_view bytes) {
  if (column.form == Form::kText) {
    statement->bind(column.parameter, length < 0 ? int64_t{0} : writer_.Intern(bytes));
    return;
  }
  bytes = bytes.substr(0, kMostBytes);
  // A null pointer would be a NULL.
  statement->bindNoCopy(column.parameter,
                        static_cast<const void*>(bytes.empty() ? "" : bytes.data()),
                        static_cast<int>(bytes.size()));
}

bool ActivityRows::Bind(Table* table, const unsigned char* values, ByteCursor bytes, bool* extras) {
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const Column& column = table->columns[i];
    SQLite::Statement& statement = column.extra ? *table->add_extra : *table->add;
    const int64_t value = ValueAt(values, i);
    if (column.form == Form::kText || column.form == Form::kBlob) {
      std::string_view text;
      if (value > 0 && !bytes.TakeBytes(static_cast<uint64_t>(value), &text)) return false;
      BindBytes(&statement, column, value, text);
      *extras |= column.extra && value >= 0;
    } else if (value == kAbsent) {
      if (column.extra) {
        statement.bind(column.parameter);
      } else {
        statement.bind(column.parameter, int64_t{0});  // nvprof's columns are never NULL.
      }
    } else {
      statement.bind(column.parameter, column.form == Form::kThread ? SignedThread(value) : value);
      *extras |= column.extra;
    }
  }
  return true;
}

bool ActivityRows::Add(uint16_t number, const unsigned char* body, size_t size) {
  if (number >= tables_.size()) return false;
  Table& table = tables_[number];
  spool::RowPart row;
  const size_t values_bytes = table.columns.size() * sizeof(int64_t);
  if (size < sizeof row + values_bytes) return false;
  std::memcpy(&row, body, sizeof row);
  if (row.values != table.columns.size()) return false;
  const unsigned char* const values = body + sizeof row;
  bool extras = false;
  const ByteCursor bytes(values + values_bytes, size - sizeof row - values_bytes);
  if (!Bind(&table, values, bytes, &extras)) return false;
  if (table.add) {
    table.add->exec();
    table.add->reset();
  }
  if (table.add_extra && (extras || !table.add)) {
    if (table.numbered) table.add_extra->bind(1, writer_.last_row());
    table.add_extra->exec();
    table.add_extra->reset();
  }
  ++counts_[number];
  return true;
}

int64_t ActivityRows::Sum(std::initializer_list<spool::Table> tables) const {
  int64_t sum = 0;
  for (const spool::Table table : tables) sum += CountOf(table);
  return sum;
}

}  // namespace oplens::record
