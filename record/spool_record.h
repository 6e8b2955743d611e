#ifndef OPLENS_RECORD_SPOOL_RECORD_H_
#define OPLENS_RECORD_SPOOL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "record/spool/spool_format.h"

namespace oplens::record {

/// Reads values from bytes, never beyond their end.
class ByteCursor {
 public:
  ByteCursor(const unsigned char* data, size_t size) : data_(data), left_(size) {}

  size_t left() const { return left_; }

  template <typename T>
  bool Take(T* value) {
    static_assert(sizeof(T) % 8 == 0);
    if (left_ < sizeof(T)) return false;
    std::memcpy(value, data_, sizeof(T));
    Skip(sizeof(T));
    return true;
  }

  /// Takes `size` bytes and their padding to a multiple of 8.
  bool TakeBytes(uint64_t size, std::string_view* bytes) {
    if (size > left_) return false;
    const size_t padded = (static_cast<size_t>(size) + 7) / 8 * 8;
    if (padded > left_) return false;
    *bytes = {reinterpret_cast<const char*>(data_), static_cast<size_t>(size)};
    Skip(padded);
    return true;
  }

 private:
  void Skip(size_t size) {
    data_ += size;
    left_ -= size;
  }

  const unsigned char* data_;
  size_t left_;
};

/// The parts of an event or name. Views point into the record.
struct RecordParts {
  uint8_t present = 0;  ///< Bits: spool::kLookPart, ...
  spool::LookPart look{};
  spool::ValuePart value{};
  uint64_t string = 0;
  uint64_t range = 0;
  // For PayloadCursor: the payload of a CallPart, and the bytes after the count of others.
  uint64_t call_schema = 0;
  std::string_view call_payload;
  std::string_view payloads;
  std::string_view text;

  bool Has(uint8_t part) const { return (present & part) != 0; }
};

/// False if the parts do not fit the record. A CallPart also sets `string`, and kStringPart in
/// `present`.
bool ReadParts(uint8_t present, const unsigned char* body, size_t size, RecordParts* parts);

/// Takes one of several consecutive payloads.
inline bool TakePayload(ByteCursor* cursor, uint64_t* schema, std::string_view* bytes) {
  spool::PayloadHead head;
  if (!cursor->Take(&head)) return false;
  *schema = head.schema;
  return cursor->TakeBytes(head.size, bytes);
}

/// Iterates over the payloads of a record read by ReadParts().
class PayloadCursor {
 public:
  explicit PayloadCursor(const RecordParts& parts)
      : parts_(parts),
        has_call_(parts.Has(spool::kCallPart)),
        rest_(reinterpret_cast<const unsigned char*>(parts.payloads.data()),
              parts.payloads.size()) {}

  bool Next(uint64_t* schema, std::string_view* bytes) {
    if (!has_call_) return TakePayload(&rest_, schema, bytes);
    has_call_ = false;
    *schema = parts_.call_schema;
    *bytes = parts_.call_payload;
    return true;
  }

 private:
  const RecordParts& parts_;
  bool has_call_;
  ByteCursor rest_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_RECORD_H_
