#ifndef OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_
#define OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/inject/stream.h"
#include "record/spool/spool_format.h"

// Converts CUPTI activity records to rows of the spool, without calling CUPTI.

namespace oplens::record::inject {

/// A column of a row and its place in the record.
struct ActivityField {
  enum Type : uint8_t {
    kNumber,  ///< Unsigned, 1 to 8 bytes.
    kSigned,  ///< Signed, 1 to 8 bytes, even if CUPTI declares it unsigned.
    kTime,    ///< CUPTI's clock in ns; 0: unknown, stays 0.
    kText,    ///< const char*; may be null.
    kBytes,   ///< A union or id, copied as it is.
  };
  const char* column;
  uint16_t offset;
  uint16_t size;
  Type type;
};

/// The stored columns of one kind of record.
struct ActivityKind {
  CUpti_ActivityKind kind;
  spool::Table table;
  std::span<const ActivityField> fields;
};

/// All kinds that are stored.
std::span<const ActivityKind> ActivityKinds() noexcept;

enum class Stored { kYes, kNoRoom, kUnknownKind };

/// Appends a record. `size`: of the record in memory; fields beyond it, unknown to this version of
/// CUPTI, become kAbsent. Adds `clock_offset_ns` to times.
Stored StoreActivity(const CUpti_Activity* record, size_t size, int64_t clock_offset_ns,
                     Stream* stream) noexcept;

/// Appends a row of numbers, with a text (may be null) in the last column.
bool StoreRow(spool::Table table, std::span<const int64_t> values, const char* text,
              Stream* stream) noexcept;

/// Appends a sentence for the user.
bool StoreNote(const char* text, Stream* stream) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_
