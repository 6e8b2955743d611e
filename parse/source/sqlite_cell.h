#ifndef OPLENS_PARSE_SOURCE_SQLITE_CELL_H_
#define OPLENS_PARSE_SOURCE_SQLITE_CELL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace oplens::parse {

/// One value of a row, 16 bytes.
class Cell {
 public:
  enum class Type : uint8_t { kNull, kInt, kReal, kText, kBlob };

  Cell() = default;
  static Cell Int(int64_t value) {
    Cell cell(Type::kInt, 0);
    cell.integer_ = value;
    return cell;
  }
  static Cell Real(double value) {
    Cell cell(Type::kReal, 0);
    cell.real_ = value;
    return cell;
  }
  static Cell Text(const char* data, size_t size) { return Bytes(Type::kText, data, size); }
  static Cell Blob(const char* data, size_t size) { return Bytes(Type::kBlob, data, size); }

  Type type() const { return type_; }
  bool is_int() const { return type_ == Type::kInt; }
  int64_t integer() const { return integer_; }  ///< The integer; only for kInt.
  double real() const { return real_; }         ///< The number; only for kReal.
  /// The bytes of a text or blob; only for these.
  std::string_view bytes() const { return {data_, size_}; }

 private:
  Cell(Type type, uint32_t size) : type_(type), size_(size) {}
  static Cell Bytes(Type type, const char* data, size_t size) {
    Cell cell(type, static_cast<uint32_t>(size));
    cell.data_ = data;
    return cell;
  }

  Type type_ = Type::kNull;
  uint32_t size_ = 0;
  union {
    int64_t integer_ = 0;
    double real_;
    const char* data_;
  };
};

/// Takes an integer cell; returns false, with `value` unchanged, if it is none or does not fit.
inline bool TakeInt64(const Cell& cell, int64_t* value) {
  if (!cell.is_int()) return false;
  *value = cell.integer();
  return true;
}
inline bool TakeInt32(const Cell& cell, int32_t* value) {
  if (!cell.is_int() || cell.integer() < std::numeric_limits<int32_t>::min() ||
      cell.integer() > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *value = static_cast<int32_t>(cell.integer());
  return true;
}

inline bool AllInts(const Cell* row, size_t count) {
  return std::all_of(row, row + count, [](const Cell& cell) { return cell.is_int(); });
}

/// Consecutive rows of a table, as a row-major block of the requested columns. Texts and blobs live
/// until the callback that got the batch returns.
struct RowBatch {
  size_t column_count = 0;
  std::vector<int64_t> row_ids;
  std::vector<Cell> cells;  ///< row_ids.size() * column_count, or more.

  size_t row_count() const { return row_ids.size(); }
  const Cell* Row(size_t row) const { return cells.data() + row * column_count; }
};

/// Called for each batch, in ascending row id.
using BatchCallback = std::function<void(const RowBatch&)>;

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_SQLITE_CELL_H_
