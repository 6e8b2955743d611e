#ifndef OPLENS_PROF_TABLE_ARROW_TABLE_H_
#define OPLENS_PROF_TABLE_ARROW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/table/arrow_column.h"
#include "prof/table/sink.h"

// The Arrow C data interface, whose layout is its ABI: other libraries take tables by it.
extern "C" {
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;
}

namespace oplens::prof {

/// A table in Arrow's memory format: one array per field, in order.
///
/// Integers are int64, decimals double, texts dictionaries of UTF-8, lists lists of these, extents
/// three int64. Unknown is null. A field's metadata has "unit" ("ns"; "": none), "title" and
/// "help". A list of which the record holds only the beginning has a field KEY + "Cut" after all
/// others: how many items are missing.
class ArrowTable {
 public:
  explicit ArrowTable(std::string name, const std::vector<Field>& fields);

  void Add(std::span<const Cell> cells);
  /// After the last row.
  void Finish();

  const std::string& name() const { return name_; }
  size_t rows() const { return rows_; }
  size_t columns() const { return fields_.size(); }
  const std::string& KeyOf(size_t column) const { return fields_[column].key; }
  const std::string& UnitOf(size_t column) const { return fields_[column].unit; }
  const std::string& TitleOf(size_t column) const { return fields_[column].title; }
  const std::string& HelpOf(size_t column) const { return fields_[column].help; }
  const ArrowColumn& Column(size_t column) const { return *fields_[column].column; }
  /// Memory of the arrays.
  size_t bytes() const;

 private:
  struct Own {
    std::string key;
    std::string unit;
    std::string title;
    std::string help;
    std::unique_ptr<ArrowColumn> column;
    std::unique_ptr<ArrowColumn> cut;  // Null unless a list was cut.
  };

  std::string name_;
  size_t rows_ = 0;
  std::vector<Own> fields_;
};

// Each fills `*out`, which keeps the table alive until it is released. A finished table is never
// changed again, so that no bytes are copied.

void ExportSchema(const ArrowTable& table, ArrowSchema* out);
void ExportArray(std::shared_ptr<const ArrowTable> table, ArrowArray* out);
/// One batch of all rows.
void ExportStream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream* out);

/// Keeps the tables of views in Arrow's format, in the order of their plans.
class ArrowTables : public Destination {
 public:
  std::unique_ptr<Sink> NewTable() override;
  void Commit() override {}
  size_t size() const { return tables_.size(); }
  std::shared_ptr<const ArrowTable> At(size_t plan) const { return tables_.at(plan); }

 private:
  std::deque<std::shared_ptr<ArrowTable>> tables_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ARROW_TABLE_H_
