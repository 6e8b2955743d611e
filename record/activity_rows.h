#ifndef OPLENS_RECORD_ACTIVITY_ROWS_H_
#define OPLENS_RECORD_ACTIVITY_ROWS_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/nvprof_writer.h"
#include "record/spool_record.h"

namespace oplens::record {

/// Writes the rows of the stream of activity into nvprof's tables and ours.
class ActivityRows {
 public:
  explicit ActivityRows(NvprofWriter* writer);

  /// Takes a RecordKind::kRow. False where it has another number of values than its table, or no
  /// such table is known, or its bytes do not fit: nothing is written then.
  bool Add(uint16_t table, const unsigned char* body, size_t size);

  int64_t CountOf(spool::Table table) const { return counts_[static_cast<size_t>(table)]; }
  /// Rows of all tables together.
  int64_t Sum(std::initializer_list<spool::Table> tables) const;

 private:
  enum class Form : uint8_t { kNumber, kThread, kText, kBlob };
  struct Column {
    Form form = Form::kNumber;
    bool extra = false;  // Of our own table: an absent value is NULL.
    int parameter = 0;
  };
  struct Table {
    std::vector<Column> columns;
    std::optional<SQLite::Statement> add;        // nvprof's.
    std::optional<SQLite::Statement> add_extra;  // Ours.
    bool numbered = false;                       // Ours tells the row of nvprof's.
  };

  void AddNvprofColumns(const ActivityTable& source, Table* table);
  void AddExtraColumns(const ActivityTable& source, Table* table);
  /// Binds all columns; false when the bytes do not fit. Sets *extras where one of ours is there.
  bool Bind(Table* table, const unsigned char* values, ByteCursor bytes, bool* extras);
  void BindBytes(SQLite::Statement* statement, const Column& column, int64_t length,
                 std::string_view bytes);

  NvprofWriter& writer_;
  std::array<Table, kActivityTableCount> tables_;
  std::array<int64_t, kActivityTableCount> counts_{};
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_ACTIVITY_ROWS_H_
