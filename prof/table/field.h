#ifndef OPLENS_PROF_TABLE_FIELD_H_
#define OPLENS_PROF_TABLE_FIELD_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/cell.h"

namespace oplens::prof {

enum class FieldType : uint8_t {
  kInteger,  ///< Right-justified.
  kDecimal,  ///< Right-justified, three decimals.
  kText,     ///< Left-justified.
  kName,     ///< Text with blanks written as '_' except in JSON, as in PyProf.
  kIntegerList,
  kTextList,
  kFileList,  ///< Paths; columnated output shows only the last file name.
  kExtent,    ///< x,y,z
};

/// How a field is aggregated over rows.
enum class Fold : uint8_t {
  kNone,  ///< Not computable from the rows: a ratio, a rate.
  kKey,   ///< Identifies the row; rows with equal keys are merged.
  kSum,
  kMin,
  kMax,
  kMean,       ///< A sum over a count, kept by the view.
  kQuantiles,  ///< From a histogram kept by the view (error: prof/views/common/histogram.h).
};

/// A field that is a quotient of other fields of its row, all with Fold::kSum: the sum of `of`
/// times `times` / `over`. Merged rows get the quotient of their sums.
struct FieldRatio {
  std::string_view of = {};    ///< Keys of fields, joined by '+'.
  std::string_view over = {};  ///< Key of a field; "": not a ratio.
  double times = 1;

  bool empty() const { return over.empty(); }
};

/// A column of a table, independent of its items.
struct Field {
  std::string_view key;  ///< Argument of -c, and JSON key.
  std::string_view header;
  std::string_view unit;  ///< "" for names, ids and plain counts.
  FieldType type;
  int width;              ///< In columnated output; kShared: an equal part of the rest.
  std::string_view help;  ///< One line for -h, with the formula.
  Fold fold = Fold::kNone;
  std::string_view separator = {};  ///< Between list items.
  /// Word for an unknown value, if it must not be the format's own.
  std::string_view unknown = {};

  /// For a key: the value of rows that stand for others ("mean", "(all)"); not part of sums.
  std::string_view whole = {};
  FieldRatio ratio = {};

  /// Not in 'all': must be selected by name.
  bool on_request = false;
  /// If a line is too narrow, columns with the largest rank go first; set by RankFields.
  int rank = 0;

  static constexpr int kShared = 0;
};

constexpr bool IsNumber(const Field& field) {
  return field.type == FieldType::kInteger || field.type == FieldType::kDecimal;
}

/// The field as a ratio of others.
constexpr Field AsRatio(Field field, FieldRatio ratio) {
  field.ratio = ratio;
  return field;
}

/// The field, excluded from 'all'.
constexpr Field OnRequest(Field field) {
  field.on_request = true;
  return field;
}

/// Ranks fields by importance: first those in the list "kernel,sil,op" in its order, then the
/// others. Unknown words of the list are ignored.
void RankFields(std::string_view list, std::vector<Field>* fields);

/// Index in `all` of the field with this key or an alias of it (base/near_words.h). Throws
/// UsageError, naming the word and similar or else all valid ones; `option` such as "-c".
size_t FindField(std::string_view option, std::string_view word, std::span<const Field> all);

/// Indices in `all` of the fields of a list such as "idx,kernel,sil" or "all", each once, at its
/// first position. Throws UsageError as FindField does, also for an empty list.
std::vector<size_t> SelectFields(std::string_view list, std::span<const Field> all);

/// The cell as text: "" if unknown or empty, integers in decimal, lists joined by the field's
/// separator. The view points into the row, the field or `scratch`.
std::string_view CellText(const Field& field, const Cell& cell, std::string* scratch);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FIELD_H_
