#ifndef OPLENS_RECORD_IMAGE_CONVERSION_H_
#define OPLENS_RECORD_IMAGE_CONVERSION_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/event_rows.h"
#include "record/nvprof_writer.h"
#include "record/spool/process_identity.h"
#include "record/spool_reader.h"
#include "record/spool_record.h"

namespace oplens::record {

/// Writes rows of the activity stream to nvprof's tables and to ours.
class ActivityRows {
 public:
  explicit ActivityRows(NvprofWriter* writer);

  /// Adds a RecordKind::kRow. Returns false and writes nothing if the table is unknown, the number
  /// of values is wrong, or the bytes do not fit.
  bool Add(uint16_t table, const unsigned char* body, size_t size);

  int64_t CountOf(spool::Table table) const { return counts_[static_cast<size_t>(table)]; }
  /// Total rows of several tables.
  int64_t Sum(std::initializer_list<spool::Table> tables) const;

 private:
  enum class Form : uint8_t { kNumber, kThread, kText, kBlob };
  struct Column {
    Form form = Form::kNumber;
    bool extra = false;  // In our table, where an absent value is NULL.
    int parameter = 0;
  };
  struct Table {
    std::vector<Column> columns;
    std::optional<SQLite::Statement> add;        // To nvprof's table.
    std::optional<SQLite::Statement> add_extra;  // To ours.
    bool numbered = false;                       // Our table has a column for nvprof's row.
  };

  void AddNvprofColumns(const ActivityTable& source, Table* table);
  void AddExtraColumns(const ActivityTable& source, Table* table);
  /// Binds all columns; false if the bytes do not fit. Sets *extras if a value of our table is
  /// present.
  bool Bind(Table* table, const unsigned char* values, ByteCursor bytes, bool* extras);
  void BindBytes(SQLite::Statement* statement, const Column& column, int64_t length,
                 std::string_view bytes);

  NvprofWriter& writer_;
  std::array<Table, kActivityTableCount> tables_;
  std::array<int64_t, kActivityTableCount> counts_{};
};

/// A time limit for a call; reads the clock only now and then.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(Clock::time_point end) : end_(end) {}

  bool Passed() {
    if (!passed_ && ++calls_ % kCallsALook == 0) passed_ = Clock::now() >= end_;
    return passed_;
  }

 private:
  static constexpr uint32_t kCallsALook = 256;
  Clock::time_point end_;
  uint32_t calls_ = 0;
  bool passed_ = false;
};

struct PageFacts {
  bool known = false;  ///< The page exists and is complete.
  ProcessIdentity identity;
  int64_t parent_id = 0;
  spool::ProcessState state = spool::ProcessState::kRunning;
  int64_t lost_events = 0;
  int64_t handler_events = 0;
  int64_t child_events = 0;
  int64_t cut_texts = 0;
  int64_t lost_rows = 0;
  int64_t cupti_lost = 0;
  int64_t odd_rows = 0;
  bool waits_for_start = false;
  uint32_t streams = 0;
  int64_t start_ns = 0;
  int first_error = 0;
  spool::CudaState cuda = spool::CudaState::kUnused;
  int cupti_result = 0;
  uint32_t cupti_version = 0;
  bool gpu_busy_at_end = false;
  std::string cupti_step;
  std::string cupti_message;
  std::string output;
  std::string command;
  /// The set variables among ProcessPage::rank_variables, by name.
  std::map<std::string, int64_t> rank_variables;
  bool reference = false;
  std::string damage;  ///< Why an existing page is not known.
};

/// Reads the current page in an image's folder.
PageFacts ReadPage(const std::filesystem::path& folder);

/// Converts the data of one image of a process. Throws SQLite::Exception.
class ImageConversion {
 public:
  ImageConversion(ImageFolder folder, NvprofWriter* writer, MarkerRows* markers,
                  ActivityRows* activity);

  /// Converts new data. `streams`: PageFacts::streams. Returns true if the deadline passed before
  /// the end.
  bool Advance(uint32_t streams, Deadline* deadline);
  /// Call when nothing more will be written; then Advance until it returns false, and Finish.
  void End();
  EventCounts Finish();

  const ImageFolder& folder() const { return folder_; }
  uint64_t bytes_read() const;
  int64_t odd_rows() const { return odd_rows_; }
  const std::set<std::string>& notes() const { return notes_; }
  const std::vector<CycleMark>& cycle_marks() const { return events_.cycle_marks(); }
  std::string damage() const;

 private:
  struct EventStream {
    explicit EventStream(StreamReader r) : reader(std::move(r)) {}
    StreamReader reader;
    EventRows::Thread* thread = nullptr;
    int64_t sequence = -1;  // The chunk to which `thread` belongs.
  };
  /// Time of a stream's next record, and the stream.
  using Next = std::pair<int64_t, size_t>;

  void FindStreams();
  void ReadNames();
  bool ReadActivity(Deadline* deadline);
  bool ReadEvents(Deadline* deadline);
  void TakeEvent(EventStream* stream, const StreamReader::Record& record);

  const ImageFolder folder_;
  ActivityRows& activity_;
  ImageNames names_;
  EventRows events_;
  StreamReader name_stream_;
  StreamReader activity_stream_;
  std::vector<EventStream> event_streams_;
  std::set<uint32_t> known_streams_;
  std::vector<Next> heap_;
  bool ended_ = false;
  int64_t odd_rows_ = 0;
  std::vector<std::string> ring_faults_;
  int64_t odd_records_ = 0;
  std::set<std::string> notes_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_IMAGE_CONVERSION_H_
