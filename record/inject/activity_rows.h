#ifndef OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_
#define OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/inject/stream.h"
#include "record/spool/spool_format.h"

// Activity records of CUPTI -> rows of the spool. CUPTI itself is not called.

namespace oplens::record::inject {

/// A column of a row and where a record has it.
struct ActivityField {
  enum Type : uint8_t {
    kNumber,  ///< Unsigned, of 1 to 8 bytes.
    kSigned,  ///< Of 1 to 8 bytes, with a sign although CUPTI may declare none.
    kTime,    ///< CUPTI's clock in ns; 0: not known, and stays 0.
    kText,    ///< const char*; may be null.
    kBytes,   ///< A union or id, as it lies in memory.
  };
  const char* column;
  uint16_t offset;
  uint16_t size;
  Type type;
};

/// What is kept of the records of a kind.
struct ActivityKind {
  CUpti_ActivityKind kind;
  spool::Table table;
  std::span<const ActivityField> fields;
};

/// All kinds that are kept.
std::span<const ActivityKind> ActivityKinds() noexcept;

enum class Stored { kYes, kNoRoom, kUnknownKind };

/// Appends a record. `size` is that of the record in memory: fields beyond it, which this version
/// of CUPTI does not have, become kAbsent. `clock_offset_ns` is added to times.
Stored StoreActivity(const CUpti_Activity* record, size_t size, int64_t clock_offset_ns,
                     Stream* stream) noexcept;

/// Appends a row of numbers, and of a text (which may be null) in the last column.
bool StoreRow(spool::Table table, std::span<const int64_t> values, const char* text,
              Stream* stream) noexcept;

/// Appends a sentence for the user.
bool StoreNote(const char* text, Stream* stream) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_ACTIVITY_ROWS_H_
