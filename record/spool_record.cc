#include "record/spool_record.h"

namespace oplens::record {
namespace {

bool ReadCall(ByteCursor* cursor, RecordParts* parts) {
  spool::CallPart call;
  if (!cursor->Take(&call)) return false;
  parts->present |= spool::kStringPart;
  parts->string = call.string;
  parts->call_schema = spool::kFirstSchema + call.schema;
  return cursor->TakeBytes(call.size, &parts->call_payload);
}

bool ReadPayloads(ByteCursor* cursor, const unsigned char* end, RecordParts* parts) {
  uint64_t count = 0;
  if (!cursor->Take(&count)) return false;
  const unsigned char* const begin = end - cursor->left();
  uint64_t schema = 0;
  std::string_view bytes;
  for (uint64_t i = 0; i < count; ++i) {
    if (!TakePayload(cursor, &schema, &bytes)) return false;
  }
  const unsigned char* const rest = end - cursor->left();
  parts->payloads = {reinterpret_cast<const char*>(begin), static_cast<size_t>(rest - begin)};
  return true;
}

}  // namespace

bool ReadParts(uint8_t present, const unsigned char* body, size_t size, RecordParts* parts) {
  using namespace spool;
  ByteCursor cursor(body, size);
  parts->present = present;
  if ((present & kLookPart) != 0 && !cursor.Take(&parts->look)) return false;
  if ((present & kValuePart) != 0 && !cursor.Take(&parts->value)) return false;
  if ((present & kStringPart) != 0 && !cursor.Take(&parts->string)) return false;
  if ((present & kRangePart) != 0 && !cursor.Take(&parts->range)) return false;
  if ((present & kCallPart) != 0 && !ReadCall(&cursor, parts)) return false;
  if ((present & kPayloadPart) != 0 && !ReadPayloads(&cursor, body + size, parts)) return false;
  if ((present & kTextPart) == 0) return true;
  uint64_t length = 0;
  return cursor.Take(&length) && cursor.TakeBytes(length, &parts->text);
}

}  // namespace oplens::record
