#ifndef OPLENS_PROF_VIEWS_COMMON_GROUPED_PARTIAL_H_
#define OPLENS_PROF_VIEWS_COMMON_GROUPED_PARTIAL_H_

// A view of groups is a key, a struct of sums, columns, and an algorithm:
//
//     Run, kernels -> Begin(), Add(), End(): find sums by key -> Take(key, sums) -> rows_, a map
//     rows_ of other partials -> Merge, rows_ as bytes -> Save, Load: by the types of the members
//     rows_ -> EmitGroup(): one or more rows per key -> columns -> Sink
//
// Key and sums are structs, whose members are merged and saved by their types (base/sums.h); the
// rank of a key is a RankName. A row is what the columns' getters take: GroupRow, or the view's own
// type with `key` and `sums`. A column is defined in one place: its Field with its getter, or a
// FigureColumn, KeyColumn or ByColumn, which derives cell and fold from a member's type.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/checked.h"
#include "base/ratio.h"
#include "base/sums.h"
#include "prof/table/columns.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/view.h"
#include "prof/views/common/view_notes.h"

namespace oplens::prof {

template <typename Key, typename Sums>
struct GroupRow {
  const Key& key;
  const Sums& sums;
};

/// What a histogram shows besides its quantiles.
enum class Extreme : uint8_t { kLeast, kLargest };

/// The cell of a member, by its type. `what` of a histogram: a percentage, or an Extreme.
inline Cell CellOf(int64_t value) { return Integer(value); }
inline Cell CellOf(const std::optional<int64_t>& value) { return Integer(value); }
inline Cell CellOf(const Checked& value) { return Integer(value.Value()); }
inline Cell CellOf(std::string_view value) { return Text(value); }
inline Cell CellOf(const RankName& rank) { return Text(rank.text); }
template <SavedAs saved_as>
Cell CellOf(const BasicSum<saved_as>& sum) {
  return Integer(int64_t{sum});
}
template <typename T>
Cell CellOf(const Max<T>& value) {
  return CellOf(value.value);
}
inline Cell CellOf(const Histogram& values, int percent) {
  return Integer(values.Quantile(percent));
}
inline Cell CellOf(const Histogram& values, Extreme what) {
  return Integer(what == Extreme::kLeast ? values.least() : values.largest());
}

/// How the cells of a member fold into one, by its type.
template <typename S, typename T>
constexpr Fold FoldOf(T S::*) {
  return Fold::kSum;
}
template <typename S, typename T>
constexpr Fold FoldOf(Max<T> S::*) {
  return Fold::kMax;
}
template <typename S>
constexpr Fold FoldOf(Histogram S::*, int) {
  return Fold::kQuantiles;
}
template <typename S>
constexpr Fold FoldOf(Histogram S::*, Extreme what) {
  return what == Extreme::kLeast ? Fold::kMin : Fold::kMax;
}

/// A column of integers: a member of a row's sums. `what` selects the figure of a histogram.
template <auto member, auto... what>
struct FigureColumn {
  std::string_view key;
  std::string_view header;
  std::string_view unit;
  int width;
  std::string_view help;

  template <typename Row>
  constexpr operator Column<Row>() const {  // NOLINT(google-explicit-constructor)
    return {{key, header, unit, FieldType::kInteger, width, help, FoldOf(member, what...)},
            [](const Row& row) { return CellOf(row.sums.*member, what...); }};
  }
};

/// A column of a member of a row's key.
template <auto member>
struct KeyColumn {
  Field field;
  bool by = false;

  template <typename Row>
  constexpr operator Column<Row>() const {  // NOLINT(google-explicit-constructor)
    return {field, [](const Row& row) { return CellOf(row.key.*member); }, Need::kNothing, by};
  }
};

/// A column of a text of a row's sums.
template <auto member>
struct SumsTextColumn {
  std::string_view key;
  std::string_view header;
  int width;
  std::string_view help;
  FieldType type = FieldType::kText;

  template <typename Row>
  constexpr operator Column<Row>() const {  // NOLINT(google-explicit-constructor)
    return {{key, header, "", type, width, help},
            [](const Row& row) { return Text(row.sums.*member); }};
  }
};

/// A KeyColumn that is present only if --by names it.
template <auto member>
constexpr KeyColumn<member> ByColumn(const Field& field) {
  return {field, true};
}

/// A key column: an element of a row's array `texts`. `by`: present only if --by names it.
template <size_t place, bool by = false, FieldType type = FieldType::kText>
struct TextColumn {
  std::string_view key;
  std::string_view header;
  int width;
  std::string_view help;

  template <typename Row>
  constexpr operator Column<Row>() const {  // NOLINT(google-explicit-constructor)
    return {{key, header, "", type, width, help, Fold::kKey},
            [](const Row& row) { return Text(row.texts[place]); },
            Need::kNothing,
            by};
  }
};

/// times x (part / whole); unknown if whole is 0. RatioOf: of two sums of a row.
Cell RatioCell(int64_t part, int64_t whole, int times = 1);
inline Cell PercentCell(int64_t part, int64_t whole) { return RatioCell(part, whole, 100); }
template <auto part, auto whole, int times = 1, typename Row>
Cell RatioOf(const Row& row) {
  return RatioCell(row.sums.*part, row.sums.*whole, times);
}

/// 100 x part / whole, rounded once.
template <auto part, auto whole, typename Row>
Cell PercentOf(const Row& row) {
  return Decimal(Percent<int64_t>(row.sums.*part, row.sums.*whole));
}
/// A sum over the values that are known; unknown if none is.
template <auto count, auto sum, typename Row>
Cell KnownOf(const Row& row) {
  return row.sums.*count > 0 ? CellOf(row.sums.*sum) : Cell{};
}

class ByWords {
 public:
  /// Throws UsageError for a word that is not in `known`.
  ByWords(std::string_view view, const ViewOptions& options,
          std::span<const std::string_view> known);

  bool Has(std::string_view word) const;
  /// The columns without those that --by could name and does not.
  template <typename Row>
  Columns<Row> Of(std::span<const Column<Row>> all) const {
    Columns<Row> columns;
    for (const Column<Row>& column : all) {
      if (!column.by || Has(column.key)) columns.push_back(&column);
    }
    return columns;
  }
  /// As Of(), with the --by columns in the order of the words. These must be adjacent in `all`.
  template <typename Row>
  Columns<Row> InOrder(std::span<const Column<Row>> all) const {
    Columns<Row> columns = Of(all);
    const auto is_by = [](const Column<Row>* column) { return column->by; };
    const auto begin = std::find_if(columns.begin(), columns.end(), is_by);
    std::sort(begin, std::find_if_not(begin, columns.end(), is_by),
              [&](const Column<Row>* a, const Column<Row>* b) {
                return std::find(words_.begin(), words_.end(), a->key) <
                       std::find(words_.begin(), words_.end(), b->key);
              });
    return columns;
  }
  /// Indices of the words in `known`, in the words' order, without duplicates.
  std::vector<size_t> PlacesIn(std::span<const std::string_view> known) const;

 private:
  std::vector<std::string> words_;
};

/// A partial of the members that `Own` lists in kMembers (base/sums.h): it merges, saves and loads
/// them by their types. The last one is its notes. `columns`: of its rows.
template <typename Own, const auto& columns>
class MemberPartial : public Partial {
 public:
  void Merge(const Partial& other) override {
    MergeMembers(static_cast<Own*>(this), dynamic_cast<const Own&>(other));
  }
  std::vector<Field> Fields() const override { return {std::begin(columns), std::end(columns)}; }
  void Save(ByteWriter* bytes) const override { bytes->Values(static_cast<const Own*>(this)); }
  void Load(ByteReader* bytes) override { bytes->Values(static_cast<Own*>(this)); }
};

/// A partial of sums by key. `NotesOfView`: its notes about inputs without data for it.
template <typename Key, typename Sums, typename Row = GroupRow<Key, Sums>,
          typename NotesOfView = ViewNotes>
class GroupedPartial : public Partial {
 public:
  void Begin(const Run* run) override { notes_.Begin(run); }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const GroupedPartial&>(other);
    MergeInto(&rows_, more.rows_);
    MergeInto(&notes_, more.notes_);
  }
  std::vector<Field> Fields() const override { return FieldsOf(columns_); }
  void Emit(Sink* sink) const override {
    TableOf<Row> table(columns_, sink);
    for (const auto& [key, sums] : rows_) EmitGroup(key, sums, &table);
  }
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }
  void Save(ByteWriter* bytes) const override { bytes->Values(&rows_, &notes_); }
  void Load(ByteReader* bytes) override { bytes->Values(&rows_, &notes_); }

 protected:
  /// `view`: a literal. `words`: the --by words that it takes. `columns` must outlive this object.
  GroupedPartial(std::string_view view, const ViewOptions& options,
                 std::span<const std::string_view> words, std::span<const Column<Row>> columns)
      : notes_(view), by_(view, options, words), columns_(by_.Of(columns)) {}

  const Columns<Row>& columns() const { return columns_; }
  bool By(std::string_view word) const { return by_.Has(word); }

  /// Emits the rows of a key: one, unless overridden.
  virtual void EmitGroup(const Key& key, const Sums& sums, TableOf<Row>* table) const {
    if constexpr (std::is_same_v<Row, GroupRow<Key, Sums>>) table->Add({key, sums});
  }

  void Take(const Key& key, const Sums& sums) { MergeInto(&rows_[key], sums); }
  void Take(const Key& key, Sums&& sums) {
    const auto [row, added] = rows_.try_emplace(key, std::move(sums));
    if (!added) MergeInto(&row->second, sums);  // Which were not moved then.
  }

  std::map<Key, Sums> rows_;
  NotesOfView notes_;

 private:
  ByWords by_;
  Columns<Row> columns_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_GROUPED_PARTIAL_H_
