#ifndef OPLENS_PARSE_SOURCE_SQLITE_RECORD_H_
#define OPLENS_PARSE_SOURCE_SQLITE_RECORD_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "parse/source/sqlite_cell.h"

namespace oplens::parse {

/// Bytes past the end of a record that may be read, but are never used.
inline constexpr size_t kSqliteRecordSlack = 8;

/// Reads a varint that must end before `end`; returns nullptr if it does not.
inline const unsigned char* ReadSqliteVarint(const unsigned char* p, const unsigned char* end,
                                             uint64_t* value) {
  if (p < end && *p < 0x80) {
    *value = *p;
    return p + 1;
  }
  uint64_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if (p >= end) return nullptr;
    result = result << 7 | (*p & 0x7Fu);
    if (*p++ < 0x80) {
      *value = result;
      return p;
    }
  }
  if (p >= end) return nullptr;
  *value = result << 8 | *p;
  return p + 1;
}

/// Decodes records of one table: a header of the types of the columns, and their values
/// (fileformat2.html, section 2.1). Most rows of a table have one of few headers, so where the
/// values of a header are is kept.
class SqliteRecords {
 public:
  /// Decodes record[0, size) into the cells of `row`: column i into cell slot_of_column[i], the
  /// same in every call; negative: not wanted. Columns that the record does not have become null,
  /// and cells of no column stay. Reads up to kSqliteRecordSlack bytes beyond the record; texts and
  /// blobs point into it. Returns what is wrong with the record; "": nothing.
  std::string_view Read(std::span<const int> slot_of_column, const unsigned char* record,
                        uint64_t size, Cell* row) {
    const size_t header_bytes = size == 0 ? 0 : record[0];
    if (header_bytes >= kLeastHeader && header_bytes <= kMostHeader && header_bytes <= size) {
      const Layout& layout = layouts_[PlaceOf(record, header_bytes)];
      if (layout.header_bytes == header_bytes && layout.record_bytes <= size &&
          HasHeader(layout, record)) {
        for (const Value& value : layout.values)
          row[value.slot] = CellOf(value, record + value.offset);
        for (const uint16_t slot : layout.nulls) row[slot] = Cell();
        return {};
      }
    }
    return Decode(slot_of_column, record, size, row);
  }

 private:
  // Rows with a text are decoded in full: their headers are as many as the text has lengths.
  static constexpr size_t kLeastHeader = 2;
  static constexpr size_t kMostHeader = 64;
  static constexpr size_t kLayouts = 8;
  static constexpr size_t kWordBytes = 8;

  struct Value {
    uint32_t offset = 0;     ///< In the record.
    uint32_t blob_size = 0;  ///< Bytes.
    uint16_t slot = 0;
    uint8_t serial = 0;  ///< The type, kBlob for every blob.
    uint8_t shift = 0;   ///< Of an integer: bits after it in a word.
  };
  static constexpr uint8_t kReal = 7;
  static constexpr uint8_t kZero = 8;
  static constexpr uint8_t kOne = 9;
  static constexpr uint8_t kBlob = 12;

  /// Where the wanted values are in records with this header.
  struct Layout {
    size_t header_bytes = 0;    ///< 0: none.
    uint64_t record_bytes = 0;  ///< Of the header and all columns up to the last one wanted.
    std::array<unsigned char, kMostHeader> header{};
    std::vector<Value> values;    ///< Without NULLs;
    std::vector<uint16_t> nulls;  ///< their slots, and those of columns that the record has not.
  };

  static uint64_t WordAt(const unsigned char* p) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    return word;
  }

  /// Headers differ mostly at their end, in the sizes of ids of names.
  static size_t PlaceOf(const unsigned char* record, size_t header_bytes) {
    uint64_t last = 0;
    std::memcpy(&last, record + header_bytes - kLeastHeader, kLeastHeader);
    if (header_bytes >= kWordBytes) last = WordAt(record + header_bytes - kWordBytes);
    return static_cast<size_t>(last * 0x9E3779B97F4A7C15u >> 61);
  }

  static bool HasHeader(const Layout& layout, const unsigned char* record) {
    const unsigned char* header = layout.header.data();
    const size_t size = layout.header_bytes;
    if (size < kWordBytes) {
      return (WordAt(header) ^ WordAt(record)) << (64 - 8 * size) == 0;
    }
    for (size_t i = 0; i + kWordBytes < size; i += kWordBytes) {
      if (WordAt(header + i) != WordAt(record + i)) return false;
    }
    return WordAt(header + size - kWordBytes) == WordAt(record + size - kWordBytes);
  }

  static Cell CellOf(const Value& value, const unsigned char* p) {
    const uint64_t big = __builtin_bswap64(WordAt(p));
    if (value.serial < kReal) return Cell::Int(static_cast<int64_t>(big) >> value.shift);
    if (value.serial == kReal) return Cell::Real(std::bit_cast<double>(big));
    if (value.serial != kBlob) return Cell::Int(value.serial == kOne);
    return Cell::Blob(reinterpret_cast<const char*>(p), value.blob_size);  // NOLINT
  }

  std::string_view Decode(std::span<const int> slot_of_column, const unsigned char* record,
                          uint64_t size, Cell* row);

  std::array<Layout, kLayouts> layouts_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_SQLITE_RECORD_H_
