#ifndef OPLENS_RECORD_MARKER_ROWS_H_
#define OPLENS_RECORD_MARKER_ROWS_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/marker_text.h"
#include "record/nvprof_writer.h"
#include "record/spool_record.h"

namespace oplens::record {

/// CUpti_ActivityObjectKindId of a thread: process, thread, 0; 32 bits each.
using ThreadObject = std::array<uint32_t, 3>;
static_assert(sizeof(ThreadObject) == 12);

/// Rows of ranges and marks of one database, with ids from 1 across all threads, and of
/// allocations, which come as marks.
class MarkerRows {
 public:
  explicit MarkerRows(NvprofWriter* writer);

  /// Reserves `count` consecutive ids; returns the first.
  int64_t TakeIds(int64_t count) {
    const int64_t first = next_id_;
    next_id_ += count;
    return first;
  }

  /// Adds a row of MARKER, written by Flush at the latest. `object` must stay valid until then;
  /// `name` and `domain` are StringTable ids.
  void Add(int64_t flags, int64_t time_ns, int64_t id, const ThreadObject& object, int64_t name,
           int64_t domain) {
    rows_[count_] = {flags, time_ns, id, name, domain, &object};
    if (++count_ == kBatch) AddBatch();
  }
  /// Writes buffered rows.
  void Flush();

  /// Adds the MARKER_DATA row of an event with a category, colour or number.
  void AddData(int64_t id, const RecordParts& parts);
  void AddPayload(int64_t id, uint64_t schema, std::string_view bytes);
  /// Adds facts about a range's call that are not in its text.
  void AddCall(int64_t id, const markers::CallFacts& facts);

  /// Adds an allocator event from the payload of its mark. False if the payload is invalid.
  bool AddAllocation(int64_t time_ns, const ThreadObject& object, std::string_view bytes);

 private:
  struct Row {
    int64_t flags = 0;
    int64_t time_ns = 0;
    int64_t id = 0;
    int64_t name = 0;
    int64_t domain = -1;
    const ThreadObject* object = nullptr;
  };
  /// Inserting this many rows per statement takes 0.6 of the time of single rows.
  static constexpr size_t kBatch = 16;

  void AddBatch();

  SQLite::Statement add_;
  SQLite::Statement add_batch_;
  SQLite::Statement add_data_;
  SQLite::Statement add_payload_;
  SQLite::Statement add_allocation_;
  SQLite::Statement add_call_;
  int64_t next_id_ = 1;
  size_t count_ = 0;
  std::array<Row, kBatch> rows_;
  std::array<Row, kBatch> bound_;  // Bound domains and objects, which stay bound.
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_MARKER_ROWS_H_
