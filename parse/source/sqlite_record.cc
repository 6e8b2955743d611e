#include "parse/source/sqlite_record.h"

namespace oplens::parse {
namespace {

/// Bytes of a value, for serial types below 12.
constexpr std::array<uint8_t, 12> kSerialBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

uint64_t SerialBytes(uint64_t serial) {
  return serial < kSerialBytes.size() ? kSerialBytes[serial] : (serial - 12) / 2;
}

bool IsText(uint64_t serial) { return serial > 12 && serial % 2 == 1; }

}  // namespace

std::string_view SqliteRecords::Decode(std::span<const int> slot_of_column,
                                       const unsigned char* record, uint64_t size, Cell* row) {
  const unsigned char* end = record + size;
  uint64_t header_bytes = 0;
  const unsigned char* h = ReadSqliteVarint(record, end, &header_bytes);
  if (h == nullptr || header_bytes > size) return "a row with a broken header";
  const unsigned char* header_end = record + header_bytes;
  const unsigned char* value = header_end;
  bool keep = header_bytes >= kLeastHeader && header_bytes <= kMostHeader;
  Layout* layout = keep ? &layouts_[PlaceOf(record, header_bytes)] : nullptr;
  if (keep) {
    layout->header_bytes = 0;
    layout->values.clear();
    layout->nulls.clear();
  }
  for (const int slot : slot_of_column) {
    uint64_t serial = 0;
    if (h >= header_end) {
      if (slot < 0) continue;
      row[slot] = Cell();
      if (keep) layout->nulls.push_back(static_cast<uint16_t>(slot));
      continue;
    }
    h = ReadSqliteVarint(h, header_end, &serial);
    if (h == nullptr) return "a row with a broken header";
    const uint64_t bytes = SerialBytes(serial);
    if (bytes > static_cast<uint64_t>(end - value)) return "a value that runs over its row";
    keep = keep && !IsText(serial) && value - record <= UINT32_MAX;
    if (slot >= 0 && IsText(serial)) {
      row[slot] = Cell::Text(reinterpret_cast<const char*>(value), bytes);  // NOLINT
    } else if (slot >= 0 && serial != 0) {
      Value own;
      own.offset = static_cast<uint32_t>(value - record);
      own.blob_size = static_cast<uint32_t>(bytes);
      own.slot = static_cast<uint16_t>(slot);
      own.serial = static_cast<uint8_t>(serial <= kOne ? serial : kBlob);
      own.shift = static_cast<uint8_t>(serial < kReal ? 64 - 8 * bytes : 0);
      row[slot] = CellOf(own, value);
      if (keep) layout->values.push_back(own);
    } else if (slot >= 0) {
      row[slot] = Cell();
      if (keep) layout->nulls.push_back(static_cast<uint16_t>(slot));
    }
    value += bytes;
  }
  if (keep) {
    layout->header_bytes = header_bytes;
    layout->record_bytes = static_cast<uint64_t>(value - record);
    std::memcpy(layout->header.data(), record, header_bytes);
  }
  return {};
}

}  // namespace oplens::parse
