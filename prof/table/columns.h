#ifndef OPLENS_PROF_TABLE_COLUMNS_H_
#define OPLENS_PROF_TABLE_COLUMNS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/need.h"
#include "prof/table/field.h"
#include "prof/table/sink.h"

namespace oplens::prof {

/// A field, and how to get it of an item: a row of a table is one item.
template <typename Item>
struct Column : Field {
  Cell (*get)(const Item& item);
  Need need = Need::kNothing;  ///< What a profile must tell of a kernel that has a value here.
  bool by = false;             ///< Of a view: it has it only where --by names its key.
};

template <typename Item>
using Columns = std::vector<const Column<Item>*>;

template <typename Item>
std::vector<Field> FieldsOf(std::span<const Column<Item>> columns) {
  return {columns.begin(), columns.end()};
}
template <typename Item>
std::vector<Field> FieldsOf(const Columns<Item>& columns) {
  std::vector<Field> fields;
  for (const Column<Item>* column : columns) fields.push_back(*column);
  return fields;
}

/// The columns of `all` at `places`, in the order of `places`.
template <typename Item>
Columns<Item> ColumnsAt(const std::vector<size_t>& places, std::span<const Column<Item>> all) {
  Columns<Item> columns;
  for (const size_t place : places) columns.push_back(&all[place]);
  return columns;
}

/// SelectFields out of them.
template <typename Item>
Columns<Item> SelectColumns(std::string_view list, std::span<const Column<Item>> all) {
  return ColumnsAt(SelectFields(list, FieldsOf(all)), all);
}

/// A table of items.
template <typename Item>
class TableOf {
 public:
  /// `sink`: has begun with the fields of `columns`. It must outlive this object.
  TableOf(Columns<Item> columns, Sink* sink)
      : columns_(std::move(columns)), cells_(columns_.size()), sink_(sink) {}
  TableOf(std::span<const Column<Item>> columns, Sink* sink) : TableOf(PointersTo(columns), sink) {}

  void Add(const Item& item) {
    for (size_t i = 0; i < columns_.size(); ++i) cells_[i] = columns_[i]->get(item);
    sink_->Row(cells_);
  }

 private:
  static Columns<Item> PointersTo(std::span<const Column<Item>> columns) {
    Columns<Item> pointers;
    for (const Column<Item>& column : columns) pointers.push_back(&column);
    return pointers;
  }

  Columns<Item> columns_;
  std::vector<Cell> cells_;
  Sink* sink_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_COLUMNS_H_
