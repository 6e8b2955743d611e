#ifndef OPLENS_RECORD_MARKER_ROWS_H_
#define OPLENS_RECORD_MARKER_ROWS_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "record/nvprof_writer.h"
#include "record/spool_record.h"

namespace oplens::record {

/// CUpti_ActivityObjectKindId of a thread: process, thread and 0, each of 32 bits.
using ThreadObject = std::array<uint32_t, 3>;
static_assert(sizeof(ThreadObject) == 12);

/// The rows of ranges and marks of one database, whose numbers rise from 1 over all threads.
class MarkerRows {
 public:
  explicit MarkerRows(NvprofWriter* writer);

  /// `count` numbers that follow each other; answers the first.
  int64_t TakeIds(int64_t count) {
    const int64_t first = next_id_;
    next_id_ += count;
    return first;
  }

  /// A row of MARKER, kept until Flush or later. `object` must stay where it is until then; `name`
  /// and `domain` are of StringTable.
  void Add(int64_t flags, int64_t time_ns, int64_t id, const ThreadObject& object, int64_t name,
           int64_t domain) {
    rows_[count_] = {flags, time_ns, id, name, domain, &object};
    if (++count_ == kBatch) AddBatch();
  }
  /// Writes what was kept.
  void Flush();

  /// The row of MARKER_DATA of an event that has a category, colour or number.
  void AddData(int64_t id, const RecordParts& parts);
  void AddPayload(int64_t id, uint64_t schema, std::string_view bytes);
  /// What is known of the call that a range stands for besides its text.
  void AddCall(int64_t id, const markers::PayloadHead& facts);

 private:
  struct Row {
    int64_t flags = 0;
    int64_t time_ns = 0;
    int64_t id = 0;
    int64_t name = 0;
    int64_t domain = -1;
    const ThreadObject* object = nullptr;
  };
  /// So many rows in one statement take 0.6 of the time that they take one by one.
  static constexpr size_t kBatch = 16;

  void AddBatch();

  SQLite::Statement add_;
  SQLite::Statement add_batch_;
  SQLite::Statement add_data_;
  SQLite::Statement add_payload_;
  SQLite::Statement add_call_;
  int64_t next_id_ = 1;
  size_t count_ = 0;
  std::array<Row, kBatch> rows_;
  std::array<Row, kBatch> bound_;  // Domain and object: what is bound stays so.
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_MARKER_ROWS_H_
