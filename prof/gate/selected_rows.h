#ifndef OPLENS_PROF_GATE_SELECTED_ROWS_H_
#define OPLENS_PROF_GATE_SELECTED_ROWS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/gate/expression.h"

namespace oplens::prof {

/// The rows of a view that an expression is of, and its figure.
///
/// A row matches by its keys in either run, names also as they are printed. Rows that stand for
/// others (Field::whole) count where no other row matches. Where the diff has a row for each figure
/// of a view in the place of a figure, the row of that name is meant.
class SelectedRows {
 public:
  /// All must outlive this object.
  SelectedRows(const GateExpression& expression, const DiffTable& table, const Diff& diff)
      : expression_(expression), table_(table), diff_(diff) {}

  /// Answers what is missing; "" if nothing is. To be called once, before the others.
  std::string Select();

  const std::vector<const DiffRow*>& rows() const { return rows_; }
  size_t figure() const { return figure_; }
  /// Places of the expression's keys in the table.
  const std::vector<size_t>& key_places() const { return key_places_; }
  /// "layer=decoder.0 op=mm": the keys that are known, all or those of the expression.
  std::string NameOf(const DiffRow& row, bool all_keys) const;

 private:
  std::string PlaceKeys();
  bool Matches(const DiffRow& row) const;
  bool IsWhole(const DiffRow& row) const;
  void DropWholes();
  bool SelectByName();
  std::string NothingMatches() const;

  const GateExpression& expression_;
  const DiffTable& table_;
  const Diff& diff_;
  std::vector<size_t> key_places_;
  size_t figure_ = 0;
  std::vector<const DiffRow*> rows_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_SELECTED_ROWS_H_
