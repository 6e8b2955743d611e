#ifndef OPLENS_PROF_TABLE_FIELD_H_
#define OPLENS_PROF_TABLE_FIELD_H_

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
  kName,     ///< Text whose blanks are written as '_' everywhere but in JSON, as PyProf does.
  kIntegerList,
  kTextList,
  kFileList,  ///< Paths; columnated output shows the file name of the last one only.
  kExtent,    ///< x,y,z
};

/// What becomes of a field when rows are made one.
enum class Fold : uint8_t {
  kNone,       ///< It cannot be had of the rows: a ratio, a rate.
  kKey,        ///< Says what the row is of; rows with equal keys are one.
  kSum,        ///< Adds up.
  kMin,        ///< The least.
  kMax,        ///< The largest.
  kMean,       ///< A sum over a count, which the view keeps apart.
  kQuantiles,  ///< Of a histogram that the view keeps (prof/views/common/histogram.h says its
               ///< error).
};

/// What a field is that is a quotient of others of its row, all with Fold::kSum: the sum of `of`
/// times `times` / `over`. So of rows that become one it is that of their sums.
struct FieldRatio {
  std::string_view of = {};    ///< Keys of fields, joined by '+'.
  std::string_view over = {};  ///< Key of a field; "": the field is no ratio.
  double times = 1;

  bool empty() const { return over.empty(); }
};

/// What a column of a table is, whatever its rows are made of.
struct Field {
  std::string_view key;  ///< What -c takes, and the JSON key.
  std::string_view header;
  std::string_view unit;  ///< "" for names, ids and plain counts.
  FieldType type;
  int width;              ///< Of columnated output; kShared: takes an equal part of what is left.
  std::string_view help;  ///< One line for -h: what it is, with its formula.
  Fold fold = Fold::kNone;
  std::string_view separator = {};  ///< Between the items of a list.
  std::string_view unknown = {};    ///< Word for an unknown value where the format's own must not
                                    ///< be used.

  /// Of a key: the value by which a row stands for others ("mean", "(all)"). Such rows are no part
  /// of a row that sums up.
  std::string_view whole = {};
  FieldRatio ratio = {};

  /// 'all' leaves it out: only its own word chooses it.
  bool on_request = false;
  /// Of the columns of a line that is too narrow, the one with the largest goes first; of
  /// RankFields.
  int rank = 0;

  static constexpr int kShared = 0;
};

/// Whether the cells of `field` are numbers.
constexpr bool IsNumber(const Field& field) {
  return field.type == FieldType::kInteger || field.type == FieldType::kDecimal;
}

/// The same field as a ratio of others.
constexpr Field AsRatio(Field field, FieldRatio ratio) {
  field.ratio = ratio;
  return field;
}

/// The same field, which 'all' leaves out.
constexpr Field OnRequest(Field field) {
  field.on_request = true;
  return field;
}

/// Says which fields matter most: those of the list "kernel,sil,op" in its order, then the others
/// in theirs. Words of the list that are no field are passed over.
void RankFields(std::string_view list, std::vector<Field>* fields);

/// The place in `all` of the field that a word names, by its key or an alias of it
/// (base/near_words.h). Throws UsageError, naming the word and those that are near it or else the
/// valid ones; `option` such as "-c".
size_t FindField(std::string_view option, std::string_view word, std::span<const Field> all);

/// The fields of a list such as "idx,kernel,sil" or "all" as places in `all`, each once, where it
/// comes first. Throws UsageError as FindField does, for an empty list too.
std::vector<size_t> SelectFields(std::string_view list, std::span<const Field> all);

/// The cell as text: "" when unknown or empty, integers in decimal, lists joined by the field's
/// separator. The view points into the row, the field or `scratch` and lives as long as these.
std::string_view CellText(const Field& field, const Cell& cell, std::string* scratch);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FIELD_H_
