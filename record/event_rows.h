#ifndef OPLENS_RECORD_EVENT_ROWS_H_
#define OPLENS_RECORD_EVENT_ROWS_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/id_map.h"
#include "nvtx_annotate/payload.h"
#include "record/cycles.h"
#include "record/marker_rows.h"
#include "record/nvprof_writer.h"
#include "record/spool_record.h"
#include "record/text_ids.h"

namespace oplens::record {

/// Resolves the ids in events of one image, from its stream of names. Memory: the texts of the
/// registered strings.
class ImageNames {
 public:
  struct String {
    std::string text;
    int64_t id = 0;  ///< In StringTable.
  };

  explicit ImageNames(NvprofWriter* writer);

  /// False if it is not a name or its parts do not fit.
  bool Add(const spool::RecordHead& head, const unsigned char* body, size_t size);

  bool Knows(uint16_t domain) const { return domain < domains_.size() && domains_[domain] >= 0; }
  /// The StringTable id of a domain's name; 0 for the default domain.
  int64_t DomainOf(uint16_t domain);
  /// A registered string; null if unknown.
  const String* Find(uint16_t domain, uint64_t handle) const;
  /// Whether a payload schema is nvtx_annotate's for ops.
  bool IsOpSchema(uint64_t schema) const { return op_schemas_.count(schema) != 0; }
  /// Whether it is nvtx_annotate's for allocator events.
  bool IsMemorySchema(uint64_t schema) const { return memory_schemas_.count(schema) != 0; }
  /// Whether a domain is nvtx_annotate's.
  bool IsOwn(uint16_t domain) const { return own_domains_.count(domain) != 0; }

  /// Names given to threads: OS thread id -> StringTable id.
  const std::map<uint64_t, int64_t>& thread_names() const { return thread_names_; }

 private:
  static int64_t KeyOf(uint16_t domain, uint64_t handle) {
    // A handle is a small number or an address: its upper 16 bits are unused.
    return static_cast<int64_t>(handle ^ uint64_t{domain} << 48);
  }
  void AddString(uint16_t domain, const RecordParts& parts);

  NvprofWriter& writer_;
  SQLite::Statement add_category_;
  SQLite::Statement add_schema_;
  std::vector<int64_t> domains_;  // By number; -1: no name yet.
  IdMap string_indices_;
  std::vector<String> strings_;
  std::unordered_set<uint64_t> op_schemas_;
  std::unordered_set<uint64_t> memory_schemas_;
  std::unordered_set<uint16_t> own_domains_;
  std::map<uint64_t, int64_t> thread_names_;
};

struct EventCounts {
  int64_t ranges = 0;  ///< Database rows: a payload may produce up to three.
  int64_t marks = 0;
  int64_t open_ranges = 0;
  int64_t unmatched = 0;  ///< Pops without a push and ends without a start, which get no row.
  int64_t unknown_strings = 0;
  int64_t bad_payloads = 0;     ///< Payloads of ops that could not be rendered.
  int64_t bad_allocations = 0;  ///< Invalid payloads of allocator events.
  int64_t left_out = 0;         ///< Ranges that the program reported as not emitted.
};

/// Converts the NVTX calls of one image to rows of ranges and marks. Memory: 8 bytes per open
/// range, about 200 per thread.
class EventRows {
 public:
  /// A thread of the image with its open ranges.
  class Thread;

  /// `more_names` reads on in the stream of names when an event uses an unknown name.
  EventRows(NvprofWriter* writer, MarkerRows* rows, ImageNames* names, int64_t process_id,
            std::function<void()> more_names);
  ~EventRows();

  /// The thread of the following events of a stream. The pointer stays valid.
  Thread* FindThread(uint32_t thread_id, uint32_t os_thread_id);

  /// Adds an event. Events of a thread must come in order, those of different threads by time as
  /// far as known. Returns false if it is no event or its parts do not fit.
  bool Add(Thread* thread, const spool::RecordHead& head, const unsigned char* body, size_t size);

  /// Call after the last event: writes the names of threads.
  EventCounts Finish();

  /// The marks of the program's schedule so far, unordered.
  const std::vector<CycleMark>& cycle_marks() const { return cycle_marks_; }

 private:
  struct Texts {
    int64_t ids[3] = {};
    int count = 0;
    int main = 0;  // Index of the text that names the op; -1: none.
  };
  struct Started {
    int64_t id = 0;
    int64_t domain = 0;
  };
  struct EarlyEnd {
    int64_t time_ns = 0;
    const Thread* thread = nullptr;
  };

  void Push(Thread* thread, const spool::RecordHead& head, const RecordParts& parts);
  void Pop(Thread* thread, const spool::RecordHead& head);
  void Start(Thread* thread, const spool::RecordHead& head, const RecordParts& parts);
  void End(Thread* thread, const spool::RecordHead& head, const RecordParts& parts);
  void Mark(Thread* thread, const spool::RecordHead& head, const RecordParts& parts);
  /// Handles a mark that is an allocator event.
  bool TakeAllocation(Thread* thread, const spool::RecordHead& head, const RecordParts& parts);

  const ImageNames::String* FindString(uint16_t domain, uint64_t handle);
  int64_t DomainOf(uint16_t domain);
  /// The StringTable id of an event's text.
  int64_t TextOf(uint16_t domain, const RecordParts& parts);
  /// The texts of a pushed range: those its payload stands for, otherwise its own. `call` gets the
  /// payload's other facts about a call or node.
  Texts TextsOf(uint16_t domain, const RecordParts& parts, std::optional<markers::CallFacts>* call);
  /// Renders equal calls once.
  bool RenderOnce(uint16_t domain, const RecordParts& parts, std::string_view payload,
                  const markers::PayloadFacts& head, Texts* texts);
  bool Render(uint16_t domain, const RecordParts& parts, std::string_view payload, Texts* texts);
  void AddDetails(int64_t id, const RecordParts& parts, bool rendered);
  bool IsOpPayload(uint64_t schema) const;
  void CountLeftOut(const RecordParts& parts);

  NvprofWriter& writer_;
  MarkerRows& rows_;
  ImageNames& names_;
  const uint32_t process_id_;
  const std::function<void()> more_names_;
  std::vector<std::unique_ptr<Thread>> threads_;
  IdMap thread_indices_;
  std::unordered_map<uint64_t, Started> started_;
  // Ends read before their start, which is in another thread's stream.
  std::unordered_map<uint64_t, EarlyEnd> early_ends_;
  std::string message_;
  std::vector<char> rendered_;
  std::vector<CycleMark> cycle_marks_;
  // Message and payload without its facts -> 1 + index in rendered_texts_.
  TextIds known_payloads_;
  std::string payload_key_;
  std::vector<Texts> rendered_texts_;
  EventCounts counts_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_EVENT_ROWS_H_
