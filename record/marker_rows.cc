#include "record/marker_rows.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::record {
namespace {

using parse::nvprof::kMarkerTable;

/// CUpti_ActivityFlag of MARKER_DATA.
constexpr int64_t kNoColor = 1 << 0;
constexpr int64_t kArgb = 1 << 1;

/// CUpti_MetricValueKind.
constexpr int64_t kDouble = 0;
constexpr int64_t kUint64 = 1;
constexpr int64_t kInt64 = 4;

struct Number {
  int64_t kind = kDouble;
  uint64_t bits = 0;  // As 64 bits.
};

uint64_t BitsOf(double value) { return std::bit_cast<uint64_t>(value); }

/// Converts an NVTX number (nvtxPayloadType_t); 0 for other types.
Number ToNumber(const spool::ValuePart& part) {
  const auto low = static_cast<uint32_t>(part.bits);
  switch (part.payload_type) {
    case 1:  // uint64_t
      return {kUint64, part.bits};
    case 2:  // int64_t
      return {kInt64, part.bits};
    case 3:  // double
      return {kDouble, part.bits};
    case 4:  // uint32_t
      return {kUint64, low};
    case 5:  // int32_t
      return {kInt64, static_cast<uint64_t>(int64_t{static_cast<int32_t>(low)})};
    case 6:  // float
      return {kDouble, BitsOf(std::bit_cast<float>(low))};
    default:
      return {};
  }
}

std::string InsertRows(size_t count) {
  const std::string row = fmt::format("({}, ?, ?, ?, ?, ?, ?)", parse::nvprof::kObjectThread);
  std::string sql = fmt::format(
      "INSERT INTO {}(objectKind, flags, timestamp, id, name, domain, objectId) VALUES ",
      kMarkerTable);
  for (size_t i = 0; i < count; ++i) sql += (i == 0 ? "" : ", ") + row;
  return sql;
}

}  // namespace

MarkerRows::MarkerRows(NvprofWriter* writer)
    : add_(writer->Prepare(InsertRows(1))),
      add_batch_(writer->Prepare(InsertRows(kBatch))),
      add_data_(writer->PrepareInsert(NvprofTableName("MARKER_DATA"),
                                      "flags, id, payloadKind, payload, color, category")),
      add_payload_(writer->PrepareInsert("OPLENS_PAYLOAD", "marker, schemaId, data")),
      add_allocation_(writer->PrepareInsert("OPLENS_ALLOCATION",
                                            "timestamp, processId, threadId, address, bytes, "
                                            "totalAllocated, totalReserved, deviceType, "
                                            "deviceId")),
      add_call_(writer->PrepareInsert(std::string(parse::nvprof::kCallTable),
                                      "marker, seq, tid, ftid, h, fh, dir")) {}

void MarkerRows::AddBatch() {
  int parameter = 0;
  for (size_t i = 0; i < kBatch; ++i) {
    const Row& row = rows_[i];
    Row& bound = bound_[i];
    add_batch_.bind(++parameter, row.flags);
    add_batch_.bind(++parameter, row.time_ns);
    add_batch_.bind(++parameter, row.id);
    add_batch_.bind(++parameter, row.name);
    ++parameter;
    if (bound.domain != row.domain) add_batch_.bind(parameter, row.domain);
    ++parameter;
    if (bound.object != row.object) {
      add_batch_.bindNoCopy(parameter, row.object->data(), sizeof *row.object);
    }
    bound.domain = row.domain;
    bound.object = row.object;
  }
  add_batch_.exec();
  add_batch_.reset();
  count_ = 0;
}

void MarkerRows::Flush() {
  for (size_t i = 0; i < count_; ++i) {
    const Row& row = rows_[i];
    add_.bind(1, row.flags);
    add_.bind(2, row.time_ns);
    add_.bind(3, row.id);
    add_.bind(4, row.name);
    add_.bind(5, row.domain);
    add_.bindNoCopy(6, row.object->data(), sizeof *row.object);
    add_.exec();
    add_.reset();
  }
  count_ = 0;
}

void MarkerRows::AddData(int64_t id, const RecordParts& parts) {
  const bool colored = parts.Has(spool::kColorBit);
  if (!colored && parts.look.category == 0 && !parts.Has(spool::kValuePart)) return;
  const Number number = ToNumber(parts.value);
  add_data_.bind(1, colored ? kArgb : kNoColor);
  add_data_.bind(2, id);
  add_data_.bind(3, number.kind);
  add_data_.bindNoCopy(4, &number.bits, sizeof number.bits);
  add_data_.bind(5, colored ? parts.look.color : uint32_t{0});
  add_data_.bind(6, parts.look.category);
  add_data_.exec();
  add_data_.reset();
}

void MarkerRows::AddPayload(int64_t id, uint64_t schema, std::string_view bytes) {
  bytes = bytes.substr(0, kMostBytes);
  add_payload_.bind(1, id);
  add_payload_.bind(2, static_cast<int64_t>(schema));
  // A null pointer would be stored as NULL.
  add_payload_.bindNoCopy(3, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()));
  add_payload_.exec();
  add_payload_.reset();
}

bool MarkerRows::AddAllocation(int64_t time_ns, const ThreadObject& object,
                               std::string_view bytes) {
  markers::MemoryPayload payload;
  if (bytes.size() != sizeof payload) return false;
  std::memcpy(&payload, bytes.data(), sizeof payload);
  if (payload.bytes == 0 || payload.bytes == std::numeric_limits<int64_t>::min()) return false;
  int parameter = 0;
  const auto add = [&](int64_t value) { add_allocation_.bind(++parameter, value); };
  const auto add_total = [&](int64_t total) {
    if (total >= 0) return add(total);
    add_allocation_.bind(++parameter);  // NULL: unknown.
  };
  add(time_ns);
  add(object[0]);
  add(static_cast<int32_t>(object[1]));  // Signed, as in nvprof's tables of calls.
  add(static_cast<int64_t>(payload.address));
  add(payload.bytes);
  add_total(payload.total_allocated);
  add_total(payload.total_reserved);
  add(payload.device_type);
  add(payload.device);
  add_allocation_.exec();
  add_allocation_.reset();
  return true;
}

void MarkerRows::AddCall(int64_t id, const markers::CallFacts& facts) {
  add_call_.bind(1, id);
  add_call_.bind(2, facts.seq < 0 ? int64_t{-1} : facts.seq);
  add_call_.bind(3, static_cast<int64_t>(facts.tid));
  add_call_.bind(4, static_cast<int64_t>(facts.ftid));
  add_call_.bind(5, static_cast<int64_t>(facts.h));
  add_call_.bind(6, static_cast<int64_t>(facts.fh));
  // One of markers::Direction.
  static constexpr const char* kDirections[] = {"f", "b", "r", "g", "o"};
  const char* shown = "n";
  for (const char* const direction : kDirections) {
    if (*direction == static_cast<char>(facts.dir)) shown = direction;
  }
  add_call_.bindNoCopy(7, shown);
  add_call_.exec();
  add_call_.reset();
}

}  // namespace oplens::record
