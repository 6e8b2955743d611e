#ifndef OPLENS_PROF_TABLE_ARROW_COLUMN_H_
#define OPLENS_PROF_TABLE_ARROW_COLUMN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prof/table/cell.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// Distinct texts, numbered from 0, as Arrow keeps them. Bytes that are no UTF-8 become U+FFFD.
class ArrowTexts {
 public:
  int32_t NumberOf(std::string_view text);
  std::string_view At(size_t number) const;
  size_t size() const { return ends_.size() - 1; }
  /// Offsets of each text and of the end.
  const std::vector<int32_t>& offsets() const { return ends_; }
  const std::string& chars() const { return chars_; }
  size_t bytes() const { return chars_.capacity() + ends_.capacity() * sizeof(int32_t); }
  /// Frees what only NumberOf() needs.
  void Finish();

 private:
  /// The last text from an address: names of kernels and ops come from one place each.
  struct Seen {
    const char* from = nullptr;
    size_t size = 0;
    int32_t number = 0;
  };
  static constexpr size_t kSeen = 1024;

  std::string chars_;
  std::vector<int32_t> ends_ = {0};
  std::unordered_multimap<size_t, int32_t> numbers_;  // By hash.
  std::vector<Seen> seen_ = std::vector<Seen>(kSeen);
};

/// A column of an ArrowTable while it grows, and then.
class ArrowColumn {
 public:
  enum class Kind : uint8_t { kIntegers, kDecimals, kTexts, kIntegerLists, kTextLists, kExtents };

  explicit ArrowColumn(const Field& field);

  /// A cell of another kind than the column's makes the whole column decimals, or else texts; but
  /// a column of texts that has only numbers is of these, and a text in lists is a list of one.
  void Add(const Cell& cell);
  void AddUnknown();
  void Finish();

  Kind kind() const { return kind_; }
  size_t rows() const { return rows_; }
  bool IsKnown(size_t row) const {
    return valid_.empty() || ((valid_[row / 8] >> (row % 8)) & 1) != 0;
  }
  size_t unknown() const { return unknown_; }
  /// Arrow's bits of known rows; empty: all are known.
  const std::vector<uint8_t>& valid() const { return valid_; }
  /// kIntegers: a row each; kIntegerLists: items; kExtents: three a row.
  const std::vector<int64_t>& integers() const { return integers_; }
  const std::vector<double>& decimals() const { return decimals_; }
  /// Into texts(): kTexts: a row each; kTextLists: items.
  const std::vector<int32_t>& codes() const { return codes_; }
  const ArrowTexts& texts() const { return texts_; }
  /// Of lists: where the items of each row begin, and the end.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  size_t bytes() const;

 private:
  void AddValue(const Cell& cell);
  void SetKnown(bool known);
  void MakeNumbers();
  void MakeDecimals();
  void MakeTexts();
  void EndList();

  Field field_;
  Kind kind_;
  size_t rows_ = 0;
  size_t unknown_ = 0;
  std::vector<uint8_t> valid_;
  std::vector<int64_t> integers_;
  std::vector<double> decimals_;
  std::vector<int32_t> codes_;
  std::vector<int64_t> offsets_ = {0};
  ArrowTexts texts_;
  std::string scratch_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ARROW_COLUMN_H_
